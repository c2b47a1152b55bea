// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/session/session.h"
#include "core/tensorfile/tensorfile.h"
#include "tests/core/ingest/logfolder.h"

namespace nanscope {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CheckpointFolders : public LogFolder
{
protected:
    void put(const std::string& relative, const std::string& text = "x")
    {
        const auto path = m_folder.path() / relative;
        std::filesystem::create_directories(path.parent_path());
        m_folder.write(relative, text);
    }

    std::vector<Checkpoint> found() const
    {
        const auto files = ingest::findFiles(m_folder.path());
        EXPECT_TRUE(files);
        return files->checkpoints;
    }
};

TEST_F(CheckpointFolders, OfEveryTrainer)
{
    put("a/step_1000/.metadata");
    put("a/step_1000/__0_0.distcp");
    put("a/step-2000/pp0/.metadata");
    put("a/step-2000/pp0/__0_0.distcp");
    put("b/checkpoint-500/trainer_state.json", "{}");
    put("b/checkpoint-500/model.safetensors");
    put("c/global_step20/mp_rank_00_model_states.pt");
    put("d/iter_0000100/mp_rank_00/model_optim_rng.pt");
    put("state_step000300.pt");
    put("model_000400.pt");
    put("epoch=0-step=600.ckpt");
    put("ep0-ba700-rank0.pt");
    const auto all = found();
    std::vector<std::int64_t> steps;
    for (const auto& one : all) {
        steps.push_back(one.step);
        EXPECT_EQ(one.problem, "") << one.path;
        EXPECT_EQ(one.fact, CheckpointFact::found);
    }
    EXPECT_THAT(steps, testing::ElementsAre(20, 100, 300, 400, 500, 600, 700, 1000, 2000));
    EXPECT_EQ(all[4].path, "b/checkpoint-500");
}

TEST_F(CheckpointFolders, SingleFilesAreFoundByTheNamesThatFoldersHave)
{
    const std::vector<std::string> names {"step-25.pt", "step_30.pth", "step35.safetensors"};
    for (const auto& name : names) {
        put(name);
    }
    std::vector<std::int64_t> steps;
    for (const auto& one : found()) {
        EXPECT_EQ(one.fact, CheckpointFact::found);
        steps.push_back(one.step);
    }
    EXPECT_THAT(steps, testing::ElementsAre(25, 30, 35));
}

TEST_F(CheckpointFolders, ACaptureWithTheNameOfACheckpointIsNone)
{
    const tensorfile::TensorToWrite values {"input", DType::float32, {2, 2}, std::vector<std::byte>(16, std::byte {0})};
    auto weights = values;
    weights.name = "embed.weight";
    std::filesystem::create_directories(m_folder.path() / "run");
    ASSERT_TRUE(tensorfile::writePt(m_folder.path() / "run/step_1.pt", {{"input", values}, {"output", values}}));
    ASSERT_TRUE(tensorfile::writePt(m_folder.path() / "run/step_2.pt", {{"embed.weight", weights}}));
    const auto steps = [](const std::vector<Checkpoint>& all) {
        std::vector<std::int64_t> result;
        std::ranges::transform(all, std::back_inserter(result), &Checkpoint::step);
        return result;
    };
    const auto read = ingest::readRun(m_folder.path() / "run");
    ASSERT_TRUE(read);
    EXPECT_THAT(read->captures, SizeIs(1));
    EXPECT_THAT(steps(read->checkpoints), testing::ElementsAre(2));
    auto session = session::Session::open(m_folder.path() / "s.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    for (int time = 0; time < 2; ++time) {
        const auto imported = ingest::importRun(m_folder.path() / "run", *session);
        ASSERT_TRUE(imported);
        EXPECT_THAT(imported->captures, SizeIs(1));
        EXPECT_THAT(steps(imported->checkpoints), testing::ElementsAre(2)) << "known captures, too: " << time;
    }
}

TEST_F(CheckpointFolders, AFileOfAnyNameIsOneByWhatItHolds)
{
    put("train.log", "step 1 loss 2.5\n");
    const auto run = m_folder.path();
    std::filesystem::copy(NANSCOPE_TEST_DATA "/checkpoints/trainer.pt", run / "checkpoint_3.pt");
    std::filesystem::copy(NANSCOPE_TEST_DATA "/checkpoints/trainer.pt", run / "step_14.pt");
    ASSERT_TRUE(
        tensorfile::writePt(run / "gradient.pt", {{"grad", smallMatrix("grad", 1)}, {"step", std::int64_t {9}}}));
    const auto read = ingest::readRun(run);
    ASSERT_TRUE(read);
    ASSERT_THAT(read->checkpoints, SizeIs(2)) << "a tensor beside a step is a dump by hand";
    EXPECT_EQ(read->checkpoints[0].step, 14) << "what a name says counts";
    EXPECT_EQ(read->checkpoints[1].step, 15) << "and not its epoch";
    EXPECT_EQ(read->checkpoints[1].path, "checkpoint_3.pt");
    EXPECT_EQ(read->checkpoints[1].place, (run / "checkpoint_3.pt").string());
}

TEST_F(CheckpointFolders, SayWhatIsMissing)
{
    put("step_1/__0_0.distcp");
    put("checkpoint-2/pytorch_model.bin");
    put("step_5/pp0/.metadata");
    put("step_5/pp0/__0_0.distcp");
    put("step_5/pp1/__0_0.distcp");
    put("global_step3/zero_pp_rank_0_optim_states.pt");
    put("model_00004.pt", "");
    const auto all = found();
    ASSERT_THAT(all, SizeIs(5));
    EXPECT_THAT(all[0].problem, HasSubstr(".metadata"));
    EXPECT_THAT(all[1].problem, HasSubstr("trainer_state.json"));
    EXPECT_THAT(all[2].problem, HasSubstr("model_states.pt"));
    EXPECT_THAT(all[3].problem, HasSubstr("empty"));
    EXPECT_THAT(all[4].problem, HasSubstr(".metadata")) << "every pipeline stage has one";
}

TEST_F(CheckpointFolders, AccelerateWritesItsRandomStatesLast)
{
    put("checkpoint-2/model.safetensors");
    put("checkpoint-2/random_states_0.pkl");
    put("checkpoint-3/model.safetensors");
    put("checkpoint-3/optimizer.bin");
    const auto all = found();
    ASSERT_THAT(all, SizeIs(2));
    EXPECT_EQ(all[0].problem, "");
    EXPECT_THAT(all[1].problem, HasSubstr("saving was not finished, or it was exported"));
}

TEST_F(CheckpointFolders, OtherFoldersOfSuchNamesAreNone)
{
    put("step_5/console.log", "step 5");
    put("steps_7/model.pt");
    put("checkpoint-x/model.pt");
    put("checkpoint_8.pt"); // may be an epoch
    put("checkpoint8.pt"); // fairseq's are of epochs
    put("ckpt_8_1000.pt");
    put("step_8_in.pt");
    put("checkpoint-8.json");
    put("model_8.pt");
    put("step_99999999999999999999/model.pt");
    put("dion_nan_capture_rank0_shape1x2x2_pid1_1.pt");
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(CheckpointFolders, AreStoredAndForgottenWhenTheyAreGone)
{
    put("run/step_1/.metadata");
    put("run/step_1/a.distcp");
    put("run/run.log", "step 1, loss: 2.5\n");
    auto session = session::Session::open(m_folder.path() / "s.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    const auto first = ingest::importRun(m_folder.path() / "run", *session);
    ASSERT_TRUE(first);
    ASSERT_THAT(first->checkpoints, SizeIs(1));
    EXPECT_EQ(first->checkpoints[0].path, "step_1");
    std::filesystem::remove_all(m_folder.path() / "run/step_1");
    EXPECT_THAT(ingest::importRun(m_folder.path() / "run", *session)->checkpoints, IsEmpty());
}

} // namespace
} // namespace nanscope
