// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "../tensorfile/madeshards.h"
#include "core/shards/shards.h"

namespace nanscope {

using namespace fixtures;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

class Stitching : public testing::Test
{
protected:
    /// The part of the rank at this place of a mesh of four.
    static MadeShard madeAt(const Numbers& mesh, const Numbers& coordinate, std::vector<std::string> placements,
        const Numbers& whole, const Numbers& local, std::vector<float> values)
    {
        MadeShard made;
        made.whole = whole;
        made.local = local;
        made.placements = std::move(placements);
        made.mesh = {.shape = mesh, .ranks = {10, 11, 12, 13}, .coordinate = coordinate};
        made.values = std::move(values);
        return made;
    }

    static MadeShard row(std::int64_t place, std::vector<float> values)
    {
        return madeAt({4}, {place}, {shardOn(0)}, {4, 3}, {1, 3}, std::move(values));
    }

    static MadeShard replica(std::int64_t place, std::vector<float> values)
    {
        return madeAt({4}, {place}, {replicated()}, {1, 3}, {1, 3}, std::move(values));
    }

    static MadeShard partial(std::int64_t place, std::vector<float> values, const std::string& reduction = "sum")
    {
        return madeAt({4}, {place}, {partialOf(reduction)}, {1, 3}, {1, 3}, std::move(values));
    }

    shards::Shard shard(const MadeShard& made)
    {
        const auto name = std::to_string(++m_files) + ".pt";
        auto file = tensorfile::openCapture(m_folder.write(name, shardFile(made)));
        EXPECT_TRUE(file) << (file ? "" : sentence(file.error()));
        EXPECT_TRUE(file && tensorfile::scanCapture(*file));
        if (!file || file->input.sharding() == nullptr) {
            return {};
        }
        const auto& mesh = file->input.sharding()->mesh;
        return {name, file->input, tensorfile::shardPlace(mesh, tensorfile::meshRanks(mesh, {}), {}),
            file->capture.input.total()};
    }

    shards::Stitched stitched(const std::vector<MadeShard>& made)
    {
        std::vector<shards::Shard> shards;
        for (const auto& one : made) {
            shards.push_back(shard(one));
        }
        auto tensor = shards::stitch(std::move(shards));
        EXPECT_TRUE(tensor) << (tensor ? "" : sentence(tensor.error()));
        return tensor.value_or(shards::Stitched {});
    }

    static std::vector<float> valuesOf(const shards::Stitched& tensor)
    {
        const auto bytes = shards::logicalBytes(tensor);
        EXPECT_TRUE(bytes) << (bytes ? "" : sentence(bytes.error()));
        std::vector<float> values(bytes ? bytes->size() / sizeof(float) : 0);
        if (bytes) {
            std::memcpy(values.data(), bytes->data(), bytes->size());
        }
        return values;
    }

    TemporaryFolder m_folder;
    int m_files = 0;
};

} // namespace

TEST_F(Stitching, RowsMakeTheWholeInWhateverOrderTheyCome)
{
    const auto tensor = stitched({row(2, {7, 8, nan}), row(0, {1, 2, 3}), row(3, {0, -inf, 12}), row(1, {4, 5, 6})});
    EXPECT_TRUE(tensor.complete());
    EXPECT_THAT(tensor.missing, IsEmpty());
    EXPECT_EQ(tensor.logical.count, 12);
    EXPECT_EQ(tensor.logical.nan, 1);
    EXPECT_EQ(tensor.logical.negInf, 1);
    EXPECT_EQ(tensor.logical.zero, 1);
    EXPECT_EQ(tensor.logical.absmax, 12);
    EXPECT_EQ(tensor.logical.minNonzero, 1);
    EXPECT_EQ(tensor.logical.firstNonFinite, 8);
    EXPECT_EQ(tensor.logical.firstClass, ValueClass::nan);
    EXPECT_EQ(tensor.logicalNonFinite(), true);
    EXPECT_TRUE(tensor.partsNonFinite());
    const auto values = valuesOf(tensor);
    ASSERT_THAT(values, SizeIs(12));
    EXPECT_EQ(values[3], 4);
    EXPECT_TRUE(std::isnan(values[8]));
    EXPECT_EQ(values[10], -inf);
}

