// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Parts of DTensors: what torch writes of them, and what somebody could write instead.
#include <gmock/gmock.h>

#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/sharding.h"
#include "madeshards.h"

namespace nanscope {

using namespace fixtures;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class DTensorFile : public testing::Test
{
protected:
    Result<tensorfile::CaptureFile> open(const MadeShard& made)
    {
        return tensorfile::openCapture(m_folder.write("x.pt", shardFile(made)));
    }

    tensorfile::Sharding shardingOf(const MadeShard& made)
    {
        const auto file = open(made);
        EXPECT_TRUE(file) << (file ? "" : sentence(file.error()));
        const auto* sharding = file ? file->input.sharding() : nullptr;
        EXPECT_NE(sharding, nullptr);
        return sharding != nullptr ? *sharding : tensorfile::Sharding {};
    }

    tensorfile::ShardPlace placeOf(const MadeShard& made)
    {
        const auto sharding = shardingOf(made);
        return tensorfile::shardPlace(
            sharding.mesh, tensorfile::meshRanks(sharding.mesh, made.dumpRank), made.dumpRank);
    }

    const std::string storage = bytesOf(MadeShard().values);
    const std::string table = bytesOf(MadeMesh().ranks);
    TemporaryFolder m_folder;
};

/// A mesh field as torch 2.6 writes it: the table has the shape of the mesh.
std::string oldMesh(const Numbers& shape, const Numbers& coordinate)
{
    const auto size = shape[0] * shape[1];
    const auto table = tensor("IntStorage", "1", size, shape, {shape[1], 1});
    return object("torch.distributed.device_mesh", "DeviceMesh",
        dict({{"device_type", text("cpu")}, {"mesh", table}, {"mesh_dim_names", "(" + text("dp") + text("tp") + "t"},
            {"_flatten_mesh_list", tuple({0, 1, 2, 3})},
            {"_coordinate_on_dim", "](" + integer(coordinate[0]) + integer(coordinate[1]) + "e"}}));
}

} // namespace

TEST_F(DTensorFile, IsItsPartWithWhatItSaysOfTheWhole)
{
    MadeShard made;
    made.mesh = {.shape = {2, 2}, .ranks = {0, 1, 2, 3}, .rank = 3, .coordinate = Numbers {1, 1}};
    made.mesh.more = text("_mesh_dim_names") + "(" + text("dp") + text("tp") + "t";
    made.placements = {replicated(), shardOn(0)};
    const auto file = open(made);
    ASSERT_TRUE(file) << sentence(file.error());
    EXPECT_EQ(file->capture.input.shape, (Shape {2, 3})) << "the capture is the part that the rank holds";
    std::vector<float> values(6);
    ASSERT_TRUE(file->input.read(0, std::span(values)));
    EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6));
    const auto& sharding = *file->input.sharding();
    EXPECT_THAT(sharding.problem, IsEmpty());
    EXPECT_EQ(sharding.shape, (Shape {4, 3}));
    ASSERT_EQ(sharding.placements.size(), 2U);
    EXPECT_EQ(tensorfile::placementText(sharding.placements[0]), "Replicate");
    EXPECT_EQ(tensorfile::placementText(sharding.placements[1]), "Shard(0)");
    EXPECT_EQ(sharding.mesh.shape(), (Shape {2, 2}));
    EXPECT_EQ(file->capture.part, "a part of a DTensor 4x3, Replicate over dp, Shard(0) over tp");
    EXPECT_EQ(sharding.mesh.dims[1].name, "tp");
    const auto ranks = tensorfile::meshRanks(sharding.mesh, std::nullopt);
    ASSERT_TRUE(ranks);
    EXPECT_THAT(*ranks, ElementsAre(0, 1, 2, 3));
    const auto place = placeOf(made);
    EXPECT_EQ(place.how, tensorfile::ShardPlace::How::recorded);
    EXPECT_EQ(place.coordinate, (Shape {1, 1}));
    EXPECT_EQ(place.rank, 3);
}

TEST(Placements, AreReadAsTheyAreWritten)
{
    for (const auto* text :
        {"Replicate", "Shard(0)", "Shard(-1)", "StridedShard(1, 2)", "Partial(sum)", "Partial(avg)"}) {
        const auto read = tensorfile::parsePlacement(text);
        ASSERT_TRUE(read) << text;
        EXPECT_EQ(tensorfile::placementText(*read), text);
    }
    for (const auto* none : {"", "Shard", "Shard(", "Shard()", "Shard(0", "Shard(0) ", "Shard(00)", "Shard(0, 2)",
             "StridedShard(0)", "StridedShard(0,2)", "StridedShard(0, )", "Block(1)", "Replicate()", "shard(0)"}) {
        EXPECT_FALSE(tensorfile::parsePlacement(none)) << none;
    }
}

