// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QString>
#include <QStringList>

#include "core/replay/analysis/cliff.h"

namespace nanscope {

using SharedCliff = std::shared_ptr<const replay::ReplayedCliff>;

/// What was replayed of one cell, one entry per setting of scale and safety factor: in the order of time, the oldest
/// forgotten beyond `mostSettings`.
class CliffHistory
{
public:
    static constexpr std::size_t mostSettings = 1000;

    /// Takes the place of an entry of the same setting that has fewer roundings.
    void add(SharedCliff cliff);
    void clear() { m_all.clear(); }
    const std::vector<SharedCliff>& all() const { return m_all; }

    SharedCliff find(double scale, double safety) const;
    /// Of one safety factor, by ascending scale.
    std::vector<SharedCliff> along(double safety) const;

private:
    std::vector<SharedCliff> m_all;
};

/// The scale at which the curve expects the limit of step 1, from what was measured at another; none before a finite
/// σ_max was measured.
std::optional<double> expectedLimitScale(const replay::ReplayedCliff& cliff, double limit);

/// One line per setting and step, tab-separated, a heading first; empty where nothing is known.
QString cliffTsv(const CliffHistory& history);

} // namespace nanscope
