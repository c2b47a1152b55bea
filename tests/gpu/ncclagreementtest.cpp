// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "gpu/agreement.h"
#include "gpu/kernels/cudainfo.h"

namespace nanscope {

namespace {

class GpuAgreementTest : public testing::Test
{
protected:
    void SetUp() override
    {
        const auto state = queryCuda();
        if (!state.problem.empty()) {
            GTEST_SKIP() << state.problem;
        }
        m_count = state.devices.size();
        if (ncclVersion().empty()) {
            GTEST_SKIP() << "built without NCCL";
        }
    }

    std::vector<replay::ReplayHash> hashes(std::uint64_t last) const
    {
        std::vector<replay::ReplayHash> all(m_count, replay::ReplayHash {{1, 0xfedcba9876543210}});
        all.back().words[0] = last;
        return all;
    }

    std::size_t m_count = 0;
};

TEST_F(GpuAgreementTest, equalHashesHaveOneRange)
{
    const auto range = reduceHashes(hashes(1));
    ASSERT_TRUE(range) << range.error().what;
    EXPECT_TRUE(range->equal());
    EXPECT_EQ(range->least.words[1], 0xfedcba9876543210);
}

TEST_F(GpuAgreementTest, theOneThatDiffersShowsInTheRange)
{
    if (m_count < 2) {
        GTEST_SKIP() << "one GPU";
    }
    const auto range = reduceHashes(hashes(0x8000000000000000));
    ASSERT_TRUE(range) << range.error().what;
    EXPECT_EQ(range->least.words[0], 1U);
    EXPECT_EQ(range->most.words[0], 0x8000000000000000) << "words are unsigned";
}

TEST_F(GpuAgreementTest, everyGpuReplaysToTheSameBits)
{
    const auto path = std::filesystem::temp_directory_path() / "nanscope-gpuagreement.pt";
    std::vector<float> values(2 * 96 * 160);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = std::sin(static_cast<float>(i * i));
    }
    const auto bytes = std::as_bytes(std::span(values));
    ASSERT_TRUE(tensorfile::writePt(path,
        {{"input", tensorfile::TensorToWrite {"input", DType::float32, {2, 96, 160}, {bytes.begin(), bytes.end()}}}}));
    const auto result = agreeOnGpus({path.string(), "gns-gram", std::nullopt, 3});
    std::filesystem::remove(path);
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_NE(result->agreement.agree, std::optional(false)) << result->agreement.text;
    EXPECT_TRUE(result->range) << result->notes.front();
    EXPECT_TRUE(result->notes.empty());
}

} // namespace

TEST(GpuAgreement, WithoutAGpuSaysSo)
{
    const auto state = queryCuda();
    if (state.problem.empty()) {
        GTEST_SKIP() << "there is a GPU";
    }
    const auto result = agreeOnGpus({"nowhere.pt", "gns-gram", std::nullopt, 1});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
    EXPECT_EQ(result.error().what, state.problem);
}

} // namespace nanscope
