// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/queue.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>

namespace nanscope {

namespace {

using testing::ElementsAre;

std::shared_ptr<rpc::ServiceJob> sweepJob(int id)
{
    return std::make_shared<rpc::ServiceJob>(rpc::ServiceJob {id, rpc::SweepOrder {}, {}});
}

std::shared_ptr<rpc::ServiceJob> filmJob(int id)
{
    return std::make_shared<rpc::ServiceJob>(rpc::ServiceJob {id, replay::FilmRequest {}, {}});
}

bool nothingToTidy()
{
    return false;
}

int runNext(rpc::ServiceQueue& queue)
{
    const auto job = queue.begin(nothingToTidy);
    queue.finish();
    return job->id.get<int>();
}

TEST(ServiceQueue, PicturesOvertakeSweepsThatWait)
{
    rpc::ServiceQueue queue;
    for (const int id : {1, 2}) {
        ASSERT_TRUE(queue.add(sweepJob(id)));
    }
    const auto running = queue.begin(nothingToTidy);
    EXPECT_EQ(running->id, 1);
    ASSERT_TRUE(queue.add(filmJob(3)));
    ASSERT_TRUE(queue.add(filmJob(4)));
    EXPECT_FALSE(running->cancel.cancelled()) << "nothing is interrupted";
    queue.finish();
    EXPECT_THAT((std::vector {runNext(queue), runNext(queue), runNext(queue)}), ElementsAre(3, 4, 2));
}

TEST(ServiceQueue, APictureWaitsForAnotherThatRuns)
{
    rpc::ServiceQueue queue;
    ASSERT_TRUE(queue.add(filmJob(1)));
    ASSERT_TRUE(queue.add(sweepJob(2)));
    queue.begin(nothingToTidy);
    ASSERT_TRUE(queue.add(filmJob(3)));
    queue.finish();
    EXPECT_THAT((std::vector {runNext(queue), runNext(queue)}), ElementsAre(3, 2));
}

TEST(ServiceQueue, BeforeAnythingRunsAPictureIsFirst)
{
    rpc::ServiceQueue queue;
    ASSERT_TRUE(queue.add(sweepJob(1)));
    ASSERT_TRUE(queue.add(filmJob(2)));
    EXPECT_EQ(runNext(queue), 2);
}

TEST(ServiceQueue, IdsAreThereOnceUntilTheyAreDone)
{
    rpc::ServiceQueue queue;
    ASSERT_TRUE(queue.add(filmJob(1)));
    EXPECT_FALSE(queue.add(sweepJob(1)));
    EXPECT_TRUE(queue.cancel(1));
    EXPECT_FALSE(queue.cancel(2));
    EXPECT_TRUE(queue.begin(nothingToTidy)->cancel.cancelled());
    queue.finish();
    EXPECT_FALSE(queue.cancel(1));
    EXPECT_TRUE(queue.add(sweepJob(1)));
}

TEST(ServiceQueue, TooManyAreRefused)
{
    rpc::ServiceQueue queue;
    for (int id = 0; id < static_cast<int>(rpc::ServiceQueue::maxWaiting); ++id) {
        ASSERT_TRUE(queue.add(sweepJob(id)));
    }
    EXPECT_FALSE(queue.add(filmJob(-1)));
}

TEST(ServiceQueue, TheEndCancelsWhatIsThereAndHandsItOut)
{
    rpc::ServiceQueue queue;
    ASSERT_TRUE(queue.add(sweepJob(1)));
    queue.end();
    EXPECT_FALSE(queue.add(sweepJob(2)));
    EXPECT_TRUE(queue.begin(nothingToTidy)->cancel.cancelled());
    queue.finish();
    EXPECT_EQ(queue.begin(nothingToTidy), nullptr);
}

TEST(ServiceQueue, TidiesUntilThereIsNothingLeftToDo)
{
    rpc::ServiceQueue queue;
    std::atomic<int> left = 3;
    std::thread waiting([&] { queue.begin([&] { return --left > 0; }); });
    while (left > 0) {
        std::this_thread::yield();
    }
    queue.add(filmJob(1));
    waiting.join();
    EXPECT_EQ(left, 0);
}

} // namespace

} // namespace nanscope