TEST_F(DTensorFile, NothingOfItCountsAsAStrangersObject)
{
    const auto file = tensorfile::openTensorFile(m_folder.write("x.pt", shardFile({})));
    ASSERT_TRUE(file);
    EXPECT_THAT(file->opaque, IsEmpty());
    const auto spec = tensorfile::openTensorFile(m_folder.write("y.pt", torchFile(pickle(shardOn(0)), {})));
    ASSERT_TRUE(spec);
    EXPECT_TRUE(std::holds_alternative<tensorfile::OpaqueObject>(spec->root.value));
    EXPECT_THAT(spec->opaque, ElementsAre("torch.distributed Shard")) << "outside of a tensor it is one";
}

TEST_F(DTensorFile, OrdinaryTensorsHaveNoSharding)
{
    const auto file = tensorfile::openCapture(m_folder.write("x.pt", smallCapture()));
    ASSERT_TRUE(file);
    EXPECT_EQ(file->input.sharding(), nullptr);
}

TEST_F(DTensorFile, AReplicaOrAMeshOfOneHoldsTheWhole)
{
    MadeShard made;
    made.whole = made.local;
    made.placements = {replicated()};
    EXPECT_THAT(open(made)->capture.part, IsEmpty());
    made.placements = {shardOn(0)};
    made.mesh = {.shape = {1}, .ranks = {0}};
    EXPECT_THAT(open(made)->capture.part, IsEmpty());
    made.placements = {partialOf("sum")};
    made.mesh = {};
    EXPECT_THAT(open(made)->capture.part, testing::HasSubstr("Partial(sum)"));
    made.placements = {};
    EXPECT_THAT(open(made)->capture.part, testing::HasSubstr("of which")) << "what is not understood is no whole";
}

TEST_F(DTensorFile, OlderTorchHasATableOfTheShapeOfTheMesh)
{
    MadeShard old;
    old.mesh = {.shape = {2, 2}, .ranks = {3, 1, 0, 2}};
    old.placements = {shardOn(0), replicated()};
    auto body = dtensor(old);
    const auto fresh = deviceMesh(old.mesh);
    body.replace(body.find(fresh), fresh.size(), oldMesh({2, 2}, {1, 0}));
    const auto file = tensorfile::openCapture(m_folder.write(
        "x.pt", torchFile(pickle(dict({{"input", body}})), {bytesOf(old.values), bytesOf(old.mesh.ranks)})));
    ASSERT_TRUE(file) << sentence(file.error());
    const auto& sharding = *file->input.sharding();
    EXPECT_THAT(sharding.problem, IsEmpty());
    EXPECT_EQ(sharding.mesh.dims[0].name, "dp");
    const auto place =
        tensorfile::shardPlace(sharding.mesh, tensorfile::meshRanks(sharding.mesh, std::nullopt), std::nullopt);
    EXPECT_EQ(place.rank, 0) << "the table says who is at (1, 0), though torch did not record the rank";
}

TEST_F(DTensorFile, NewerTorchDescribesEachDimensionOfTheMeshByItself)
{
    MadeShard axes;
    const auto axis = [](std::int64_t size, std::int64_t stride) {
        return object("torch.distributed._mesh_layout", "_FlatLayout",
            dict({{"shape", tuple({size})}, {"stride", tuple({stride})}}));
    };
    axes.mesh = {.shape = {}, .ranks = {0, 1, 2, 3}, .rank = 1, .coordinate = Numbers {0, 1}};
    axes.mesh.layout =
        object("torch.distributed._mesh_layout", "_MeshLayout", dict({{"axes", "(" + axis(2, 2) + axis(2, 1) + "t"}}));
    axes.placements = {shardOn(0), replicated()};
    EXPECT_EQ(placeOf(axes).rank, 1);
    EXPECT_EQ(shardingOf(axes).mesh.shape(), (Shape {2, 2}));
}

TEST_F(DTensorFile, DimensionsThatTorchCoalescedArePlainNumbers)
{
    // mesh["b", "c"]._flatten() of 2x2 ranks is four in a row, and loses the tuple around.
    MadeShard flat;
    flat.whole = {8, 3};
    flat.mesh = {.shape = {}, .ranks = {0, 1, 2, 3}, .rank = 2, .coordinate = Numbers {2}};
    flat.mesh.layout =
        object("torch.distributed._mesh_layout", "_MeshLayout", dict({{"shape", integer(4)}, {"stride", integer(1)}}));
    EXPECT_THAT(shardingOf(flat).problem, IsEmpty());
    EXPECT_EQ(shardingOf(flat).mesh.shape(), (Shape {4}));
    EXPECT_EQ(placeOf(flat).rank, 2);
}

