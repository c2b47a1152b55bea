// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/variantheader.h"

#include <QPainter>

#include "ui/models/roles.h"
#include "ui/theme.h"

namespace nanscope {

VariantHeader::VariantHeader(QWidget* parent)
    : QHeaderView(Qt::Vertical, parent)
{
    setSectionsClickable(false);
    setAccessibleName(tr("Variants"));
}

QSize VariantHeader::sizeHint() const
{
    return {grid(34), QHeaderView::sizeHint().height()};
}

void VariantHeader::paintSection(QPainter* painter, const QRect& rect, int section) const
{
    const bool identified = model()->headerData(section, orientation(), IdentifiedRole).toBool();
    QFont shown = font();
    shown.setBold(identified);
    painter->save();
    painter->fillRect(rect, theme().surface);
    painter->setFont(shown);
    painter->setPen(theme().text);
    const QRect place = rect.adjusted(grid(3), 0, -grid(1), 0);
    const QString name = model()->headerData(section, orientation()).toString();
    painter->drawText(
        place, Qt::AlignLeft | Qt::AlignVCenter, QFontMetrics(shown).elidedText(name, Qt::ElideMiddle, place.width()));
    painter->restore();
}

} // namespace nanscope
