// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <limits>

#include <QDialog>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QStandardItemModel>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/copying.h"
#include "ui/models/roles.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

QStandardItem* itemOf(const QString& cell)
{
    auto* item = new QStandardItem(cell);
    bool isNumber = false;
    double number = cell.toDouble(&isNumber);
    // A NaN that takes part in comparisons would leave the others in no order.
    number = std::isnan(number) ? std::numeric_limits<double>::infinity() : number;
    item->setData(isNumber ? QVariant(number) : QVariant(cell), SortRole);
    if (isNumber) {
        item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    }
    item->setToolTip(cell);
    item->setEditable(false);
    return item;
}

} // namespace

QTableView* makeTableView(QWidget* parent, const QString& title)
{
    auto* view = new QTableView(parent);
    view->setAccessibleName(title);
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setShowGrid(false);
    view->setTabKeyNavigation(false);
    view->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    view->setSortingEnabled(true);
    view->verticalHeader()->hide();
    view->verticalHeader()->setDefaultSectionSize(grid(6));
    view->setModel(new QStandardItemModel(view));
    makeCopyable(*view, title);
    return view;
}

void fillTableView(QTableView& view, const TextTable& table)
{
    auto* model = qobject_cast<QStandardItemModel*>(view.model());
    model->clear();
    model->setHorizontalHeaderLabels(table.columns);
    model->setSortRole(SortRole);
    for (const QStringList& row : table.rows) {
        QList<QStandardItem*> items;
        std::ranges::transform(row, std::back_inserter(items), itemOf);
        model->appendRow(items);
    }
    view.resizeColumnsToContents();
}

QTableView* showTable(QWidget& parent, const QString& title, const TextTable& table)
{
    auto* dialog = new QDialog(&parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    auto* view = makeTableView(dialog, title);
    fillTableView(*view, table);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
    auto* layout = new QVBoxLayout(dialog);
    layout->addWidget(view, 1);
    layout->addWidget(buttons);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    dialog->resize(grid(160), grid(100));
    dialog->show();
    return view;
}

} // namespace nanscope
