// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Section 7: what replays of the captured input gave.
#include <fmt/format.h>

#include "core/base/text.h"
#include "core/model/words.h"
#include "core/report/document/sections.h"

namespace nanscope::report {

namespace {

std::vector<Phrase> memberRow(const MemberResult& member)
{
    const bool replayed = member.forecastBy.empty();
    return {code(member.variant), foreign(member.precision),
        own(replayed ? fmt::format("{} of {} finite", member.finite, member.roundings) : "forecast"),
        own(replayed ? std::to_string(member.reproducing) : "–"),
        own(member.slackPercent ? fmt::format("{:.3g} %", *member.slackPercent) : "–"),
        own(member.absmaxQ ? numberText(*member.absmaxQ) : "–"), own(numberText(member.headroomBinades)),
        member.firstBad.empty() ? own("–") : foreign(member.firstBad)};
}

std::vector<Phrase> cellRow(const Cell& cell)
{
    const auto slack = slackPercent(cell);
    return {code(cell.variant), own(std::string(name(cell.precision))), own(cell.native ? "native" : "emulated"),
        own(std::string(name(cell.lowering))),
        cell.error.empty() ? own(std::string(name(cell.outcome))) : foreign(cell.error),
        own(cell.firstNonFinite ? nonFiniteText(*cell.firstNonFinite) : "–"),
        own(slack ? fmt::format("≥ {:.3g} %", *slack) : "–"), foreign(cell.environment.engine + ", " + cell.device)};
}

Table memberTable(const ReportFacts& facts)
{
    Table table {{"variant", "precision", "envelope", "give the dump's pattern", "slack", "max abs Q",
                     "headroom (binades)", "first bad"},
        {}, {}};
    for (const auto& member : facts.verdict->members) {
        table.rows.push_back(memberRow(member));
    }
    return table;
}

Table cellTable(const ReportFacts& facts)
{
    constexpr std::size_t most = 60;
    Table table {
        {"variant", "precision", "arithmetic", "lowering", "outcome", "first non-finite", "slack", "replayed by"}, {},
        {}};
    for (const auto& cell : facts.input.cells) {
        if (cell.capture == facts.verdict->capture && table.rows.size() < most) {
            table.rows.push_back(cellRow(cell));
        }
    }
    return table;
}

} // namespace

Blocks numbersAcquitted(const ReportFacts& facts)
{
    Blocks blocks {Paragraph {own("Replays of the captured input:")}};
    if (facts.verdict != nullptr) {
        for (auto table : {memberTable(facts), cellTable(facts)}) {
            if (!table.rows.empty()) {
                blocks.emplace_back(std::move(table));
            }
        }
    }
    return blocks.size() > 1 ? blocks : Blocks {Paragraph {own("not replayed.")}};
}

} // namespace nanscope::report
