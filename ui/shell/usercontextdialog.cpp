// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/usercontextdialog.h"

#include <algorithm>

#include <QDialogButtonBox>
#include <QEvent>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

enum Column { kindColumn, fileColumn, holdsColumn, columnCount };

QString holdsText(const workflow::UserFile& file)
{
    return file.problem ? UserContextDialog::tr("Not in force: %1").arg(qstr(file.problem->what)) : qstr(file.holds);
}

QString fileText(const workflow::UserFile& file)
{
    const QString name = QFileInfo(qstr(file.path)).fileName();
    return file.always ? UserContextDialog::tr("%1, for every run").arg(name) : name;
}

QString keptText(const QStringList& names)
{
    const QString list = names.join(QStringLiteral(", "));
    return names.size() == 1 ? UserContextDialog::tr("1 variant: %1").arg(list)
                             : UserContextDialog::tr("%1 variants: %2").arg(names.size()).arg(list);
}

QTreeWidget* makeTree(QWidget* parent)
{
    auto* tree = new QTreeWidget(parent);
    tree->setColumnCount(columnCount);
    tree->setHeaderLabels(
        {UserContextDialog::tr("What"), UserContextDialog::tr("File"), UserContextDialog::tr("Holds")});
    tree->setRootIsDecorated(false);
    tree->setAllColumnsShowFocus(true);
    tree->setTextElideMode(Qt::ElideRight);
    tree->setTabKeyNavigation(false);
    tree->setAccessibleName(UserContextDialog::tr("Files with what is known of this run"));
    tree->header()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    tree->header()->setStretchLastSection(true);
    return tree;
}

} // namespace

QString kindWord(workflow::UserFileKind kind)
{
    switch (kind) {
    case workflow::UserFileKind::variants:
        return UserContextDialog::tr("Own variants");
    case workflow::UserFileKind::parameters:
        return UserContextDialog::tr("Parameter names");
    case workflow::UserFileKind::environment:
        return UserContextDialog::tr("Environment");
    case workflow::UserFileKind::advisories:
        break;
    }
    return UserContextDialog::tr("Advisories");
}

UserContextDialog::UserContextDialog(const QList<QAction*>& adders, QWidget* parent)
    : QDialog(parent)
    , m_tree(makeTree(this))
    , m_message(new QLabel(this))
    , m_add(new QPushButton(tr("Add"), this))
    , m_remove(new QPushButton(tr("Remove"), this))
{
    setWindowTitle(tr("What is known of this run"));
    m_message->setWordWrap(true);
    m_message->setTextFormat(Qt::PlainText);
    m_message->setAccessibleName(tr("Message"));
    auto* menu = new QMenu(m_add);
    menu->addActions(adders);
    m_add->setMenu(menu);
    m_add->setToolTip(tr("Name a file with what you know; the run is judged again"));
    m_remove->setToolTip(tr("Take the selected file back (Del); the file stays where it is"));
    m_remove->setAutoDefault(false);
    m_add->setAutoDefault(false);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->addButton(m_add, QDialogButtonBox::ActionRole);
    buttons->addButton(m_remove, QDialogButtonBox::ActionRole);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_tree, 1);
    layout->addWidget(m_message);
    layout->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_remove, &QPushButton::clicked, this, &UserContextDialog::remove);
    connect(m_tree, &QTreeWidget::currentItemChanged, this, &UserContextDialog::updateButtons);
    auto* removeKey = new QShortcut(QKeySequence::Delete, m_tree);
    removeKey->setContext(Qt::WidgetShortcut);
    connect(removeKey, &QShortcut::activated, this, &UserContextDialog::remove);
    resize(grid(180), grid(90));
    fill();
}

void UserContextDialog::setFiles(const std::vector<workflow::UserFile>& files, const QStringList& kept)
{
    m_files = files;
    m_kept = kept;
    m_problem.clear();
    fill();
}

void UserContextDialog::setJudging(bool judging)
{
    m_judging = judging;
    showMessage();
}

void UserContextDialog::showProblem(const QString& sentence)
{
    m_problem = sentence;
    showMessage();
}

void UserContextDialog::fill()
{
    const int row = m_tree->indexOfTopLevelItem(m_tree->currentItem());
    m_tree->clear();
    for (const workflow::UserFile& file : m_files) {
        addRow({kindWord(file.kind), fileText(file), holdsText(file)}, qstr(file.path), !file.problem);
    }
    if (!m_kept.isEmpty()) {
        addRow({kindWord(workflow::UserFileKind::variants), tr("Kept with the run"), keptText(m_kept)},
            tr("The session keeps them beside the cells that were swept with them"), true);
    }
    for (const int column : {kindColumn, fileColumn}) {
        m_tree->resizeColumnToContents(column);
        m_tree->setColumnWidth(column, std::min(m_tree->columnWidth(column) + grid(4), grid(60)));
    }
    const int last = m_tree->topLevelItemCount() - 1;
    m_tree->setCurrentItem(m_tree->topLevelItem(std::clamp(row, 0, std::max(0, last))));
    updateButtons();
    showMessage();
}

void UserContextDialog::addRow(const QStringList& texts, const QString& fileTip, bool inForce)
{
    auto* item = new QTreeWidgetItem(m_tree, texts);
    item->setToolTip(kindColumn, item->text(kindColumn));
    item->setToolTip(fileColumn, plainTip(fileTip));
    item->setToolTip(holdsColumn, plainTip(item->text(holdsColumn)));
    if (!inForce) {
        item->setForeground(holdsColumn, theme().warning);
    }
}

QString UserContextDialog::standText() const
{
    if (m_judging) {
        return tr("The run is being judged with this …");
    }
    return m_tree->topLevelItemCount() == 0
        ? tr("Nothing beside what the run left. Variants of your own, names of parameters, what `nanscope env --json` "
             "wrote and advisories can be added.")
        : tr("The verdicts of this run hold with these; they are remembered with it.");
}

void UserContextDialog::showMessage()
{
    m_message->setObjectName(m_problem.isEmpty() ? QStringLiteral("muted") : QString());
    m_message->setText(m_problem.isEmpty() ? standText() : m_problem);
    m_message->style()->unpolish(m_message);
    m_message->style()->polish(m_message);
}

QString UserContextDialog::message() const
{
    return m_message->text();
}

const workflow::UserFile* UserContextDialog::current() const
{
    const int row = m_tree->indexOfTopLevelItem(m_tree->currentItem());
    return row >= 0 && row < static_cast<int>(m_files.size()) ? &m_files[static_cast<std::size_t>(row)] : nullptr;
}

void UserContextDialog::updateButtons()
{
    const workflow::UserFile* file = current();
    m_remove->setEnabled(file && !file->always);
}

void UserContextDialog::remove()
{
    if (const workflow::UserFile* file = current(); file && !file->always) {
        Q_EMIT removeRequested(file->kind, exactText(file->path));
    }
}

void UserContextDialog::changeEvent(QEvent* event)
{
    if (isThemeChange(event)) {
        fill();
    }
    QDialog::changeEvent(event);
}

} // namespace nanscope