TEST_F(Stitching, AMissingShardIsNamedAndWhatItHoldsIsNotKnown)
{
    const auto tensor = stitched({row(0, {1, 2, 3}), row(1, {4, 5, 6}), row(3, {7, 8, 9})});
    EXPECT_FALSE(tensor.complete());
    EXPECT_EQ(tensor.unknown, 3);
    EXPECT_EQ(tensor.logical.count, 9);
    EXPECT_EQ(tensor.missingRanks, 1);
    ASSERT_THAT(tensor.missing, SizeIs(1));
    EXPECT_EQ(tensor.missing[0].rank, 12);
    EXPECT_EQ(tensor.missing[0].coordinate, (Shape {2}));
    EXPECT_EQ(tensor.missing[0].held, "row 2");
    EXPECT_FALSE(tensor.missing[0].replicated);
    EXPECT_EQ(tensor.logicalNonFinite(), std::nullopt) << "what is missing may hold a NaN";
    EXPECT_FALSE(shards::logicalBytes(tensor));
    const auto damaged = stitched({row(0, {1, nan, 3})});
    EXPECT_EQ(damaged.logicalNonFinite(), true) << "one NaN is enough to know";
}

TEST_F(Stitching, AMissingReplicaLeavesNothingUnknown)
{
    const auto tensor = stitched({replica(1, {1, 2, 3})});
    EXPECT_TRUE(tensor.complete());
    EXPECT_EQ(tensor.missingRanks, 3);
    ASSERT_THAT(tensor.missing, SizeIs(3));
    EXPECT_TRUE(tensor.missing[0].replicated);
    EXPECT_EQ(tensor.logicalNonFinite(), false);
}

TEST_F(Stitching, ReplicasThatDifferInBitsAreDrift)
{
    const auto tensor =
        stitched({replica(0, {1, 2, 3}), replica(1, {1, 2, 3}), replica(2, {1, 2.5, -3}), replica(3, {1, 2, 3})});
    ASSERT_THAT(tensor.drift, SizeIs(1));
    EXPECT_EQ(tensor.drift[0].a, 0U);
    EXPECT_EQ(tensor.drift[0].b, 2U);
    EXPECT_EQ(tensor.drift[0].differing, 2);
    EXPECT_EQ(tensor.drift[0].classChanges, 0);
    EXPECT_EQ(tensor.drift[0].first, 1);
    EXPECT_EQ(tensor.logicalNonFinite(), false) << "all replicas agree on that";
    EXPECT_THAT(valuesOf(tensor), ElementsAre(1, 2, 3));
}

TEST_F(Stitching, ReplicasThatDisagreeOnWhatIsFiniteLeaveItOpen)
{
    const auto tensor = stitched({replica(0, {1, 2, 3}), replica(1, {1, nan, 3})});
    ASSERT_THAT(tensor.drift, SizeIs(1));
    EXPECT_EQ(tensor.drift[0].classChanges, 1);
    EXPECT_TRUE(tensor.partsNonFinite());
    EXPECT_EQ(tensor.logicalNonFinite(), std::nullopt);
}

TEST_F(Stitching, TheBitsOfANanAreNoDifferenceInNumbers)
{
    const auto tensor = stitched({replica(0, {nan, 2, 3}), replica(1, {-nan, 2, 3})});
    ASSERT_THAT(tensor.drift, SizeIs(1));
    EXPECT_EQ(tensor.drift[0].differing, 0);
    EXPECT_EQ(tensor.drift[0].nanBits, 1);
    EXPECT_EQ(tensor.drift[0].first, 0);
    EXPECT_EQ(tensor.logicalNonFinite(), true);
}

TEST_F(Stitching, FinitePartsMayAddUpToInfinity)
{
    const auto tensor = stitched(
        {partial(0, {3e38F, 1, inf}), partial(1, {3e38F, 2, 1}), partial(2, {1, 3, 1}), partial(3, {-3e38F, 4, 1})});
    ASSERT_TRUE(tensor.partial);
    const auto& sum = *tensor.partial;
    EXPECT_EQ(sum.operation, "sum");
    EXPECT_EQ(sum.parts, 4);
    EXPECT_EQ(sum.own.scan.posInf, 2);
    EXPECT_EQ(sum.own.overflowed, 1) << "the other infinity was there before";
    EXPECT_EQ(sum.own.firstOverflow, 0);
    ASSERT_TRUE(sum.wide);
    EXPECT_EQ(sum.wideType, DType::float64);
    EXPECT_EQ(sum.wide->overflowed, 0) << "3e38 + 3e38 - 3e38 fits once it is rounded at the end only";
    EXPECT_EQ(sum.wideOverflowed, 0);
    EXPECT_EQ(tensor.logicalNonFinite(), true) << "the infinity of a part stays in every order";
    EXPECT_EQ(tensor.logical, sum.own.scan);
    EXPECT_EQ(valuesOf(tensor)[1], 10);
}

