// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/axisstyle.h"

#include "ui/plots/qcp.h"
#include "ui/theme.h"

namespace nanscope {

void styleAxis(QCPAxis* axis, const QFont& font)
{
    axis->setBasePen(QPen(theme().line));
    axis->setTickPen(QPen(theme().line));
    axis->setSubTickPen(Qt::NoPen);
    axis->setTickLabelColor(theme().muted);
    axis->setLabelColor(theme().muted);
    axis->setTickLabelFont(font);
    axis->setLabelFont(font);
    axis->grid()->setPen(QPen(theme().line, 1, Qt::DotLine));
    axis->grid()->setSubGridVisible(false);
    axis->grid()->setZeroLinePen(Qt::NoPen);
}

} // namespace nanscope
