// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/scenewords.h"
#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/sharding.h"
#include "fixtures.h"

namespace nanscope {

using namespace fixtures;

namespace {

class CaptureFileTest : public testing::Test
{
protected:
    Result<tensorfile::CaptureFile> open(const std::string& name, const std::string& bytes)
    {
        return tensorfile::openCapture(folder.write(name, bytes));
    }
    static std::string withKey(const std::string& key)
    {
        return torchFile(
            pickle(dict({{key, tensor("FloatStorage", "0", 24, {6, 4}, {4, 1})}})), {bytesOf(smallInput())});
    }
    TemporaryFolder folder;
};

} // namespace

TEST_F(CaptureFileTest, ReadsTheFactsOfADumpWithoutItsContents)
{
    const auto file = open("dion_nan_capture_rank7_shape6x4_pid123_1795234396390.pt", smallCapture());
    ASSERT_TRUE(file) << sentence(file.error());
    const auto& capture = file->capture;
    EXPECT_EQ(capture.file, "dion_nan_capture_rank7_shape6x4_pid123_1795234396390.pt");
    EXPECT_EQ(capture.rank, 2); // the dict knows better than the name
    EXPECT_EQ(capture.pid, 123);
    EXPECT_EQ(capture.timestampMs, 1795234396390);
    EXPECT_TRUE(capture.timestampFromName);
    EXPECT_EQ(capture.epsilon, 1e-8);
    EXPECT_EQ(capture.input.shape, (Shape {6, 4}));
    ASSERT_TRUE(capture.output);
    EXPECT_FALSE(capture.input.scanned());
    EXPECT_FALSE(capture.variant || capture.step);
    EXPECT_FALSE(capture.identity.empty());
}

TEST_F(CaptureFileTest, TakesTheStepFromTheDictOrElseFromTheName)
{
    const auto stepOf = [&](const std::string& name) { return open(name, withKey("input"))->capture.step; };
    EXPECT_EQ(stepOf("step_1200_layer3_in.pt"), 1200);
    EXPECT_EQ(stepOf("capture_step000003.pt"), 3);
    EXPECT_EQ(stepOf("Layer3-Iter=7.pt"), 7);
    EXPECT_EQ(stepOf("global_step44_step-44.pt"), 44);
    EXPECT_EQ(stepOf("step5_of_step9.pt"), std::nullopt) << "it gives two";
    EXPECT_EQ(stepOf("footstep5_step.pt"), std::nullopt);
    EXPECT_EQ(stepOf("5_steps.pt"), std::nullopt);
    EXPECT_EQ(stepOf("step99999999999999999999.pt"), std::nullopt);
    const auto dump = [&](int step) {
        return open("step8.pt",
            torchFile(
                pickle(dict({{"input", tensor("FloatStorage", "0", 24, {6, 4}, {4, 1})}, {"step", integer(step)}})),
                {bytesOf(smallInput())}));
    };
    EXPECT_EQ(dump(4)->capture.step, 4);
    EXPECT_EQ(dump(-1)->capture.step, 8) << "no number of a step";
    folder.write("step8.json", R"({"step": 41})");
    EXPECT_EQ(dump(4)->capture.step, 41);
}

TEST_F(CaptureFileTest, ScansBothSides)
{
    auto file = open("x.pt", smallCapture());
    ASSERT_TRUE(file);
    ASSERT_TRUE(tensorfile::scanCapture(*file));
    EXPECT_TRUE(file->capture.input.total().finite());
    const auto output = file->capture.output->total();
    EXPECT_EQ(output.nan, 1);
    EXPECT_EQ(output.negInf, 1);
    EXPECT_EQ(output.firstNonFinite, 7);
    EXPECT_EQ(output.firstClass, ValueClass::nan);
}

TEST_F(CaptureFileTest, ALargeScanTellsOfItsBytesAndStopsWhenAsked)
{
    constexpr std::int64_t elements = std::int64_t {1} << 22;
    const auto side = [](const char* key) { return tensor("FloatStorage", key, elements, {2048, 2048}, {2048, 1}); };
    const std::vector<float> values(elements, 1.0F);
    const auto path = folder.write("large.pt",
        torchFile(pickle(dict({{"input", side("0")}, {"output", side("1")}})), {bytesOf(values), bytesOf(values)}));
    std::vector<Progress> told;
    JobContext job;
    job.progress = [&](const Progress& progress) { told.push_back(progress); };
    ASSERT_TRUE(tensorfile::readCapture(path, {}, job));
    ASSERT_FALSE(told.empty());
    EXPECT_EQ(told.back().unit, "bytes");
    EXPECT_EQ(told.back().total, elements * 8);
    EXPECT_EQ(told.back().message, "large.pt");
    job.progress = [&](const Progress& progress) {
        told.push_back(progress);
        job.cancel.cancel();
    };
    const auto cancelled = tensorfile::readCapture(path, {}, job);
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().kind, ErrorKind::cancelled);
}

