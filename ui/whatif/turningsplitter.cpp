// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/whatif/turningsplitter.h"

#include <algorithm>
#include <utility>

#include <QHeaderView>
#include <QTableView>

#include "ui/shared/theme.h"

namespace nanscope {

namespace {

constexpr int roomBeside = grid(250);

} // namespace

TurningSplitter::TurningSplitter(QTableView* table, QWidget* detail, QWidget* parent)
    : QSplitter(Qt::Horizontal, parent)
    , m_table(table)
{
    setChildrenCollapsible(false);
    setHandleWidth(grid(2));
    addWidget(table);
    addWidget(detail);
    setStretchFactor(0, 3);
    setStretchFactor(1, 2);
}

void TurningSplitter::shareAgain()
{
    const bool beside = width() >= roomBeside;
    setOrientation(beside ? Qt::Horizontal : Qt::Vertical);
    const int rows = m_table->horizontalHeader()->height() + m_table->verticalHeader()->length() + grid(2);
    const int whole = beside ? width() : height();
    const int first = beside ? whole * 3 / 5 : std::min(rows, whole / 2);
    setSizes({first, whole - first});
}

void TurningSplitter::resizeEvent(QResizeEvent* event)
{
    QSplitter::resizeEvent(event);
    // What the user made of it stays, until it turns.
    const auto wanted = width() >= roomBeside ? Qt::Horizontal : Qt::Vertical;
    if (orientation() != wanted || !std::exchange(m_shared, true)) {
        shareAgain();
    }
}

} // namespace nanscope
