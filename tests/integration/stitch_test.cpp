// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// `inspect` on dumps of DTensors, which torch wrote (tests/reference/make_shards.py).
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

namespace fs = std::filesystem;

namespace {

const fs::path shards = fs::path(NANSCOPE_TEST_DATA) / "shards";

std::string dump(const std::string& name, int rank)
{
    return (shards / name / ("dump_rank" + std::to_string(rank) + ".pt")).string();
}

nlohmann::ordered_json stitched(const std::vector<std::string>& paths)
{
    std::vector<std::string> arguments {"inspect", "--stitch", "--json"};
    arguments.insert(arguments.end(), paths.begin(), paths.end());
    const auto done = run(arguments);
    EXPECT_EQ(done.status, 0) << done.err;
    return done.json();
}

} // namespace

TEST(Stitch, InspectSaysThatACaptureIsAShard)
{
    const auto text = run({"inspect", dump("grid", 3)});
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_THAT(text.out,
        HasSubstr("shard: rank 3 at (1, 1) of mesh 2x2 (dp, tp), rows 4 to 6, columns 3 to 4 of 7x5; Shard(0) over dp, "
                  "Shard(1) over tp"));
    const auto json = run({"inspect", dump("sum_of_rows", 2), "--json"}).json();
    EXPECT_EQ(json["shape"], (std::vector {2, 6})) << "the capture itself is the part";
    const auto& shard = json["shard"];
    EXPECT_EQ(shard["global_shape"], (std::vector {4, 6}));
    EXPECT_EQ(shard["placements"][0]["kind"], "partial");
    EXPECT_EQ(shard["placements"][0]["reduction"], "sum");
    EXPECT_EQ(shard["placements"][1]["dim"], 0);
    EXPECT_EQ(shard["mesh"]["names"], (std::vector {"dp", "tp"}));
    EXPECT_EQ(shard["mesh"]["ranks"], (std::vector {0, 1, 2, 3}));
    EXPECT_EQ(shard["coordinate"], (std::vector {1, 0}));
    EXPECT_EQ(shard["coordinate_from"], "mesh");
    EXPECT_EQ(shard["rank"], 2);
    EXPECT_TRUE(shard["problem"].is_null());
}

TEST(Stitch, OrdinaryCapturesAreNoShards)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt");
    EXPECT_TRUE(run({"inspect", capture, "--json"}).json()["shard"].is_null());
    EXPECT_THAT(run({"inspect", capture}).out, Not(HasSubstr("shard")));
    const auto nothing = run({"inspect", folder.path().string(), "--stitch"});
    EXPECT_EQ(nothing.status, 4);
    EXPECT_THAT(nothing.errors(), SizeIs(1));
    EXPECT_THAT(nothing.err, HasSubstr("No dump here is a part of a DTensor"));
}

TEST(Stitch, AFolderIsStitchedToItsLogicalTensors)
{
    const auto json = stitched({(shards / "grid").string()});
    EXPECT_EQ(json["schema"], "nanscope.stitch/1");
    ASSERT_EQ(json["tensors"].size(), 2U) << "input and output";
    const auto& input = json["tensors"][0];
    EXPECT_EQ(input["side"], "input");
    EXPECT_EQ(input["shape"], (std::vector {7, 5}));
    EXPECT_EQ(input["shards"].size(), 4U);
    EXPECT_EQ(input["logical"]["count"], 35);
    EXPECT_EQ(input["logical"]["nan"], 1);
    EXPECT_EQ(input["logical"]["neg_inf"], 1);
    EXPECT_EQ(input["logical"]["first_nonfinite"], (std::vector {0, 3}));
    EXPECT_EQ(input["logical_nonfinite"], true);
    EXPECT_EQ(input["missing_ranks"], 0);
    EXPECT_TRUE(input["partial"].is_null());
}

