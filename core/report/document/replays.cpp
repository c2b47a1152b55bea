// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What replays of the captured input gave: those of the verdict, and the cells of a sweep.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/model/words.h"
#include "core/report/document/sections.h"
#include "core/report/input/reportinput.h"

namespace nanscope::report {

namespace {

constexpr const char* none = "–";

/// Of replays that left the finite range these say nothing.
std::string headroomText(const MemberResult& member)
{
    return member.finite < member.roundings ? none : numberText(member.headroomBinades);
}

std::string absmaxText(const MemberResult& member)
{
    const bool known = member.absmaxQ && (member.roundings == 0 || member.finite > 0);
    return known ? numberText(*member.absmaxQ) : none;
}

std::vector<Phrase> memberRow(const MemberResult& member)
{
    const bool replayed = member.forecastBy.empty();
    return {code(member.variant), foreign(member.precision),
        own(replayed ? fmt::format("{} of {} finite", member.finite, member.roundings) : "forecast"),
        own(replayed ? std::to_string(member.reproducing) : none),
        own(member.slackPercent ? fmt::format("{:.3g} %", *member.slackPercent) : none), own(absmaxText(member)),
        own(headroomText(member)), member.firstBad.empty() ? own(none) : foreign(member.firstBad)};
}

Table memberTable(const ReportFacts& facts)
{
    Table table {{"variant", "precision", "replays", "end like the dump", "slack", "max abs Q", "headroom (binades)",
                     "first bad"},
        {}, {}};
    for (const auto& member : facts.verdict->members) {
        table.rows.push_back(memberRow(member));
    }
    return table;
}

bool isFinite(const Cell& cell)
{
    return cell.error.empty() && cell.outcome == Outcome::finite;
}

std::vector<Phrase> cellRow(const ReportInput& input, const Cell& cell)
{
    return {code(labelOf(input, cell)), own(std::string(name(cell.precision))),
        own(cell.error.empty() ? std::string(arithmetic(cell)) : none), own(std::string(name(cell.lowering))),
        cell.error.empty() ? own(std::string(name(cell.outcome))) : foreign(cell.error),
        own(cell.firstNonFinite ? nonFiniteText(*cell.firstNonFinite) : none),
        foreign(cell.environment.engine + ", " + cell.device)};
}

std::vector<const Cell*> cellsOf(const ReportFacts& facts)
{
    std::vector<const Cell*> cells;
    for (const auto& cell : facts.input.cells) {
        if (cell.capture == facts.verdict->capture) {
            cells.push_back(&cell);
        }
    }
    return cells;
}

/// Only those that are not finite, one a row.
Table failedCells(const ReportInput& input, const std::vector<const Cell*>& cells)
{
    constexpr std::size_t most = 60;
    Table table {
        {"variant", "precision", "arithmetic", "lowering", "outcome", "first non-finite", "replayed by"}, {}, {}};
    for (const auto* cell : cells) {
        if (!isFinite(*cell) && table.rows.size() < most) {
            table.rows.push_back(cellRow(input, *cell));
        }
    }
    return table;
}

/// "fp64, fp32" -> the variants that stay finite in both, in the order of the cells.
using ByFormats = std::vector<std::pair<std::string, std::vector<std::string>>>;

ByFormats finiteByFormats(const ReportInput& input, const std::vector<const Cell*>& cells)
{
    std::vector<std::pair<std::string, std::vector<std::string>>> formats; // of each variant
    const auto add = [](ByFormats& groups, const std::string& key, std::string value) {
        auto found = std::ranges::find(groups, key, &ByFormats::value_type::first);
        if (found == groups.end()) {
            found = groups.insert(groups.end(), {key, {}});
        }
        if (std::ranges::find(found->second, value) == found->second.end()) {
            found->second.push_back(std::move(value));
        }
    };
    for (const auto* cell : cells) {
        if (isFinite(*cell)) {
            add(formats, labelOf(input, *cell), std::string(name(cell->precision)));
        }
    }
    ByFormats groups;
    for (const auto& [variant, precisions] : formats) {
        add(groups, fmt::format("{}", fmt::join(precisions, ", ")), variant);
    }
    return groups;
}

/// "Swept or replayed for a film: 43 of 45 cells finite: gns-gram, gns-standard (fp64, fp32); torch-muon (fp64)." A
/// sweep counts its own alone.
Phrase finiteCells(const ReportInput& input, const std::vector<const Cell*>& cells)
{
    const auto count = std::ranges::count_if(cells, [](const Cell* cell) { return isFinite(*cell); });
    auto text = own(fmt::format(
        "Swept or replayed for a film: {} of {} finite", countText(count), counted(std::ssize(cells), "cell")));
    bool first = true;
    for (const auto& [formats, variants] : finiteByFormats(input, cells)) {
        text = text + own(first ? ": " : "; ") + foreign(fmt::format("{}", fmt::join(variants, ", ")))
            + own(fmt::format(" ({})", formats));
        first = false;
    }
    return text + own(".");
}

void addSweep(Blocks& blocks, const ReportFacts& facts)
{
    const auto cells = cellsOf(facts);
    if (cells.empty()) {
        return;
    }
    blocks.emplace_back(Paragraph {finiteCells(facts.input, cells)});
    if (auto table = failedCells(facts.input, cells); !table.rows.empty()) {
        blocks.emplace_back(std::move(table));
    }
}

} // namespace

Blocks numbersAcquitted(const ReportFacts& facts)
{
    if (facts.verdict == nullptr) {
        return {};
    }
    Blocks blocks;
    if (!facts.verdict->members.empty()) {
        blocks.emplace_back(Paragraph {foreign(asSentence(facts.verdict->summary))});
        blocks.emplace_back(memberTable(facts));
    }
    if (const auto& device = facts.input.diagnosis.replayedOn; !device.empty() && facts.verdict->facts.replayed) {
        blocks.emplace_back(Paragraph {own("Replayed on ") + foreign(device) + own(".")});
    }
    addSweep(blocks, facts);
    return blocks;
}

} // namespace nanscope::report
