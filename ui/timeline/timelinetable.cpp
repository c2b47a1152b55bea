// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/timelinetable.h"

#include <algorithm>
#include <tuple>

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QFontDatabase>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QShortcut>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/shared/theme.h"
#include "ui/timeline/timelinereadout.h"

namespace nanscope {

namespace {

using Less = bool (*)(const TimelineRow&, const TimelineRow&);

bool lessStep(const TimelineRow& a, const TimelineRow& b)
{
    return a.point.step < b.point.step;
}

bool lessLine(const TimelineRow& a, const TimelineRow& b)
{
    return a.line.localeAwareCompare(b.line) < 0;
}

bool lessValue(const TimelineRow& a, const TimelineRow& b)
{
    if (a.point.state != b.point.state || a.point.state != PointState::finite) {
        return a.point.state < b.point.state;
    }
    return a.point.value < b.point.value;
}

bool lessState(const TimelineRow& a, const TimelineRow& b)
{
    return a.point.state < b.point.state;
}

bool lessPlace(const TimelineRow& a, const TimelineRow& b)
{
    return std::tie(a.source, a.point.line) < std::tie(b.source, b.point.line);
}

constexpr Less orders[] = {lessStep, lessLine, lessValue, lessState, lessPlace};

QString cellText(const TimelineRow& row, int column)
{
    switch (column) {
    case TimelineTableModel::step:
        return QString::number(row.point.step);
    case TimelineTableModel::line:
        return row.line;
    case TimelineTableModel::value:
        return valueText(row.point);
    case TimelineTableModel::state:
        return stateWord(row.point.state);
    default:
        return placeOf(row);
    }
}

} // namespace

TimelineTableModel::TimelineTableModel(std::vector<TimelineRow> rows, QObject* parent)
    : QAbstractTableModel(parent)
    , m_rows(std::move(rows))
{ }

int TimelineTableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int TimelineTableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : columns;
}

QVariant TimelineTableModel::data(const QModelIndex& index, int role) const
{
    const TimelineRow& row = this->row(index.row());
    const bool number = index.column() == step || index.column() == value;
    if (role == Qt::DisplayRole) {
        return cellText(row, index.column());
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(Qt::Alignment((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    }
    return {};
}

QVariant TimelineTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    const QString names[] = {tr("Step"), tr("Line"), tr("Value"), tr("State"), tr("File:line")};
    return names[section];
}

void TimelineTableModel::sort(int column, Qt::SortOrder order)
{
    if (column < 0 || column >= columns) {
        return;
    }
    Q_EMIT layoutAboutToBeChanged();
    const Less less = orders[column];
    std::ranges::stable_sort(m_rows, [&](const TimelineRow& a, const TimelineRow& b) {
        return order == Qt::AscendingOrder ? less(a, b) : less(b, a);
    });
    Q_EMIT layoutChanged();
}

TimelineTable::TimelineTable(const QString& title, const QString& note, std::vector<TimelineRow> rows, QWidget* parent)
    : QDialog(parent)
    , m_model(new TimelineTableModel(std::move(rows), this))
    , m_view(new QTableView(this))
{
    setWindowTitle(title);
    setAttribute(Qt::WA_DeleteOnClose);
    m_view->setModel(m_model);
    m_view->setAccessibleName(title);
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setShowGrid(false);
    m_view->setSortingEnabled(true);
    m_view->sortByColumn(TimelineTableModel::step, Qt::AscendingOrder);
    m_view->verticalHeader()->hide();
    m_view->verticalHeader()->setDefaultSectionSize(grid(6));
    m_view->horizontalHeader()->setStretchLastSection(true);
    auto* caption = new QLabel(note, this);
    caption->setObjectName(QStringLiteral("muted"));
    caption->setTextFormat(Qt::PlainText);
    caption->setWordWrap(true);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    auto* copyButton = buttons->addButton(tr("Copy"), QDialogButtonBox::ActionRole);
    copyButton->setToolTip(tr("The selected rows, or all, with tabs between (Ctrl+C)"));
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(caption);
    layout->addWidget(m_view, 1);
    layout->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(copyButton, &QPushButton::clicked, this, &TimelineTable::copy);
    connect(new QShortcut(QKeySequence::Copy, this), &QShortcut::activated, this, &TimelineTable::copy);
    resize(grid(160), grid(120));
}

void TimelineTable::copy() const
{
    QModelIndexList selected = m_view->selectionModel()->selectedRows();
    std::ranges::sort(selected, {}, &QModelIndex::row);
    std::vector<TimelineRow> rows;
    for (const QModelIndex& index : selected) {
        rows.push_back(m_model->row(index.row()));
    }
    for (int i = 0; selected.isEmpty() && i < m_model->rowCount(); ++i) {
        rows.push_back(m_model->row(i));
    }
    QApplication::clipboard()->setText(rowsAsTsv(rows));
}

} // namespace nanscope
