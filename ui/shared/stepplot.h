// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <QColor>
#include <QString>

#include "ui/shared/keys.h"
#include "ui/shared/smallplot.h"

class QCPItemStraightLine;

namespace nanscope {

/// A plot over the steps of an iteration, which are chosen with a click or the arrow keys and told under the mouse.
class StepPlot : public SmallPlot, public KeyUser
{
    Q_OBJECT

public:
    explicit StepPlot(QWidget* parent = nullptr);

    /// What is shown of a step, in words; empty where there is no such step.
    virtual QString textOf(int step) const = 0;

    QString legendText() const { return m_legend; }
    /// The same with its marks in their colours.
    QString legendHtml() const { return m_legendHtml; }

    QString keysTitle() const override;
    std::vector<KeyHint> keyHints() const override;

Q_SIGNALS:
    void stepChosen(int step);

protected:
    /// The chosen one, and the last; they count from 1.
    virtual int step() const = 0;
    virtual int steps() const = 0;

    /// What the steps are of; a low plot leaves the room to its curves.
    void nameSteps(const QString& name);
    /// Powers of ten on the y axis, whatever the values are.
    void setLogarithmic();
    /// A dashed line, hidden before the first step.
    QCPItemStraightLine* addMarker(int step);
    void moveMarker(QCPItemStraightLine& marker, int step);

    using StepValues = std::vector<std::pair<int, std::optional<double>>>;
    /// A point for each value that a logarithmic axis can show; no line, and false, where there is none.
    bool addLine(const StepValues& values, const QColor& color, int shape, double width);
    void addNamedLine(const QString& name, const StepValues& values, const QColor& color, int shape);

    void clearLegend();
    /// Its words stay on one line where the legend takes two. With a colour its first character is the mark.
    void addLegend(const QString& name, const std::optional<QColor>& color = std::nullopt);

    void pointAt(double x, bool pressed) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QString m_steps;
    QString m_legend;
    QString m_legendHtml;
};

/// What a logarithmic axis can show.
std::optional<double> drawable(std::optional<double> value);

} // namespace nanscope
