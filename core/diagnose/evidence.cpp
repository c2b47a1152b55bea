// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/evidence.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/diagnose/diagnose.h"
#include "core/diagnose/logvote.h"
#include "core/diagnose/margin.h"

namespace nanscope {

namespace {

using Lines = std::vector<EvidenceLine>;

void replayLines(CaptureVerdict& v, const Case& c)
{
    const auto totals = totalsOf(c.results);
    const bool quiet = totals.finite == totals.roundings;
    auto& lines = (v.blame == Blame::implementation) == quiet ? v.speaksFor : v.speaksAgainst;
    if (totals.roundings > 0) {
        lines.push_back({fmt::format("replayed under {} roundings of {} variant{}: {}", totals.roundings,
                             c.results.size(), c.results.size() == 1 ? "" : "s", totalsText(totals)),
            "replay"});
    }
    int same = 0;
    for (const auto& r : c.results) {
        same += r.reproducing;
    }
    if (v.damage.count > 0 && totals.roundings > 0) {
        const auto text = fmt::format("{} of {} replays end with exactly the dump's damage", same, totals.roundings);
        ((v.blame == Blame::numerics) == (same > 0) ? v.speaksFor : v.speaksAgainst).push_back({text, "replay"});
    }
}

// What was said to have run may contradict the dump; then the dump speaks.
void contradictionLine(CaptureVerdict& v, const Identification& id)
{
    constexpr double clearly = 3;
    const bool contradicted = id.fit && id.runnerUp && *id.runnerUp <= 0.05 && *id.fit > clearly * *id.runnerUp;
    if (contradicted) {
        v.speaksAgainst.push_back(
            {fmt::format("the finite part of the output is {:.2g} % off from that, and {:.2g} % from {}: perhaps "
                         "something else ran",
                 100 * *id.fit, 100 * *id.runnerUp, id.runnerUpName),
                "output"});
    }
}

std::string oneOf(const std::vector<std::string>& names)
{
    constexpr std::size_t listed = 4;
    return names.size() <= listed ? fmt::format("{}", fmt::join(names, " or "))
                                  : fmt::format("one of {} variants", names.size());
}

std::string_view whyMute(const Case& c)
{
    if (c.element->inputScan.allZero()) {
        return "what comes of a zero matrix does not tell";
    }
    if (!c.fit.compared) {
        return "the output is too damaged to tell";
    }
    return "the output does not tell the variants apart";
}

void identificationLine(CaptureVerdict& v, const Case& c)
{
    const auto& id = c.identification;
    if (id.how == IdentifiedBy::fit && !c.fit.compared && c.control) {
        v.speaksFor.push_back(
            {fmt::format("{}, and a healthy call of the same kind tells what ran: {}", whyMute(c), c.control->source),
                "control"});
    } else if (id.how == IdentifiedBy::fit && id.fit) {
        const auto next = id.runnerUp
            ? fmt::format("; the next, {}, is {:.2g} % off", id.runnerUpName, 100 * *id.runnerUp)
            : std::string();
        v.speaksFor.push_back({fmt::format("where the output is finite it is what {} gives, to {:.2g} %{}",
                                   fmt::join(id.names, " or "), 100 * *id.fit, next),
            "output"});
    } else if (id.how == IdentifiedBy::given) {
        v.speaksFor.push_back({fmt::format("you said that {} ran", oneOf(id.names)), "--ran"});
        contradictionLine(v, id);
    } else if (id.how == IdentifiedBy::sidecar) {
        v.speaksFor.push_back({fmt::format("the sidecar says that {} ran", fmt::join(id.names, " or ")), "sidecar"});
        contradictionLine(v, id);
    } else {
        v.speaksAgainst.push_back(
            {fmt::format("which function ran is not known: {}",
                 c.fit.compared && id.matchesNone ? "the output is not what any known variant gives"
                                                  : fmt::format("{}, so every variant stays plausible", whyMute(c))),
                "output"});
    }
}

void controlLine(CaptureVerdict& v, const Case& c)
{
    if (!c.control) {
        return;
    }
    const auto& fit = c.control->fit;
    if (c.control->stranger) {
        const auto& nearest = fit.identification.all.front();
        v.notTestable.push_back(
            {fmt::format("{} went well and is the result of no known variant (nearest: {}, {:.0f} % "
                         "off): the function that ran is not among those replayed",
                 c.control->source, nearest.variant, 100 * nearest.fit),
                "control"});
        return;
    }
    const auto exact = fit.exact.empty() ? std::string() : ", bit for bit";
    const auto text = fmt::format("{} is what {} gives, to {:.2g} %{}", c.control->source,
        oneOf(fit.identification.names), 100 * fit.identification.fit.value_or(0), exact);
    if (c.control->sameCall && v.blame == Blame::implementation) {
        v.speaksFor.push_back({text + ": shape and function are not to blame", "control"});
    } else {
        v.notTestable.push_back({text + ": the function works, which says nothing of this input", "control"});
    }
}

bool powerOfTwo(std::int64_t value)
{
    return value > 0 && (value & (value - 1)) == 0;
}

// A kernel's tile starts at a multiple of its side and ends at the next, or at the edge of the matrix.
bool tileSide(std::int64_t begin, std::int64_t end, std::int64_t extent)
{
    const auto length = end - begin;
    if (powerOfTwo(length)) {
        return begin % length == 0;
    }
    return end == extent && powerOfTwo(begin & -begin) && (begin & -begin) >= length;
}

// 0/0 has an empty payload on a CPU and a full one on a GPU, with either sign, and casts keep that: of 16 bits and of
// 32, whichever they are.
bool madeByArithmetic(std::uint64_t bits)
{
    constexpr std::array<std::uint64_t, 4> bf16 {0x7fc0, 0xffc0, 0x7fff, 0xffff};
    constexpr std::array<std::uint64_t, 2> fp16 {0x7e00, 0xfe00};
    constexpr std::array<std::uint64_t, 4> fp32 {0x7fc00000, 0xffc00000, 0x7fffffff, 0xffffffff};
    constexpr std::array<std::uint64_t, 4> fp64 {
        0x7ff8000000000000, 0xfff8000000000000, 0x7fffffffffffffff, 0xffffffffffffffff};
    const auto among = [bits](const auto& known) { return std::ranges::find(known, bits) != known.end(); };
    return among(bf16) || among(fp16) || among(fp32) || among(fp64);
}

void damageLines(CaptureVerdict& v, const MatrixShape& shape)
{
    const auto& d = v.damage;
    if (d.name == "rectangle") {
        const bool tile = tileSide(d.rowBegin, d.rowEnd, shape.rows) && tileSide(d.colBegin, d.colEnd, shape.cols);
        const bool atEdge = d.rowEnd == shape.rows || d.colEnd == shape.cols;
        const auto what = !tile ? std::string("a rectangle")
                                : fmt::format("one aligned tile of {}x{}{}", d.rowEnd - d.rowBegin,
                                    d.colEnd - d.colBegin, atEdge ? " or more, cut by the edge" : "");
        v.speaksFor.push_back({fmt::format("the damage is {}: the last write, or code after it; a fault inside the "
                                           "iteration would have spread",
                                   what),
            "output"});
    } else if (d.name == "whole element") {
        v.notTestable.push_back(
            {"the damage covers everything, as almost every fault inside the iteration ends: the map "
             "says nothing about where it began",
                "output"});
    }
    if (d.nanBits.size() == 1 && d.count > 1 && d.name != "whole element" && !madeByArithmetic(d.nanBits[0].first)) {
        v.speaksFor.push_back(
            {fmt::format("every NaN has the bits {:#06x}, which no arithmetic makes: bytes that were stored there",
                 d.nanBits[0].first),
                "output"});
    }
}

void logLines(CaptureVerdict& v, const std::vector<LogTrend>& logs)
{
    for (const auto& log : logs) {
        (log.climbing == (v.blame == Blame::numerics) ? v.speaksFor : v.speaksAgainst).push_back(log.line);
    }
}

void alwaysUntestable(CaptureVerdict& v)
{
    v.notTestable.push_back(
        {"a race that the capture's own synchronisation hides, and one that only shows under load", "capture"});
    v.notTestable.push_back(
        {"a producer that had not finished when the kernel read its input: the snapshot is not what the kernel read",
            "capture"});
    v.notTestable.push_back({"whether the same call fails again, here or on another GPU: this was replayed from the "
                             "published formulas, not with your kernel",
        "replay"});
    v.notTestable.push_back({"what the function takes or does besides: weights, moments or a coefficient that were bad "
                             "already, a cast, a mask or a quantiser after the iteration; capture what the iteration "
                             "itself returns",
        "capture"});
}

} // namespace

std::vector<LogTrend> logLinesOf(const RunData& run, const CaptureVerdict& verdict)
{
    std::vector<LogTrend> lines;
    for (const auto series : weighedSeries) {
        auto vote = voteOf(run, std::string(series), verdict);
        if (vote.kind != LogVote::Kind::silent) {
            lines.push_back({vote.kind == LogVote::Kind::climbing, std::move(vote.line)});
        }
    }
    return lines;
}

std::string silentRanks(const RunData& run)
{
    std::set<int> seen;
    std::set<int> dumped;
    for (const auto& series : run.series) {
        if (series.rank) {
            seen.insert(*series.rank);
        }
    }
    for (const auto& event : run.events) {
        if (event.rank) {
            seen.insert(*event.rank);
        }
    }
    for (const auto& capture : run.captures) {
        if (capture.rank) {
            dumped.insert(*capture.rank);
        }
    }
    std::vector<int> silent;
    std::ranges::set_difference(seen, dumped, std::back_inserter(silent));
    if (silent.empty()) {
        return {};
    }
    return fmt::format("whether rank{} {} went wrong, too: no dump is no evidence, since a raise on one rank cuts the "
                       "others off",
        silent.size() == 1 ? "" : "s", fmt::join(silent, ", "));
}

void argue(CaptureVerdict& verdict, const Case& c, const std::vector<LogTrend>& logs)
{
    replayLines(verdict, c);
    identificationLine(verdict, c);
    controlLine(verdict, c);
    damageLines(verdict, c.element->shape);
    verdict.speaksFor.insert(verdict.speaksFor.end(), c.facts.begin(), c.facts.end());
    logLines(verdict, logs);
    if (c.element->inputScan.finite()) {
        verdict.speaksFor.push_back(
            {fmt::format("the input is finite: absmax {:.4g}, nothing upstream had gone bad in what was dumped of it",
                 c.element->inputScan.absmax),
                "input"});
    }
    if (verdict.blame == Blame::undecided || verdict.blame == Blame::numerics) {
        // A finite input excludes upstream, but speaks for neither numbers nor kernel.
        verdict.notTestable.push_back(verdict.speaksFor.back());
        verdict.speaksFor.pop_back();
    }
    alwaysUntestable(verdict);
}

} // namespace nanscope
