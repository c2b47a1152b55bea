// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/diagnose/context/layers.h"
#include "core/model/verdict.h"

namespace nanscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

diagnose::ParameterList blocksOf(int count)
{
    diagnose::ParameterList list;
    list.parameters.push_back({"embed.weight", {50304, 512}});
    for (int i = 0; i < count; ++i) {
        list.parameters.push_back({fmt::format("blocks.{}.mlp.fc2", i), {512, 1408}});
        list.parameters.push_back({fmt::format("blocks.{}.attn.qkv", i), {1536, 512}});
        list.parameters.push_back({fmt::format("blocks.{}.norm", i), {512}});
    }
    return list;
}

diagnose::LayerPlace placeOf(int rank, int element, MatrixShape shape)
{
    diagnose::LayerPlace place;
    place.shape = shape;
    place.rank = rank;
    place.element = element;
    return place;
}

TEST(Layers, OneParameterPerRankIsNamedByItsRank)
{
    const auto layer = diagnose::layerAt(placeOf(3, 0, {1, 512, 1408}), blocksOf(6));
    EXPECT_EQ(layer.text,
        "rank 3, element 0: one of 6 `blocks.*.mlp.fc2` [512,1408]; `blocks.3.mlp.fc2` if the parameter order is as "
        "given");
    ASSERT_EQ(layer.candidates.size(), 6U);
    EXPECT_EQ(layer.candidates[0], "blocks.3.mlp.fc2");
    EXPECT_EQ(layer.candidates[1], "blocks.0.mlp.fc2");
}

TEST(Layers, RanksOwnRunsOfTheStack)
{
    auto place = placeOf(2, 1, {2, 512, 1408});
    place.world = 4;
    EXPECT_EQ(diagnose::layerAt(place, blocksOf(8)).candidates[0], "blocks.5.mlp.fc2");
}

TEST(Layers, TheStackIsFilledUpWithZeroMatrices)
{
    auto place = placeOf(3, 1, {2, 512, 1408});
    place.world = 4;
    const auto layer = diagnose::layerAt(place, blocksOf(7));
    EXPECT_THAT(layer.text, HasSubstr("a zero matrix that fills up the last rank"));
    EXPECT_EQ(layer.candidates.size(), 7U);
}

TEST(Layers, AStackThatDoesNotFitTheRanksNamesNobody)
{
    auto place = placeOf(1, 0, {3, 512, 1408});
    place.world = 4;
    const auto layer = diagnose::layerAt(place, blocksOf(8));
    EXPECT_THAT(layer.text, HasSubstr("8 over 4 ranks make 2 per rank, and the capture holds 3"));
    EXPECT_EQ(layer.candidates.front(), "blocks.0.mlp.fc2");
}

TEST(Layers, AShapeOfItsOwnIsOneParameterOnEveryRank)
{
    auto place = placeOf(2, 0, {1, 50304, 512});
    place.stacked = false;
    const auto layer = diagnose::layerAt(place, blocksOf(6));
    EXPECT_EQ(
        layer.text, "rank 2, the whole tensor: `embed.weight` [50304,512], the only one of this shape in the list");
    EXPECT_THAT(layer.candidates, ElementsAre("embed.weight"));
}

TEST(Layers, ATensorWithoutABatchIsNotCountedOff)
{
    auto place = placeOf(2, 0, {1, 512, 1408});
    place.stacked = false;
    EXPECT_THAT(diagnose::layerAt(place, blocksOf(6)).text, HasSubstr("which one its place does not tell"));
}

TEST(Layers, RowBlocksOfALargerParameterArePossible)
{
    const auto layer = diagnose::layerAt(placeOf(0, 0, {3, 768, 512}), blocksOf(6));
    EXPECT_THAT(layer.text, HasSubstr("no parameter is [768,512]; a row block of one of 6 `blocks.*.attn.qkv`"));
    EXPECT_EQ(layer.candidates.size(), 6U);
    EXPECT_THAT(
        diagnose::layerAt(placeOf(0, 0, {3, 700, 512}), blocksOf(6)).text, HasSubstr("no parameter that was given is"));
}

TEST(Layers, ConvolutionsAreFlattened)
{
    diagnose::ParameterList list;
    list.parameters = {{"stem.weight", {64, 3, 4, 4}}};
    EXPECT_THAT(diagnose::layerAt(placeOf(0, 0, {1, 64, 48}), list).candidates, ElementsAre("stem.weight"));
}

TEST(Layers, SeveralKindsOfOneShapeAreCounted)
{
    diagnose::ParameterList list;
    for (int i = 0; i < 2; ++i) {
        list.parameters.push_back({fmt::format("blocks.{}.q", i), {64, 64}});
        list.parameters.push_back({fmt::format("blocks.{}.k", i), {64, 64}});
    }
    EXPECT_THAT(diagnose::layerAt(placeOf(1, 0, {1, 64, 64}), list).text,
        HasSubstr("one of 4: 2 `blocks.*.q`, 2 `blocks.*.k` [64,64]; `blocks.0.k`"));
}