TEST_F(CaptureFileTest, AChecksumThatNeedsAPassOfItsOwnStopsWhenAsked)
{
    constexpr std::int64_t elements = std::int64_t {1} << 22;
    const auto part = tensor("FloatStorage", "0", elements, {2, 2}, {2, 1});
    const auto path = folder.write(
        "part.pt", torchFile(pickle(dict({{"input", part}})), {bytesOf(std::vector<float>(elements, 1.0F))}));
    JobContext job;
    job.progress = [&](const Progress&) { job.cancel.cancel(); };
    const auto cancelled = tensorfile::readCapture(path, {}, job);
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().kind, ErrorKind::cancelled);
}

TEST_F(CaptureFileTest, OtherNamesGiveTheTimeOfTheFile)
{
    const auto file = open("some.pt", smallCapture());
    ASSERT_TRUE(file);
    EXPECT_FALSE(file->capture.pid || file->capture.timestampFromName);
    EXPECT_GT(file->capture.timestampMs.value_or(0), 1'000'000'000'000);
    const auto odd = open("dion_nan_capture_rankX_shape6x4_pid9_zz.pt", withKey("input"));
    ASSERT_TRUE(odd);
    EXPECT_FALSE(odd->capture.rank || odd->capture.timestampFromName);
    EXPECT_EQ(odd->capture.pid, 9);
}

TEST_F(CaptureFileTest, OtherKeysAndBareTensorsAreCaptures)
{
    for (const char* key : {"X", "x", "update", "grad", "momentum"}) {
        const auto file = open("x.pt", withKey(key));
        ASSERT_TRUE(file) << key;
        EXPECT_FALSE(file->output || file->capture.output);
    }
    const auto bare =
        open("x.pt", torchFile(pickle(tensor("FloatStorage", "0", 24, {24}, {1})), {bytesOf(smallInput())}));
    ASSERT_TRUE(bare);
    EXPECT_EQ(bare->capture.input.shape, (Shape {24}));
    const auto none = open("x.pt", withKey("weights"));
    ASSERT_FALSE(none);
    EXPECT_THAT(sentence(none.error()), testing::HasSubstr("no capture"));
}

TEST_F(CaptureFileTest, TwoBareTensorsAreOneCall)
{
    const auto bare = [](const Shape& shape, const Shape& strides, float first) {
        auto values = smallInput();
        values[0] = first;
        return torchFile(pickle(tensor("FloatStorage", "0", 24, shape, strides)), {bytesOf(values)});
    };
    const auto input = folder.write("step_120_layer3_in.pt", bare({6, 4}, {4, 1}, 1));
    const auto alone = tensorfile::openCapture(input);
    ASSERT_TRUE(alone);
    EXPECT_FALSE(alone->output || alone->capture.scene.loneTensor) << "its name says that it is an input";
    const auto output = folder.write("step_120_layer3_out.pt", bare({6, 4}, {4, 1}, NAN));
    for (const auto& path : {input, output}) {
        const auto file = tensorfile::readCapture(path);
        ASSERT_TRUE(file) << sentence(file.error());
        EXPECT_EQ(file->capture.path, input.string());
        EXPECT_EQ(file->capture.step, 120);
        EXPECT_NE(file->capture.identity, alone->capture.identity);
        EXPECT_TRUE(file->capture.input.total().finite());
        ASSERT_TRUE(file->capture.output);
        EXPECT_EQ(file->capture.output->total().nan, 1);
    }
    const auto whole = tensorfile::captureBytes(input, 1 << 20);
    ASSERT_TRUE(whole && *whole);
    const auto joined = open("joined.pt", {reinterpret_cast<const char*>((*whole)->data()), (*whole)->size()});
    ASSERT_TRUE(joined && joined->output) << "a report carries both in one file";
    folder.write("step_120_layer3_out.pt", bare({4, 6}, {6, 1}, NAN));
    EXPECT_FALSE(tensorfile::openCapture(input)->output) << "of another shape it is another call's";
    const auto lone = tensorfile::openCapture(folder.write("result.pt", bare({6, 4}, {4, 1}, NAN)));
    EXPECT_TRUE(lone->capture.scene.loneTensor);
}

