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

TEST(InspectCheckpoint, OfSeveralStepsTheTrainersOwnFileNamesTheOne)
{
    const WorkFolder work;
    const auto copy = [&](const char* from, const std::string& to) {
        fs::create_directories(fs::path(work / to).parent_path());
        fs::copy_file(checkpoints / "hf" / from, work / to);
    };
    const auto* const finite = "model-00001-of-00002.safetensors";
    for (const auto* step : {"10", "20"}) {
        copy(finite, std::string("deepspeed/global_step") + step + "/mp_rank_00_model_states.pt");
        copy(finite, std::string("megatron/iter_00000") + step + "/mp_rank_00/model_optim_rng.pt");
    }
    writeText(work / "deepspeed/latest", "global_step20");
    writeText(work / "megatron/latest_checkpointed_iteration.txt", "20\n");
    const auto deepSpeed = run({"inspect", work / "deepspeed"});
    EXPECT_EQ(deepSpeed.status, 0) << deepSpeed.err;
    EXPECT_THAT(deepSpeed.out, StartsWith("Of several checkpoints the one that latest names, global_step20; to read"));
    const auto alone = run({"inspect", work / "deepspeed/global_step20", "--json"}).json();
    auto named = run({"inspect", work / "deepspeed", "--json"}).json();
    EXPECT_EQ(named["latest"], "global_step20");
    EXPECT_TRUE(alone["latest"].is_null());
    named["latest"] = nullptr;
    EXPECT_EQ(named, alone);
    EXPECT_EQ(run({"inspect", work / "megatron", "--json"}).json()["latest"], "iter_0000020");

    fs::remove_all(work.path() / "deepspeed/global_step20");
    copy(finite, "deepspeed/global_step15/mp_rank_00_model_states.pt");
    const auto gone = run({"inspect", work / "deepspeed"});
    EXPECT_EQ(gone.status, 2);
    EXPECT_THAT(gone.err, HasSubstr("name one of them (latest names global_step20, which is not there)"));
    writeText(work / "deepspeed/latest", "../megatron");
    EXPECT_EQ(run({"inspect", work / "deepspeed"}).status, 2) << "no folder of this one";
}

TEST(InspectCheckpoint, OfAnOptimizerAloneNothingIsSaidOfWeights)
{
    const WorkFolder work;
    const std::string bytes("\0\0\xc0\x7f", 4);
    const std::string header = R"({"exp_avg":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
    std::string size(8, '\0');
    size[0] = static_cast<char>(header.size());
    writeText(work / "optimizer.safetensors", size + header + bytes);
    const auto done = run({"inspect", work / "optimizer.safetensors"});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out, StartsWith("Not finite: 1 tensor of the optimizer state. No weights lie here, so"));
}

TEST(InspectCheckpoint, OneWithinAnotherIsNoSecondStep)
{
    const WorkFolder work;
    fs::create_directories(work.path() / "checkpoint-500/global_step520");
    const auto part = [](int i) { return "model-0000" + std::to_string(i) + "-of-00002.safetensors"; };
    fs::copy_file(checkpoints / "hf" / part(1), work.path() / "checkpoint-500" / part(1));
    fs::copy_file(
        checkpoints / "hf" / part(2), work.path() / "checkpoint-500/global_step520/mp_rank_00_model_states.pt");
    writeText(work / "checkpoint-500/latest", "global_step520");
    EXPECT_EQ(run({"inspect", work.path().string()}).status, 0);
    EXPECT_EQ(run({"inspect", work / "checkpoint-500", "--json"}).json()["files"], 2);
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
