// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/plots/colormap.h"

namespace nanscope {

/// Gradient of one heat map with the ends of its scale.
class ScaleBar : public QWidget
{
    Q_OBJECT

public:
    explicit ScaleBar(QWidget* parent = nullptr);
    void setScale(const LogScale& scale);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    LogScale m_scale;
};

/// The colours and marks outside the map: NaN, +Inf, −Inf, zero, and the frame of the birth.
class ClassLegend : public QWidget
{
    Q_OBJECT

public:
    explicit ClassLegend(QWidget* parent = nullptr);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
};

} // namespace nanscope