TEST_F(CaptureFileTest, AnUpdateBesideItsMomentumIsTheResult)
{
    const auto values = tensor("FloatStorage", "0", 24, {6, 4}, {4, 1});
    const auto turned = tensor("FloatStorage", "0", 24, {4, 6}, {6, 1});
    const auto opened = [&](std::initializer_list<std::pair<std::string, std::string>> entries) {
        return open("x.pt", torchFile(pickle(dict(entries)), {bytesOf(smallInput())}));
    };
    const auto state = opened({{"grad", turned}, {"momentum", values}, {"update", values}, {"param", values}});
    ASSERT_TRUE(state);
    EXPECT_EQ(state->capture.input.shape, (Shape {6, 4})) << "the momentum, not the gradient";
    EXPECT_TRUE(state->output);
    EXPECT_TRUE(opened({{"grad", values}, {"update", values}})->output);
    EXPECT_TRUE(opened({{"input", values}, {"update", values}})->output);
    EXPECT_FALSE(opened({{"grad", turned}, {"update", values}})->output) << "not of one call";
    EXPECT_FALSE(opened({{"update", values}, {"param", values}})->output);
}

TEST_F(CaptureFileTest, TheTensorIsBelievedNotTheDict)
{
    const auto body = dict({{"input", tensor("FloatStorage", "0", 24, {6, 4}, {4, 1})}, {"shape", tuple({9, 9})},
        {"dtype", text("torch.float64")}, {"epsilon", text("small")}, {"rank", real(1.5)}});
    const auto file = open("x.pt", torchFile(pickle(body), {bytesOf(smallInput())}));
    ASSERT_TRUE(file);
    EXPECT_EQ(file->capture.input.shape, (Shape {6, 4}));
    EXPECT_EQ(file->capture.input.dtype, DType::float32);
    EXPECT_FALSE(file->capture.epsilon || file->capture.rank);
}

TEST_F(CaptureFileTest, KnowsTheWrappersDumpByNameAndContents)
{
    const auto wrapped = [&](const std::string& name, std::initializer_list<std::int64_t> shape, const char* dtype) {
        const auto values = tensor("FloatStorage", "0", 24, {6, 4}, {4, 1});
        const auto body = dict({{"input", values}, {"output", values}, {"rank", integer(2)}, {"shape", tuple(shape)},
            {"dtype", text(dtype)}, {"epsilon", real(1e-8)}});
        return open(name, torchFile(pickle(body), {bytesOf(smallInput())}))->wrapped;
    };
    const auto* name = "dion_nan_capture_rank2_shape6x4_pid123_1795234396390.pt";
    EXPECT_TRUE(wrapped(name, {6, 4}, "torch.float32"));
    EXPECT_FALSE(wrapped("mine.pt", {6, 4}, "torch.float32"));
    const auto sidecar = std::filesystem::path(name).replace_extension("json").string();
    folder.write(sidecar, R"({"call": {"other_tensors": 2}})");
    EXPECT_FALSE(wrapped(name, {6, 4}, "torch.float32")) << "of more than its input";
    folder.write(sidecar, R"({"call": {"other_tensors": 0}})");
    EXPECT_TRUE(wrapped(name, {6, 4}, "torch.float32"));
    EXPECT_FALSE(wrapped(name, {4, 6}, "torch.float32"));
    EXPECT_FALSE(wrapped(name, {6, 4}, "torch.bfloat16"));
    EXPECT_FALSE(open(name, withKey("input"))->wrapped);
}

TEST_F(CaptureFileTest, WhatACallWasGivenIsKeptButForEpsilonAndDefaults)
{
    const auto arguments = [&](const std::string& given) {
        folder.write("x.json",
            R"({"function": {"module": "m", "qualname": "f", "defaults": {"steps": 5, "kind": "a", "none": null}},
                "call": {"arguments": )"
                + given + "}}");
        return open("x.pt", smallCapture())->capture.scene.arguments;
    };
    EXPECT_EQ(arguments(R"({"steps": 6, "kind": "a", "none": null, "eps": 1e-7, "epsilon": 1, "abc": [2, -1.5, 0.5]})"),
        R"({"steps":6,"abc":[2,-1.5,0.5]})");
    EXPECT_EQ(arguments(R"({"steps": 5, "kind": "a\"b"})"), R"({"kind":"a\"b"})");
    EXPECT_EQ(arguments(R"({"steps": 5})"), "");
    EXPECT_EQ(arguments(R"({"steps": 6, "a b": 1})"), "") << "no name of an argument";
    EXPECT_EQ(arguments(R"({"text": ")" + std::string(5000, 'a') + "\"}"), "");
    EXPECT_EQ(arguments("3"), "");
}

