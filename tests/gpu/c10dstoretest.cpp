// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/scaleout/c10dstore.h"

#include <chrono>
#include <semaphore>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>

#include "gpu/patientthread.h"

namespace nanscope {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

/// Rank 1 of 2; nobody listens at the reserved port.
const scaleout::Launch lonely {1, 2, 0, "127.0.0.1", 1, false, "test"};

TEST(PatientThread, GivesWhatTheWorkGives)
{
    PatientThread thread({});
    EXPECT_EQ(thread.run([] { return 7; }, 30s), 7);
    EXPECT_THROW(thread.run([]() -> int { throw std::runtime_error("no"); }, 30s), std::runtime_error);
    EXPECT_EQ(thread.run([] { return 8; }, 30s), 8);
}

TEST(PatientThread, LeavesWhatHangsToItself)
{
    const auto gate = std::make_shared<std::binary_semaphore>(0);
    const auto begin = Clock::now();
    {
        PatientThread thread({});
        EXPECT_EQ(thread.run([gate] { return gate->acquire(), 7; }, 50ms), std::nullopt);
        EXPECT_EQ(thread.run([] { return 8; }, 30s), std::nullopt) << "it is not asked again";
    }
    EXPECT_LT(Clock::now() - begin, 20s);
    gate->release();
}

TEST(PatientThread, WaitsOnlyAMomentOnceCancelled)
{
    const auto gate = std::make_shared<std::binary_semaphore>(0);
    CancelToken cancel;
    cancel.cancel();
    PatientThread thread(cancel);
    EXPECT_EQ(thread.run([] { return 7; }, 30s), 7) << "what answers at once still does";
    const auto begin = Clock::now();
    EXPECT_EQ(thread.run([gate] { return gate->acquire(), 7; }, 10min), std::nullopt);
    EXPECT_LT(Clock::now() - begin, 30s);
    gate->release();
}

TEST(C10dStore, WaitsForItsKeeperAsLongAsItSays)
{
    const auto begin = Clock::now();
    const auto store = connectStore(lonely, {500ms, 500ms});
    EXPECT_LT(Clock::now() - begin, 30s);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().kind, ErrorKind::io);
    EXPECT_THAT(store.error().what, HasSubstr("rank 1 found no store at 127.0.0.1:1 within 0.5 s"));
}

TEST(C10dStore, IsNotWaitedForOnceCancelled)
{
    CancelToken cancel;
    std::thread user([cancel]() mutable {
        std::this_thread::sleep_for(100ms);
        cancel.cancel();
    });
    const auto begin = Clock::now();
    const auto store = connectStore(lonely, {10min, 10min}, cancel);
    user.join();
    EXPECT_LT(Clock::now() - begin, 30s);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().kind, ErrorKind::cancelled);
}

TEST(C10dStore, OfAProcessThatIsAloneIsItsOwn)
{
    const auto store = connectStore({});
    ASSERT_TRUE(store);
    EXPECT_EQ((*store)->add("n", 3).value(), 3);
    EXPECT_FALSE((*store)->has("text").value());
    EXPECT_TRUE((*store)->append("text", "ab"));
    EXPECT_EQ((*store)->get({"text"}).value().front(), "ab");
}

} // namespace

} // namespace nanscope
