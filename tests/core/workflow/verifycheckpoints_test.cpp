// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of a run that went NaN, read until there is one to go back to.
#include "core/workflow/verifycheckpoints.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "core/diagnose/recovery/rollback.h"
#include "core/workflow/openrun.h"
#include "tests/core/workflow/brokenrun.h"

namespace nanscope {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

RunData readRun(const BrokenRun& broken)
{
    auto run = workflow::openRun(broken.folder.path());
    EXPECT_TRUE(run);
    return run ? std::move(run->run) : RunData();
}

std::vector<std::int64_t> stepsRead(const RunData& run)
{
    std::vector<std::int64_t> steps;
    for (const auto& one : run.checkpoints) {
        if (one.contents) {
            steps.push_back(one.step);
        }
    }
    return steps;
}

CaptureVerdict kernelFault()
{
    CaptureVerdict verdict;
    verdict.role = Role::birth;
    verdict.capture = "dump.pt";
    verdict.blame = Blame::implementation;
    return verdict;
}

const CheckpointAdvice& adviceAt(const Rollback& rollback, std::int64_t step)
{
    return *std::ranges::find(rollback.checkpoints, step, &CheckpointAdvice::step);
}

TEST(VerifyCheckpoints, readsTheNewestUntilOneIsFinite)
{
    const BrokenRun broken;
    broken.write(100, good);
    broken.write(200, good);
    broken.write(300, bad);
    broken.write(420, good);
    auto run = readRun(broken);
    const std::vector verdicts {kernelFault()};
    ASSERT_EQ(diagnose::adviseRollback(run, verdicts)->recommended, 300);

    EXPECT_EQ(workflow::verifyCheckpoints(run, verdicts, nullptr, {}), 2);
    EXPECT_THAT(stepsRead(run), ElementsAre(200, 300)) << "one of after the fault is no help, an older one not needed";
    const auto advice = diagnose::adviseRollback(run, verdicts);
    EXPECT_EQ(advice->recommended, 200);
    EXPECT_EQ(adviceAt(*advice, 300).status, CheckpointStatus::poisoned);
    EXPECT_EQ(adviceAt(*advice, 300).proof.front().text, "model.weight holds 1 NaN, the first at [1]");
    EXPECT_EQ(adviceAt(*advice, 200).status, CheckpointStatus::safe);
    EXPECT_THAT(adviceAt(*advice, 200).reason, HasSubstr("every value of its 1 tensor is finite"));
    EXPECT_EQ(advice->resume, "torchtitan: --checkpoint.load_step=200");
    EXPECT_EQ(workflow::verifyCheckpoints(run, verdicts, nullptr, {}), 0) << "nothing is left to read";
}

TEST(VerifyCheckpoints, weightsAreLoadedAloneWhereOnlyTheOptimizerIsBad)
{
    const BrokenRun broken;
    broken.write(300, good);
    broken.write(300, bad, "optimizer.state.0.exp_avg", "optimizer.safetensors");
    auto run = readRun(broken);
    EXPECT_EQ(workflow::verifyCheckpoints(run, {kernelFault()}, nullptr, {}), 1);
    const auto advice = diagnose::adviseRollback(run, {kernelFault()});
    EXPECT_EQ(advice->recommended, 300);
    EXPECT_EQ(adviceAt(*advice, 300).status, CheckpointStatus::suspect);
    EXPECT_THAT(advice->reason, HasSubstr("load the weights alone"));
    EXPECT_THAT(advice->tonight, HasSubstr("resume from the weights alone of step 300"));
    EXPECT_EQ(advice->resume, "") << "it would load the state of the optimizer, too";
}

TEST(VerifyCheckpoints, whatCannotBeReadIsSaid)
{
    const BrokenRun broken;
    broken.write(200, good);
    broken.write(300, good);
    fs::resize_file(broken.folder.path() / "step-300" / "model.safetensors", 70);
    auto run = readRun(broken);
    const auto before = diagnose::adviseRollback(run, {kernelFault()});
    EXPECT_EQ(before->recommended, 200) << "the import has seen that the file is cut off";
    EXPECT_EQ(adviceAt(*before, 300).status, CheckpointStatus::missing);
    EXPECT_THAT(adviceAt(*before, 300).reason, HasSubstr("model.safetensors: The header is longer than the file"));
    run.checkpoints.back().problem.clear();
    EXPECT_EQ(workflow::verifyCheckpoints(run, {kernelFault()}, nullptr, {}), 2);
    const auto after = diagnose::adviseRollback(run, {kernelFault()});
    EXPECT_EQ(after->recommended, 200);
    EXPECT_THAT(adviceAt(*after, 300).reason,
        HasSubstr("it cannot be loaded whole: model.safetensors: The header is longer than the file"));
    EXPECT_EQ(adviceAt(*after, 300).status, CheckpointStatus::missing);
}

TEST(VerifyCheckpoints, ofATornOneTheWeightsMayBeLoadedWhereNothingElseIsLeft)
{
    const BrokenRun broken;
    broken.put("checkpoint-200/model.safetensors", good);
    broken.put("checkpoint-300/model.safetensors", good);
    broken.put("checkpoint-350/model.safetensors", bad);
    auto run = readRun(broken);
    const auto before = diagnose::adviseRollback(run, {kernelFault()});
    EXPECT_EQ(before->recommended, std::nullopt);
    EXPECT_THAT(before->tonight, HasSubstr("verify the checkpoints: whether the weights of step 350 are whole"));

    EXPECT_EQ(workflow::verifyCheckpoints(run, {kernelFault()}, nullptr, {}), 2);
    const auto after = diagnose::adviseRollback(run, {kernelFault()});
    EXPECT_EQ(adviceAt(*after, 350).status, CheckpointStatus::poisoned);
    EXPECT_EQ(adviceAt(*after, 300).status, CheckpointStatus::suspect);
    EXPECT_EQ(adviceAt(*after, 200).status, CheckpointStatus::missing) << "an older one needs no reading";
    EXPECT_EQ(after->recommended, 300);
    EXPECT_THAT(after->tonight, HasSubstr("resume from the weights alone of step 300"));
    EXPECT_EQ(after->resume, "") << "the rest of it may not be there";
}

TEST(VerifyCheckpoints, aTornOneIsNotReadWhereAWholeOneIsLeft)
{
    const BrokenRun broken;
    broken.write(200, good);
    broken.put("checkpoint-300/model.safetensors", good);
    auto run = readRun(broken);
    EXPECT_EQ(workflow::verifyCheckpoints(run, {kernelFault()}, nullptr, {}), 1);
    EXPECT_THAT(stepsRead(run), ElementsAre(200));
    const auto advice = diagnose::adviseRollback(run, {kernelFault()});
    EXPECT_EQ(advice->recommended, 200);
    EXPECT_EQ(adviceAt(*advice, 300).status, CheckpointStatus::missing);
}

TEST(VerifyCheckpoints, aTornOneWithoutWeightsStaysMissing)
{
    const BrokenRun broken;
    broken.put("checkpoint-300/optimizer.safetensors", good, "state.0.exp_avg");
    auto run = readRun(broken);
    EXPECT_EQ(workflow::verifyCheckpoints(run, {kernelFault()}, nullptr, {}), 1);
    const auto advice = diagnose::adviseRollback(run, {kernelFault()});
    EXPECT_EQ(advice->recommended, std::nullopt);
    EXPECT_EQ(adviceAt(*advice, 300).status, CheckpointStatus::missing);
}

TEST(VerifyCheckpoints, whatWasReadBeforeItWasStoppedIsKept)
{
    const BrokenRun broken;
    broken.write(200, good);
    broken.write(300, bad);
    auto run = readRun(broken);
    JobContext job;
    job.progress = [&job](const Progress& progress) {
        if (progress.phase == "step-200") {
            job.cancel.cancel();
        }
    };
    const auto stopped = workflow::verifyCheckpoints(run, {kernelFault()}, nullptr, job);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::cancelled);
    EXPECT_EQ(stopped.error().path, "step-200");
    EXPECT_THAT(stepsRead(run), ElementsAre(300));
}

