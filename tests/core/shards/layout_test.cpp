// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <numeric>
#include <set>

#include "core/shards/shardlayout.h"

namespace nanscope {

using testing::ElementsAre;
using testing::HasSubstr;

namespace {

tensorfile::Placement shard(std::int64_t dim)
{
    return {tensorfile::Placement::Kind::shard, dim, 1, {}};
}

tensorfile::Placement strided(std::int64_t dim, std::int64_t factor)
{
    return {tensorfile::Placement::Kind::stridedShard, dim, factor, {}};
}

tensorfile::Sharding sharded(Shape shape, const Shape& mesh, std::vector<tensorfile::Placement> placements)
{
    tensorfile::Sharding sharding;
    sharding.shape = std::move(shape);
    for (const auto size : mesh) {
        sharding.mesh.dims.push_back({size, {{size, 1}}, {}});
    }
    sharding.placements = std::move(placements);
    sharding.order.resize(sharding.placements.size());
    std::iota(sharding.order.begin(), sharding.order.end(), 0);
    return sharding;
}

shards::HeldPart held(const tensorfile::Sharding& sharding, const Shape& coordinate)
{
    auto part = shards::heldAt(sharding, coordinate);
    EXPECT_TRUE(part);
    return part.value_or(shards::HeldPart {});
}

/// Every index along dimension 0 is held at exactly one place of the mesh.
void expectACover(const tensorfile::Sharding& sharding)
{
    std::multiset<std::int64_t> seen;
    for (std::int64_t number = 0; number < sharding.mesh.ranks(); ++number) {
        const auto part = held(sharding, tensorfile::coordinateOf(sharding.mesh, number));
        for (std::int64_t i = 0; i < part.shape()[0]; ++i) {
            const auto at = part.globalIndex(0, i);
            EXPECT_TRUE(i == 0 || at > part.globalIndex(0, i - 1)) << "a part keeps the order of the whole";
            seen.insert(at);
        }
    }
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), sharding.shape[0]);
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), seen.size());
}

} // namespace

TEST(ShardLayout, UnevenRowsFollowTheRuleOfChunk)
{
    const auto rows = sharded({7, 3}, {4}, {shard(0)});
    EXPECT_EQ(held(rows, {0}).dims[0], (std::vector<shards::IndexRun> {{0, 2, 0}}));
    EXPECT_EQ(held(rows, {3}).dims[0], (std::vector<shards::IndexRun> {{6, 1, 0}}));
    const auto few = sharded({5, 3}, {4}, {shard(0)});
    EXPECT_EQ(held(few, {2}).shape(), (Shape {1, 3})) << "2, 2, 1 and nothing";
    EXPECT_EQ(held(few, {3}).shape(), (Shape {0, 3}));
}

TEST(ShardLayout, AStridedShardDealsOutEveryPiece)
{
    // torch's own example: 9 elements, 4 places, split factor 2.
    const auto example = sharded({9}, {4}, {strided(0, 2)});
    EXPECT_EQ(held(example, {0}).dims[0], (std::vector<shards::IndexRun> {{0, 2, 0}, {5, 1, 2}}));
    EXPECT_EQ(held(example, {1}).dims[0], (std::vector<shards::IndexRun> {{2, 2, 0}, {6, 1, 2}}));
    EXPECT_EQ(held(example, {2}).dims[0], (std::vector<shards::IndexRun> {{4, 1, 0}, {7, 1, 1}}));
    EXPECT_EQ(held(example, {3}).dims[0], (std::vector<shards::IndexRun> {{8, 1, 0}}));
}

TEST(ShardLayout, AllPlacesTogetherHoldEveryIndexOnce)
{
    for (std::int64_t rows = 1; rows < 20; ++rows) {
        expectACover(sharded({rows, 2}, {2, 3}, {shard(0), shard(0)}));
        expectACover(sharded({rows, 2}, {3, 2}, {strided(0, 2), shard(0)}));
        auto reordered = sharded({rows, 2}, {2, 3}, {shard(0), shard(0)});
        reordered.order = {1, 0};
        expectACover(reordered);
    }
}