TEST(Stitch, MissingShardsAreNamed)
{
    const std::vector<std::string> three {dump("grid", 0), dump("grid", 1), dump("grid", 2)};
    const auto json = stitched(three);
    const auto& input = json["tensors"][0];
    EXPECT_EQ(input["missing_ranks"], 1);
    EXPECT_EQ(input["missing"][0]["rank"], 3);
    EXPECT_EQ(input["missing"][0]["held"], "rows 4 to 6, columns 3 to 4");
    EXPECT_EQ(input["unknown_elements"], 6);
    const auto rows = run({"inspect", dump("rows", 0), dump("rows", 1), dump("rows", 2), "--stitch"});
    EXPECT_EQ(rows.status, 0) << rows.err;
    EXPECT_THAT(rows.out, HasSubstr("Missing: rank 3 at (3), row 6"));
    EXPECT_THAT(run({"inspect", dump("sum", 1), "--stitch"}).out, HasSubstr("in the logical tensor: not known"));
}

TEST(Stitch, AnOverflowOfTheSumIsSaidWithItsTypes)
{
    const auto json = stitched({(shards / "sum_overflow").string()});
    const auto& input = json["tensors"][0];
    EXPECT_EQ(input["parts_nonfinite"], false);
    EXPECT_EQ(input["logical_nonfinite"], true);
    EXPECT_EQ(input["partial"]["own"]["overflowed"], 3);
    EXPECT_EQ(input["partial"]["own"]["dtype"], "fp16");
    EXPECT_EQ(input["partial"]["wide"]["dtype"], "fp32");
    EXPECT_EQ(input["partial"]["wide"]["overflowed_before_rounding"], 0);
    const auto text = run({"inspect", (shards / "sum_overflow").string(), "--stitch"});
    EXPECT_THAT(text.out, HasSubstr("Non-finite in a shard: no; in the logical tensor: yes"));
    EXPECT_THAT(text.out, HasSubstr("3 elements finite in every shard, but not in the sum of 4 parts in fp16"));
}

TEST(Stitch, AWholeThatStitchingBrokeIsNotWritten)
{
    const WorkFolder folder;
    const auto whole = folder / "whole.pt";
    const auto sum = run({"inspect", (shards / "sum_overflow").string(), "--stitch", "-o", whole});
    EXPECT_EQ(sum.status, 4) << "diagnose would call it a damaged gradient";
    EXPECT_THAT(sum.err, HasSubstr("overflows here where every part is finite"));
    EXPECT_THAT(sum.out, HasSubstr("finite in every shard")) << "what was found is told all the same";
    EXPECT_FALSE(fs::exists(whole));
}

TEST(Stitch, WhatIsNotCertainIsLeftOutWithItsReason)
{
    const auto none = run({"inspect", (shards / "descending").string(), "--stitch"});
    EXPECT_EQ(none.status, 4);
    EXPECT_THAT(
        none.err, HasSubstr("dump_rank0.pt not stitched: its mesh is cut along a dimension whose ranks do not"));
    const auto some = run({"inspect", dump("descending", 0), dump("rows", 0), "--stitch", "--json"});
    EXPECT_EQ(some.status, 3);
    EXPECT_EQ(some.json()["tensors"].size(), 2U);
    EXPECT_EQ(some.json()["unmatched"].size(), 1U);
    EXPECT_THAT(run({"inspect", dump("descending", 0)}).out, HasSubstr("which part is where is open"));
}

TEST(Stitch, TheWholeIsWrittenAsACapture)
{
    const WorkFolder folder;
    const auto whole = folder / "whole.pt";
    const auto done = run({"inspect", (shards / "twice").string(), "--stitch", "-o", whole});
    EXPECT_EQ(done.status, 0) << done.err;
    const auto json = run({"inspect", whole, "--json"}).json();
    EXPECT_EQ(json["shape"], (std::vector {7, 4}));
    EXPECT_EQ(json["epsilon"], 1e-8);
    EXPECT_EQ(json["input"]["nan"], 1);
    EXPECT_EQ(json["output"]["neg_inf"], 1);
    EXPECT_TRUE(json["shard"].is_null());
    const auto two = run({"inspect", (shards / "sliced").string(), "--stitch", "-o", whole});
    EXPECT_EQ(two.status, 2);
    EXPECT_THAT(two.err, HasSubstr("2 calls were found, and one file holds one"));
    const auto half = run({"inspect", dump("twice", 0), "--stitch", "-o", whole});
    EXPECT_NE(half.status, 0);
    EXPECT_THAT(half.err, HasSubstr("Parts of the tensor are missing"));
}

