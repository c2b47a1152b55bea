// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/damage/matricestojudge.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/diagnose/damage/takentogether.h"

namespace nanscope::diagnose {

namespace {

constexpr std::size_t most = 4;

std::vector<std::int64_t> candidatesOf(Role role, const std::vector<DamagePattern>& patterns, const Capture& capture)
{
    const auto together = takenTogether(capture);
    std::vector<std::int64_t> candidates;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        const auto& in = capture.input.batches[i];
        const bool zeroBroken = in.allZero() && !capture.output->batches[i].allZero();
        const bool wanted = role == Role::healthy || patterns[i].count > 0 || zeroBroken;
        if (wanted && in.finite() && together[i] != TakenTogether::withBad) {
            candidates.push_back(static_cast<std::int64_t>(i));
        }
    }
    return candidates;
}

/// Of finite matrices: 2 where something became zeros, 1 where the results of two different ones are one by their
/// counts, else 0.
std::vector<int> strangenessOf(const Capture& capture)
{
    std::vector<int> strangeness(capture.input.batches.size(), 0);
    std::map<std::pair<double, double>, std::size_t> seen;
    for (std::size_t i = 0; i < strangeness.size(); ++i) {
        const auto& in = capture.input.batches[i];
        const auto& out = capture.output->batches[i];
        if (!in.finite() || !out.finite() || in.allZero()) {
            continue;
        }
        const auto [first, isNew] = seen.emplace(std::pair(out.sumSquares, out.absmax), i);
        if (out.allZero()) {
            strangeness[i] = 2;
        } else if (!isNew && capture.input.batches[first->second].sumSquares != in.sumSquares) {
            strangeness[i] = strangeness[first->second] = 1;
        }
    }
    return strangeness;
}

/// Numbers overflow by size: 4 binades of the largest value are one.
int sizeOf(const Scan& scan)
{
    constexpr int binades = 4;
    return scan.absmax > 0 ? std::ilogb(scan.absmax) / binades : 0;
}

/// One of each kind before the others of it. Of too many kinds the last, whose numbers vanish first, stays among them.
std::vector<std::int64_t> firstOfEachKind(const std::vector<std::int64_t>& ordered,
    const std::vector<DamagePattern>& patterns, const std::vector<Scan>& inputs)
{
    std::vector<std::int64_t> kinds;
    std::vector<std::int64_t> alike;
    std::set<std::tuple<DamageShape, bool, int>> seen;
    for (const auto i : ordered) {
        const auto& in = inputs[static_cast<std::size_t>(i)];
        const bool isNew = seen.emplace(patterns[static_cast<std::size_t>(i)].shape, in.allZero(), sizeOf(in)).second;
        (isNew ? kinds : alike).push_back(i);
    }
    if (kinds.size() > most) {
        kinds[most - 1] = kinds.back();
    }
    kinds.insert(kinds.end(), alike.begin(), alike.end());
    return kinds;
}

} // namespace

MatricesToJudge matricesToJudge(Role role, const std::vector<DamagePattern>& patterns, const Capture& capture)
{
    auto candidates = candidatesOf(role, patterns, capture);
    const auto strangeness = strangenessOf(capture);
    std::ranges::stable_sort(candidates, std::greater {}, [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        return std::pair(strangeness[at], capture.input.batches[at].absmax);
    });
    MatricesToJudge result {firstOfEachKind(candidates, patterns, capture.input.batches), candidates.size()};
    result.chosen.resize(std::min(result.chosen.size(), most));
    std::ranges::sort(result.chosen);
    return result;
}

} // namespace nanscope::diagnose
