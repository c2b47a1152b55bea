// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/deeptable.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/nanscope/words.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

namespace nanscope {

namespace {

std::string numberOr(const std::optional<double>& value)
{
    return value ? fmt::format("{:.3g}", *value) : "-";
}

std::string rangeOf(const std::vector<double>& values)
{
    if (values.empty()) {
        return "-";
    }
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return fmt::format("{:.4g} to {:.4g}", *low, *high);
}

std::string signalLine(const DeepGauges& deep)
{
    if (deep.shares.empty()) {
        return "  no signal direction converged: σ/‖G‖ of every one is below 0.01, or the input is not finite\n";
    }
    return fmt::format("  signal: {} with σ/‖G‖ {}; the schedule's published output is {:.4g} to {:.4g}\n",
        counted(static_cast<std::int64_t>(deep.shares.size()), "direction"), rangeOf(deep.shares), deep.outputRange[0],
        deep.outputRange[1]);
}

std::string deepTable(const DeepGauges& deep)
{
    constexpr auto right = Table::Align::right;
    Table table({{"step", right}, {"X to fp64", right}, {"λmin ≤", right}, {"asymmetry", right}, {"commutator", right},
        {"signal after it", right}});
    for (const auto& step : deep.steps) {
        table.add({std::to_string(step.iteration), numberOr(step.iterateDistance), numberOr(step.lambdaMin),
            numberOr(step.symmetryError), numberOr(step.commutator), rangeOf(step.signalGains)});
    }
    return table.text(2) + signalLine(deep);
}

std::string heading(const Cell& cell)
{
    return printable(fmt::format(
        "{} {} {} on {}, {}", cell.variant, name(cell.precision), name(cell.lowering), cell.device, cell.capture));
}

} // namespace

std::string deepTables(std::span<const Cell> cells)
{
    std::string text;
    for (const auto& cell : cells) {
        if (cell.deep) {
            text += fmt::format("\nDeep gauges of {}, matrix {}, in {}\n", heading(cell), cell.deep->batch,
                durationText(cell.deep->seconds));
            text += deepTable(*cell.deep);
        } else if (!cell.deepError.empty()) {
            text += fmt::format("\nNo deep gauges of {}: {}\n", heading(cell), printable(cell.deepError));
        }
    }
    return text;
}

} // namespace nanscope