TEST_F(DTensorFile, StepsOfOneCostNothing)
{
    MadeShard made;
    std::string ones = "(";
    std::string still = "(";
    for (int i = 0; i < 60; ++i) {
        ones += integer(1);
        still += integer(0);
    }
    made.mesh.coordinate = Numbers {0};
    made.mesh.layout = object("torch.distributed._mesh_layout", "_MeshLayout",
        dict({{"shape", "(" + ones + integer(2) + "tt"}, {"stride", "(" + still + integer(1) + "tt"}}));
    EXPECT_THAT(shardingOf(made).problem, IsEmpty());
    EXPECT_THAT(shardingOf(made).mesh.dims.at(0).steps, testing::SizeIs(1));
}

TEST_F(DTensorFile, ASlicedMeshIsTheOneItsRankIsIn)
{
    MadeShard made;
    made.mesh = {.shape = {2}, .strides = Numbers {1}, .ranks = {0, 1, 2, 3}, .rank = 3, .coordinate = Numbers {1}};
    const auto mesh = shardingOf(made).mesh;
    const auto ranks = tensorfile::meshRanks(mesh, std::nullopt);
    ASSERT_TRUE(ranks);
    EXPECT_THAT(*ranks, ElementsAre(2, 3));
    made.mesh.rank = std::nullopt;
    EXPECT_FALSE(tensorfile::meshRanks(shardingOf(made).mesh, std::nullopt));
    EXPECT_THAT(placeOf(made).note, HasSubstr("which part is not recorded"));
    made.dumpRank = 1;
    const auto guessed = tensorfile::meshRanks(shardingOf(made).mesh, made.dumpRank);
    ASSERT_TRUE(guessed);
    EXPECT_THAT(*guessed, ElementsAre(0, 1));
}

TEST_F(DTensorFile, WithoutARecordedPlaceTheRankOfTheDumpSays)
{
    MadeShard made;
    made.mesh.ranks = {5, 7};
    made.dumpRank = 7;
    const auto place = placeOf(made);
    EXPECT_EQ(place.how, tensorfile::ShardPlace::How::fromRank);
    EXPECT_EQ(place.coordinate, (Shape {1}));
    made.dumpRank = 6;
    EXPECT_FALSE(placeOf(made).coordinate);
    EXPECT_THAT(placeOf(made).note, HasSubstr("not in its mesh"));
    made.dumpRank = std::nullopt;
    EXPECT_EQ(placeOf(made).how, tensorfile::ShardPlace::How::unknown);
}

TEST_F(DTensorFile, APlaceThatContradictsTheTableIsNotBelieved)
{
    MadeShard made;
    made.mesh.rank = 1;
    made.mesh.coordinate = Numbers {0};
    const auto place = placeOf(made);
    EXPECT_FALSE(place.coordinate);
    EXPECT_THAT(place.note, HasSubstr("another rank at the place"));
}

TEST_F(DTensorFile, TheOrderOfCutsIsReadWhereItIsNotThatOfTheMesh)
{
    const auto entry = [](const Numbers& meshDims) {
        return global("torch.distributed.tensor._dtensor_spec", "ShardOrderEntry") + "(" + integer(0) + tuple(meshDims)
            + "t\x81";
    };
    MadeShard made;
    made.mesh = {.shape = {2, 2}, .ranks = {0, 1, 2, 3}, .rank = 0, .coordinate = Numbers {0, 0}};
    made.placements = {shardOn(0), shardOn(0)};
    EXPECT_THAT(shardingOf(made).order, ElementsAre(0, 1));
    made.spec = text("shard_order") + "(" + entry({1, 0}) + "t";
    EXPECT_THAT(shardingOf(made).order, ElementsAre(1, 0));
    EXPECT_THAT(shardingOf(made).problem, IsEmpty());
    for (const auto& wrong : {Numbers {1}, Numbers {1, 1}, Numbers {1, 2}, Numbers {-1, 0}}) {
        made.spec = text("shard_order") + "(" + entry(wrong) + "t";
        EXPECT_THAT(shardingOf(made).problem, HasSubstr("order in which it was cut"));
    }
}