TEST(VerifyCheckpoints, ofSeveralCopiesTheWorstSpeaks)
{
    const BrokenRun broken;
    broken.write(200, good);
    broken.write(300, bad);
    broken.folder.write("other/step-300/model.safetensors", safetensors("model.weight", good));
    auto run = readRun(broken);
    EXPECT_EQ(workflow::verifyCheckpoints(run, {kernelFault()}, nullptr, {}), 3);
    const auto advice = diagnose::adviseRollback(run, {kernelFault()});
    EXPECT_EQ(adviceAt(*advice, 300).status, CheckpointStatus::poisoned);
    EXPECT_EQ(advice->recommended, 200);
}

TEST(VerifyCheckpoints, whatIsNoWeightProvesNothing)
{
    const BrokenRun broken;
    broken.write(300, good, "optimizer.state.0.exp_avg");
    broken.folder.write("step-300/tokenizer.bin", "no tensor");
    auto run = readRun(broken);
    EXPECT_EQ(workflow::verifyCheckpoints(run, {kernelFault()}, nullptr, {}), 1);
    const auto advice = diagnose::adviseRollback(run, {kernelFault()});
    EXPECT_EQ(adviceAt(*advice, 300).status, CheckpointStatus::unverified);
    EXPECT_EQ(advice->recommended, 300) << "nothing speaks against it";
    EXPECT_EQ(workflow::verifyCheckpoints(run, {kernelFault()}, nullptr, {}), 1) << "what was not read is tried again";
}