TEST_F(Stitching, AnOverflowThatHangsOnTheOrderIsNotKnown)
{
    const auto tensor = stitched(
        {partial(0, {3e38F, 1, 1}), partial(1, {3e38F, 1, 1}), partial(2, {-3e38F, 1, 1}), partial(3, {0, 1, 1})});
    ASSERT_TRUE(tensor.partial);
    EXPECT_EQ(tensor.partial->own.overflowed, 1);
    EXPECT_EQ(tensor.partial->wide->overflowed, 0);
    EXPECT_EQ(tensor.logicalNonFinite(), std::nullopt);
}

TEST_F(Stitching, OnlyAPartialMakesShardsAndWholeDisagree)
{
    const auto overflow =
        stitched({partial(0, {3e38F, 0, 0}), partial(1, {3e38F, 0, 0}), partial(2, {0, 0, 0}), partial(3, {0, 0, 0})});
    EXPECT_FALSE(overflow.partsNonFinite());
    EXPECT_EQ(overflow.logicalNonFinite(), true);
    const auto largest = stitched({partial(0, {-inf, 0, 0}, "max"), partial(1, {1, 0, 0}, "max"),
        partial(2, {0, 0, 0}, "max"), partial(3, {0, 0, 0}, "max")});
    EXPECT_TRUE(largest.partsNonFinite());
    EXPECT_EQ(largest.logicalNonFinite(), false);
    EXPECT_FALSE(largest.partial->wide);
}

TEST_F(Stitching, APartialWithoutAllItsPartsIsNotKnown)
{
    const auto tensor = stitched({partial(0, {1, 2, 3}), partial(1, {1, 2, 3}), partial(3, {1, 2, 3})});
    EXPECT_EQ(tensor.unknown, 3);
    EXPECT_EQ(tensor.logical.count, 0);
    EXPECT_EQ(tensor.logicalNonFinite(), std::nullopt);
    EXPECT_FALSE(tensor.missing[0].replicated);
}

TEST_F(Stitching, APartialThatIsNotComputedIsSaidToBe)
{
    const auto product = stitched({partial(0, {1, 2, 3}, "product")});
    EXPECT_THAT(product.problem, HasSubstr("Partial(product)"));
    EXPECT_EQ(product.logicalNonFinite(), std::nullopt);
    EXPECT_EQ(product.parts.count, 3) << "the shards themselves are counted";
    const auto mixed =
        stitched({madeAt({2, 2}, {0, 0}, {partialOf("sum"), partialOf("max")}, {1, 3}, {1, 3}, {1, 2, 3})});
    EXPECT_THAT(mixed.problem, HasSubstr("two kinds of Partial"));
}

TEST_F(Stitching, PartsOfAPartialAreTakenFromTheirReplicas)
{
    const auto at = [](std::int64_t a, std::int64_t b, float value) {
        return madeAt({2, 2}, {a, b}, {replicated(), partialOf("sum")}, {1, 1}, {1, 1}, {value});
    };
    const auto tensor = stitched({at(0, 0, 1), at(1, 0, 1), at(1, 1, 2)});
    EXPECT_TRUE(tensor.complete()) << "both parts are there, though (0, 1) is not";
    EXPECT_THAT(valuesOf(tensor), ElementsAre(3));
    ASSERT_THAT(tensor.missing, SizeIs(1));
    EXPECT_TRUE(tensor.missing[0].replicated);
    EXPECT_THAT(tensor.drift, IsEmpty());
}

TEST_F(Stitching, OfTwoEqualDumpsOfAPlaceOneIsTaken)
{
    const auto tensor = stitched({replica(0, {1, 2, 3}), replica(0, {1, 2, 3})});
    EXPECT_THAT(tensor.shards, SizeIs(1));
    ASSERT_THAT(tensor.unused, SizeIs(1));
    EXPECT_THAT(tensor.unused[0].why, HasSubstr("the same as 1.pt"));
}

