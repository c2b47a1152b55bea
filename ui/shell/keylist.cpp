// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/keylist.h"

#include <algorithm>
#include <tuple>

#include <QAction>
#include <QCoreApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QSortFilterProxyModel>
#include <QStandardItemModel>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/shared/copying.h"
#include "ui/shared/keys.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

struct KeyListWords
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::KeyList)
};

QString withoutMnemonic(QString text)
{
    return text.remove(QLatin1Char('&'));
}

QString described(const QAction& action)
{
    const QString text = withoutMnemonic(action.text());
    const QString tip = action.statusTip();
    return tip.isEmpty() || tip == text ? text : QStringLiteral("%1: %2").arg(text, tip);
}

QString shown(const QList<QKeySequence>& keys)
{
    QStringList texts;
    for (const QKeySequence& key : keys) {
        texts << key.toString(QKeySequence::NativeText);
    }
    return texts.join(QStringLiteral(", "));
}

void addMenu(std::vector<KeyRow>& rows, const QMenu& menu, const QString& group)
{
    for (const QAction* action : menu.actions()) {
        if (action->isSeparator() || action->text().isEmpty()) {
            continue;
        }
        if (const QMenu* below = action->menu()) {
            // What was opened lately is no command.
            if (below->objectName() != QStringLiteral("recent")) {
                addMenu(rows, *below, QStringLiteral("%1 › %2").arg(group, withoutMnemonic(below->title())));
            }
            continue;
        }
        rows.push_back({group, shown(action->shortcuts()), described(*action)});
    }
}

void addWidgets(std::vector<KeyRow>& rows, const QMainWindow& window)
{
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
        for (const QAction* action : widget->actions()) {
            if (action->parent() == widget && action->shortcutContext() == Qt::WidgetWithChildrenShortcut) {
                rows.push_back({KeyListWords::tr("Tables and plots"), shown(action->shortcuts()),
                    withoutMnemonic(action->text())});
            }
        }
        if (const auto* user = dynamic_cast<const KeyUser*>(widget)) {
            for (const KeyHint& hint : user->keyHints()) {
                rows.push_back(
                    {user->keysTitle(), hint.mouse.isEmpty() ? shown(hint.keys) : hint.mouse, sentenceCase(hint.what)});
            }
        }
    }
}

QStandardItemModel* modelOf(const std::vector<KeyRow>& rows, QObject* parent)
{
    auto* model = new QStandardItemModel(parent);
    model->setHorizontalHeaderLabels({KeyListWords::tr("Where"), KeyListWords::tr("Keys"), KeyListWords::tr("What")});
    for (const KeyRow& row : rows) {
        QList<QStandardItem*> items;
        for (const QString& text : {row.group, row.keys, row.what}) {
            auto* item = new QStandardItem(text);
            item->setEditable(false);
            item->setToolTip(text);
            items << item;
        }
        model->appendRow(items);
    }
    return model;
}

QTableView* makeView(QWidget* parent, QAbstractItemModel* model)
{
    auto* view = makeListOfRows(parent, model, KeyListWords::tr("Commands and keys"));
    view->horizontalHeader()->setStretchLastSection(true);
    view->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    view->resizeColumnsToContents();
    // One command with many keys would take the room of what all of them do.
    for (const int column : {0, 1}) {
        view->setColumnWidth(column, std::min(view->columnWidth(column), grid(45)));
    }
    makeCopyable(*view, KeyListWords::tr("Commands and keys"));
    return view;
}

} // namespace

std::vector<KeyRow> keyRows(const QMainWindow& window)
{
    std::vector<KeyRow> rows;
    for (const QAction* action : window.menuBar()->actions()) {
        if (const QMenu* menu = action->menu()) {
            addMenu(rows, *menu, withoutMnemonic(menu->title()));
        }
    }
    addWidgets(rows, window);
    // Several heat maps handle the same keys.
    std::vector<KeyRow> unique;
    for (KeyRow& row : rows) {
        const auto same = [&row](const KeyRow& other) {
            return std::tie(row.group, row.keys, row.what) == std::tie(other.group, other.keys, other.what);
        };
        if (std::ranges::none_of(unique, same)) {
            unique.push_back(std::move(row));
        }
    }
    return unique;
}

QDialog* showKeyList(QMainWindow& window)
{
    auto* dialog = new QDialog(&window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(KeyListWords::tr("Commands and keys"));
    auto* found = new QSortFilterProxyModel(dialog);
    found->setSourceModel(modelOf(keyRows(window), dialog));
    found->setFilterCaseSensitivity(Qt::CaseInsensitive);
    found->setFilterKeyColumn(-1);
    auto* box = new QLineEdit(dialog);
    box->setPlaceholderText(KeyListWords::tr("Search, e.g. zoom or Ctrl"));
    box->setAccessibleName(KeyListWords::tr("Search commands and keys"));
    box->setClearButtonEnabled(true);
    QTableView* view = makeView(dialog, found);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
    buttons->button(QDialogButtonBox::Close)->setAutoDefault(false);
    auto* layout = new QVBoxLayout(dialog);
    layout->addWidget(box);
    layout->addWidget(view, 1);
    layout->addWidget(buttons);
    QObject::connect(box, &QLineEdit::textChanged, found, &QSortFilterProxyModel::setFilterFixedString);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    int longest = 0;
    for (int row = 0; row < found->rowCount(); ++row) {
        longest = std::max(longest, view->fontMetrics().horizontalAdvance(found->index(row, 2).data().toString()));
    }
    const int wanted = view->columnWidth(0) + view->columnWidth(1) + longest + grid(16);
    dialog->resize(std::min(wanted, window.width() - grid(4)), grid(130));
    dialog->show();
    return dialog;
}

} // namespace nanscope
