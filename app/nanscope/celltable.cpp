// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/celltable.h"

#include <fmt/format.h>

#include "app/nanscope/words.h"
#include "core/report/table.h"
#include "core/report/words.h"

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

} // namespace

std::string cellTable(std::span<const Cell> cells, bool nameCaptures)
{
    constexpr auto right = Table::Align::right;
    std::vector<Table::Column> columns {{"variant"}, {"precision"}, {"arithmetic"}, {"lowering"}, {"device"},
        {"outcome"}, {"first non-finite"}, {"slack", right}, {"to fp64", right}, {"time", right}};
    if (nameCaptures) {
        columns.insert(columns.begin(), {"capture"});
    }
    Table table(columns);
    for (const auto& cell : cells) {
        std::vector<std::string> row {cell.variant, std::string(name(cell.precision)),
            cell.native ? "native" : "emulated", std::string(name(cell.lowering)), cell.device,
            cell.error.empty() ? std::string(name(cell.outcome)) : "failed", firstText(cell),
            percent(slackPercent(cell)), distanceText(cell), durationText(cell.seconds)};
        if (nameCaptures) {
            row.insert(row.begin(), cell.capture);
        }
        table.add(std::move(row));
    }
    return table.text();
}

} // namespace nanscope
