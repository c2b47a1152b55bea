// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/triage/triage.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/diagnose/triage/attempts.h"
#include "core/model/verdict.h"

namespace nanscope::diagnose {

namespace {

// Trainers print before or after the update, and a fault that all ranks share reaches them within the next one.
constexpr std::int64_t neighbourhood = 2;
// What fails rarely may take hundreds of updates to fail again. Beyond this, one cause is a guess that needs saying.
constexpr std::int64_t rankNeighbourhood = 1000;

struct Birth
{
    const CaptureVerdict* verdict = nullptr;
    std::string shape;
    Attempt attempt;
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
    const auto attempts = attemptsOf(run);
    std::map<std::pair<std::string, std::int64_t>, const Capture*> captures;
    for (const auto& capture : run.captures) {
        captures.emplace(std::pair(capture.file, capture.id), &capture);
    }
    Births births;
    for (const auto& verdict : verdicts) {
        const auto found = captures.find(std::pair(verdict.capture, verdict.captureId));
        if (verdict.role == Role::birth && found != captures.end()) {
            const auto attempt = attempts.find({found->second->rank, found->second->pid});
            births.push_back({&verdict, shapeText(found->second->input.shape),
                attempt == attempts.end() ? Attempt {} : attempt->second, births.size()});
        }
    }
    return births;
}

// Two ranks that restarted as often are taken to have done so together; of others it is not known.
using Kind = std::tuple<std::string, DamageShape, Blame, int, int>;

Kind kindOf(const Birth& birth)
{
    return {
        birth.shape, birth.verdict->facts.damage.shape, birth.verdict->blame, birth.attempt.number, birth.attempt.of};
}

using Steps = std::vector<std::pair<std::int64_t, std::size_t>>; ///< of births, which the second names

void joinNear(Births& births, Steps& steps, std::int64_t distance)
{
    std::ranges::sort(steps);
    for (std::size_t i = 1; i < steps.size(); ++i) {
        if (steps[i].first - steps[i - 1].first <= distance) {
            join(births, steps[i - 1].second, steps[i].second);
        }
    }
}

// Births of which no step is known join the others of their rank: nothing says that they are far.
void joinByRank(Births& births, const std::vector<std::size_t>& alike)
{
    std::map<int, Steps> known;
    std::map<int, std::size_t> unknown;
    for (const auto i : alike) {
        const auto& verdict = *births[i].verdict;
        if (verdict.rank && verdict.step) {
            known[*verdict.rank].emplace_back(verdict.step->first, i);
        } else if (verdict.rank) {
            join(births, unknown.emplace(*verdict.rank, i).first->second, i);
        }
    }
    for (auto& [rank, steps] : known) {
        joinNear(births, steps, rankNeighbourhood);
        if (const auto other = unknown.find(rank); other != unknown.end()) {
            join(births, steps.front().second, other->second);
        }
    }
}

void joinByStep(Births& births, const std::vector<std::size_t>& alike)
{
    Steps steps;
    for (const auto i : alike) {
        if (births[i].verdict->step) {
            steps.emplace_back(births[i].verdict->step->first, i);
        }
    }
    joinNear(births, steps, neighbourhood);
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
    const auto& first = births[members.front()].verdict->facts.damage;
    const bool same =
        std::ranges::all_of(members, [&](std::size_t i) { return births[i].verdict->facts.damage.text == first.text; });
    if (first.shape == DamageShape::none) {
        return {};
    }
    return ", " + (same ? first.text : std::string(name(first.shape)));
}

std::string attemptText(const Attempt& attempt)
{
    return attempt.of > 1 ? fmt::format(", attempt {} of {}", attempt.number, attempt.of) : std::string();
}

Cluster clusterOf(const Births& births, const std::vector<std::size_t>& members, const std::string& apart)
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
    const auto& first = births[members.front()];
    cluster.text = fmt::format("{} birth{}{}{}{}, {}{}: {}{}", members.size(), members.size() == 1 ? "" : "s",
        ranksText(ranks), attemptText(first.attempt), rangeText("step", steps), first.shape,
        damageText(births, members), name(first.verdict->blame), apart);
    return cluster;
}

// Per cluster, by its root: why it is not counted with one that is alike on the same rank.
std::map<std::size_t, std::string> apartFrom(Births& births)
{
    std::map<std::tuple<std::string, DamageShape, Blame, int>, std::size_t> before;
    std::map<std::size_t, std::string> reasons;
    for (std::size_t i = 0; i < births.size(); ++i) {
        const auto& verdict = *births[i].verdict;
        if (!verdict.rank) {
            continue;
        }
        auto& last = before.try_emplace({births[i].shape, verdict.facts.damage.shape, verdict.blame, *verdict.rank}, i)
                         .first->second;
        if (rootOf(births, last) != rootOf(births, i)) {
            const bool restarted = births[last].attempt != births[i].attempt;
            reasons.try_emplace(rootOf(births, i),
                fmt::format("; also on rank {}, {}", *verdict.rank,
                    restarted ? std::string("in another attempt")
                              : fmt::format("more than {} updates apart", rankNeighbourhood)));
        }
        last = i;
    }
    return reasons;
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
    auto apart = apartFrom(births);
    std::vector<Cluster> clusters;
    for (const auto& [root, of] : members) {
        clusters.push_back(clusterOf(births, of, apart[root]));
    }
    return clusters;
}

} // namespace nanscope::diagnose
