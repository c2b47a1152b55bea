// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// `inspect` on checkpoints, which torch wrote (tests/reference/make_checkpoints.py).
#include <fstream>

#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

namespace fs = std::filesystem;

namespace {

const fs::path checkpoints = fs::path(NANSCOPE_TEST_DATA) / "checkpoints";

} // namespace

TEST(InspectCheckpoint, ResultComesFirst)
{
    for (const auto& [name, result] : {std::pair("sharded", "Not finite: 2 of 6 tensors outside the optimizer state."),
             std::pair("trainer.pt", "Not finite: 3 of 6 "), std::pair("hf", "Not finite: 2 of 5 ")}) {
        const auto done = run({"inspect", (checkpoints / name).string()});
        EXPECT_EQ(done.status, 0) << done.err;
        EXPECT_THAT(done.out, StartsWith(result)) << name;
        EXPECT_THAT(done.out, HasSubstr("[1,3,5]"));
    }
}

TEST(InspectCheckpoint, JsonHasEveryTensor)
{
    const auto answer = run({"inspect", (checkpoints / "sharded").string(), "--json"}).json();
    EXPECT_EQ(answer["schema"], "nanscope.checkpoint/1");
    EXPECT_EQ(answer["non_finite"], 3);
    EXPECT_EQ(answer["non_finite_weights"], 2);
    EXPECT_EQ(answer["parameters"].size(), 8U);
}

TEST(InspectCheckpoint, WhatIsMissingIsAStatusOfItsOwn)
{
    const WorkFolder work;
    fs::copy(checkpoints / "hf", work.path() / "hf", fs::copy_options::recursive);
    fs::remove(work.path() / "hf" / "model-00001-of-00002.safetensors");
    const auto done = run({"inspect", (work.path() / "hf").string()});
    EXPECT_EQ(done.status, 3);
    EXPECT_THAT(done.out, StartsWith("Not settled: what was read is finite, but 1 tensor or file could not be read."));
}

TEST(InspectCheckpoint, SeveralStepsAreNotCountedAsOne)
{
    const WorkFolder work;
    fs::create_directories(work.path() / "kept");
    for (const auto* step : {"step_100", "step_200"}) {
        fs::copy(checkpoints / "hf", work.path() / "kept" / step, fs::copy_options::recursive);
    }
    const auto all = run({"inspect", work / "kept"});
    EXPECT_EQ(all.status, 2);
    EXPECT_THAT(all.err, HasSubstr("several steps, from step_100 to step_200; name one of them"));
    EXPECT_EQ(run({"inspect", work / "kept/step_100"}).status, 0);
}

TEST(VerifyCheckpoints, RollbackGoesByWhatTheyHold)
{
    const WorkFolder work;
    std::string log;
    for (int step = 0; step < 440; ++step) {
        log += R"({"step": )" + std::to_string(step) + R"(, "loss": )" + (step < 400 ? "2.5" : "NaN") + "}\n";
    }
    std::ofstream(work.path() / "train.jsonl") << log;
    fs::copy(checkpoints / "sharded", work.path() / "step_300", fs::copy_options::recursive);
    const auto before = run({"diagnose", work.path().string(), "--json"}).json()["rollback"];
    EXPECT_EQ(before["recommended"], 300);
    EXPECT_EQ(before["resume"], "KempnerForge: checkpoint.load_path=" + work / "step_300");
    ASSERT_EQ(run({"report", work.path().string(), "-o", work / "r.json"}).status, 0);
    const auto report = nlohmann::json::parse(std::ifstream(work / "r.json"));
    EXPECT_EQ(report["diagnosis"]["rollback"]["resume"], "KempnerForge: checkpoint.load_path=step_300")
        << "where the run lies is its owner's";

    const auto done = run({"diagnose", work.path().string(), "--verify-checkpoints", "--json"});
    const auto after = done.json()["rollback"];
    EXPECT_EQ(after["recommended"], nullptr) << done.out;
    EXPECT_EQ(after["checkpoints"][0]["status"], "poisoned");
    EXPECT_THAT(after["checkpoints"][0]["proof"][0]["text"].get<std::string>(), HasSubstr("the first at [1,3,5]"));
}

namespace {

/// Zeros that take no room on the disk and a while to read.
void writeLarge(const fs::path& path)
{
    constexpr std::uint64_t tensors = 256;
    constexpr std::uint64_t each = std::uint64_t {1} << 26;
    std::string header = "{";
    for (std::uint64_t i = 0; i < tensors; ++i) {
        header += (i > 0 ? ",\"w" : "\"w") + std::to_string(i) + R"(":{"dtype":"F32","shape":[)"
            + std::to_string(each / 4) + R"(],"data_offsets":[)" + std::to_string(i * each) + ","
            + std::to_string((i + 1) * each) + "]}";
    }
    header += "}";
    fs::create_directories(path.parent_path());
    const std::uint64_t size = header.size();
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(&size), sizeof(size)) << header;
    fs::resize_file(path, sizeof(size) + size + tensors * each);
}

} // namespace

TEST(VerifyCheckpoints, EndWithTheTimeLimit)
{
    const WorkFolder work;
    std::string log;
    for (int step = 0; step < 440; ++step) {
        log += R"({"step": )" + std::to_string(step) + R"(, "loss": )" + (step < 400 ? "2.5" : "NaN") + "}\n";
    }
    std::ofstream(work.path() / "train.jsonl") << log;
    writeLarge(work.path() / "step_300" / "model.safetensors");
    const auto done = run({"diagnose", work.path().string(), "--verify-checkpoints", "--time-limit", "0.5", "--json"});
    EXPECT_EQ(done.status, 5) << done.err;
    EXPECT_THAT(done.json()["stopped"].get<std::string>(), StartsWith("the time limit of 0.5 s"));
    EXPECT_THAT(done.err, HasSubstr("the time limit of 0.5 s")) << "what was not read is said";
    EXPECT_FALSE(done.json()["rollback"].is_null()) << "what is known is printed all the same";
}

TEST(VerifyCheckpoints, OfWhatATrainerWritesBesideThemNothingIsRejected)
{
    const WorkFolder work;
    writeText(work.path() / "train.jsonl", "{\"step\": 1, \"loss\": 2.5}\n");
    fs::create_directories(work.path() / "checkpoint-300");
    writeArchive(work.path() / "checkpoint-300" / "training_args.bin",
        "\x80\x02"
        "cargparse\nNamespace\n)R.");
    const auto done = run({"diagnose", work.path().string()});
    EXPECT_THAT(done.err, Not(HasSubstr("training_args.bin")));
}
