// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// What a log says of checkpoints, in the words of each trainer, and what it only seems to say.
#include <gmock/gmock.h>

#include "core/ingest/events/checkpointreader.h"
#include "logfolder.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Checkpoints : public LogFolder
{
protected:
    static std::vector<std::string> facts(const ingest::LogContents& log)
    {
        std::vector<std::string> all;
        for (const auto& one : log.checkpoints) {
            all.push_back(std::string(name(one.fact)) + ' ' + std::to_string(one.step) + ' ' + one.path + ':'
                + std::to_string(one.line));
        }
        return all;
    }

    std::vector<std::string> factsOf(const std::string& text) { return facts(read("train.log", text)); }
};

TEST_F(Checkpoints, ofKempnerForgeCountByTheirStepNotTheirPlace)
{
    const auto log = read("train.log",
        "[rank 0] INFO     Loading checkpoint: /ckpt/step_500\n"
        "[rank 0] INFO     Resumed from step 500, 4,096,000 tokens seen\n"
        "[rank 0] INFO     Async checkpoint started: /ckpt/step_1000\n"
        "[rank 0] INFO     [step 1000] loss=2.3400 | lr=3.00e-04 | grad_norm=1.250 | step_time=1.25s\n"
        "[rank 0] INFO     Async checkpoint completed\n"
        "[rank 0] ERROR    Too many consecutive NaNs \xe2\x80\x94 stopping\n"
        "[rank 0] INFO     Checkpoint committed: /ckpt/step_1000 (step=1000)\n"
        "[rank 0] INFO     Removed old checkpoint: /ckpt/step_500\n");
    EXPECT_THAT(facts(log),
        ElementsAre("loaded 500 /ckpt/step_500:2", "saved 1000 /ckpt/step_1000:7", "removed 500 /ckpt/step_500:8"));
    EXPECT_EQ(log.checkpoints[0].source, "train.log");
}

TEST_F(Checkpoints, ofKempnerForgeThatWaitsForThemAreSaidAtOnce)
{
    EXPECT_THAT(factsOf("[rank 0] INFO     Sync checkpoint saved: /ckpt/run/step_30\n"),
        ElementsAre("saved 30 /ckpt/run/step_30:1"));
}

TEST_F(Checkpoints, ofScriptsOfOnesOwnAreSaidInAFewWords)
{
    EXPECT_THAT(factsOf("saved checkpoint step 5\nSaved checkpoint at step 10.\n"
                        "2026-04-21 08:46:29 INFO - saved checkpoint for step 15 to out/checkpoint-15.pt\n"
                        "[rank0] Saved checkpoint (step 20)\nsaved checkpoint step=25\n"),
        ElementsAre("saved 5 :1", "saved 10 :2", "saved 15 out/checkpoint-15.pt:3", "saved 20 :4", "saved 25 :5"));
    const std::string row = "step: 16 loss: 2.5\n";
    EXPECT_THAT(factsOf("saving checkpoint for step 15\n" + row), ElementsAre("saved 15 :1"));
    EXPECT_THAT(factsOf("Saving checkpoint at step 15 to out/c.pt ...\n" + row), ElementsAre("saved 15 out/c.pt:1"));
    EXPECT_THAT(factsOf("saving checkpoint for step 15\nOSError: [Errno 28] No space left on device\n"), IsEmpty());
    EXPECT_THAT(factsOf("resumed from step_20.pt at step 20\nINFO: Loaded checkpoint from out/last.pth (step 30)\n"),
        ElementsAre("loaded 20 step_20.pt:1", "loaded 30 out/last.pth:2"));
    EXPECT_THAT(factsOf("not saved checkpoint step 5 of 10\nlast saved checkpoint step\n"
                        "would have saved checkpoint step 5\n"),
        IsEmpty());
}

TEST_F(Checkpoints, ofTorchtitanHaveAStepWhereTheLogTellsIt)
{
    const std::string titan = "[rank0]:[titan] 2026-04-21 08:46:29,657 - root - INFO - ";
    EXPECT_THAT(factsOf(titan + "Loading the checkpoint from outputs/checkpoint/step-500.\n" + titan
                    + "Finished loading the checkpoint in 3.21 seconds.\n" + titan + "Training starts at step 501\n"),
        ElementsAre("loaded 500 outputs/checkpoint/step-500:3"));
    EXPECT_THAT(factsOf(titan + "Checkpointer is deleting outputs/checkpoint/step-500.\n" + titan
                    + "Checkpointer deleted outputs/checkpoint/step-500 in 0.52 seconds.\n"),
        ElementsAre("removed 500 outputs/checkpoint/step-500:2"));
    EXPECT_THAT(
        factsOf(titan + "Saving the checkpoint.\n" + titan + "Saving a full checkpoint at last step, step 1000.\n"
            + titan + "Last step checkpoint completed in 2.31s\n"),
        ElementsAre("saved 1000 :3"));
}