TEST(VerifyCheckpoints, noLinkToAFileThatIsGoneIsACheckpoint)
{
    const BrokenRun broken;
    broken.write(200, good);
    fs::create_directories(broken.folder.path() / "step-300");
    fs::create_symlink("gone.safetensors", broken.folder.path() / "step-300" / "model.safetensors");
    EXPECT_EQ(readRun(broken).checkpoints.size(), 1U);
}

TEST(VerifyCheckpoints, aSessionKeepsItUntilTheCheckpointIsWrittenAgain)
{
    const BrokenRun broken;
    broken.write(300, good);
    const TemporaryFolder elsewhere;
    workflow::OpenOptions options;
    options.session = elsewhere.path() / "run.nanscope";
    {
        auto opened = workflow::openRun(broken.folder.path(), options);
        ASSERT_TRUE(opened);
        EXPECT_EQ(workflow::verifyCheckpoints(opened->run, {kernelFault()}, &*opened->session, {}), 1);
    }
    auto again = workflow::openRun(options.session);
    ASSERT_TRUE(again);
    ASSERT_THAT(stepsRead(again->run), ElementsAre(300));
    EXPECT_GT(again->run.checkpoints.front().contents->weights, 0);
    const auto& contents = *again->run.checkpoints.front().contents;
    EXPECT_EQ(contents.badWeights + contents.badState + contents.open + contents.unread + contents.damaged, 0);
    again = workflow::openRun(broken.folder.path(), options);
    EXPECT_THAT(stepsRead(again->run), ElementsAre(300)) << "an import keeps it";

    broken.write(300, {1, 2});
    again = workflow::openRun(options.session);
    EXPECT_THAT(stepsRead(again->run), ElementsAre());
}

TEST(ResumeLine, worksFromAnyFolder)
{
    const BrokenRun broken;
    broken.put("ckpt/step_300/model.safetensors", good);
    const auto here = fs::current_path();
    fs::current_path(broken.folder.path());
    auto opened = workflow::openRun(".");
    fs::current_path(here);
    ASSERT_TRUE(opened);
    const std::string begin = "KempnerForge: checkpoint.load_path=";
    const auto resume = [&](diagnose::ResumePaths paths) {
        return diagnose::adviseRollback(opened->run, {kernelFault()}, paths)->resume;
    };
    EXPECT_EQ(resume(diagnose::ResumePaths::absolute), begin + (broken.folder.path() / "ckpt/step_300").string());
    EXPECT_EQ(resume(diagnose::ResumePaths::inRun), begin + "ckpt/step_300");
    opened->run.checkpoints.front().place = "/runs of mine/ckpt/step_300";
    EXPECT_EQ(resume(diagnose::ResumePaths::absolute), begin + "ckpt/step_300") << "it would have to be quoted";
}

TEST(VerifyCheckpoints, readsNothingOfAHealthyRun)
{
    const TemporaryFolder folder;
    folder.write("train.jsonl", "{\"step\": 1, \"loss\": 2.5}\n{\"step\": 2, \"loss\": 2.4}\n");
    fs::create_directories(folder.path() / "step-1");
    folder.write("step-1/model.safetensors", safetensors("w", bad));
    auto run = workflow::openRun(folder.path());
    ASSERT_TRUE(run);
    EXPECT_EQ(workflow::verifyCheckpoints(run->run, {}, nullptr, {}), 0);
}

} // namespace
} // namespace nanscope
