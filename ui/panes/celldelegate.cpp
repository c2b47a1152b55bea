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

/// Bold where it fits, else smaller and narrower: an outcome is never cut to "dege…" while there is another way.
QFont wordFont(const QFont& font, const QString& word, bool bold, int width)
{
    QFont shown = font;
    shown.setBold(bold);
    if (QFontMetrics(shown).horizontalAdvance(word) > width) {
        shown = smaller(font);
        shown.setStretch(QFont::SemiCondensed);
    }
    return shown;
}

void drawLine(QPainter& painter, const QRect& place, const QFont& font, const QString& text)
{
    painter.setFont(font);
    painter.drawText(
        place, Qt::AlignLeft | Qt::AlignVCenter, QFontMetrics(font).elidedText(text, Qt::ElideRight, place.width()));
}

void paintDone(QPainter& painter, const QRect& field, const QFont& font, const QModelIndex& index)
{
    constexpr int markSize = 8;
    constexpr int padding = 5;
    const auto outcome = static_cast<Outcome>(index.data(OutcomeRole).toInt());
    QString word = index.data().toString();
    QString birth = index.data(BirthTextRole).toString();
    // A long word without a birth below it has the second line to itself.
    if (birth.isEmpty()
        && QFontMetrics(smaller(font)).horizontalAdvance(word) > field.width() - 3 * padding - markSize) {
        std::swap(word, birth);
    }
    painter.fillRect(field, tintOf(outcome));
    const int line = QFontMetrics(font).height();
    const int overlap = 2;
    const int top = birth.isEmpty() ? field.top() + (field.height() - line) / 2
                                    : field.top() + (field.height() - 2 * line + overlap) / 2;
    drawOutcomeMark(
        painter, QRectF(field.left() + padding, top + (line - markSize) / 2.0, markSize, markSize), outcome);
    const int left = field.left() + padding + markSize + padding;
    const QRect first(left, top, field.right() - left, line);
    painter.setPen(outcome == Outcome::finite ? theme().muted : theme().text);
    drawLine(painter, first, wordFont(font, word, outcome != Outcome::finite, first.width()), word);
    if (!birth.isEmpty()) {
        const QRect second(field.left() + padding, top + line - overlap, field.width() - padding, line);
        QFont small = smaller(font);
        small.setStretch(QFont::SemiCondensed);
        drawLine(painter, second, small, birth);
    }
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