TEST(Layers, NamesWithoutShapesSaySo)
{
    const auto list = diagnose::parseParameters(R"({"weight_map": {"a.10.w": "x", "a.9.w": "x"}})");
    ASSERT_TRUE(list);
    EXPECT_FALSE(list->shapes);
    EXPECT_EQ(list->parameters[0].name, "a.9.w");
    EXPECT_THAT(diagnose::layerAt(placeOf(0, 0, {1, 2, 3}), *list).text,
        HasSubstr("2 parameters that were given have no shapes"));
}

TEST(Layers, WorldSizeIsTakenFromSettingsThatAgree)
{
    RunData run;
    EXPECT_FALSE(diagnose::worldSizeOf(run));
    run.settings.push_back({"variables.WORLD_SIZE", "8", {}, "env.json", 1});
    EXPECT_EQ(diagnose::worldSizeOf(run), 8);
    run.settings.push_back({"dist.world_size", "4", {}, "a.log", 1});
    EXPECT_FALSE(diagnose::worldSizeOf(run));
}

TEST(Layers, AreNamedInADiagnosis)
{
    RunData run;
    Capture capture;
    capture.file = "a.pt";
    capture.input.shape = {2, 512, 1408};
    run.captures.push_back(capture);
    Diagnosis diagnosis;
    CaptureVerdict verdict;
    verdict.capture = "a.pt";
    verdict.rank = 1;
    verdict.facts.damage.batch = 1;
    diagnosis.captures.push_back(verdict);
    diagnose::nameLayers(diagnosis, run, blocksOf(6));
    EXPECT_EQ(diagnosis.captures[0].layerCandidates.front(), "blocks.3.mlp.fc2");
    EXPECT_THAT(diagnosis.captures[0].layer, HasSubstr("rank 1, element 1"));
}

TEST(Parameters, LinesAreReadAsPeoplePasteThem)
{
    const auto list = diagnose::parseParameters("blocks.0.mlp.fc2.weight torch.Size([512, 1408])\n"
                                                "('blocks.1.mlp.fc2.weight', torch.Size([512, 1408]))\r\n"
                                                "blocks.2.mlp.fc2.weight [512,1408]\n"
                                                "  blocks.3.mlp.fc2.weight: (512, 1408) torch.bfloat16\n"
                                                "blocks.4.mlp.fc2.weight 512x1408\n"
                                                "norm.weight torch.Size([512])\n"
                                                "\n"
                                                "total parameters: 123 million\n");
    ASSERT_TRUE(list) << list.error().what;
    ASSERT_EQ(list->parameters.size(), 6U);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(list->parameters[static_cast<std::size_t>(i)].name, fmt::format("blocks.{}.mlp.fc2.weight", i));
        EXPECT_EQ(list->parameters[static_cast<std::size_t>(i)].shape, (Shape {512, 1408}));
    }
    EXPECT_EQ(list->parameters[5].shape, (Shape {512}));
    EXPECT_TRUE(list->ordered);
}

TEST(Parameters, JsonKeepsItsOrder)
{
    const auto list = diagnose::parseParameters(R"({"z": [2, 3], "a": [4, 5], "note": "x", "bad": [1, -2]})");
    ASSERT_TRUE(list);
    ASSERT_EQ(list->parameters.size(), 2U);
    EXPECT_EQ(list->parameters[0].name, "z");
    EXPECT_EQ(list->parameters[1].shape, (Shape {4, 5}));
}

TEST(Parameters, SafetensorsAreSortedAsPeopleCount)
{
    const std::string header = R"({"b.10.w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
                               R"("b.9.w":{"dtype":"F32","shape":[2,1],"data_offsets":[8,16]}})";
    const auto path = std::filesystem::path(::testing::TempDir()) / "parameters.safetensors";
    std::ofstream file(path, std::ios::binary);
    const std::uint64_t size = header.size();
    file.write(reinterpret_cast<const char*>(&size), sizeof(size));
    file << header << std::string(16, '\0');
    file.close();
    const auto list = diagnose::readParameters(path);
    ASSERT_TRUE(list) << list.error().what;
    EXPECT_EQ(list->parameters[0].name, "b.9.w");
    EXPECT_EQ(list->parameters[0].shape, (Shape {2, 1}));
    EXPECT_FALSE(list->ordered);
}

TEST(Parameters, NothingOfTheKindIsRefused)
{
    for (const auto* text : {"", "hello world", "[1, 2]", "{}", R"({"a": "b"})"}) {
        const auto list = diagnose::parseParameters(text);
        ASSERT_FALSE(list) << text;
        EXPECT_THAT(list.error().what, HasSubstr("no parameter was found"));
    }
}

} // namespace
} // namespace nanscope
