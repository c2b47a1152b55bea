// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QRectF>
#include <QString>
#include <QWidget>

#include "core/model/model.h"

class QPainter;

namespace nanscope {

/// Mark of a role: a filled disc in the birth colour, a triangle for upstream, a ring for downstream, a square for
/// padding. Told apart by shape as well as by colour. A role of -1 draws nothing.
void drawRoleMark(QPainter& painter, const QRectF& box, int role);

/// The marks of the roles with their words, as rich text.
QString roleLegendText();

/// Mark of an outcome: tick, diamond, ring, triangle, cross.
void drawOutcomeMark(QPainter& painter, const QRectF& box, Outcome outcome);

/// A dotted frame around a widget that has the keyboard, else nothing.
void drawFocusFrame(QPainter& painter, const QWidget& widget);

/// How something stands, without an outcome or a role: tick, triangle, cross, question mark, dash.
enum class StatusMark { good, caution, bad, unknown, none };

void drawStatusMark(QPainter& painter, const QRectF& box, StatusMark mark);

/// Mark of a capture's role beside a headline, or of an outcome.
class MarkLabel : public QWidget
{
    Q_OBJECT

public:
    explicit MarkLabel(QWidget* parent = nullptr);
    void setRole(int role);
    void setOutcome(std::optional<Outcome> outcome);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int m_role = -1;
    std::optional<Outcome> m_outcome; ///< instead of a role
};

} // namespace nanscope