TEST_F(Checkpoints, ofTorchtitanWithoutAStepAreNotGuessedAt)
{
    const std::string titan = "[titan] 2026-04-21 08:46:29,657 - root - INFO - ";
    const std::string save =
        titan + "Saving the checkpoint.\n" + titan + "Finished saving the checkpoint in 3.10 seconds.\n";
    const std::string row =
        titan + "step: 20  loss: 2.5  grad_norm: 1.0  memory: 6.48GiB(20.65%)  tps: 513  mfu: 0.25%\n";
    EXPECT_THAT(factsOf(row + save), IsEmpty()) << "the metrics are printed every ten steps: it may have been step 25";
    EXPECT_THAT(
        factsOf(titan + "Staging the checkpoint.\n" + titan + "Finished staging the checkpoint in 0.1 seconds.\n"),
        IsEmpty());
    EXPECT_THAT(factsOf(titan + "Loading the checkpoint from /seeds/step-0.\n" + titan + "Training starts at step 1\n"),
        ElementsAre("loaded 0 /seeds/step-0:2"));
    EXPECT_THAT(
        factsOf(titan + "Loading the checkpoint from /llama/step-9000.\n" + titan + "Training starts at step 1\n"),
        IsEmpty())
        << "weights of another run to begin with";
}

TEST_F(Checkpoints, ofHuggingFaceAreCompleteWhenTrainingGoesOn)
{
    const std::string row = "{'loss': 2.8911, 'grad_norm': 1.5, 'learning_rate': 4.9e-05, 'epoch': 0.05}\n";
    EXPECT_THAT(
        factsOf(row
            + "[INFO|trainer.py:3850] 2025-02-07 15:29:09,695 >> Saving model checkpoint to out/checkpoint-500\n"
              "[INFO|configuration_utils.py:420] >> Configuration saved in out/checkpoint-500/config.json\n"
              "[INFO|trainer.py:1] >> Deleting older checkpoint [out/checkpoint-400] due to args.save_total_limit\n"
            + row),
        ElementsAre("removed 400 out/checkpoint-400:4", "saved 500 out/checkpoint-500:2"));
    EXPECT_THAT(
        factsOf(row + "Saving model checkpoint to out/checkpoint-500\nOSError: [Errno 28] No space left on device\n"),
        IsEmpty());
    EXPECT_THAT(factsOf(row + "Saving model checkpoint to out/tmp-checkpoint-8abc_\n" + row), IsEmpty());
    EXPECT_THAT(factsOf("Loading model from out/checkpoint-500.\n  Continuing training from epoch 0\n"
                        "  Continuing training from global step 500\n"),
        ElementsAre("loaded 500 out/checkpoint-500:3"));
}

TEST_F(Checkpoints, ofMegatronInItsOldAndItsNewWords)
{
    EXPECT_THAT(
        factsOf("saving checkpoint at iteration    1000 to /ckpt in torch_dist format\n"
                "  successfully saved checkpoint at iteration    1000 to /ckpt\n"
                "  [2026-01-27 12:00:00.123456] successfully saved checkpoint from iteration    2000 to /ckpt [ t 1/2, "
                "gtp_remat 1/1, p 1/4 ]\n"
                "  successfully deleted checkpoint from iteration    1000 at /ckpt\n"
                "  [2026-01-27 12:00:00.1] scheduled an async checkpoint save at iteration    3000 to /ckpt\n"
                "  successfully saved local checkpoint from iteration    3000\n"),
        ElementsAre("saved 1000 /ckpt:2", "saved 2000 /ckpt:3", "removed 1000 /ckpt:4"));
    EXPECT_THAT(
        factsOf("  successfully loaded checkpoint from /ckpt at iteration 1000\n"), ElementsAre("loaded 1000 /ckpt:1"));
    EXPECT_THAT(factsOf("  successfully loaded checkpoint from /ckpt [ t 1/2, p 1/4 ] at iteration 1000\n"),
        ElementsAre("loaded 1000 /ckpt:1"));
    EXPECT_THAT(factsOf("  successfully loaded checkpoint from /sft [ t 1/2, p 1/4 ] at iteration 0\n"), IsEmpty());
}

