// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "gpu/probe/nonfinite.h"
#include "tests/gpu/probe/processes.h"

namespace nanscope {

namespace {

using test::inProcesses;
using test::Membership;
using ::testing::Each;
using ::testing::Optional;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float huge = 3e38F; // its double is no float any more

bool bad(const at::Tensor& tensor)
{
    const auto found = anyNonFinite(tensor);
    EXPECT_TRUE(found) << (found ? "" : found.error().what);
    return found && *found;
}

TEST(AnyNonFinite, FindsEachKindAtEachPlaceInEachFormat)
{
    for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
        const auto finite = at::full({5, 7}, -2.5, dtype);
        EXPECT_FALSE(bad(finite));
        for (const double value : {double(NAN), double(inf), -double(inf)}) {
            for (int place = 0; place < 35; ++place) {
                auto tensor = finite.clone();
                tensor.view({-1})[place] = value;
                EXPECT_TRUE(bad(tensor)) << dtype << " " << value << " at " << place;
            }
        }
    }
}

TEST(AnyNonFinite, AsksOnlyTheTensorsOwnValues)
{
    auto around = at::zeros({6, 6});
    around[1][1] = NAN;
    EXPECT_FALSE(bad(around.slice(0, 0, 6, 2).slice(1, 0, 6, 2)));
    EXPECT_TRUE(bad(around.t().slice(0, 1, 6)));
}

TEST(AnyNonFinite, KnowsTheOtherKindsOfTensors)
{
    EXPECT_FALSE(bad(at::empty({0, 4})));
    EXPECT_FALSE(bad(at::full({3}, std::int64_t {1} << 62, at::kLong)));
    EXPECT_TRUE(bad(at::full({}, NAN)));
    EXPECT_FALSE(bad(at::full({2}, 448.0).to(at::kFloat8_e4m3fn)));
    EXPECT_TRUE(bad(at::full({2}, NAN).to(at::kFloat8_e5m2)));
    EXPECT_TRUE(bad(at::complex(at::ones({2}), at::full({2}, inf))));
    EXPECT_FALSE(bad(at::complex(at::ones({2}), at::ones({2}))));
    auto dense = at::zeros({3, 3});
    dense[2][0] = -inf;
    EXPECT_TRUE(bad(dense.to_sparse()));
    EXPECT_TRUE(bad(dense.to_sparse_csr()));
}

TEST(AnyNonFinite, LeavesTheTensorAloneAndSaysWhatTorchCannot)
{
    auto tensor = at::ones({2}).requires_grad_();
    EXPECT_FALSE(bad(tensor));
    EXPECT_TRUE(tensor.requires_grad());
    const auto none = anyNonFinite(at::Tensor());
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().what, testing::StartsWith("torch: "));
}

/// What either of two ranks holds of the second value of two, and whether the logical tensor is finite.
struct Case
{
    std::string name;
    Placement placement;
    std::array<float, 2> parts;
    bool bad;
};

const std::array cases {
    Case {"finite shards", Placement::shard, {2, 4}, false},
    Case {"NaN in the second shard", Placement::shard, {2, NAN}, true},
    Case {"infinity in the first", Placement::shard, {-inf, 4}, true},
    Case {"shards whose sum would be infinite", Placement::shard, {huge, huge}, false},
    Case {"shards whose sum would be NaN", Placement::shard, {inf, -inf}, true},
    Case {"finite replicas", Placement::replicate, {2, 2}, false},
    Case {"one replica drifted away", Placement::replicate, {2, NAN}, true},
    Case {"finite summands", Placement::partialSum, {2, 4}, false},
    Case {"finite summands of infinity", Placement::partialSum, {huge, huge}, true},
    Case {"infinite summands of NaN", Placement::partialSum, {inf, -inf}, true},
    Case {"finite parts of an average", Placement::partialAverage, {2, 4}, false},
    Case {"parts of an average whose sum is infinite, as gloo takes it", Placement::partialAverage, {huge, huge}, true},
    Case {"NaN in a part of an average", Placement::partialAverage, {2, NAN}, true},
    Case {"an infinite part that is no minimum", Placement::partialMinimum, {inf, 4}, false},
    Case {"an infinite part that is the minimum", Placement::partialMinimum, {-inf, 4}, true},
    Case {"an infinite part that is no maximum", Placement::partialMaximum, {-inf, 4}, false},
    Case {"finite factors of infinity", Placement::partialProduct, {huge, 4}, true},
};

/// Names of the cases that were answered wrongly.
std::string askPlacements(const Membership& member)
{
    C10dRanks ranks(member.group, member.options());
    std::string wrong;
    for (const auto& each : cases) {
        const auto local = at::tensor({1.0F, each.parts[member.rank]});
        const MeshDimension mesh[] = {{&ranks, each.placement}};
        if (anyNonFinite(local, mesh).value() != each.bad) {
            wrong += each.name + "; ";
        }
        if (local[1].item<float>() != each.parts[member.rank] && each.parts[member.rank] == each.parts[member.rank]) {
            wrong += each.name + " changed its part; ";
        }
    }
    return wrong.empty() ? "all right" : wrong;
}

TEST(AnyNonFinite, AsksWhatADistributedTensorStandsFor)
{
    EXPECT_THAT(inProcesses(2, askPlacements), Each(Optional(std::string("all right"))));
}

/// A mesh of 2 × 2: summands along its rows, shards along its columns. Ranks 0 and 1 are the first row.
std::string askMesh(const Membership& member)
{
    const int row = member.rank / 2;
    const int column = member.rank % 2;
    auto along = member.among({2 * row, 2 * row + 1}, fmt::format("row{}", row));
    auto across = member.among({column, column + 2}, fmt::format("column{}", column));
    const MeshDimension mesh[] = {{&across, Placement::shard}, {&along, Placement::partialSum}};
    const bool finite = anyNonFinite(at::full({3}, 1.0F), mesh).value();
    const bool infinite = anyNonFinite(at::full({3}, row == 1 ? huge : 1.0F), mesh).value();
    return fmt::format("{} {}", finite, infinite);
}

TEST(AnyNonFinite, CarriesTheAnswerThroughAllDimensionsOfAMesh)
{
    EXPECT_THAT(inProcesses(4, askMesh), Each(Optional(std::string("false true"))));
}

/// One rank has no rows: 3 rows over 4 ranks, or padding of FSDP.
TEST(AnyNonFinite, AnEmptyShardHearsOfABadOne)
{
    const auto answers = inProcesses(2, [](const Membership& member) {
        C10dRanks ranks(member.group, member.options());
        const MeshDimension mesh[] = {{&ranks, Placement::shard}};
        return fmt::format("{}", anyNonFinite(at::full({3 - 3 * member.rank, 2}, NAN), mesh).value());
    });
    EXPECT_THAT(answers, Each(Optional(std::string("true"))));
}

} // namespace

} // namespace nanscope
