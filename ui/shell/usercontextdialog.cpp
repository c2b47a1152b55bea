// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/usercontextdialog.h"

#include <algorithm>

#include <QDialogButtonBox>
#include <QFileInfo>
#include <QHeaderView>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "core/diagnose/rejudge.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/verdict/verdictexperiments.h"

namespace nanscope {

namespace {

enum UserFileColumn { kindColumn, sourceColumn, holdsColumn, columnCount };

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

/// Whether other code ran comes first: a long list is cut.
QString ticksText(const std::vector<std::string>& ticks)
{
    QStringList list;
    for (const std::string& tick : ticks) {
        if (tick == diagnose::nothingElse) {
            list.prepend(UserContextDialog::tr("nothing else"));
        } else if (tick == diagnose::otherCode) {
            list.prepend(UserContextDialog::tr("other code"));
        } else {
            list << qstr(tick);
        }
    }
    return list.join(QStringLiteral(", "));
}

QString calledText(const CallsAgain& called)
{
    const QString counted = UserContextDialog::tr("%1 of %2 calls damaged").arg(called.failed).arg(called.calls);
    const QString with = called.experiment.empty() ? counted : counted + QStringLiteral(", ") + qstr(called.experiment);
    return called.sameGpu ? with : UserContextDialog::tr("%1, on another GPU").arg(with);
}

QTreeWidget* makeTree(QWidget* parent)
{
    auto* tree = new QTreeWidget(parent);
    tree->setColumnCount(columnCount);
    tree->setHeaderLabels(
        {UserContextDialog::tr("What"), UserContextDialog::tr("From"), UserContextDialog::tr("Holds")});
    tree->setRootIsDecorated(false);
    tree->setAllColumnsShowFocus(true);
    tree->setTextElideMode(Qt::ElideRight);
    tree->setTabKeyNavigation(false);
    tree->setAccessibleName(UserContextDialog::tr("What is known of this run beside what it left"));
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
    m_remove->setToolTip(tr("Take back what is selected (Del); files stay where they are"));
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
    onThemeChange(*this, [this] { fill(); });
}

void UserContextDialog::setFiles(const std::vector<workflow::UserFile>& files, const QStringList& kept)
{
    m_files = files;
    m_kept = kept;
    m_problem.clear();
    fill();
}

void UserContextDialog::setAnswers(const Answers& answers)
{
    m_answers = answers;
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
    m_rows.clear();
    addFiles();
    addAnswers();
    for (const int column : {kindColumn, sourceColumn}) {
        m_tree->resizeColumnToContents(column);
        m_tree->setColumnWidth(column, std::min(m_tree->columnWidth(column) + grid(4), grid(60)));
    }
    const int last = m_tree->topLevelItemCount() - 1;
    m_tree->setCurrentItem(m_tree->topLevelItem(std::clamp(row, 0, std::max(0, last))));
    updateButtons();
    showMessage();
}

void UserContextDialog::addFiles()
{
    for (const workflow::UserFile& file : m_files) {
        TakeBack takeBack;
        if (!file.always) {
            takeBack = [this, kind = file.kind, path = exactText(file.path)] { Q_EMIT removeRequested(kind, path); };
        }
        addRow({kindWord(file.kind), fileText(file), holdsText(file)}, qstr(file.path), takeBack, !file.problem);
    }
    if (!m_kept.isEmpty()) {
        addRow({kindWord(workflow::UserFileKind::variants), tr("Kept with the run"), keptText(m_kept)},
            tr("The session keeps them beside the cells that were swept with them"), {});
    }
}

template <class Entry>
void UserContextDialog::addObserved(const QStringList& texts, std::vector<Entry> Observations::*list, std::size_t at)
{
    addRow(texts, texts[sourceColumn], [this, list, at] {
        Observations left = m_answers.observed;
        (left.*list).erase((left.*list).begin() + static_cast<std::ptrdiff_t>(at));
        Q_EMIT observedChanged(left);
    });
}

QString UserContextDialog::triedText(const TriedExperiment& tried) const
{
    const QString what = m_answers.experiments.value(qstr(tried.id), qstr(tried.id));
    QString seen = QStringLiteral("%1: %2").arg(seenText(tried.seen), what);
    switch (tried.seen) {
    case Seen::gone:
        return tried.hours > 0 ? tr("%1, for %2 h").arg(seen, qstr(hoursText(tried.hours))) : seen;
    case Seen::moves:
        return tried.times == 1 ? tr("%1, once").arg(seen) : tr("%1, %2 times").arg(seen).arg(tried.times);
    case Seen::stays:
    case Seen::oftener:
        break;
    }
    return seen;
}

void UserContextDialog::addAnswers()
{
    const QString you = tr("Your answer");
    if (!m_answers.ran.isEmpty()) {
        addRow({tr("What ran"), you, m_answers.ran.join(QStringLiteral(", "))},
            tr("Of every capture of this run; taken back, what was answered of single captures goes with it"),
            [this] { Q_EMIT ranUnwanted(); });
    }
    for (std::size_t i = 0; i < m_answers.observed.answers.size(); ++i) {
        const KeptAnswer& answer = m_answers.observed.answers[i];
        addObserved({tr("May have run"), qstr(answer.capture), ticksText(answer.ticks)}, &Observations::answers, i);
    }
    for (std::size_t i = 0; i < m_answers.observed.tried.size(); ++i) {
        addObserved({tr("Experiment"), you, triedText(m_answers.observed.tried[i])}, &Observations::tried, i);
    }
    for (std::size_t i = 0; i < m_answers.observed.called.size(); ++i) {
        const CallsAgain& called = m_answers.observed.called[i];
        if (!called.atTheScene) {
            addObserved({tr("Called again"), qstr(called.capture), calledText(called)}, &Observations::called, i);
        }
    }
    if (m_answers.observed.rate) {
        const QString rate = tr("%1 in %2 h")
                                 .arg(m_answers.observed.rate->failures)
                                 .arg(qstr(hoursText(m_answers.observed.rate->hours)));
        addRow({tr("Failures"), you, rate}, you, [this] {
            Observations left = m_answers.observed;
            left.rate.reset();
            Q_EMIT observedChanged(left);
        });
    }
}

void UserContextDialog::addRow(
    const QStringList& texts, const QString& sourceTip, const TakeBack& takeBack, bool inForce)
{
    m_rows.push_back(takeBack);
    auto* item = new QTreeWidgetItem(m_tree, texts);
    item->setToolTip(kindColumn, item->text(kindColumn));
    item->setToolTip(sourceColumn, plainTip(sourceTip));
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
             "wrote and advisories can be added; answers that you give beside a verdict are listed here, too.")
        : m_answers.stored ? tr("The verdicts of this run hold with these; they are remembered with it.")
                           : tr("The verdicts of this run hold with these. It has no session, so that answers are "
                                "gone when it is closed.");
}

void UserContextDialog::showMessage()
{
    m_message->setObjectName(m_problem.isEmpty() ? QStringLiteral("muted") : QString());
    m_message->setText(m_problem.isEmpty() ? standText() : m_problem);
    m_message->style()->unpolish(m_message);
    m_message->style()->polish(m_message);
}

UserContextDialog::TakeBack UserContextDialog::current() const
{
    const int row = m_tree->indexOfTopLevelItem(m_tree->currentItem());
    return row >= 0 && row < static_cast<int>(m_rows.size()) ? m_rows[static_cast<std::size_t>(row)] : TakeBack();
}

void UserContextDialog::updateButtons()
{
    m_remove->setEnabled(current() != nullptr);
}

void UserContextDialog::remove()
{
    if (const TakeBack takeBack = current()) {
        takeBack();
    }
}

} // namespace nanscope