TEST_F(Checkpoints, ofDeepSpeedAreReadyOrWaitedFor)
{
    const std::string head = "[2025-07-13 21:48:34,943] [INFO] [torch_checkpoint_engine.py:33:commit] ";
    EXPECT_THAT(factsOf(head + "[Torch] Checkpoint global_step200 is about to be saved!\n" + head
                    + "[Torch] Saved /ckpt/global_step200/mp_rank_00_model_states.pt.\n" + head
                    + "[Torch] Checkpoint global_step200 is ready now!\n" + head
                    + "[Torch] Checkpoint global_step200 is ready now!\n"),
        ElementsAre("saved 200 global_step200:3"))
        << "each rank says so";
    EXPECT_THAT(factsOf(head + "[Rank 0] [Torch] Checkpoint global_step300 is about to be saved!\n" + head
                    + "[Rank 0] step=310, skipped=0, lr=[1e-05], mom=[(0.9, 0.999)]\n"),
        ElementsAre("saved 300 global_step300:1"));
    EXPECT_THAT(factsOf(head + "[Torch] Begin Load checkpoint from /ckpt/global_step200/a.pt...\n" + head
                    + "[Torch] End Load checkpoint from /ckpt/global_step200/a.pt...\n"),
        ElementsAre("loaded 200 /ckpt/global_step200/a.pt:2"));
}

TEST_F(Checkpoints, ofNanoGptAreWrittenOver)
{
    EXPECT_THAT(factsOf("step 250: train loss 2.1, val loss 2.2\nsaving checkpoint to out\n"
                        "iter 250: loss 2.1, time 300.00ms, mfu 8.92%\n"
                        "step 500: train loss 2.0, val loss 2.1\nsaving checkpoint to out\n"),
        ElementsAre("saved 250 out:2", "removed 250 out:5"))
        << "nothing says that the second one was finished";
    EXPECT_THAT(factsOf("step 250: train loss 2.1, val loss 2.2\nsomething\nsaving checkpoint to out\n"
                        "iter 251: loss 2.1, time 300.00ms, mfu 8.92%\n"),
        IsEmpty());
}

TEST_F(Checkpoints, ofNanochatAreCompleteWhenEveryRankGoesOn)
{
    const std::string row =
        "step 00101/00470 (21.49%) | loss: 2.1 | lrm: 0.89 | dt: 258.47ms | tok/sec: 1,234 | bf16_mfu: "
        "1.00 | epoch: 1 | total time: 1.00m\n";
    const std::string saving =
        "2026-01-01 12:00:00,000 - nanochat.checkpoint_manager - INFO - Saved model parameters to: "
        "/base/d12/model_000100.pt\n"
        "2026-01-01 12:00:01,000 - nanochat.checkpoint_manager - INFO - Saved optimizer state to: "
        "/base/d12/optim_000100_rank0.pt\n";
    EXPECT_THAT(factsOf(saving + row), ElementsAre("saved 100 /base/d12/model_000100.pt:1"));
    EXPECT_THAT(factsOf(saving), IsEmpty());
    EXPECT_THAT(factsOf("Resuming optimization from step 100\n"), ElementsAre("loaded 100 :1"));
}

TEST_F(Checkpoints, ofOlmoInBothItsGenerations)
{
    const std::string head = "2024-08-06 09:59:26.181\tnode:0\tolmo.train:908\tINFO\t";
    EXPECT_THAT(factsOf(head + "Saving checkpoint...\n" + head + "Checkpoint saved to /w/run/step1000\n" + head
                    + "Unsharded checkpoint saved to /w/run/step1000-unsharded\n" + head
                    + "Loading checkpoint from /w/run/step1000...\n" + head + "Checkpoint successfully loaded\n"),
        ElementsAre("saved 1000 /w/run/step1000:2", "loaded 1000 /w/run/step1000:5"));
    EXPECT_THAT(
        factsOf(head + "Saving checkpoint for step 500 to '/w/step500'...\n" + head + "Checkpoint saved\n" + head
            + "Saving checkpoint for step 600 to '/w/step600' asynchronously...\n" + head
            + "Removing old checkpoint at '/w/step500'...\n" + head + "Checkpoint for step 600 saved successfully\n"),
        ElementsAre("saved 500 /w/step500:2", "removed 500 /w/step500:4", "saved 600 /w/step600:5"));
    EXPECT_THAT(
        factsOf(head + "Saving checkpoint for step 600 to '/w/step600' asynchronously...\nstep 601, loss: 2.5\n"),
        IsEmpty())
        << "training did not wait for it";
}

