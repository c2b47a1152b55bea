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
    m_outcome.reset();
    setVisible(role >= 0);
    update();
}

void MarkLabel::setOutcome(std::optional<Outcome> outcome)
{
    m_role = -1;
    m_outcome = outcome;
    setVisible(outcome.has_value());
    update();
}

void MarkLabel::paintEvent(QPaintEvent* event)
{
    Q_UNUSED(event)
    QPainter painter(this);
    const QRectF box = QRectF(rect()).adjusted(1, 1, -1, -1);
    if (m_outcome) {
        drawOutcomeMark(painter, box.adjusted(1, 1, -1, -1), *m_outcome);
    } else {
        drawRoleMark(painter, box, m_role);
    }
}

} // namespace nanscope
