// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/celltable.h"

#include <fmt/format.h>

#include "app/nanscope/shared/words.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/model/words.h"

namespace nanscope {

namespace {

std::string percent(const std::optional<double>& value)
{
    return value ? fmt::format("≥ {:.3g} %", *value) : "-";
}

std::string distanceText(const Cell& cell)
{
    if (cell.gauges.empty() || !cell.gauges.back().distanceToFp64) {
        return "-";
    }
    return fmt::format("{:.2g}", *cell.gauges.back().distanceToFp64);
}

std::string firstText(const Cell& cell)
{
    if (!cell.error.empty()) {
        return cell.error;
    }
    return cell.firstNonFinite ? nonFiniteText(*cell.firstNonFinite) : "-";
}

std::vector<std::string> rowOf(const Cell& cell)
{
    return {cell.variant, std::string(name(cell.precision)), cell.error.empty() ? std::string(arithmetic(cell)) : "-",
        std::string(name(cell.lowering)), cell.device, cell.error.empty() ? std::string(name(cell.outcome)) : "failed",
        firstText(cell), percent(slackPercent(cell)), distanceText(cell), durationText(cell.seconds),
        fmt::format("{:.3g}", cell.epsilon), cell.steps > 0 ? std::to_string(cell.steps) : "-"};
}

/// "python:/long/way/mine.py:f" without the folders: they would push everything else off the terminal.
std::string functionName(const std::string& whole)
{
    const auto slash = whole.rfind('/');
    return slash == std::string::npos ? whole : "python:" + whole.substr(slash + 1);
}

std::vector<std::string> rowOf(const instruments::FunctionCell& function)
{
    constexpr std::size_t mostReason = 160;
    auto row = rowOf(function.cell);
    row[0] = functionName(function.cell.variant);
    row[1] = "own";
    row[3] = "-";
    row[6] = clipped(row[6], mostReason);
    row[10] = function.epsilon ? fmt::format("{:.3g}", *function.epsilon) : "-";
    row[11] = "-";
    if (function.distance) {
        row[8] = fmt::format("{:.2g} ({})", *function.distance, function.nearest);
    }
    return row;
}

} // namespace

std::string cellTable(
    std::span<const Cell> cells, bool nameCaptures, std::span<const instruments::FunctionCell> functions)
{
    constexpr auto right = Table::Align::right;
    std::vector<Table::Column> columns {{"variant"}, {"precision"}, {"arithmetic"}, {"lowering"}, {"device"},
        {"outcome"}, {"first non-finite"}, {"slack", right}, {"to fp64", right}, {"time", right}, {"epsilon", right},
        {"steps", right}};
    if (nameCaptures) {
        columns.insert(columns.begin(), {"capture"});
    }
    Table table(columns);
    for (const auto& cell : cells) {
        auto row = rowOf(cell);
        if (nameCaptures) {
            row.insert(row.begin(), cell.capture);
        }
        table.add(std::move(row));
    }
    for (const auto& function : functions) {
        auto row = rowOf(function);
        if (nameCaptures) {
            row.insert(row.begin(), function.cell.capture);
        }
        table.add(std::move(row));
    }
    return table.text();
}

} // namespace nanscope
