// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Two models of GPU in one machine, both so full that CUDA cannot even begin on them. The functions below stand in the
// place of the runtime's, for torch as well: no GPU is needed, and one that is there is not used.
#include <cstring>

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>

#include "core/replay/engine/agreement.h"
#include "core/replay/engine/replay.h"
#include "gpu/agreement.h"
#include "gpu/gpu.h"
#include "tests/gpu/samples.h"

extern "C" {

cudaError_t cudaDriverGetVersion(int* version)
{
    *version = 99000;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count)
{
    *count = 2;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device)
{
    std::memset(static_cast<void*>(properties), 0, sizeof *properties);
    std::strncpy(properties->name, device == 0 ? "Model A" : "Model B", sizeof properties->name - 1);
    properties->major = device == 0 ? 9 : 8;
    for (int i = 0; i < 16; ++i) {
        properties->uuid.bytes[i] = static_cast<char>(16 * device + i);
    }
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int* /*device*/)
{
    return cudaErrorMemoryAllocation;
}

cudaError_t cudaSetDevice(int /*device*/)
{
    return cudaErrorMemoryAllocation;
}

cudaError_t cudaMemGetInfo(std::size_t* /*available*/, std::size_t* /*total*/)
{
    return cudaErrorMemoryAllocation;
}

} // extern "C"

namespace nanscope {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

auto oneSentence()
{
    return AllOf(HasSubstr("out of memory"), Not(HasSubstr("\n")), Not(HasSubstr("frame #")));
}

TEST(FullGpu, IsListedWithItsModelAndUuid)
{
    const auto info = torchInfo();
    ASSERT_EQ(info.devices.size(), 3U);
    EXPECT_EQ(info.devices[1].hardware, "Model A");
    EXPECT_EQ(info.devices[2].hardware, "Model B");
    EXPECT_EQ(info.devices[1].uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
    EXPECT_EQ(info.devices[2].capability, "sm_80");
}

TEST(FullGpu, FailsAReplayWithASentence)
{
    int lost = 0;
    const auto device = makeTorchDevice("cuda:1", [&](const Error& error) {
        ++lost;
        EXPECT_THAT(error.what, oneSentence());
    });
    ASSERT_TRUE(device) << device.error().what;
    EXPECT_EQ((*device)->environment().hardware, "Model B sm_80");
    const MatrixShape shape {2, 12, 20};
    const auto replayed =
        replay::replay(*replay::builtInVariant("gns-gram"), shape, test::normalInput(shape, 3), **device, {});
    ASSERT_FALSE(replayed);
    EXPECT_THAT(replayed.error().what, oneSentence());
    EXPECT_EQ(lost, 1) << "the process ends, so that what judges goes on with the CPU";
}

} // namespace

} // namespace nanscope