TEST_F(CaptureFileTest, ASidecarSaysOfWhatATensorIsAPart)
{
    const auto of = [&](const std::string& part) {
        folder.write("x.json", R"({"call": {"index": 7}, "part": )" + part + R"(, "output": {"part": )" + part + "}}");
        return open("x.pt", smallCapture());
    };
    const auto part = [](const char* placements, const char* mesh = "[2]", const char* at = "[1]",
                          const char* ranks = "[4, 6]", const char* shape = "[12, 4]") {
        return fmt::format(R"({{"shape": {}, "strides": [4, 1], "placements": {}, "rank": 6,
            "mesh": {{"shape": {}, "names": ["dp"], "ranks": {}, "coordinate": {}}}}})",
            shape, placements, mesh, ranks, at);
    };
    const auto file = of(part(R"j(["Shard(0)"])j"));
    ASSERT_NE(file->input.sharding(), nullptr);
    const auto& sharding = *file->input.sharding();
    EXPECT_EQ(sharding.shape, (Shape {12, 4}));
    EXPECT_EQ(sharding.mesh.coordinate, (Shape {1}));
    EXPECT_EQ(*tensorfile::meshRanks(sharding.mesh, {}), (std::vector<std::int64_t> {4, 6}));
    EXPECT_EQ(tensorfile::placementsText(sharding), "Shard(0) over dp");
    EXPECT_EQ(file->output->sharding()->mesh.rank, 6);
    EXPECT_EQ(file->capture.part, "a part of a DTensor 12x4, Shard(0) over dp");
    EXPECT_EQ(file->capture.scene.callIndex, 7);
    const auto of2d = of(part(R"j(["Replicate", "StridedShard(1, 2)"])j", "[2, 2]", "[1, 0]", "[0, 1, 2, 3]"));
    EXPECT_EQ(*tensorfile::meshRanks(of2d->input.sharding()->mesh, {}), (std::vector<std::int64_t> {0, 1, 2, 3}));
    EXPECT_EQ(of(part(R"j(["Replicate"])j"))->capture.part, "") << "each rank holds all of it";
    for (const auto& bad : {part(R"j(["Shard(2)"])j"), part(R"j(["Shard(0)", "Replicate"])j"),
             part(R"j(["Block(0)"])j"), part("[]"), part("3"), part(R"j(["Shard(0)"])j", "[3]"),
             part(R"j(["Shard(0)"])j", "[2]", "[2]"), part(R"j(["Shard(0)"])j", "[2]", "[1, 0]"),
             part(R"j(["Shard(0)"])j", "[2]", "[1]", "[0, -1]"), part(R"j(["Shard(0)"])j", "[0]", "[0]", "[]"),
             part(R"j(["Shard(0)"])j", "[2]", "[1]", "[4, 6]", "[9223372036854775807, 3]"),
             part(R"j(["Shard(0)"])j", "[2]", "[1]", "[4, 6]", "[12]"), std::string("null")}) {
        const auto plain = of(bad);
        ASSERT_TRUE(plain) << bad;
        EXPECT_EQ(plain->input.sharding(), nullptr) << bad;
    }
    EXPECT_EQ(of(part(R"j(["Shard(0)"])j", "[3]"))->capture.part, "a part of a DTensor, Shard(0)") << "and not judged";
}