TEST_F(DTensorFile, WhatContradictsItselfIsKeptAsAPartWithAProblem)
{
    const std::pair<const char*, std::function<void(MadeShard&)>> cases[] = {
        {"negative or larger",
            [](auto& made) {
                made.whole = {-4, 3};
            }},
        {"negative or larger",
            [](auto& made) {
                made.whole = {std::int64_t {1} << 40, std::int64_t {1} << 40};
            }},
        {"number of dimensions",
            [](auto& made) {
                made.whole = {4, 3, 1};
            }},
        {"dimension that it does not have", [](auto& made) { made.placements = {shardOn(2)}; }},
        {"dimension that it does not have", [](auto& made) { made.placements = {shardOn(-1)}; }},
        {"fewer pieces", [](auto& made) { made.placements = {stridedShardOn(0, 0)}; }},
        {"not one placement", [](auto& made) { made.placements.push_back(replicated()); }},
        {"not known", [](auto& made) { made.placements = {object("torch.distributed", "DeviceMesh", "}")}; }},
        {"not known", [](auto& made) { made.placements = {integer(0)}; }},
        {"sizes that no mesh has",
            [](auto& made) {
                made.mesh.shape = {1000, 1000};
            }},
        {"sizes that no mesh has", [](auto& made) { made.mesh.shape = {std::int64_t {1} << 62}; }},
        {"sizes that no mesh has", [](auto& made) { made.mesh.shape = {-2}; }},
        {"sizes that no mesh has", [](auto& made) { made.mesh.shape = {0}; }},
        {"sizes that no mesh has", [](auto& made) { made.mesh.strides = Numbers {-1}; }},
        {"sizes that no mesh has", [](auto& made) { made.mesh.strides = Numbers {7}; }},
        {"sizes that no mesh has", [](auto& made) { made.mesh.strides = Numbers {0}; }},
        {"place that its mesh does not have", [](auto& made) { made.mesh.coordinate = Numbers {2}; }},
        {"place that its mesh does not have",
            [](auto& made) {
                made.mesh.coordinate = Numbers {0, 0};
            }},
        {"not described", [](auto& made) { made.mesh.layout = integer(3); }},
    };
    for (const auto& [problem, spoil] : cases) {
        MadeShard made;
        spoil(made);
        EXPECT_THAT(shardingOf(made).problem, HasSubstr(problem));
        EXPECT_EQ(open(made)->capture.input.shape, (Shape {2, 3})) << "its part is an ordinary capture all the same";
        (void)placeOf(made);
    }
}

TEST_F(DTensorFile, ATableThatIsNoneOfRanksPlacesNobody)
{
    MadeShard made;
    made.mesh.coordinate = Numbers {0};
    made.mesh.ranks = {4, 4};
    EXPECT_THAT(tensorfile::meshRanks(shardingOf(made).mesh, std::nullopt).error().what, HasSubstr("twice"));
    made.mesh.ranks = {0, -1};
    EXPECT_THAT(tensorfile::meshRanks(shardingOf(made).mesh, std::nullopt).error().what, HasSubstr("no rank"));
    EXPECT_THAT(placeOf(made).note, HasSubstr("no rank"));
}

TEST_F(DTensorFile, AMillionRanksAreReadAndMoreAreNot)
{
    MadeShard made;
    made.mesh.shape = {1024, 1024};
    made.mesh.ranks.resize(1024 * 1024);
    for (std::size_t i = 0; i < made.mesh.ranks.size(); ++i) {
        made.mesh.ranks[i] = static_cast<std::int32_t>(i);
    }
    made.mesh.rank = 2047;
    made.mesh.coordinate = Numbers {1, 1023};
    made.placements = {shardOn(0), replicated()};
    EXPECT_EQ(placeOf(made).rank, 2047);
    made.mesh.shape = {1024, 1025};
    made.mesh.ranks.resize(1024 * 1025, 0);
    EXPECT_THAT(shardingOf(made).problem, HasSubstr("sizes that no mesh has"));
}

TEST_F(DTensorFile, WithoutAPartItIsNoTensor)
{
    auto body = dtensor({});
    const std::string key = "_local_tensor";
    body.replace(body.find(key), key.size(), "_other_tensor");
    const auto file =
        tensorfile::openCapture(m_folder.write("x.pt", torchFile(pickle(dict({{"input", body}})), {storage, table})));
    ASSERT_FALSE(file);
    EXPECT_THAT(sentence(file.error()), HasSubstr("no capture"));
}

TEST_F(DTensorFile, UnknownFieldsAndOtherWrappersDoNoHarm)
{
    MadeShard made;
    made.mesh.coordinate = Numbers {0};
    made.mesh.more = text("_from_the_future") + called("torch.distributed", "Unheard");
    made.spec = text("also_new") + integer(4);
    EXPECT_THAT(shardingOf(made).problem, IsEmpty());
    auto body = dtensor({});
    const auto type = global("torch.distributed.tensor", "DTensor");
    for (auto at = body.find(type); at != std::string::npos; at = body.find(type)) {
        body.replace(at, type.size(), global("my.lib", "Wrapped"));
    }
    const auto foreign = tensorfile::openTensorFile(m_folder.write("y.pt", torchFile(pickle(body), {storage, table})));
    ASSERT_TRUE(foreign) << sentence(foreign.error());
    ASSERT_TRUE(std::holds_alternative<tensorfile::OpaqueObject>(foreign->root.value));
    EXPECT_EQ(std::get<tensorfile::OpaqueObject>(foreign->root.value).name, "my.lib Wrapped");
}

} // namespace nanscope
