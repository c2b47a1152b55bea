// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/damage/matricestojudge.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
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

/// Two strange ones and one of each shape of damage, then one of each size, then the rest. Of too many sizes the
/// smallest, whose numbers vanish first, stays among those that are looked at.
std::vector<std::int64_t> firstOfEachKind(const std::vector<std::int64_t>& ordered,
    const std::vector<DamagePattern>& patterns, const Capture& capture, const std::vector<int>& strangeness)
{
    constexpr int mostStrange = 2;
    std::vector<std::int64_t> chosen;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> alike;
    std::set<std::pair<DamageShape, bool>> seenShapes;
    std::set<int> seenSizes;
    int strange = 0;
    for (const auto i : ordered) {
        const auto at = static_cast<std::size_t>(i);
        const auto& in = capture.input.batches[at];
        const bool isStrange = strangeness[at] > 0 && strange++ < mostStrange;
        const bool newShape = seenShapes.emplace(patterns[at].shape, in.allZero()).second;
        const bool newSize = seenSizes.insert(sizeOf(in)).second;
        (isStrange || newShape ? chosen : newSize ? sizes : alike).push_back(i);
    }
    if (chosen.size() < most && chosen.size() + sizes.size() > most) {
        sizes[most - chosen.size() - 1] = sizes.back();
    }
    chosen.insert(chosen.end(), sizes.begin(), sizes.end());
    chosen.insert(chosen.end(), alike.begin(), alike.end());
    return chosen;
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
    MatricesToJudge result {firstOfEachKind(candidates, patterns, capture, strangeness), candidates.size()};
    result.chosen.resize(std::min(result.chosen.size(), most));
    std::ranges::sort(result.chosen);
    return result;
}

} // namespace nanscope::diagnose
