// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/marklabel.h"

#include <QPainter>

#include "ui/panes/marks.h"

namespace nanscope {

MarkLabel::MarkLabel(QWidget* parent)
    : QWidget(parent)
{
    setFixedSize(14, 14);
}

void MarkLabel::setRole(int role)
{
    m_role = role;
    setVisible(role >= 0);
    update();
}

void MarkLabel::paintEvent(QPaintEvent* event)
{
    Q_UNUSED(event)
    QPainter painter(this);
    drawRoleMark(painter, QRectF(rect()).adjusted(1, 1, -1, -1), m_role);
}

} // namespace nanscope
