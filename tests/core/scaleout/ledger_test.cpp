// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/ledger.h"

#include <algorithm>
#include <numeric>
#include <random>

#include <gmock/gmock.h>

#include "memorystore.h"

namespace nanscope::scaleout {

namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using testing::MemoryStore;
using Turn = Ledger::Turn;

class LedgerTest : public ::testing::Test
{
protected:
    Ledger join(std::int64_t blocks, const std::vector<std::int64_t>& before = {})
    {
        auto ledger = Ledger::join(
            m_store, {"job/", blocks, 60s, 1800s}, [&] { return before; }, [] { return false; });
        if (!ledger) {
            throw std::runtime_error(ledger.error().what);
        }
        return std::move(*ledger);
    }

    Ledger::Next next(Ledger& ledger) const
    {
        const auto next = ledger.next(m_now);
        return next ? *next : Ledger::Next {Turn::over, -2};
    }

    /// What it takes after having waited for as long as two looks need.
    Ledger::Next nextAtLast(Ledger& ledger)
    {
        const auto first = next(ledger);
        m_now += 2s;
        return first.turn == Turn::wait ? next(ledger) : first;
    }

    MemoryStore m_store;
    Ledger::Clock::time_point m_now {};
};

TEST_F(LedgerTest, HandsOutEachBlockOnceAndInOrder)
{
    auto first = join(4);
    auto second = join(4);
    std::vector<std::int64_t> taken;
    for (int i = 0; i < 2; ++i) {
        for (auto* ledger : {&first, &second}) {
            taken.push_back(next(*ledger).block);
            EXPECT_TRUE(ledger->finish(taken.back()));
        }
    }
    EXPECT_THAT(taken, ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(next(first).turn, Turn::over);
    EXPECT_EQ(next(second).turn, Turn::over);
}

TEST_F(LedgerTest, LeavesOutWhatAnEarlierStartHasDone)
{
    auto first = join(4, {0, 2});
    auto second = join(4, {3}); // only the first one is asked
    EXPECT_EQ(next(first).block, 1);
    EXPECT_EQ(next(second).block, 3);
}

TEST_F(LedgerTest, WaitsForABlockThatALivingProcessHolds)
{
    auto first = join(2);
    auto second = join(2);
    EXPECT_EQ(next(first).block, 0);
    EXPECT_EQ(next(second).block, 1);
    EXPECT_TRUE(second.finish(1));
    for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(first.beat());
        EXPECT_EQ(next(second).turn, Turn::wait);
        m_now += 30s;
    }
    EXPECT_TRUE(first.finish(0));
    EXPECT_EQ(next(second).turn, Turn::over);
}

TEST_F(LedgerTest, TakesAgainWhatADeadProcessHeld)
{
    auto dead = join(2);
    auto living = join(2);
    EXPECT_EQ(next(dead).block, 0);
    EXPECT_EQ(next(living).block, 1);
    EXPECT_TRUE(living.finish(1));
    EXPECT_EQ(next(living).turn, Turn::wait);
    m_now += 59s;
    EXPECT_EQ(next(living).turn, Turn::wait);
    m_now += 2s;
    EXPECT_EQ(nextAtLast(living).block, 0);
    EXPECT_TRUE(living.finish(0));
    EXPECT_EQ(next(living).turn, Turn::over);
}

TEST_F(LedgerTest, TakesAtOnceWhatAProcessThatLeftDidNotEnd)
{
    auto leaving = join(2);
    auto living = join(2);
    EXPECT_EQ(next(leaving).block, 0);
    EXPECT_EQ(next(living).block, 1);
    EXPECT_TRUE(leaving.leave());
    EXPECT_TRUE(living.finish(1));
    EXPECT_EQ(nextAtLast(living).block, 0);
}

TEST_F(LedgerTest, FindsABlockThatWasHandedOutToAProcessThatDiedAtOnce)
{
    auto living = join(2);
    EXPECT_EQ(next(living).block, 0);
    EXPECT_TRUE(m_store.add("job/next", 1)); // and not a word in any log
    EXPECT_TRUE(living.finish(0));
    EXPECT_EQ(nextAtLast(living).block, 1);
}

TEST_F(LedgerTest, TakesNothingThatWasHandedOutAMomentAgo)
{
    auto living = join(2);
    auto slow = join(2);
    EXPECT_EQ(next(living).block, 0);
    EXPECT_TRUE(living.finish(0));
    EXPECT_TRUE(m_store.add("job/next", 1)); // to the slow one, which has not written it down yet
    EXPECT_EQ(next(living).turn, Turn::wait);
    EXPECT_TRUE(m_store.append("job/log/1", "+1 "));
    m_now += 2s;
    EXPECT_EQ(next(living).turn, Turn::wait);
}

TEST_F(LedgerTest, GivesABlockThatIsHeldForTooLongToOneMore)
{
    auto stuck = join(3);
    auto second = join(3);
    auto third = join(3);
    EXPECT_EQ(next(stuck).block, 0);
    for (auto* ledger : {&second, &third}) {
        EXPECT_TRUE(ledger->finish(next(*ledger).block));
    }
    for (int i = 0; i < 61; ++i) {
        m_now += 30s;
        for (auto* ledger : {&stuck, &second, &third}) {
            EXPECT_TRUE(ledger->beat());
        }
        if (i < 59) {
            EXPECT_EQ(next(second).turn, Turn::wait) << i;
            EXPECT_EQ(next(third).turn, Turn::wait) << i;
        }
    }
    EXPECT_EQ(nextAtLast(second).block, 0);
    EXPECT_EQ(nextAtLast(third).turn, Turn::wait);
    EXPECT_TRUE(second.finish(0));
    EXPECT_TRUE(stuck.isDone(0, m_now).value_or(false));
    EXPECT_EQ(next(third).turn, Turn::over);
}

TEST_F(LedgerTest, AsksASecondProcessForWhatFailed)
{
    auto first = join(1);
    auto second = join(1);
    EXPECT_EQ(next(first).block, 0);
    EXPECT_TRUE(first.fail(0));
    EXPECT_EQ(nextAtLast(first).turn, Turn::wait);
    EXPECT_EQ(nextAtLast(second).block, 0);
    EXPECT_TRUE(second.fail(0));
    EXPECT_EQ(next(first).turn, Turn::over);
    EXPECT_EQ(next(second).turn, Turn::over);
}

TEST_F(LedgerTest, EndsAloneWithWhatFailed)
{
    auto only = join(2);
    EXPECT_EQ(next(only).block, 0);
    EXPECT_TRUE(only.fail(0));
    EXPECT_EQ(next(only).block, 1);
    EXPECT_TRUE(only.finish(1));
    EXPECT_EQ(next(only).turn, Turn::over);
}

TEST_F(LedgerTest, SeesWhenAllOthersHaveGone)
{
    auto keeper = join(1);
    auto leaving = join(1);
    auto dying = join(1);
    EXPECT_FALSE(keeper.othersAreGone(m_now).value_or(true));
    EXPECT_TRUE(leaving.leave());
    m_now += 59s;
    EXPECT_FALSE(keeper.othersAreGone(m_now).value_or(true));
    m_now += 2s;
    EXPECT_TRUE(keeper.othersAreGone(m_now).value_or(false));
}

TEST_F(LedgerTest, KeepsAFewProcessesForWhatMayBeLeft)
{
    std::vector<Ledger> processes;
    for (int i = 0; i < 40; ++i) {
        processes.push_back(join(40));
    }
    for (auto& process : processes) {
        EXPECT_EQ(next(process).turn, Turn::block);
    }
    for (std::size_t i = 0; i + 1 < processes.size(); ++i) {
        EXPECT_TRUE(processes[i].finish(static_cast<std::int64_t>(i)));
        EXPECT_EQ(next(processes[i]).turn, i < 32 ? Turn::wait : Turn::over) << i;
    }
    EXPECT_TRUE(processes.back().finish(39));
    EXPECT_EQ(next(processes.front()).turn, Turn::over);
}

TEST_F(LedgerTest, ReportsAStoreThatDoesNotAnswer)
{
    auto ledger = join(2);
    m_store.stopAnswering();
    EXPECT_FALSE(ledger.next(m_now));
    EXPECT_FALSE(ledger.beat());
    EXPECT_FALSE(Ledger::join(
        m_store, {"job/", 2}, [] { return std::vector<std::int64_t>(); }, [] { return false; }));
}

/// Processes that come, work and die at random times.
TEST_F(LedgerTest, LosesNoBlockWhereverProcessesDie)
{
    constexpr std::int64_t blocks = 200;
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::mt19937 random(seed);
        const auto chance = [&](int percent) { return static_cast<int>(random() % 100) < percent; };
        MemoryStore store;
        std::vector<int> done(blocks, 0);
        struct Process
        {
            Ledger ledger;
            std::optional<std::int64_t> holds;
        };
        std::vector<Process> living;
        const auto begin = [&] {
            auto ledger = Ledger::join(
                store, {"job/", blocks, 60s, 1800s}, [] { return std::vector<std::int64_t>(); }, [] { return false; });
            ASSERT_TRUE(ledger);
            living.push_back({std::move(*ledger), {}});
        };
        begin();
        std::size_t over = 0;
        for (int turn = 0; turn < 100000 && (living.empty() || over < living.size()); ++turn) {
            m_now += 1s;
            if (living.empty() || (living.size() < 8 && chance(3))) {
                begin();
            }
            over = 0;
            for (auto& process : living) {
                EXPECT_TRUE(process.ledger.beat());
                if (process.holds && chance(30)) {
                    ++done[static_cast<std::size_t>(*process.holds)];
                    EXPECT_TRUE(process.ledger.finish(*process.holds));
                    process.holds.reset();
                } else if (!process.holds) {
                    const auto next = process.ledger.next(m_now);
                    ASSERT_TRUE(next);
                    over += next->turn == Turn::over ? 1 : 0;
                    process.holds = next->turn == Turn::block ? std::optional(next->block) : std::nullopt;
                }
            }
            std::erase_if(living, [&](const Process&) { return chance(1); });
        }
        EXPECT_THAT(done, Each(Ge(1))) << "seed " << seed;
        const auto twice = std::count_if(done.begin(), done.end(), [](int times) { return times > 1; });
        EXPECT_LT(twice, blocks / 20) << "seed " << seed;
    }
}

} // namespace

} // namespace nanscope::scaleout
