// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/verdict/verdictflow.h"

#include <algorithm>

#include <QWidget>
#include <QWidgetItem>

namespace nanscope {

VerdictFlow::VerdictFlow(QWidget* parent)
    : QLayout(parent)
{
    setContentsMargins(0, 0, 0, 0);
}

VerdictFlow::~VerdictFlow()
{
    for (QLayoutItem* item : m_items) {
        delete item;
    }
}

void VerdictFlow::insertAt(int index, QWidget* widget)
{
    addChildWidget(widget);
    m_items.insert(m_items.begin() + index, new QWidgetItem(widget));
    invalidate();
}

void VerdictFlow::addItem(QLayoutItem* item)
{
    m_items.push_back(item);
    invalidate();
}

int VerdictFlow::count() const
{
    return static_cast<int>(m_items.size());
}

QLayoutItem* VerdictFlow::itemAt(int index) const
{
    return index >= 0 && index < count() ? m_items[static_cast<std::size_t>(index)] : nullptr;
}

QLayoutItem* VerdictFlow::takeAt(int index)
{
    QLayoutItem* item = itemAt(index);
    if (item) {
        m_items.erase(m_items.begin() + index);
        invalidate();
    }
    return item;
}

int VerdictFlow::heightForWidth(int width) const
{
    return heightOfRows(width, count());
}

int VerdictFlow::heightOfRows(int width, int rows) const
{
    int height = 0;
    for (auto begin = m_items.begin(); begin != m_items.end() && rows > 0;) {
        const Row row = rowFrom(begin, width);
        height += row.height > 0 ? (height > 0 ? spacing() : 0) + row.height : 0;
        rows -= row.height > 0 ? 1 : 0;
        begin = row.end;
    }
    return height;
}

QSize VerdictFlow::minimumSize() const
{
    QSize widest(0, 0);
    for (const QLayoutItem* item : m_items) {
        widest = item->isEmpty() ? widest : widest.expandedTo(item->minimumSize());
    }
    return widest;
}

QSize VerdictFlow::sizeHint() const
{
    int width = 0;
    int height = 0;
    for (const QLayoutItem* item : m_items) {
        if (!item->isEmpty()) {
            width += (width > 0 ? spacing() : 0) + item->sizeHint().width();
            height = std::max(height, item->sizeHint().height());
        }
    }
    return {width, height};
}

void VerdictFlow::setGeometry(const QRect& rect)
{
    QLayout::setGeometry(rect);
    arrange(rect);
}

void VerdictFlow::arrange(const QRect& rect) const
{
    int top = rect.top();
    for (auto begin = m_items.begin(); begin != m_items.end();) {
        const Row row = rowFrom(begin, rect.width());
        placeRow(begin, row, QPoint(rect.left(), top), rect.width());
        top += row.height > 0 ? row.height + spacing() : 0;
        begin = row.end;
    }
}

VerdictFlow::Row VerdictFlow::rowFrom(Iterator begin, int width) const
{
    Row row {begin, 0};
    int used = 0;
    for (; row.end != m_items.end(); ++row.end) {
        if ((*row.end)->isEmpty()) {
            continue;
        }
        const QSize hint = (*row.end)->sizeHint();
        if (used > 0 && used + spacing() + hint.width() > width) {
            break;
        }
        used += (used > 0 ? spacing() : 0) + hint.width();
        row.height = std::max(row.height, hint.height());
    }
    return row;
}

void VerdictFlow::placeRow(Iterator begin, const Row& row, QPoint corner, int width) const
{
    for (auto item = begin; item != row.end; ++item) {
        if (!(*item)->isEmpty()) {
            const QSize hint = (*item)->sizeHint();
            const QSize size(std::min(hint.width(), width), hint.height());
            (*item)->setGeometry(QRect(corner + QPoint(0, (row.height - size.height()) / 2), size));
            corner.rx() += size.width() + spacing();
        }
    }
}

} // namespace nanscope