TEST_F(Stitching, OfTwoDifferentDumpsOfAPlaceNoneIsBelieved)
{
    const auto tensor = stitched({row(0, {1, 2, 3}), row(1, {4, 5, 6}), row(1, {4, 5, 7})});
    EXPECT_THAT(tensor.shards, SizeIs(1));
    ASSERT_THAT(tensor.unused, SizeIs(2));
    EXPECT_THAT(tensor.unused[0].why, HasSubstr("claims the place of 3.pt with other values"));
    EXPECT_THAT(tensor.unused[1].why, HasSubstr("claims the place of 2.pt"));
    EXPECT_EQ(tensor.missingRanks, 3);
    EXPECT_EQ(tensor.unknown, 9);
}

TEST_F(Stitching, APartOfAnotherShapeThanItsPlaceIsLeftOut)
{
    const auto tensor =
        stitched({row(0, {1, 2, 3}), madeAt({4}, {1}, {shardOn(0)}, {4, 3}, {2, 3}, {1, 2, 3, 4, 5, 6})});
    ASSERT_THAT(tensor.unused, SizeIs(1));
    EXPECT_THAT(tensor.unused[0].why, HasSubstr("holds 2x3 where its place in the mesh has 1x3"));
}

TEST_F(Stitching, WhatCannotBeUnderstoodIsRefused)
{
    auto odd = row(0, {1, 2, 3});
    odd.placements = {shardOn(5)};
    const auto refused = shards::stitch({shard(odd)});
    ASSERT_FALSE(refused);
    EXPECT_THAT(sentence(refused.error()), HasSubstr("dimension that it does not have"));
    EXPECT_FALSE(shards::stitch({}));
    auto nowhere = row(0, {1, 2, 3});
    nowhere.mesh.coordinate = std::nullopt;
    const auto unplaced = stitched({nowhere});
    EXPECT_THAT(unplaced.shards, IsEmpty());
    EXPECT_THAT(unplaced.unused, SizeIs(1));
}

TEST_F(Stitching, AHugeWholeCostsNoMoreThanItsParts)
{
    MadeShard made;
    made.whole = {std::int64_t {1} << 40, 3};
    made.local = {1, 3};
    made.values = {1, 2, 3};
    made.mesh = {.shape = {1024, 1024}, .coordinate = Numbers {0, 5}};
    made.mesh.ranks.resize(1024 * 1024);
    for (std::size_t i = 0; i < made.mesh.ranks.size(); ++i) {
        made.mesh.ranks[i] = static_cast<std::int32_t>(i);
    }
    made.placements = {shardOn(0), shardOn(0)};
    const auto wrong = stitched({made});
    EXPECT_THAT(wrong.unused[0].why, HasSubstr("its place in the mesh has 1048576x3"));
    made.whole = {1024 * 1024, 3};
    const auto tensor = stitched({made});
    EXPECT_EQ(tensor.missingRanks, 1024 * 1024 - 1);
    EXPECT_THAT(tensor.missing, SizeIs(100));
    EXPECT_EQ(tensor.unknown, (1024 * 1024 - 1) * 3);
}

TEST_F(Stitching, LargePartsAreReadInBlocks)
{
    constexpr std::int64_t cols = 300'000; // a row is more than one block
    const auto part = [&](std::int64_t place, float value) {
        auto values = std::vector<float>(2 * cols, value);
        values[static_cast<std::size_t>(cols + 299'999)] = place == 0 ? 3e38F : value;
        values[5] = place == 0 ? -3e38F : value;
        auto made = madeAt({2}, {place}, {partialOf("sum")}, {2, cols}, {2, cols}, std::move(values));
        made.mesh.ranks = {0, 1};
        return made;
    };
    const auto tensor = stitched({part(0, 1), part(1, 3e38F)});
    EXPECT_EQ(tensor.logical.posInf, 1);
    EXPECT_EQ(tensor.logical.firstNonFinite, 2 * cols - 1);
    EXPECT_EQ(tensor.partial->own.overflowed, 1);
    EXPECT_EQ(tensor.partial->own.firstOverflow, 2 * cols - 1);
    EXPECT_EQ(tensor.logical.zero, 1);
    EXPECT_EQ(tensor.logical.count, 2 * cols);
    const auto values = valuesOf(tensor);
    EXPECT_EQ(values[5], 0);
    EXPECT_EQ(values[static_cast<std::size_t>(cols + 1)], 3e38F);
}

TEST_F(Stitching, CanBeCancelled)
{
    JobContext job;
    job.cancel.cancel();
    const auto stopped = shards::stitch({shard(replica(0, {1, 2, 3})), shard(replica(1, {1, 2, 3}))}, job);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::cancelled);
}

} // namespace nanscope