TEST_F(CaptureFileTest, ASidecarGivesVariantAndStep)
{
    folder.write("x.json", R"({"variant": "gns-gram", "step": 41, "more": [1]})");
    const auto file = open("x.pt", smallCapture());
    ASSERT_TRUE(file);
    EXPECT_EQ(file->capture.variant, "gns-gram");
    EXPECT_EQ(file->capture.step, 41);
    folder.write("x.json", R"({"variant": "keller-jordan", "precision": "fp16"})");
    EXPECT_EQ(open("x.pt", smallCapture())->capture.variant, "keller-jordan:fp16");
    folder.write("x.json", R"({"variant": "keller-jordan", "variant": "gns-gram", "step": 1, "step": 7})");
    EXPECT_EQ(open("x.pt", smallCapture())->capture.variant, "gns-gram") << "the last one counts, as in Python";
    EXPECT_EQ(open("x.pt", smallCapture())->capture.step, 7);
    folder.write("x.json", R"({"more": [{"a": 1, "a": 2}], "call": {"index": 3, "index": 4}, "step": 9})");
    EXPECT_EQ(open("x.pt", smallCapture())->capture.scene.callIndex, 4);
    EXPECT_EQ(open("x.pt", smallCapture())->capture.step, 9);
    folder.write("x.json", R"({"precision": "fp16"})");
    EXPECT_FALSE(open("x.pt", smallCapture())->capture.variant) << "a format alone names no function";
    folder.write("x.json", R"({"epsilon": 0})");
    EXPECT_EQ(open("x.pt", smallCapture())->capture.epsilon, 1e-8) << "the dump's own word counts";
    const auto contradicted = open("x.pt", smallCapture())->capture.scene;
    EXPECT_EQ(contradicted.otherEpsilon, 0);
    EXPECT_THAT(
        notesOf(contradicted), testing::ElementsAre("it says epsilon 0, and the dump says another, which counts"));
    const auto body = dict({{"input", tensor("FloatStorage", "0", 24, {6, 4}, {4, 1})}});
    EXPECT_EQ(open("x.pt", torchFile(pickle(body), {bytesOf(smallInput())}))->capture.epsilon, 0);
    folder.write("x.json", "{\"variant\": 5, \"step\"");
    const auto broken = open("x.pt", smallCapture());
    ASSERT_TRUE(broken);
    EXPECT_FALSE(broken->capture.variant || broken->capture.step);
    EXPECT_EQ(broken->capture.scene.problem, SidecarProblem::notJson);
    EXPECT_THAT(notesOf(broken->capture.scene), testing::ElementsAre(testing::HasSubstr("no JSON object")));
    folder.write("x.json", std::string((1 << 20) + 1, ' '));
    EXPECT_EQ(open("x.pt", smallCapture())->capture.scene.problem, SidecarProblem::tooLong);
}

TEST_F(CaptureFileTest, TakesWhatAHelperSawAtTheCall)
{
    folder.write("x.json",
        R"({"reason": "a non-finite output",
        "function": {"module": "dion.megabatch", "qualname": "newton_schulz_func",
            "source_sha256": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"},
        "retries_skipped": "NANSCOPE_CAPTURE_RETRY_SECONDS=5 were over", "named_like": "keller-jordan", "controls": ["nanscope_control_rank0.pt"],
        "input": {"checksum_before": "a1", "checksum_after": "a2"},
        "call": {"other_tensors": 0},
        "retries": [{"how": "same", "finite": false}, {"how": "same", "finite": true}, {"how": "stream", "finite": true},
            {"how": "fp32", "finite": true}, {"how": "same"}, 5]})");
    const auto scene = open("x.pt", smallCapture())->capture.scene;
    EXPECT_EQ(scene.function, "dion.megabatch:newton_schulz_func");
    EXPECT_EQ(scene.calledAgain, 3) << "as it ran; not in another format, nor without an end";
    EXPECT_EQ(scene.failedAgain, 1);
    EXPECT_TRUE(scene.inputOverwritten);
    EXPECT_TRUE(scene.outputBad);
    EXPECT_EQ(scene.sourceHash.substr(0, 8), "00112233");
    EXPECT_EQ(scene.notCalledAgain, "NANSCOPE_CAPTURE_RETRY_SECONDS=5 were over");
    EXPECT_EQ(scene.control, "nanscope_control_rank0.pt");
    EXPECT_EQ(scene.namedLike, "keller-jordan");
    EXPECT_EQ(scene.state, OwnState::none);
    for (const auto* others : {"1", "true", "[\"w\"]", "null"}) {
        folder.write("x.json",
            fmt::format(R"({{"call": {{"other_tensors": {}}}, "retries": [{{"how": "same", "finite": true}}],
                "input": {{"checksum_before": "a1", "checksum_after": "a1"}}}})",
                others));
        auto scene = open("x.pt", smallCapture())->capture.scene;
        EXPECT_EQ(std::exchange(scene.otherTensors, 0), *others == '1' ? 1 : 0);
        EXPECT_EQ(scene, Scene {}) << others
                                   << ": where it takes another tensor, the call itself may have changed that";
    }
    folder.write("x.json", R"({"function": "f", "retries": 3, "input": [], "call": null})");
    EXPECT_EQ(open("x.pt", smallCapture())->capture.scene, Scene {});
}

