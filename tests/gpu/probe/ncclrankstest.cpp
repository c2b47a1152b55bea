// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// On GPUs. NCCL takes no two ranks on one, so that a machine with a single one shows the way of a byte and no more.
#include <cmath>
#include <memory>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#define USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "core/probe/nandetector.h"
#include "gpu/probe/nonfinite.h"
#include "gpu/probe/tensorguard.h"

namespace nanscope {

namespace {

class NcclRanks : public testing::Test
{
protected:
    void SetUp() override
    {
        if (!at::hasCUDA()) {
            GTEST_SKIP() << "there is no GPU, or this torch has no CUDA";
        }
        const auto store = c10::make_intrusive<c10d::HashStore>();
        m_ranks = std::make_unique<C10dRanks>(
            c10::make_intrusive<c10d::ProcessGroupNCCL>(store, 0, 1), C10dOptions {.store = store});
    }

    std::unique_ptr<C10dRanks> m_ranks;
};

TEST_F(NcclRanks, CarryEachKindOfNumber)
{
    EXPECT_EQ(m_ranks->device().type(), at::kCUDA);
    EXPECT_EQ(m_ranks->maximum(1).value(), 1);
    EXPECT_EQ(m_ranks->sum(0.5F).value(), 0.5F);
    EXPECT_EQ(m_ranks->range(-7).value().first, -7);
}

TEST_F(NcclRanks, GuardATensorOnTheGpu)
{
    TensorGuard guard(*m_ranks);
    const auto finite = at::ones({64, 32}, at::device(at::kCUDA).dtype(at::kBFloat16));
    EXPECT_FALSE(guard(finite, 1).value().skip);
    auto bad = finite.clone();
    bad[63][31] = NAN;
    EXPECT_TRUE(guard(bad, 2).value().skip);
    const MeshDimension mesh[] = {{m_ranks.get(), Placement::partialSum}};
    EXPECT_TRUE(anyNonFinite(bad, mesh).value());
    EXPECT_FALSE(anyNonFinite(finite, mesh).value());
    const MeshDimension averages[] = {{m_ranks.get(), Placement::partialAverage}};
    EXPECT_FALSE(anyNonFinite(finite, averages).value());
}

} // namespace

} // namespace nanscope
