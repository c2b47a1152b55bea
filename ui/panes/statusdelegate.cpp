// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/statusdelegate.h"

#include <QApplication>

#include "ui/models/roles.h"
#include "ui/panes/marks.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

constexpr int markSize = 10;

} // namespace

// An empty icon keeps the room that the mark is painted into.
void StatusDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    if (index.data(StatusRole).isValid()) {
        option->features |= QStyleOptionViewItem::HasDecoration;
        option->decorationSize = {markSize + grid(1), markSize};
    }
}

void StatusDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QStyledItemDelegate::paint(painter, option, index);
    const QVariant status = index.data(StatusRole);
    if (!status.isValid()) {
        return;
    }
    QStyleOptionViewItem filled(option);
    initStyleOption(&filled, index);
    const QStyle* style = option.widget ? option.widget->style() : QApplication::style();
    const QRect room = style->subElementRect(QStyle::SE_ItemViewItemDecoration, &filled, option.widget);
    QRectF box(0, 0, markSize, markSize);
    box.moveCenter(QRectF(room).center());
    drawStatusMark(*painter, box, static_cast<StatusMark>(status.toInt()));
}

} // namespace nanscope
