// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What NCCL makes of hashes, without NCCL.
#include <chrono>
#include <memory>
#include <semaphore>

#include <gmock/gmock.h>

#include "gpu/agreement.h"

namespace nanscope {

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

GpuAgreement agreed(std::uint64_t last = 7)
{
    const auto hash = [](std::uint64_t word) { return replay::ReplayHash {{word, 1}}; };
    GpuAgreement result;
    result.agreement = replay::agreementOf({{"cuda:0", "H100", {hash(7)}}, {"cuda:1", "H100", {hash(last)}}});
    return result;
}

Result<HashRange> rangeOf(std::span<const replay::ReplayHash> hashes)
{
    return HashRange {hashes.front(), hashes.back()};
}

TEST(Reduction, IsKept)
{
    auto result = agreed();
    addReduction(result, rangeOf, 30s);
    ASSERT_TRUE(result.range);
    EXPECT_TRUE(result.range->equal());
    EXPECT_THAT(result.notes, IsEmpty());
}

TEST(Reduction, ThatContradictsTheHashesIsSaid)
{
    auto result = agreed(8);
    addReduction(
        result,
        [](auto hashes) {
            return Result<HashRange>(HashRange {hashes[0], hashes[0]});
        },
        30s);
    EXPECT_THAT(result.notes, ElementsAre(HasSubstr("suspect the communication")));
}

TEST(Reduction, ThatFailsOrHangsLeavesTheAgreement)
{
    auto failed = agreed();
    addReduction(
        failed, [](auto) -> Result<HashRange> { return failure(ErrorKind::internal, "NCCL: no"); }, 30s);
    EXPECT_FALSE(failed.range);
    EXPECT_FALSE(failed.hangs);
    EXPECT_THAT(failed.notes, ElementsAre("the hashes were compared by the host alone: NCCL: no"));

    const auto gate = std::make_shared<std::binary_semaphore>(0);
    auto hanging = agreed();
    addReduction(
        hanging,
        [gate](auto hashes) {
            gate->acquire();
            return rangeOf(hashes);
        },
        50ms);
    gate->release();
    EXPECT_FALSE(hanging.range);
    EXPECT_TRUE(hanging.hangs);
    EXPECT_EQ(hanging.agreement.agree, true);
    EXPECT_THAT(hanging.notes, ElementsAre(HasSubstr("NCCL did not answer within 0.05 s")));
}

TEST(Reduction, IsNotTriedWhereAGpuGaveNothing)
{
    auto result = agreed();
    result.agreement.devices[1].hashes.clear();
    addReduction(result, rangeOf, 30s);
    EXPECT_FALSE(result.range);
    EXPECT_THAT(result.notes, ElementsAre(HasSubstr("not every GPU has given one")));
}

} // namespace

} // namespace nanscope