TEST_F(Checkpoints, ofOtherTrainers)
{
    EXPECT_THAT(factsOf("Restored all states from the checkpoint at /l/epoch=0-step=100.ckpt\n"),
        ElementsAre("loaded 100 /l/epoch=0-step=100.ckpt:1"));
    EXPECT_THAT(factsOf("Restored all states from the checkpoint at /l/last.ckpt\n"), IsEmpty());
    EXPECT_THAT(factsOf("INFO: Trainer checkpoint loaded from /c/ep0-ba300-rank0.pt\n"),
        ElementsAre("loaded 300 /c/ep0-ba300-rank0.pt:1"));
    EXPECT_THAT(factsOf("| INFO | Saved checkpoint c/checkpoint_last.pt (epoch 3 @ 1200 updates, score 4.5) (writing "
                        "took 3 seconds)\n"
                        "| INFO | Loaded checkpoint c/checkpoint_last.pt (epoch 3 @ 1200 updates)\n"),
        ElementsAre("saved 1200 c/checkpoint_last.pt:1", "loaded 1200 c/checkpoint_last.pt:2"));
    EXPECT_THAT(factsOf("Started an asynchronous checkpoint save for step 4\nSaved a checkpoint at step 5.\n"),
        ElementsAre("saved 5 :2"));
    EXPECT_THAT(factsOf("Loading checkpoint from /ckpt/checkpoint\nResuming from step 900\n"),
        ElementsAre("loaded 900 /ckpt/checkpoint:2"));
}

TEST_F(Checkpoints, ofLinguaAndAllThatItRemoves)
{
    const std::string head = "0: INFO    26-08-22 12:00:00.123456 - 0:00:01 - CHECKPOINT - ";
    EXPECT_THAT(
        factsOf(head + "Saving to: /d/checkpoints/0000001000\n" + head + "State dict saved!\n" + head
            + "Train state saved !\n" + head
            + "Removing folders: {PosixPath('/d/checkpoints/0000000250'), PosixPath('/d/checkpoints/0000000500')}\n"
            + head + "Removing folders: set()\n"),
        ElementsAre("saved 1000 /d/checkpoints/0000001000:3", "removed 250 /d/checkpoints/0000000250:4",
            "removed 500 /d/checkpoints/0000000500:4"));
}

TEST_F(Checkpoints, ofALineThatIsStillBeingWrittenWait)
{
    EXPECT_THAT(factsOf("[rank 0] INFO     Removed old checkpoint: /ckpt/step_10"), IsEmpty());
    EXPECT_EQ(read("train.log", "Resumed from step 90").events.at(0).step, std::nullopt) << "it may become 900";
}

TEST_F(Checkpoints, thatALogOnlySpeaksOfGiveNothing)
{
    const auto log = read("train.log",
        "Checkpointing is on\nSaving checkpoints every 500 steps\nCheckpoint saved to nowhere\nfound checkpoint "
        "step_5\n"
        "Loading checkpoint shards: 100%\nSaving to: the best of our knowledge\nTrain state saved !\nCheckpoint saved\n"
        "Removed old checkpoint: all of them\nDeleting older checkpoint [] due to x\nTraining starts at step 7\n");
    EXPECT_THAT(facts(log), IsEmpty());
}

TEST(StepOfPath, IsInTheNameOfTheCheckpoint)
{
    for (const auto& [path, step] : std::vector<std::pair<std::string, std::optional<std::int64_t>>> {
             {"/ckpt/step_1000", 1000}, {"step-20/", 20}, {"/w/step500-unsharded", 500}, {"out/checkpoint-7.", 7},
             {"a/iter_0000100", 100}, {"x/global_step5", 5}, {"x/global_step5/mp_rank_00_model_states.pt", 5},
             {"/l/epoch=0-step=100-v1.ckpt", 100}, {"m/model_000100.pt", 100}, {"s/state_step001000.pt", 1000},
             {"c/ep0-ba300-rank0.pt", 300}, {"/d/0000001000", 1000}, {"/home/step7/out", {}}, {"/data/2024/out", {}},
             {"/data/2024", {}}, {"out/tmp-checkpoint-8abc_", {}}, {"last.ckpt", {}}, {"", {}}, {"/", {}},
             {"step_99999999999999999999", {}}, {"misstep_5x", {}}}) {
        EXPECT_EQ(ingest::stepOfPath(path), step) << path;
    }
}

