// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/clusters.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nanscope {

namespace {

// Trainers print before or after the update, and a fault that all ranks share reaches them within the next one.
constexpr std::int64_t neighbourhood = 2;

struct Birth
{
    const CaptureVerdict* verdict = nullptr;
    std::string shape;
    std::size_t parent = 0; ///< of the births that were found to be of one cause
};

using Births = std::vector<Birth>;

std::size_t rootOf(Births& births, std::size_t i)
{
    while (births[i].parent != i) {
        births[i].parent = births[births[i].parent].parent;
        i = births[i].parent;
    }
    return i;
}

void join(Births& births, std::size_t a, std::size_t b)
{
    const auto first = rootOf(births, a);
    const auto second = rootOf(births, b);
    births[std::max(first, second)].parent = std::min(first, second);
}

Births birthsOf(const RunData& run, std::span<const CaptureVerdict> verdicts)
{
    std::map<std::pair<std::string, std::int64_t>, const Capture*> captures;
    for (const auto& capture : run.captures) {
        captures.emplace(std::pair(capture.file, capture.id), &capture);
    }
    Births births;
    for (const auto& verdict : verdicts) {
        const auto found = captures.find(std::pair(verdict.capture, verdict.captureId));
        if (verdict.role == Role::birth && found != captures.end()) {
            births.push_back({&verdict, shapeText(found->second->input.shape), births.size()});
        }
    }
    return births;
}

using Kind = std::tuple<std::string, std::string, Blame>;

Kind kindOf(const Birth& birth)
{
    return {birth.shape, birth.verdict->damage.name, birth.verdict->blame};
}

void joinByRank(Births& births, const std::vector<std::size_t>& alike)
{
    std::map<int, std::size_t> first;
    for (const auto i : alike) {
        if (births[i].verdict->rank) {
            join(births, first.emplace(*births[i].verdict->rank, i).first->second, i);
        }
    }
}

void joinByStep(Births& births, const std::vector<std::size_t>& alike)
{
    std::vector<std::pair<std::int64_t, std::size_t>> steps;
    for (const auto i : alike) {
        if (births[i].verdict->step) {
            steps.emplace_back(births[i].verdict->step->first, i);
        }
    }
    std::ranges::sort(steps);
    for (std::size_t i = 1; i < steps.size(); ++i) {
        if (steps[i].first - steps[i - 1].first <= neighbourhood) {
            join(births, steps[i - 1].second, steps[i].second);
        }
    }
}

std::string rangeText(std::string_view one, const std::set<std::int64_t>& numbers)
{
    if (numbers.empty()) {
        return {};
    }
    if (numbers.size() == 1) {
        return fmt::format(", {} {}", one, *numbers.begin());
    }
    return fmt::format(", {}s {}-{}", one, *numbers.begin(), *numbers.rbegin());
}

std::string ranksText(const std::set<std::int64_t>& ranks)
{
    constexpr std::size_t listed = 8;
    return ranks.size() > 1 && ranks.size() <= listed ? fmt::format(", ranks {}", fmt::join(ranks, ", "))
                                                      : rangeText("rank", ranks);
}

std::string damageText(const Births& births, const std::vector<std::size_t>& members)
{
    const auto& first = births[members.front()].verdict->damage;
    const bool same =
        std::ranges::all_of(members, [&](std::size_t i) { return births[i].verdict->damage.text == first.text; });
    const auto& text = same ? first.text : first.name;
    return text.empty() ? text : ", " + text;
}

Cluster clusterOf(const Births& births, const std::vector<std::size_t>& members)
{
    Cluster cluster;
    std::set<std::int64_t> ranks;
    std::set<std::int64_t> steps;
    for (const auto i : members) {
        const auto& verdict = *births[i].verdict;
        cluster.captures.push_back(verdict.capture);
        if (verdict.rank) {
            ranks.insert(*verdict.rank);
        }
        if (verdict.step) {
            steps.insert({verdict.step->first, verdict.step->second});
        }
    }
    cluster.text = fmt::format("{} birth{}{}{}, {}{}: {}", members.size(), members.size() == 1 ? "" : "s",
        ranksText(ranks), rangeText("step", steps), births[members.front()].shape, damageText(births, members),
        name(births[members.front()].verdict->blame));
    return cluster;
}

} // namespace

std::vector<Cluster> clustersOf(const RunData& run, std::span<const CaptureVerdict> verdicts)
{
    auto births = birthsOf(run, verdicts);
    if (births.size() < 2) {
        return {};
    }
    std::map<Kind, std::vector<std::size_t>> kinds;
    for (std::size_t i = 0; i < births.size(); ++i) {
        kinds[kindOf(births[i])].push_back(i);
    }
    for (const auto& [kind, alike] : kinds) {
        joinByRank(births, alike);
        joinByStep(births, alike);
    }
    std::map<std::size_t, std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < births.size(); ++i) {
        members[rootOf(births, i)].push_back(i);
    }
    std::vector<Cluster> clusters;
    for (const auto& [root, of] : members) {
        clusters.push_back(clusterOf(births, of));
    }
    return clusters;
}

} // namespace nanscope
