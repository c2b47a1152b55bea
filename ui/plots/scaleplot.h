// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/plots/scalepicture.h"
#include "ui/plots/stopplot.h"

namespace nanscope {

/// How one matrix ends at every scale that was looked at: binades from left to right, the captured one at 0, and a lane
/// for each outcome, so that none is told by its colour alone. A mark is a look, a bar what lies between looks that
/// ended alike; where nobody looked, or the outcome changes, the lanes are hatched.
class ScalePlot : public StopPlot
{
    Q_OBJECT

public:
    explicit ScalePlot(QWidget* parent = nullptr);

    void setAnswer(const ScalePicture& picture);
    const ScalePicture& answer() const { return m_picture; }
    /// "✓ looked at · ▬ between two that ended alike · …"
    static QString legendText();

    QString textOf(int stop) const override;

    /// Of the axis, in binades; the wheel and the keys + and − take a part of it.
    double lowestShown() const;
    double highestShown() const;

    std::vector<KeyHint> keyHints() const override;

protected:
    const std::vector<double>& stops() const override { return m_stops; }
    QString textAt(double x) const override;
    void rebuild() override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void showWhole();
    void zoom(double factor, double about);
    void addStretch(const ScaleStretch& stretch);
    void addLooks(std::optional<Outcome> outcome);
    void addEdges();

    ScalePicture m_picture;
    std::vector<double> m_stops;
    std::vector<std::size_t> m_looks; ///< one per stop
};

} // namespace nanscope
