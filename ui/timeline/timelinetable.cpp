// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/timelinetable.h"

#include <algorithm>
#include <tuple>

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QShortcut>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/shared/copying.h"
#include "ui/shared/theme.h"
#include "ui/timeline/timelinereadout.h"

namespace nanscope {

namespace {

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

std::vector<RowColumn<TimelineRow>> timelineColumns()
{
    constexpr Qt::Alignment number = Qt::AlignRight | Qt::AlignVCenter;
    return {
        {.title = TimelineTable::tr("Step"),
            .text = [](const TimelineRow& row) { return QString::number(row.point.step); },
            .less = lessStep,
            .alignment = number},
        {.title = TimelineTable::tr("Line"), .text = [](const TimelineRow& row) { return row.line; }, .less = lessLine},
        {.title = TimelineTable::tr("Value"),
            .text = [](const TimelineRow& row) { return valueText(row.point); },
            .less = lessValue,
            .alignment = number},
        {.title = TimelineTable::tr("State"),
            .text = [](const TimelineRow& row) { return stateWord(row.point.state); },
            .less = lessState},
        {.title = TimelineTable::tr("File:line"),
            .text = [](const TimelineRow& row) { return placeOf(row); },
            .less = lessPlace},
    };
}

} // namespace

TimelineTable::TimelineTable(const QString& title, const QString& note, std::vector<TimelineRow> rows, QWidget* parent)
    : QDialog(parent)
    , m_model(new RowModel(timelineColumns(), this))
    , m_view(makeListOfRows(this, m_model, title))
{
    setWindowTitle(title);
    setAttribute(Qt::WA_DeleteOnClose);
    m_model->setRows(std::move(rows));
    m_view->setSortingEnabled(true);
    m_view->sortByColumn(step, Qt::AscendingOrder);
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
        rows.push_back(*m_model->rowAt(index.row()));
    }
    QApplication::clipboard()->setText(rowsAsTsv(rows.empty() ? m_model->rows() : rows));
}

} // namespace nanscope
