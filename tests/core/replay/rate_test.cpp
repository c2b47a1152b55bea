// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "core/replay/analysis/rate.h"
#include "tests/core/replay/devicearound.h"

namespace nanscope {
namespace {

/// As a GPU, which loads its libraries at its first replay. It gives up where it is asked for many.
class ColdDevice : public test::DeviceAround
{
public:
    Result<void> prepare(const replay::Program& program, std::int64_t batch) override
    {
        constexpr int many = 50;
        if (++m_replays > many) {
            return failure(ErrorKind::internal, "replays without end");
        }
        return DeviceAround::prepare(program, batch);
    }

    Result<void> run(const replay::Instruction& instruction) override
    {
        if (m_cold) {
            std::this_thread::sleep_for(std::chrono::milliseconds(150));
            m_cold = false;
        }
        return DeviceAround::run(instruction);
    }

private:
    int m_replays = 0;
    bool m_cold = true;
};

TEST(Rate, IsThatOfTheDevice)
{
    const auto rate = replay::measuredRate(*replay::makeEigenDevice(1));
    ASSERT_TRUE(rate) << sentence(rate.error());
    EXPECT_GT(rate->operations, 1e7);
    EXPECT_LT(rate->operations, 1e14) << "no CPU does";
}

TEST(Rate, OfADeviceThatStartsSlowlyIsMeasured)
{
    ColdDevice device;
    const auto rate = replay::measuredRate(device);
    ASSERT_TRUE(rate) << sentence(rate.error());
    EXPECT_GT(rate->operations, 1e7);
}

/// As a GPU before Ampere.
class DeviceWithoutBf16 : public test::DeviceAround
{
    Environment environment() const override { return {"torch 2.11.0", "cuda:0", "a GPU", {}, 1, {}}; }
    Result<void> prepare(const replay::Program& /*program*/, std::int64_t /*batch*/) override
    {
        return failure(ErrorKind::unsupported, "cuda:0 does not compute in bf16; the CPU emulates it");
    }
};

TEST(Rate, OfADeviceThatLacksTheFormatIsThatOfTheCpu)
{
    DeviceWithoutBf16 device;
    const auto rate = replay::measuredRate(device);
    ASSERT_TRUE(rate) << sentence(rate.error());
    EXPECT_GT(rate->operations, 1e7);
    EXPECT_EQ(rate->device, "cpu");
}

TEST(Rate, IsNotWaitedForOnceCancelled)
{
    CancelToken cancel;
    cancel.cancel();
    const auto rate = replay::measuredRate(*replay::makeEigenDevice(1), cancel);
    ASSERT_FALSE(rate);
    EXPECT_EQ(rate.error().kind, ErrorKind::cancelled);
}

TEST(Rate, IsSaidInWordsOfOneSize)
{
    EXPECT_EQ(replay::operationsText(2e10, true), "20 GFLOP/s");
    EXPECT_EQ(replay::operationsText(4.12e12), "4.12 TFLOP");
    EXPECT_EQ(replay::aboutSeconds(0.4), "under a second");
    EXPECT_EQ(replay::aboutSeconds(61), "about 61 seconds");
    EXPECT_EQ(replay::aboutSeconds(290), "about 5 minutes");
}

} // namespace
} // namespace nanscope
