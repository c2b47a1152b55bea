// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/trail.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <span>

#include <fmt/format.h>

#include "core/diagnose/recovery/losslane.h"

namespace nanscope::diagnose {

namespace {

using Lanes = std::vector<ReadLane>;

std::size_t sizeOf(const ReadLane& lane)
{
    std::size_t steps = 0;
    for (const auto& life : lane.lives) {
        steps += life.steps.size();
    }
    return steps;
}

bool holds(const LaneLife& life, const TrailStep& wanted)
{
    const auto found = std::lower_bound(life.steps.begin(), life.steps.end(), wanted,
        [](const TrailStep& a, const TrailStep& b) { return a.step < b.step; });
    return found != life.steps.end() && found->step == wanted.step && found->sign == wanted.sign
        && std::bit_cast<std::uint64_t>(found->loss) == std::bit_cast<std::uint64_t>(wanted.loss);
}

/// The console of a job and the log of one of its ranks say the same.
bool isCopy(const ReadLane& lane, const ReadLane& of)
{
    return std::ranges::all_of(lane.lives, [&](const LaneLife& life) {
        return std::ranges::any_of(of.lives, [&](const LaneLife& other) {
            return std::ranges::all_of(life.steps, [&](const TrailStep& step) { return holds(other, step); });
        });
    });
}

/// "logs/0/stdout.log" of rank 0 as "logs/#/stdout.log": every place in which its rank may stand.
std::set<std::string> patternsOf(const LossLane& lane)
{
    std::set<std::string> patterns {lane.source};
    const auto rank = std::to_string(lane.rank.value_or(0));
    for (auto at = lane.source.find(rank); at != std::string::npos; at = lane.source.find(rank, at + 1)) {
        const auto digit = [&](std::size_t i) {
            return i < lane.source.size() && lane.source[i] >= '0' && lane.source[i] <= '9';
        };
        if (!digit(at - 1) && !digit(at + rank.size())) {
            patterns.insert(lane.source.substr(0, at) + '#' + lane.source.substr(at + rank.size()));
        }
    }
    return patterns;
}

/// Lanes of one run, each of another rank.
class Group
{
public:
    /// Logs of several ranks belong to one run if they are one file, or differ in nothing but the rank. Nothing says so
    /// of logs without ranks.
    bool takes(const LossLane& lane) const
    {
        if (m_lanes.empty()) {
            return true;
        }
        if (!lane.rank || m_ranks.contains(lane.rank)) {
            return false;
        }
        const bool ofThisFile = m_oneFile && lane.source == m_lanes.front().lane.source;
        return ofThisFile || fitsAll(patternsOf(lane));
    }

    const ReadLane& add(ReadLane lane)
    {
        m_oneFile = m_lanes.empty() || (m_oneFile && lane.lane.source == m_lanes.front().lane.source);
        m_ranks.insert(lane.lane.rank);
        return m_lanes.emplace_back(std::move(lane));
    }

    Lanes inOrder() &&
    {
        std::ranges::sort(m_lanes, {}, [](const ReadLane& lane) { return lane.lane.rank; });
        return std::move(m_lanes);
    }

private:
    bool fitsAll(const std::set<std::string>& patterns) const
    {
        return std::ranges::all_of(m_lanes, [&](const ReadLane& other) {
            const auto theirs = patternsOf(other.lane);
            return std::ranges::any_of(patterns, [&](const std::string& one) { return theirs.contains(one); });
        });
    }