TEST(ShardLayout, TheOrderOfCutsMatters)
{
    auto twice = sharded({8, 2}, {2, 2}, {shard(0), shard(0)});
    EXPECT_EQ(held(twice, {1, 0}).dims[0], (std::vector<shards::IndexRun> {{4, 2, 0}}));
    twice.order = {1, 0};
    EXPECT_EQ(held(twice, {1, 0}).dims[0], (std::vector<shards::IndexRun> {{2, 2, 0}}));
}

TEST(ShardLayout, HugeAndHostileSizesEndInArithmeticOrARefusal)
{
    constexpr auto huge = std::int64_t {1} << 62;
    const auto rows = sharded({huge}, {4}, {shard(0)});
    EXPECT_EQ(held(rows, {3}).dims[0], (std::vector<shards::IndexRun> {{3 * (huge / 4), huge / 4, 0}}));
    const auto one = sharded({huge}, {1}, {strided(0, 1)});
    EXPECT_EQ(held(one, {0}).shape(), (Shape {huge}));
    const auto pieces = sharded({huge}, {2}, {strided(0, huge)});
    ASSERT_FALSE(shards::heldAt(pieces, {0}));
    EXPECT_THAT(shards::heldAt(pieces, {0}).error().what, HasSubstr("more pieces"));
    EXPECT_EQ(held(sharded({0, 3}, {2}, {shard(0)}), {1}).shape(), (Shape {0, 3}));
}

TEST(ShardLayout, IndicesOfAPartLeadBackIntoTheWhole)
{
    const auto grid = sharded({2, 7, 5}, {2, 2}, {shard(1), shard(2)});
    const auto part = held(grid, {1, 1});
    EXPECT_EQ(part.shape(), (Shape {2, 3, 2}));
    EXPECT_THAT(shards::globalIndex(part, 11), ElementsAre(1, 6, 4));
    EXPECT_EQ(shards::flatIndex(grid.shape, shards::globalIndex(part, 11)), 2 * 7 * 5 - 1);
}

TEST(ShardLayout, SaysWhatAPlaceHolds)
{
    const auto grid = sharded({7, 6}, {2, 3}, {shard(0), shard(1)});
    EXPECT_EQ(shards::heldText(held(grid, {1, 2}), grid.shape), "rows 4 to 6, columns 4 to 5");
    const auto rows = sharded({7, 6}, {4}, {shard(0)});
    EXPECT_EQ(shards::heldText(held(rows, {3}), rows.shape), "row 6");
    const auto batch = sharded({2, 7, 6}, {2}, {shard(0)});
    EXPECT_EQ(shards::heldText(held(batch, {1}), batch.shape), "batch element 1");
    const auto replicas = sharded({7, 6}, {4}, {tensorfile::Placement {}});
    EXPECT_EQ(shards::heldText(held(replicas, {3}), replicas.shape), "all of it");
    const auto few = sharded({1, 6}, {4}, {shard(0)});
    EXPECT_EQ(shards::heldText(held(few, {3}), few.shape), "nothing");
    const auto dealt = sharded({40}, {2}, {strided(0, 10)});
    EXPECT_EQ(shards::heldText(held(dealt, {1}), dealt.shape),
        "columns 2 to 3, 6 to 7, 10 to 11, 14 to 15 and 6 more ranges");
}

TEST(ShardLayout, NamesMeshAndPlacements)
{
    auto grid = sharded({7, 6}, {2, 3}, {shard(0), strided(1, 2)});
    EXPECT_EQ(shards::meshText(grid.mesh), "2x3");
    EXPECT_EQ(
        tensorfile::placementsText(grid), "Shard(0) over mesh dimension 0, StridedShard(1, 2) over mesh dimension 1");
    grid.mesh.dims[0].name = "dp";
    EXPECT_EQ(shards::meshText(grid.mesh), "2x3 (dp, -)");
}

} // namespace nanscope
