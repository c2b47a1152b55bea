// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/cudainfo.h"

#include <gmock/gmock.h>

namespace nanscope {

namespace {

TEST(WhyNoGpu, IsOneSentenceForEachReason)
{
    CudaState state;
    state.runtime = "13.0";
    EXPECT_EQ(whyNoGpu(state, true, "x"), "no GPU: no NVIDIA driver is installed here");
    state.driver = "12.4";
    EXPECT_EQ(whyNoGpu(state, true, "x"),
        "no GPU: the driver supports CUDA 12.4 and this torch needs 13.0; update the driver");
    EXPECT_EQ(whyNoGpu(state, false, ""), "no GPU: the driver reports no device; see CUDA_VISIBLE_DEVICES");
    EXPECT_EQ(whyNoGpu(state, false, "system not yet initialized"), "no GPU: system not yet initialized");
}

TEST(ShortOfMemory, SaysWhatIsNeededAndWhatIsFree)
{
    constexpr std::int64_t gibibyte = std::int64_t {1} << 30;
    EXPECT_EQ(shortOfMemory("cuda:1", 3 * gibibyte / 2, CudaMemory {gibibyte / 2, 79 * gibibyte}),
        "cuda:1 has not enough memory for this replay, which takes about 1.5 GiB: 0.5 of 79 are free; end what else "
        "uses it, or replay on 'cpu' or another GPU");
    EXPECT_EQ(shortOfMemory("cuda:1", gibibyte, std::nullopt),
        "cuda:1 has not enough memory for this replay; end what else uses it, or replay on 'cpu' or another GPU");
}

} // namespace

} // namespace nanscope