    Lanes m_lanes;
    std::set<std::optional<int>> m_ranks;
    bool m_oneFile = false;
};

/// Takes the longest lane of every rank, and drops the copies of what it took. What does not fit once never does.
Lanes takeGroup(Lanes& pending)
{
    std::map<std::optional<int>, std::vector<std::size_t>> ofRank;
    for (std::size_t i = 0; i < pending.size(); ++i) {
        ofRank[pending[i].lane.rank].push_back(i);
    }
    Group group;
    std::vector<bool> gone(pending.size());
    for (std::size_t i = 0; i < pending.size(); ++i) {
        if (gone[i] || !group.takes(pending[i].lane)) {
            continue;
        }
        gone[i] = true;
        const auto& taken = group.add(std::move(pending[i]));
        for (const auto other : ofRank[taken.lane.rank]) {
            gone[other] = gone[other] || isCopy(pending[other], taken);
        }
        if (!taken.lane.rank) {
            break;
        }
    }
    Lanes left;
    for (std::size_t i = 0; i < pending.size(); ++i) {
        if (!gone[i]) {
            left.push_back(std::move(pending[i]));
        }
    }
    pending = std::move(left);
    return std::move(group).inOrder();
}

std::vector<Lanes> groupsOf(Lanes lanes)
{
    std::erase_if(lanes, [](const ReadLane& lane) { return sizeOf(lane) == 0; });
    std::ranges::stable_sort(lanes, [](const ReadLane& a, const ReadLane& b) { return sizeOf(a) > sizeOf(b); });
    std::stable_partition(lanes.begin(), lanes.end(), [](const ReadLane& lane) { return lane.lane.rank.has_value(); });
    std::vector<Lanes> groups;
    while (!lanes.empty()) {
        groups.push_back(takeGroup(lanes));
    }
    return groups;
}

/// What all ranks together say of one step, in the eyes of the watched one: the first.
TrailStep joined(std::span<const TrailStep> same)
{
    auto whole = same.front();
    for (const auto& other : same.subspan(1)) {
        if (other.sign > whole.sign) {
            whole.sign = other.sign;
            whole.line = other.line;
            whole.lane = other.lane;
        }
        whole.badGradient = whole.badGradient || other.badGradient;
    }
    if (whole.lane != 0 && whole.sign == LossSign::nonFinite) {
        whole.sign = LossSign::elsewhere;
    }
    return whole;
}

void join(std::vector<TrailStep> all, Trail& trail)
{
    for (const auto& step : all) {
        const auto rank = trail.lanes[step.lane].rank;
        if (step.sign == LossSign::nonFinite && rank) {
            trail.badRanks.emplace_back(step.step, *rank);
        }
    }
    const auto place = [](const TrailStep& step) { return std::pair(step.step, step.lane); };
    if (!std::ranges::is_sorted(all, {}, place)) {
        std::ranges::sort(all, {}, place);
        std::ranges::sort(trail.badRanks);
    }
    if (std::ranges::adjacent_find(all, {}, &TrailStep::step) == all.end()) {
        trail.steps = std::move(all);
        return;
    }
    for (auto first = all.begin(); first != all.end();) {
        const auto last =
            std::find_if(first, all.end(), [&](const TrailStep& step) { return step.step != first->step; });
        trail.steps.push_back(joined(std::span(first, last)));
        first = last;
    }
}

void addEnds(const LaneLife& life, Trail& trail)
{
    if (trail.ownStop.text.empty()) {
        trail.ownStop = life.ownStop;
    }
    if (trail.crash.text.empty()) {
        trail.crash = life.crash;
    }
    trail.doubts.insert(trail.doubts.end(), life.doubts.begin(), life.doubts.end());
}

/// Takes the steps out of the group: a long run has no room for them twice.
Trail trailOf(Lanes& group, std::size_t life)
{
    Trail trail;
    trail.life = static_cast<int>(life);
    std::vector<TrailStep> all;
    for (std::uint32_t lane = 0; lane < group.size(); ++lane) {
        auto& read = group[lane];
        trail.lanes.push_back(read.lane);
        trail.lives = std::max(trail.lives, static_cast<int>(read.lives.size()));
        if (life < read.lives.size()) {
            auto steps = std::move(read.lives[life].steps);
            for (auto& step : steps) {
                step.lane = lane;
            }
            if (all.empty()) {
                all = std::move(steps);
            } else {
                all.insert(all.end(), steps.begin(), steps.end());
            }
            addEnds(read.lives[life], trail);
        }
    }
    join(std::move(all), trail);
    return trail;
}

} // namespace

EvidenceLine Trail::evidence(const TrailStep& step, std::string text) const
{
    return {std::move(text), fmt::format("{}:{}", lanes[step.lane].source, step.line)};
}

std::vector<Trail> trailsOf(const RunData& run)
{
    std::vector<Trail> trails;
    for (auto& group : groupsOf(readLanes(run))) {
        std::size_t lives = 0;
        for (const auto& lane : group) {
            lives = std::max(lives, lane.lives.size());
        }
        for (std::size_t life = 0; life < lives; ++life) {
            trails.push_back(trailOf(group, life));
        }
    }
    return trails;
}

} // namespace nanscope::diagnose