TEST_F(CaptureFileTest, CountsNoCallMadeAgainThatWasAnother)
{
    const auto made = [&](std::string_view more) {
        folder.write("x.json",
            fmt::format(R"({{"nothing_else": true, "call": {{"other_tensors": 0{}}},
                "retries": [{{"how": "same", "finite": true}}]}})",
                more));
        return open("x.pt", smallCapture());
    };
    EXPECT_EQ(made("")->capture.scene.calledAgain, 1) << "an older helper says nothing of it";
    EXPECT_TRUE(made(R"(, "keeps": "the same", "random": false)")->capture.nothingElse);
    EXPECT_EQ(made(R"(, "keeps": "the same", "random": false)")->capture.scene.calledAgain, 1);
    EXPECT_EQ(made(R"(, "keeps": null, "random": null)")->capture.scene.calledAgain, 1);
    const auto random = made(R"(, "keeps": "the same", "random": true)");
    EXPECT_EQ(random->capture.scene.calledAgain, 0);
    EXPECT_EQ(random->capture.scene.state, OwnState::random);
    EXPECT_THAT(notesOf(random->capture.scene), testing::ElementsAre(testing::HasSubstr("draws random numbers")));
    EXPECT_FALSE(random->capture.nothingElse) << "nor is the user's word about such a function";
    const auto keeps = made(R"(, "keeps": "other values", "random": false)");
    EXPECT_EQ(keeps->capture.scene.state, OwnState::otherValues);
    EXPECT_EQ(keeps->capture.scene.calledAgain, 0);
    EXPECT_THAT(
        notesOf(keeps->capture.scene), testing::ElementsAre(testing::HasSubstr("keeps values, which were others")));
    const auto open = made(R"(, "keeps": "not known")")->capture.scene;
    EXPECT_EQ(open.state, OwnState::notKnown);
    EXPECT_EQ(open.calledAgain, 0);
}

TEST_F(CaptureFileTest, SaysWhatElseAHelperSaw)
{
    folder.write("x.json",
        R"({"exception": "ValueError: no", "stale": [{"matrix": 0, "call": 17, "of": 0}, {"matrix": 1, "call": 17}]})");
    const auto scene = open("x.pt", smallCapture())->capture.scene;
    EXPECT_EQ(scene.exception, "ValueError: no");
    EXPECT_EQ(scene.stale, (StaleOutput {0, 17})) << "the first of them";
    EXPECT_THAT(notesOf(scene),
        testing::ElementsAre("the call raised ValueError: no: there is no output",
            "by its checksum, matrix 0 of the output is that of call 17 of this process, bit for bit"));
    folder.write("x.json", R"({"privacy": "rotate"})");
    const auto turned = open("x.pt", smallCapture());
    EXPECT_TRUE(turned->capture.scene.rotated && turned->capture.hasTensors());
    EXPECT_FALSE(turned->capture.holdsTheCall());
    EXPECT_THAT(notesOf(turned->capture.scene), testing::ElementsAre(testing::HasSubstr("random rotations")));
    folder.write("x.json", R"({"exception": null, "stale": [5, {"matrix": "0"}]})");
    EXPECT_EQ(open("x.pt", smallCapture())->capture.scene, Scene {});
}

TEST_F(CaptureFileTest, CountsTheGradientsAndMomentaThatTheHelperFound)
{
    folder.write("x.json",
        R"({"state": [{"parameter": "a", "grad_finite": true, "momentum_finite": false, "state_finite_before": true},
                      {"parameter": "b", "grad_finite": null, "momentum_finite": false}, 7,
                      {"parameter": "c", "grad_finite": false, "momentum_finite": false}]})");
    EXPECT_EQ(
        open("x.pt", smallCapture())->capture.scene.parameters, (ParameterState {2, 1, 3, 2, "b", {}, 0, 0, 0, 0, 1}));
    folder.write("x.json",
        R"({"state": [{"parameter": "a", "weight_finite": true}, {"parameter": "b", "weight_finite": false}]})");
    EXPECT_EQ(open("x.pt", smallCapture())->capture.scene.parameters, (ParameterState {0, 0, 0, 0, "", {}, 2, 1}));
    folder.write("x.json",
        R"({"state": [{"parameter": "a", "weight_finite_before": true, "weight_finite": false},
                      {"parameter": "b", "weight_finite_before": false, "weight_finite": false},
                      {"parameter": "c", "weight_finite_before": null, "weight_finite": true, "grad_finite": false}]})");
    EXPECT_EQ(
        open("x.pt", smallCapture())->capture.scene.parameters, (ParameterState {1, 1, 0, 0, "c", {}, 3, 2, 2, 1}));
    folder.write("x.json", R"({"state": [{"parameter": "a", "grad_finite": null}]})");
    EXPECT_FALSE(open("x.pt", smallCapture())->capture.scene.parameters);
}

