// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/instruments/epsilon.h"
#include "ui/instruments/stopplot.h"

namespace nanscope {

/// What other epsilons make of the same input: one after the other from left to right, in the lanes of the outcomes,
/// with how much they change. Those that round to zero in the format of the denominator stand on hatched ground.
class EpsilonPlot : public StopPlot
{
    Q_OBJECT

public:
    explicit EpsilonPlot(QWidget* parent = nullptr);

    void setAnswer(const instruments::EpsilonAnswer& answer);
    const instruments::EpsilonAnswer& answer() const { return m_answer; }
    QString legendText() const;

    QString textOf(int stop) const override;

protected:
    const std::vector<double>& stops() const override { return m_stops; }
    void rebuild() override;

private:
    void addNames();
    void addChanges();

    instruments::EpsilonAnswer m_answer;
    std::vector<double> m_stops;
};

QString epsilonSummary(const instruments::EpsilonAnswer& answer);

/// Tab-separated, a heading first.
QString epsilonTsv(const instruments::EpsilonAnswer& answer);

} // namespace nanscope
