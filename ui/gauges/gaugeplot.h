// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QString>

#include "core/model/model.h"
#include "ui/shared/stepplot.h"

namespace nanscope {

/// Gauges of a cell per step on one logarithmic axis. A step whose value is missing (not finite, or not defined for
/// this variant) has no point; the limit of each step is a short line of its own, and the slack below it is shaded.
class GaugePlot : public StepPlot
{
    Q_OBJECT

public:
    explicit GaugePlot(QWidget* parent = nullptr);

    void setCell(const Cell* cell);
    void setIteration(int iteration);

    /// One line per step, for a table, copying and tests.
    struct Row
    {
        int iteration = 0;
        std::optional<double> spectralBound;
        std::optional<double> spectralLimit;
        std::optional<double> slackPercent;
        std::optional<double> absmaxQ;
        std::optional<double> orthogonality;
        double absmaxX = 0;
    };
    const std::vector<Row>& rows() const { return m_rows; }
    /// True where no gauge is a finite number, too.
    bool drawsNothing() const;
    /// Tab-separated, a heading first; what is not known is empty. With the deep gauges of the cell, if it has any.
    QString table() const;

    QString textOf(int step) const override;

protected:
    void rebuild() override;
    int step() const override { return m_iteration; }
    int steps() const override { return m_rows.empty() ? 0 : m_rows.back().iteration; }

private:
    template <class Member>
    StepValues columnOf(Member member) const;
    QString boundName() const;
    void addLimits();

    QCPItemStraightLine* m_marker = nullptr;
    std::vector<Row> m_rows;
    std::optional<DeepGauges> m_deep; ///< for the table
    double m_formatMax = 0;
    QString m_format;
    int m_iteration = -1;
};

} // namespace nanscope
