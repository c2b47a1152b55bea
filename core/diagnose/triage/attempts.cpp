// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/triage/attempts.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nanscope::diagnose {

namespace {

struct Life
{
    std::int64_t first = 0;
    std::int64_t last = 0;
    Process process;
};

// Ranks are counted within the optimizer's group, so that two processes may share a number at one time. No training
// starts within so short a time after another ended.
constexpr std::int64_t shortestRestart = 10'000; // ms

std::map<int, std::vector<Life>> livesOf(const RunData& run)
{
    std::map<Process, Life> lives;
    for (const auto& capture : run.captures) {
        if (capture.rank && capture.pid) {
            const Process process {capture.rank, capture.pid};
            const auto time = capture.timestampMs.value_or(0);
            auto& life = lives.try_emplace(process, Life {time, time, process}).first->second;
            life.first = std::min(life.first, time);
            life.last = std::max(life.last, time);
        }
    }
    std::map<int, std::vector<Life>> ranks;
    for (const auto& [process, life] : lives) {
        ranks[*process.first].push_back(life);
    }
    return ranks;
}

} // namespace

// Within a rank, time tells which process came first. A dump without a process says nothing of attempts.
std::map<Process, Attempt> attemptsOf(const RunData& run)
{
    std::map<Process, Attempt> attempts;
    auto ranks = livesOf(run);
    for (auto& [rank, inOrder] : ranks) {
        std::ranges::sort(inOrder, {}, &Life::first);
        int number = 1;
        auto end = inOrder.front().last;
        for (const auto& life : inOrder) {
            number += life.first > end + shortestRestart ? 1 : 0;
            end = std::max(end, life.last);
            attempts[life.process].number = number;
        }
        for (const auto& life : inOrder) {
            attempts[life.process].of = number;
        }
    }
    return attempts;
}

} // namespace nanscope::diagnose
