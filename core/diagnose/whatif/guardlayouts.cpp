// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/whatif/guardlayouts.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nanscope::diagnose {

namespace {

struct Description
{
    probe::Layout layout;
    std::string_view text;
};

constexpr std::array descriptions {
    Description {
        probe::Layout::gathered, "DDP, several matrices of this shape: divided among the ranks, results gathered"},
    Description {probe::Layout::single, "DDP, one matrix of this shape: every rank computes it itself"},
    Description {probe::Layout::headSplit, "DDP with head split: every rank computes all heads itself"},
    Description {
        probe::Layout::matrixSharded, "FSDP2, rows on several ranks: assembled, computed once, sent back in rows"},
    Description {probe::Layout::batchSharded, "FSDP2, whole matrices or heads on several ranks: each computes its own"},
};

bool anyCapture(const RunData& run, bool (*test)(const Capture&))
{
    return std::any_of(run.captures.begin(), run.captures.end(),
        [&](const Capture& capture) { return capture.output && test(capture); });
}

bool isSingle(const Capture& capture)
{
    return capture.input.shape.size() <= 2;
}

/// An exchange of rows pads every rank's part to the same number of them.
bool rowsDivide(const RunData& run, std::int64_t ranks)
{
    return std::any_of(run.captures.begin(), run.captures.end(), [&](const Capture& capture) {
        return capture.output && !isSingle(capture) && matrixShape(capture.input.shape).rows % ranks == 0;
    });
}

std::string whatExcludes(const RunData& run, probe::Layout layout, std::size_t ranks)
{
    const bool single = anyCapture(run, isSingle);
    const bool stacked = anyCapture(run, [](const Capture& capture) { return !isSingle(capture); });
    if (layout == probe::Layout::single) {
        return single ? "" : "every captured input is a stack";
    }
    if (!stacked) {
        return "no captured input is a stack";
    }
    if (layout == probe::Layout::matrixSharded && !rowsDivide(run, static_cast<std::int64_t>(ranks))) {
        return fmt::format("no captured matrix can be divided by rows among {} ranks", ranks);
    }
    return {};
}

const Point* pointAt(const Series& series, std::int64_t step)
{
    const auto found = std::find_if(
        series.points.begin(), series.points.end(), [&](const Point& point) { return point.step == step; });
    return found == series.points.end() ? nullptr : &*found;
}

/// The longest loss of every rank.
std::map<int, const Series*> lossesByRank(const RunData& run)
{
    std::map<int, const Series*> losses;
    for (const auto& series : run.series) {
        if (series.name != "loss" || !series.rank || series.points.empty()) {
            continue;
        }
        auto& longest = losses[*series.rank];
        longest = longest == nullptr || series.points.size() > longest->points.size() ? &series : longest;
    }
    return losses;
}

const Point* firstBad(const Series& series, std::int64_t from)
{
    const auto found = std::find_if(series.points.begin(), series.points.end(), [&](const Point& point) {
        const bool bad = point.state != PointState::finite && point.state != PointState::reported;
        return point.step >= from && bad;
    });
    return found == series.points.end() ? nullptr : &*found;
}

/// Averages over the ranks would show the damage of one on all of them.
bool printsOwnLoss(const Series& a, const Series& b, std::int64_t step)
{
    const auto* one = pointAt(a, step);
    const auto* other = pointAt(b, step);
    const bool both = one != nullptr && other != nullptr;
    return both && one->state == PointState::finite && other->state == PointState::finite && one->value != other->value;
}

EvidenceLine hint(int source, int other, const Series& series, const Point& bad, bool atOnce)
{
    const auto means = atOnce
        ? "its weights went bad in the same update, which speaks for shared results (gathered or matrix-sharded)"
        : "the damage came with later gradients, which speaks for a copy of its own (single or head-split)";
    return {fmt::format("rank {}'s own loss is not finite from step {} on, {} rank {}'s: {}", other, bad.step,
                atOnce ? "together with" : "later than", source, means),
        fmt::format("{}:{}", series.source, bad.line)};
}

} // namespace

std::vector<GuardLayout> guardLayouts(const RunData& run, const GuardQuestion& question, std::size_t ranks)
{
    std::vector<GuardLayout> layouts;
    for (const auto& [layout, text] : descriptions) {
        if (question.layout && *question.layout != layout) {
            continue;
        }
        auto excluded = question.layout ? std::string() : whatExcludes(run, layout, ranks);
        layouts.push_back({layout, excluded.empty(), excluded.empty() ? std::string(text) : std::move(excluded)});
    }
    return layouts;
}

std::vector<EvidenceLine> layoutHints(const RunData& run, const GuardStep& step)
{
    std::vector<EvidenceLine> hints;
    const auto losses = lossesByRank(run);
    if (step.role != Role::birth || !step.step) {
        return hints;
    }
    for (const auto& source : step.ranks) {
        const auto from = source.rank ? losses.find(*source.rank) : losses.end();
        if (source.output != probe::Sight::nonFinite || from == losses.end()) {
            continue;
        }
        const auto* first = firstBad(*from->second, step.step->second);
        for (const auto& other : step.ranks) {
            const auto to = other.rank ? losses.find(*other.rank) : losses.end();
            // Only a rank that is known to have computed no damage of its own can have been sent some.
            if (first == nullptr || other.output != probe::Sight::finite || to == losses.end()
                || !printsOwnLoss(*from->second, *to->second, step.step->first)) {
                continue;
            }
            const auto* reached = firstBad(*to->second, step.step->second);
            if (reached != nullptr && reached->step >= first->step) {
                hints.push_back(hint(*source.rank, *other.rank, *to->second, *reached, reached->step == first->step));
            }
        }
    }
    return hints;
}

std::pair<std::int64_t, std::int64_t> gatheredCount(std::int64_t perRank, std::int64_t ranks)
{
    // One matrix alone takes another way.
    return {std::max<std::int64_t>(2, (perRank - 1) * ranks + 1), perRank * ranks};
}

std::string stackText(const Capture& capture, probe::Layout layout, std::int64_t ranks)
{
    const auto shape = matrixShape(capture.input.shape);
    const bool divided = layout == probe::Layout::gathered || layout == probe::Layout::matrixSharded;
    if (!divided) {
        return fmt::format("({}, {}, {})", shape.batch, shape.rows, shape.cols);
    }
    const auto [fewest, most] = gatheredCount(shape.batch, ranks);
    const auto count = fewest >= most ? std::to_string(most) : fmt::format("{} to {}", fewest, most);
    const auto rows = layout == probe::Layout::matrixSharded ? (shape.rows + ranks - 1) / ranks : shape.rows;
    return fmt::format("({}, {}, {})", count, rows, shape.cols);
}

} // namespace nanscope::diagnose
