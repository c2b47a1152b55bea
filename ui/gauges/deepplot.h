// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <optional>

#include <QString>
#include <QStringList>

#include "core/model/model.h"
#include "ui/shared/stepplot.h"

namespace nanscope {

/// Columns of a table of gauges that deep ones add, and their values at one step; none where there are none.
QStringList deepColumns(const DeepGauges& deep);
QStringList deepValues(const DeepGauges& deep, int iteration);

/// One kind of deep gauges per step, on a logarithmic axis. What is absent has no point; a negative eigenvalue is shown
/// by its magnitude in the colour of what is bad.
class DeepPlot : public StepPlot
{
    Q_OBJECT

public:
    enum class Kind { errors, eigenvalue, signal };

    explicit DeepPlot(Kind kind, QWidget* parent = nullptr);

    void setDeep(const std::optional<DeepGauges>& deep);
    void setIteration(int iteration);

    static QString title(Kind kind);
    QString textOf(int iteration) const override;

protected:
    void rebuild() override;
    int step() const override { return m_iteration; }
    int steps() const override { return m_deep ? static_cast<int>(m_deep->steps.size()) : 0; }

private:
    void drawErrors();
    void drawEigenvalue();
    void drawSignal();
    StepValues valuesOf(const std::function<std::optional<double>(const DeepGauge&)>& value) const;
    void addBand();
    const DeepGauge* stepOf(int iteration) const;

    Kind m_kind;
    QCPItemStraightLine* m_marker = nullptr;
    std::optional<DeepGauges> m_deep;
    int m_iteration = -1;
};

} // namespace nanscope
