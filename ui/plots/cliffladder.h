// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/plots/cliffpicture.h"

class QCustomPlot;

namespace nanscope {

/// σ_max on entry of every step as a share of that step's limit: dots with the range of the roundings as a bar, all as
/// replayed, under one line at 100 %. What lies above the plot is a triangle at its edge, a step whose iterate is not
/// finite a cross.
class CliffLadder : public QWidget
{
    Q_OBJECT

public:
    explicit CliffLadder(QWidget* parent = nullptr);
    ~CliffLadder() override;

    void setPicture(const CliffPicture& picture, int step);
    QPixmap picture() const;

Q_SIGNALS:
    void stepChosen(int step);
    void readoutChanged(const QString& text);

protected:
    void changeEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void restyle();
    void rebuild();
    void addStep(const CliffStep& step);
    void addMark(int step, double share, int shape, const QColor& color, bool filled);
    int steps() const { return static_cast<int>(m_picture.steps.size()); }

    QCustomPlot* m_plot;
    CliffPicture m_picture;
    int m_step = 1;
};

} // namespace nanscope
