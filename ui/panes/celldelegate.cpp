// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/celldelegate.h"

#include <QPainter>

#include "ui/models/cellgridmodel.h"
#include "ui/models/roles.h"
#include "ui/panes/marks.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

QColor tintOf(Outcome outcome)
{
    switch (outcome) {
    case Outcome::finite:
        return theme().goodTint;
    case Outcome::degenerate:
        return theme().warningTint;
    default:
        return theme().badTint;
    }
}

QFont smaller(QFont font)
{
    font.setPointSizeF(std::max(6.5, font.pointSizeF() - 1.5));
    return font;
}

void paintDone(QPainter& painter, const QRect& field, const QFont& font, const QModelIndex& index)
{
    const auto outcome = static_cast<Outcome>(index.data(OutcomeRole).toInt());
    const QString birth = index.data(BirthTextRole).toString();
    painter.fillRect(field, tintOf(outcome));
    const QFontMetrics metrics(font);
    const int lines = birth.isEmpty() ? 1 : 2;
    const int top = field.top() + (field.height() - lines * metrics.height() + (lines - 1) * 3) / 2;
    constexpr int markSize = 8;
    drawOutcomeMark(
        painter, QRectF(field.left() + 6, top + (metrics.height() - markSize) / 2.0, markSize, markSize), outcome);
    QFont word = font;
    word.setBold(outcome != Outcome::finite);
    painter.setFont(word);
    painter.setPen(outcome == Outcome::finite ? theme().muted : theme().text);
    const int left = field.left() + 6 + markSize + 5;
    const QRect first(left, top, field.right() - left, metrics.height());
    painter.drawText(first, Qt::AlignLeft | Qt::AlignVCenter,
        QFontMetrics(word).elidedText(index.data().toString(), Qt::ElideRight, first.width()));
    if (birth.isEmpty()) {
        return;
    }
    const QFont small = smaller(font);
    const QRect second(field.left() + 6, top + metrics.height() - 3, field.width() - 8, metrics.height());
    painter.setFont(small);
    painter.setPen(theme().text);
    painter.drawText(second, Qt::AlignLeft | Qt::AlignVCenter,
        QFontMetrics(small).elidedText(birth, Qt::ElideRight, second.width()));
}

} // namespace

void CellDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    painter->save();
    const QRect field = option.rect.adjusted(1, 1, -1, -1);
    const auto state = static_cast<CellState>(index.data(CellStateRole).toInt());
    if (state == CellState::done) {
        paintDone(*painter, field, option.font, index);
    } else {
        painter->fillRect(field, state == CellState::failed ? theme().warningTint : theme().sunken);
        painter->setFont(option.font);
        painter->setPen(theme().muted);
        painter->drawText(field, Qt::AlignCenter, index.data().toString());
    }
    if (option.state.testFlag(QStyle::State_Selected)) {
        painter->setPen(QPen(theme().accent, 1));
        painter->drawRect(field.adjusted(0, 0, -1, -1));
    }
    painter->restore();
}

QSize CellDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    Q_UNUSED(index)
    return {grid(18), 2 * QFontMetrics(option.font).height() + grid(1)};
}

} // namespace nanscope
