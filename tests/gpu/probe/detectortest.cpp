// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/probe/nandetector.h"
#include "tests/gpu/probe/processes.h"

namespace nanscope {

namespace {

using test::inProcesses;
using test::Membership;
using ::testing::Each;
using ::testing::Optional;

/// Losses of six steps on rank 1; those of rank 0 are finite.
constexpr std::array<double, 6> losses {2.0, NAN, 1.5, NAN, NAN, 1.0};

/// How many steps each rank takes until it stops, and how many of them with an update.
std::string trainWith(const Membership& member, bool together)
{
    C10dRanks ranks(member.group, member.options());
    probe::NanDetector detector({.maxConsecutive = 2});
    int updates = 0;
    for (int step = 0; step < static_cast<int>(losses.size()); ++step) {
        const double loss = member.rank == 1 ? losses[step] : 2.0;
        const auto check = together ? detector.checkLoss(ranks, loss, step).value() : detector.checkLoss(loss, step);
        updates += check.good ? 1 : 0;
        if (detector.shouldRollback()) {
            return fmt::format("stopped at {} after {} updates", step, updates);
        }
    }
    return fmt::format("went on with {} updates", updates);
}

TEST(DetectorOfRanks, CountsAlikeAndStopsOnEveryRank)
{
    const auto alone = inProcesses(2, [](const Membership& member) { return trainWith(member, false); });
    EXPECT_THAT(alone[0], Optional(std::string("went on with 6 updates")));
    EXPECT_THAT(alone[1], Optional(std::string("stopped at 4 after 2 updates")));
    const auto together = inProcesses(2, [](const Membership& member) { return trainWith(member, true); });
    EXPECT_THAT(together, Each(Optional(std::string("stopped at 4 after 2 updates"))));
}

TEST(DetectorOfRanks, SaysWhoseNanItIs)
{
    const auto lines = inProcesses(2, [](const Membership& member) {
        C10dRanks ranks(member.group, member.options());
        probe::NanDetector detector;
        detector.checkLoss(ranks, 2.25, 36).value();
        return detector.checkLoss(ranks, member.rank == 1 ? NAN : 2.0, 37).value().message;
    });
    EXPECT_THAT(
        lines[0], Optional(std::string("NaN/Inf detected on another rank at step 37 (consecutive=1, total=1)")));
    EXPECT_THAT(lines[1],
        Optional(std::string("NaN/Inf loss at step 37 (consecutive=1, total=1, last_good_loss=2.2500 at step 36)")));
}

} // namespace

} // namespace nanscope