TEST_F(CaptureFileTest, TakesWhatTheHelperSawOfTheWeightsBeforeTheStep)
{
    const auto before = [&](std::string_view json) {
        folder.write("x.json", fmt::format(R"({{"weights_before": {}}})", json));
        return open("x.pt", smallCapture())->capture.scene.weightsBefore;
    };
    EXPECT_EQ(
        before(R"({"looked_at": 8, "bad": 1, "first": "up", "shards": true})"), (WeightsBefore {8, 1, "up", true}));
    EXPECT_EQ(
        before(R"({"looked_at": 8, "bad": 0, "first": null, "shards": false})"), (WeightsBefore {8, 0, "", false}));
    EXPECT_FALSE(before("null"));
    EXPECT_FALSE(before(R"({"looked_at": 8, "bad": 9})"));
}

TEST_F(CaptureFileTest, CountsWhatTheHelperSawAndDidNotWrite)
{
    folder.write("x.json",
        R"({"optimizer_step": 28, "limits": {"calls": 2501, "looked_at": 51, "suppressed": {"a": 2, "b": 1, "c": -4}}})");
    const auto scene = open("x.pt", smallCapture())->capture.scene;
    EXPECT_EQ(scene.optimizerStep, 28);
    EXPECT_EQ(scene.badNotWritten, 3);
    EXPECT_EQ(scene.notLookedAt, 2450);
    folder.write("x.json", R"({"optimizer_step": null, "limits": {"looked_at": 51, "suppressed": 3}})");
    EXPECT_EQ(open("x.pt", smallCapture())->capture.scene, Scene {});
}

TEST_F(CaptureFileTest, KnowsHowManyOfTheParametersTheHelperLookedAt)
{
    const auto coverageOf = [&](std::string_view stateOf) {
        folder.write("x.json", fmt::format(R"({{"state": [{{"grad_finite": true}}], "state_of": {}}})", stateOf));
        return open("x.pt", smallCapture())->capture.scene.parameters->coverage;
    };
    EXPECT_EQ(coverageOf(R"({"parameters": 70, "listed": 64, "shards": true})"), (ParameterCoverage {70, 64, true}));
    EXPECT_EQ(coverageOf(R"({"parameters": 3, "listed": 3, "shards": false, "transposes": true})"),
        (ParameterCoverage {3, 3, false, true}));
    EXPECT_EQ(coverageOf(R"({"parameters": 2, "listed": 2, "shards": false})"), (ParameterCoverage {2, 2, false}));
    for (const auto* strange : {"null", "7", "{}", R"({"parameters": 3})", R"({"parameters": 3, "listed": 4})",
             R"({"parameters": "3", "listed": 3})", R"({"parameters": 3, "listed": -1})"}) {
        EXPECT_FALSE(coverageOf(strange)) << strange;
    }
}

TEST_F(CaptureFileTest, KnowsAPartByTheSidecar)
{
    const auto partOf = [&](std::string_view placements, std::string_view sizes) {
        folder.write(
            "x.json", fmt::format(R"({{"part": {{"placements": {}, "mesh": {{"shape": {}}}}}}})", placements, sizes));
        return open("x.pt", smallCapture())->capture.part;
    };
    EXPECT_EQ(partOf(R"_(["Shard(0)", "Replicate"])_", "[2, 4]"), "a part of a DTensor, Shard(0), Replicate");
    EXPECT_EQ(partOf(R"_(["Replicate"])_", "[8]"), "") << "every rank holds all of it";
    EXPECT_EQ(partOf(R"_(["Shard(0)"])_", "[1]"), "") << "of one rank it is the whole";
    EXPECT_EQ(partOf(R"_(["Partial(sum)"])_", "[2]"), "a part of a DTensor, Partial(sum)");
    const auto* some = "a part of a DTensor, by a sidecar that does not say which";
    EXPECT_EQ(partOf(R"_(["Shard(0)"])_", "[2, 2]"), some) << "it contradicts itself";
    EXPECT_EQ(partOf("5", "[2]"), some);
    EXPECT_EQ(partOf(R"_(["Replicate", 7])_", "[2, 2]"), some);
    EXPECT_EQ(partOf("[]", "[]"), some);
    folder.write("x.json", R"_({"part": "Shard(0)"})_");
    EXPECT_EQ(open("x.pt", smallCapture())->capture.part, some);
    folder.write("x.json", R"_({"part": null})_");
    EXPECT_EQ(open("x.pt", smallCapture())->capture.part, "");
}