class UnfinishedSaves : public LogFolder
{
protected:
    struct Story
    {
        std::vector<std::string> saved;
        std::vector<std::string> unfinished;
    };

    Story storyOf(const std::string& text)
    {
        const auto log = read("train.log", text);
        Story story;
        for (const auto& one : log.checkpoints) {
            if (one.fact == CheckpointFact::saved) {
                story.saved.push_back(std::to_string(one.step));
            }
        }
        for (const auto& event : log.events) {
            if (event.kind == EventKind::other && event.text.starts_with("save begun, not seen to end: ")) {
                story.unfinished.push_back(event.text.substr(29) + '@' + std::to_string(event.step.value_or(-1)) + ':'
                    + std::to_string(event.line));
            }
        }
        return story;
    }

    static std::string bar(int step)
    {
        return " 12%|#2  | " + std::to_string(step) + "/3000 [01:55<14:02,  3.13it/s]\r";
    }
    static inline const std::string row = "{'loss': 2.5, 'epoch': 0.05}\n";
    static inline const std::string save = "Saving model checkpoint to out/checkpoint-500\n";
    static inline const std::string crash = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n"
                                            "OSError: [Errno 5] wrote half of it\n";
};

TEST_F(UnfinishedSaves, theNextRowEndsASaveThatTrainingWaitsFor)
{
    const auto story = storyOf(bar(500) + row + save + bar(510) + row);
    EXPECT_THAT(story.saved, ElementsAre("500"));
    EXPECT_THAT(story.unfinished, IsEmpty());
}

TEST_F(UnfinishedSaves, aCrashInBetweenLeavesItUnfinished)
{
    const auto story = storyOf(bar(500) + row + save + crash + bar(490) + row);
    EXPECT_THAT(story.saved, IsEmpty()) << "rows of the next process prove nothing";
    EXPECT_THAT(story.unfinished, ElementsAre("out/checkpoint-500@500:2"));
    const auto caught = storyOf(bar(500) + row + save + crash + bar(510) + row);
    EXPECT_THAT(caught.saved, IsEmpty()) << "nor do those of one that went on";
    EXPECT_THAT(caught.unfinished, ElementsAre("out/checkpoint-500@500:2"));
}

TEST_F(UnfinishedSaves, aResumeOrALoadMeansAnotherProcess)
{
    const auto before = bar(500) + row + save;
    const auto after = bar(410) + row;
    for (const char* line : {"Loading model from out/checkpoint-400.\n", "  Continuing training from global step 400\n",
             "Resuming training from step 400\n"}) {
        auto text = before;
        text.append(line).append(after);
        const auto story = storyOf(text);
        EXPECT_THAT(story.saved, IsEmpty()) << line;
        EXPECT_THAT(story.unfinished, ElementsAre("out/checkpoint-500@500:2")) << line;
    }
}

TEST_F(UnfinishedSaves, stepsThatFallBackAreAnotherProcess)
{
    const std::string before = "step:10, loss:5.45\nSaving model checkpoint to out/checkpoint-10\n";
    EXPECT_THAT(storyOf(before + "step:11, loss:5.45\n").saved, ElementsAre("10"));
    const auto anew = storyOf(before + "step:1, loss:5.45\n");
    EXPECT_THAT(anew.saved, IsEmpty());
    EXPECT_THAT(anew.unfinished, ElementsAre("out/checkpoint-10@10:2"));
}

TEST_F(UnfinishedSaves, aSaveInTheBackgroundOutlivesAnException)
{
    const std::string begins = "Saving checkpoint for step 500 to '/ckpt/step500'...\n";
    EXPECT_THAT(storyOf(begins + crash + "Checkpoint for step 500 saved successfully\n").saved, ElementsAre("500"));
    EXPECT_THAT(storyOf(begins + crash + "Loading checkpoint from '/ckpt/step400'...\n").unfinished,
        ElementsAre("/ckpt/step500@500:1"));
}

TEST_F(UnfinishedSaves, anExceptionOfAnotherRankIsNotItsOwn)
{
    const auto story = storyOf("[rank0]: step:10, loss:5.45\n[rank0]: Saving model checkpoint to out/checkpoint-10\n"
                               "[rank1]: Traceback (most recent call last):\n[rank1]:   File \"a.py\", line 1, in f\n"
                               "[rank1]: ValueError: x\n[rank0]: step:11, loss:5.45\n");
    EXPECT_THAT(story.saved, ElementsAre("10"));
}

} // namespace
} // namespace nanscope