TEST(Stitch, TheWholeKeepsWhatItsPartsSayAgainstAnAccusation)
{
    const WorkFolder folder;
    const fs::path parts = folder / "parts";
    fs::copy(shards / "twice", parts);
    const auto say = [&](int rank, const std::string& sidecar) {
        std::ofstream(parts / ("dump_rank" + std::to_string(rank) + ".json")) << sidecar;
    };
    const auto known = [&] {
        fs::remove(folder / "whole.json"); // says something else by now
        const auto done = run({"inspect", parts.string(), "--stitch", "-o", folder / "whole.pt"});
        EXPECT_EQ(done.status, 0) << done.err;
        std::ifstream file(folder / "whole.json");
        return nlohmann::json::parse(file);
    };
    for (int rank = 0; rank < 4; ++rank) {
        say(rank, R"({"variant": "torch-muon@6x", "step": 3, "call": {"other_tensors": 0}})");
    }
    auto json = known();
    EXPECT_EQ(json["variant"], "torch-muon@6x");
    EXPECT_EQ(json["step"], 3);
    say(2, R"({"variant": "torch-muon", "step": 3, "call": {"other_tensors": 2, "keeps": "other values"}})");
    json = known();
    EXPECT_FALSE(json.contains("variant")) << "two parts name two functions";
    EXPECT_EQ(json["call"]["other_tensors"], 2);
    EXPECT_EQ(json["call"]["keeps"], "not known");
    say(2, R"({"named_like": "torch-muon@6x", "step": 3, "environment": {"device": "cpu"}})");
    json = known();
    EXPECT_EQ(json["named_like"], "torch-muon@6x");
    EXPECT_FALSE(json.contains("variant"));
    EXPECT_EQ(json["environment"]["device"], "cpu");
    say(1, R"({"nothing_else": false})");
    EXPECT_EQ(known()["nothing_else"], false) << "other code touched a part of it";
}

TEST(Stitch, SeveralCapturesNeedTheOption)
{
    const auto several = run({"inspect", dump("rows", 0), dump("rows", 1)});
    EXPECT_EQ(several.status, 2);
    EXPECT_THAT(several.err, HasSubstr("only looked at together with --stitch"));
    EXPECT_EQ(run({"inspect", dump("rows", 0), "-o", "x.pt"}).status, 2);
    EXPECT_THAT(run({"inspect", shards.string() + "/rows", "--stitch", "-o", "x.json"}).err, HasSubstr("of the .pt"));
    EXPECT_EQ(run({"inspect", "no such folder", "--stitch"}).status, 4);
}

TEST(Stitch, AFolderOfShardsIsImportedAsOrdinaryCaptures)
{
    const auto list = run({"list", (shards / "columns").string(), "captures", "--json"});
    EXPECT_EQ(list.status, 0) << list.err;
    const auto json = list.json();
    ASSERT_EQ(json["captures"].size(), 4U);
    EXPECT_EQ(json["captures"][0]["shape"], (std::vector {5, 1}));
    EXPECT_EQ(json["captures"][3]["shape"], (std::vector {5, 0})) << "an empty shard is a capture, too";
    EXPECT_EQ(run({"diagnose", (shards / "columns").string()}).status, 0);
}

TEST(Stitch, NothingThatNobodyNamedMakesRoomForTheWhole)
{
    const WorkFolder folder;
    const auto parts = folder.path() / "parts";
    fs::copy(shards / "grid", parts, fs::copy_options::recursive);
    const auto stitch = [&](const std::string& output) {
        return run({"inspect", parts.string(), "--stitch", "-o", output});
    };
    const auto whole = folder / "whole.pt";
    ASSERT_EQ(stitch(whole).status, 0);
    EXPECT_EQ(stitch(whole).status, 0) << "of the same words";
    const std::string own = R"({"variant": "keller-jordan", "nothing_else": true})";
    writeText(folder / "whole.json", own);
    const auto refused = stitch(whole);
    EXPECT_EQ(refused.status, 4);
    EXPECT_THAT(refused.err, HasSubstr("in the place of a file that says something else"));
    EXPECT_EQ(contentsOf(folder / "whole.json"), own);
    const auto first = (parts / "dump_rank0.pt").string();
    const auto before = contentsOf(first);
    const auto over = stitch(first);
    EXPECT_EQ(over.status, 2);
    EXPECT_THAT(over.err, HasSubstr("one of the dumps that are stitched"));
    EXPECT_EQ(contentsOf(first), before);
}