TEST_F(CaptureFileTest, TellsDTensorsApartByRanksShapeAndPlacements)
{
    const auto sceneOf = [&](std::string_view ranks, std::string_view shape, std::string_view more) {
        folder.write("x.json",
            fmt::format(R"_({{"call": {{"index": 9}}, "part": {{"placements": ["Shard(0)"], "shape": {}{},
                "mesh": {{"shape": [2], "ranks": {}}}}}}})_",
                shape, more, ranks));
        return open("x.pt", smallCapture())->capture.scene;
    };
    const auto one = sceneOf("[2, 3]", "[4, 6]", "");
    EXPECT_EQ(one.mesh, sceneOf("[2, 3]", "[4, 6]", R"(, "rank": 3, "call": 5)").mesh);
    EXPECT_NE(one.mesh, sceneOf("[0, 1]", "[4, 6]", "").mesh);
    EXPECT_NE(one.mesh, sceneOf("[2, 3]", "[8, 6]", "").mesh);
    EXPECT_NE(one.mesh, "");
    EXPECT_EQ(sceneOf("[2]", "[4, 6]", "").mesh, "") << "of which another is the size";
    EXPECT_EQ(one.callIndex, 9);
    EXPECT_EQ(sceneOf("[2, 3]", "[4, 6]", R"(, "call": 5)").callIndex, 5) << "over the calls of this mesh";
}

TEST_F(CaptureFileTest, KnowsAPartByTheRanksThatMadeTheCall)
{
    const auto partOf = [&](std::string_view ranks) {
        folder.write("x.json", fmt::format(R"({{"call": {{"ranks": {}}}}})", ranks));
        return open("x.pt", smallCapture())->capture.part;
    };
    EXPECT_EQ(partOf("2"), "a part of a call that 2 ranks made together");
    EXPECT_EQ(partOf("1"), "");
    EXPECT_EQ(partOf("-4"), "");
    EXPECT_EQ(partOf("\"many\""), "");
}

TEST_F(CaptureFileTest, RefusesTensorsWithoutElementsWhateverTheirOtherExtents)
{
    const auto big = std::int64_t {1} << 62;
    for (const auto& shape : {Shape {0, 4}, Shape {0, big}, Shape {big, 0}, Shape {0, std::int64_t {1} << 30}}) {
        const auto nothing = tensor("FloatStorage", "0", 0, shape, {1, 1});
        const auto file = open("x.pt", torchFile(pickle(dict({{"input", nothing}, {"output", nothing}})), {""}));
        ASSERT_FALSE(file) << shapeText(shape);
        EXPECT_EQ(file.error().kind, ErrorKind::format);
        EXPECT_THAT(file.error().what, testing::HasSubstr("input has no elements (" + shapeText(shape) + ")"));
    }
    EXPECT_EQ(matrixShape({0, big}), (MatrixShape {0, 0, 0}));
    EXPECT_EQ(matrixShape({2, 0, 3}), (MatrixShape {0, 0, 0}));
}

TEST_F(CaptureFileTest, RefusesAnotherCaptureUnderTheName)
{
    const auto path = folder.write("x.pt", smallCapture());
    const auto imported = tensorfile::openCapture(path);
    ASSERT_TRUE(imported);
    EXPECT_TRUE(tensorfile::openCapture(imported->capture));
    folder.write("x.pt", withKey("input"));
    EXPECT_TRUE(tensorfile::openCapture(path)); // the user named the file: whatever lies there is meant
    const auto other = tensorfile::openCapture(imported->capture);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().kind, ErrorKind::refused);
    EXPECT_THAT(other.error().what, testing::HasSubstr("holds another capture"));
    EXPECT_EQ(other.error().path, path.string());
}

TEST_F(CaptureFileTest, GivesTheBytesOfTheCaptureOrNone)
{
    const auto bytes = smallCapture();
    const auto path = folder.write("x.pt", bytes);
    const auto imported = tensorfile::openCapture(path);
    ASSERT_TRUE(imported);
    const auto whole = tensorfile::captureBytes(imported->capture, bytes.size());
    ASSERT_TRUE(whole && *whole);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>((*whole)->data()), (*whole)->size()), bytes);
    const auto tooLong = tensorfile::captureBytes(imported->capture, bytes.size() - 1);
    ASSERT_TRUE(tooLong);
    EXPECT_FALSE(*tooLong);
    // The same headers over other values: only their checksum tells.
    auto changed = bytes;
    changed[changed.find(bytesOf(smallInput()))] ^= 1;
    folder.write("x.pt", changed);
    EXPECT_FALSE(tensorfile::captureBytes(imported->capture, bytes.size()));
    folder.write("x.pt", "no capture at all");
    EXPECT_FALSE(tensorfile::captureBytes(imported->capture, bytes.size()));
}

} // namespace nanscope
