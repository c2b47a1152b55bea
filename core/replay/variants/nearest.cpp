// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nanscope::replay {

namespace {

std::size_t editDistance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t {0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        auto diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const auto replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

} // namespace

std::vector<std::string_view> nearest(
    std::string_view word, const std::vector<std::string_view>& candidates, std::size_t count)
{
    // A user's word may be long; what lies beyond 64 characters decides nothing.
    word = word.substr(0, 64);
    // Half a name stands for one that contains it, however long the rest is.
    constexpr std::size_t shortestPart = 3;
    std::vector<std::pair<std::size_t, std::string_view>> ranked;
    for (const auto candidate : candidates) {
        const bool part = word.size() >= shortestPart && candidate.find(word) != candidate.npos;
        ranked.emplace_back(part ? 0 : 1 + editDistance(word, candidate), candidate);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string_view> result;
    for (std::size_t i = 0; i < std::min(count, ranked.size()); ++i) {
        result.push_back(ranked[i].second);
    }
    return result;
}

tl::unexpected<Error> unknownName(
    std::string_view what, std::string_view word, const std::vector<std::string_view>& known)
{
    const auto names = nearest(word, known, 3);
    return failure(ErrorKind::usage,
        fmt::format("there is no {} '{}'; {} {}", what, word, names.size() == 1 ? "the only one is" : "the nearest are",
            fmt::join(names, ", ")));
}

} // namespace nanscope::replay
