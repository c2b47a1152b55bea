// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "core/ingest/readahead.h"

namespace nanscope {
namespace {

TEST(ReadAhead, HandsResultsOutInOrderWhicheverIsDoneFirst)
{
    ingest::ReadAhead<std::size_t> ahead(50, 4, 8, [](std::size_t i) {
        if (i % 5 == 0) {
            std::this_thread::yield();
        }
        return i * i;
    });
    for (std::size_t i = 0; i < 50; ++i) {
        EXPECT_EQ(ahead.next(), i * i);
    }
}

TEST(ReadAhead, RunsNoFurtherAheadThanItsWindow)
{
    std::atomic<std::size_t> begun = 0;
    ingest::ReadAhead<std::size_t> ahead(100, 4, 6, [&](std::size_t i) {
        ++begun;
        return i;
    });
    for (std::size_t i = 0; i < 100; ++i) {
        EXPECT_LE(begun.load(), i + 6);
        EXPECT_EQ(ahead.next(), i);
    }
    EXPECT_EQ(begun.load(), 100U);
}

TEST(ReadAhead, WorksWithoutAnyThread)
{
    const auto self = std::this_thread::get_id();
    ingest::ReadAhead<bool> ahead(3, 0, 4, [&](std::size_t) { return std::this_thread::get_id() == self; });
    EXPECT_TRUE(ahead.next());
    EXPECT_TRUE(ahead.next());
    EXPECT_TRUE(ahead.next());
}

TEST(ReadAhead, PassesOnWhatTheWorkThrewAndGoesOn)
{
    ingest::ReadAhead<int> ahead(3, 2, 4, [](std::size_t i) {
        if (i == 1) {
            throw std::runtime_error("out of memory");
        }
        return static_cast<int>(i);
    });
    EXPECT_EQ(ahead.next(), 0);
    EXPECT_THROW(ahead.next(), std::runtime_error);
    EXPECT_EQ(ahead.next(), 2);
}

TEST(ReadAhead, StopsEarlyWhenItIsDestroyed)
{
    std::atomic<std::size_t> begun = 0;
    {
        ingest::ReadAhead<std::size_t> ahead(1000, 2, 10, [&](std::size_t i) {
            ++begun;
            return i;
        });
        EXPECT_EQ(ahead.next(), 0U);
    }
    EXPECT_LE(begun.load(), 11U);
}

} // namespace
} // namespace nanscope
