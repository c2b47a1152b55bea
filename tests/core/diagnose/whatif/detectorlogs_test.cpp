// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Replays over logs of trainers that have no such detector, and cannot show what one would have seen.
#include <gmock/gmock.h>

#include "core/diagnose/whatif/detectorreplay.h"
#include "core/ingest/ingest.h"
#include "tests/core/diagnose/says.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class DetectorLogs : public ::testing::Test
{
protected:
    diagnose::DetectorReplay replay(const std::string& text, std::int64_t patience)
    {
        m_folder.write("train.log", text);
        const auto run = ingest::readRun(m_folder.path());
        EXPECT_TRUE(run) << (run ? "" : run.error().what);
        const auto all = run ? diagnose::replayDetector(*run, {{.maxConsecutive = patience}})
                             : std::vector<diagnose::DetectorReplay>();
        EXPECT_THAT(all, SizeIs(1));
        return all.empty() ? diagnose::DetectorReplay {} : all.front();
    }

    TemporaryFolder m_folder;
};

std::string torchtitan(const std::vector<std::pair<int, const char*>>& losses)
{
    std::string text;
    for (const auto& [step, loss] : losses) {
        text +=
            "step: " + std::to_string(step) + "  loss: " + loss + "  grad_norm: 1.0  memory: 1.0GiB(1.0%)  tps: 10\n";
    }
    return text;
}

TEST_F(DetectorLogs, EveryStepOnItsLineIsChecked)
{
    const auto answer = replay(torchtitan({{1, "2.5"}, {2, "nan"}, {3, "nan"}, {4, "2.75"}, {5, "2.5"}}), 2);
    ASSERT_TRUE(answer.stop);
    EXPECT_EQ(answer.stop->step, 3) << "numbered as printed";
    EXPECT_EQ(answer.stop->line.source, "train.log:3");
    EXPECT_EQ(answer.afterwards.outcome, diagnose::Afterwards::recovered);
    EXPECT_FALSE(answer.ownDetector);
    EXPECT_THAT(answer.notes, says("had they been skipped, the losses after step 2 might differ"));
}

TEST_F(DetectorLogs, ADamagedModelStaysBad)
{
    const auto answer = replay(torchtitan({{1, "2.5"}, {2, "nan"}, {3, "nan"}, {4, "nan"}}), 2);
    EXPECT_EQ(answer.afterwards.outcome, diagnose::Afterwards::stayedBad);
    EXPECT_EQ(answer.afterwards.stepsLost, 1);
}

TEST_F(DetectorLogs, BetweenLoggedStepsNothingIsCheckable)
{
    const auto answer = replay(torchtitan({{1, "2.5"}, {10, "2.5"}, {20, "nan"}, {30, "nan"}, {40, "2.5"}}), 3);
    EXPECT_FALSE(answer.stop) << "two logged steps are no row of three";
    EXPECT_FALSE(answer.checkable);
    EXPECT_EQ(answer.interval, 10);
    EXPECT_EQ(answer.stopAtWorst, 22) << "if 21 and 22 were not finite either";
    EXPECT_EQ(answer.badSteps, 2);
    ASSERT_THAT(answer.streaks, SizeIs(1));
    EXPECT_EQ(answer.streaks[0].first, 20);
    EXPECT_EQ(answer.streaks[0].last, 30);
    EXPECT_EQ(answer.streaks[0].sure, 1);
    EXPECT_THAT(answer.notes, says("between logged steps is not checkable"));
}

TEST_F(DetectorLogs, TheFirstBadStepStopsTheImpatientWhateverLiesBetween)
{
    const auto answer = replay(torchtitan({{10, "2.5"}, {20, "nan"}, {30, "2.5"}}), 1);
    ASSERT_TRUE(answer.stop);
    EXPECT_EQ(answer.stop->step, 20);
    EXPECT_EQ(answer.stop->message, "") << "the loss of step 19 is not known";
    ASSERT_TRUE(answer.lastGood);
    EXPECT_FALSE(answer.lastGood->exact);
}

TEST_F(DetectorLogs, ALossThatMegatronLeavesOutIsCountedApart)
{
    std::string text;
    for (int step = 1; step <= 6; ++step) {
        text += " iteration " + std::to_string(step)
            + "/ 100 | consumed samples: 8 | elapsed time per iteration (ms): 10.0 | learning rate: 1.0E-04 | "
              "global batch size: 8 | "
            + (step == 3 || step == 4 ? "" : "lm loss: 2.5E+00 | ")
            + "loss scale: 1.0 | grad norm: 1.0 | number of skipped iterations: 0 | number of nan iterations: 0 |\n";
    }
    const auto answer = replay(text, 2);
    EXPECT_FALSE(answer.stop);
    EXPECT_EQ(answer.badSteps, 0);
    ASSERT_THAT(answer.suspected, SizeIs(2));
    EXPECT_EQ(answer.suspected[0].step, 3);
    EXPECT_EQ(answer.suspected[0].line.source, "train.log:3");
    EXPECT_EQ(answer.stopAtWorst, 4);
    EXPECT_THAT(answer.notes, says("Megatron leaves out a NaN loss"));
}

TEST_F(DetectorLogs, ATableWithMoreEmptyCellsThanLossesIsWrittenThatWay)
{
    const auto answer = replay("step,loss,val_loss\n1,,3.0\n2,,3.0\n3,,3.0\n4,2.5,\n5,nan,\n", 1);
    EXPECT_THAT(answer.suspected, SizeIs(0));
    EXPECT_THAT(answer.notes, says("3 rows without a loss were passed over"));
    ASSERT_TRUE(answer.stop);
    EXPECT_EQ(answer.stop->step, 5);
}

TEST_F(DetectorLogs, AZeroBesideANanNormIsSuspected)
{
    const auto answer = replay("{\"step\": 1, \"loss\": 2.5, \"grad_norm\": 1.0}\n"
                               "{\"step\": 2, \"loss\": 0.0, \"grad_norm\": NaN}\n"
                               "{\"step\": 3, \"loss\": 0.0, \"grad_norm\": NaN}\n"
                               "{\"step\": 4, \"loss\": 0.0, \"grad_norm\": 1.0}\n",
        2);
    EXPECT_EQ(answer.badSteps, 0);
    ASSERT_THAT(answer.suspected, SizeIs(2));
    EXPECT_EQ(answer.suspected[1].step, 3);
    EXPECT_FALSE(answer.stop);
    EXPECT_EQ(answer.stopAtWorst, 3);
    EXPECT_THAT(answer.notes, says("Hugging Face's Trainer replaces a NaN loss"));
}

TEST_F(DetectorLogs, ARunningAverageTellsNoRowAndNoRecovery)
{
    std::string text;
    for (int step = 0; step < 6; ++step) {
        text += "step 0000" + std::to_string(step) + "/00100 (1.00%) | loss: " + (step < 2 ? "2.500000" : "nan")
            + " | lrm: 1.00 | dt: 258.47ms | tok/sec: 1,234 | mfu: 10.00 | total time: 0.10m\n";
    }
    const auto answer = replay(text, 3);
    EXPECT_FALSE(answer.stop);
    EXPECT_FALSE(answer.checkable);
    EXPECT_EQ(answer.stopAtWorst, 4);
    EXPECT_THAT(answer.notes, says("running average"));
    const auto impatient = replay(text, 1);
    ASSERT_TRUE(impatient.stop) << "the first one is no average of another";
    EXPECT_EQ(impatient.stop->step, 2);
    EXPECT_EQ(impatient.afterwards.outcome, diagnose::Afterwards::unknown);
}

TEST_F(DetectorLogs, RowsThatWereCountedAreNoSteps)
{
    const auto answer = replay("{'loss': 2.5, 'grad_norm': 1.0, 'learning_rate': 5e-05, 'epoch': 0.1}\n"
                               "{'loss': nan, 'grad_norm': nan, 'learning_rate': 5e-05, 'epoch': 0.2}\n"
                               "{'loss': nan, 'grad_norm': nan, 'learning_rate': 5e-05, 'epoch': 0.3}\n",
        2);
    EXPECT_FALSE(answer.stop);
    EXPECT_EQ(answer.badSteps, 2);
    EXPECT_THAT(answer.notes, says("the log names no steps"));
}

TEST_F(DetectorLogs, TheLastWriterOfAStepWins)
{
    const auto answer =
        replay("{\"step\": 1, \"loss\": 2.5}\n{\"step\": 2, \"loss\": NaN}\n{\"step\": 2, \"loss\": 2.25}\n"
               "{\"step\": 3, \"loss\": 2.5}\n",
            1);
    EXPECT_FALSE(answer.stop);
    EXPECT_EQ(answer.badSteps, 0);
}

TEST_F(DetectorLogs, StepsThatGoBackAreAnotherProcess)
{
    m_folder.write("train.log", torchtitan({{1, "2.5"}, {2, "nan"}, {1, "nan"}, {2, "2.5"}, {3, "2.5"}}));
    const auto run = ingest::readRun(m_folder.path());
    ASSERT_TRUE(run);
    const auto all = diagnose::replayDetector(*run, {{.maxConsecutive = 2}});
    ASSERT_THAT(all, SizeIs(2));
    EXPECT_FALSE(all[0].stop);
    EXPECT_FALSE(all[1].stop);
}

TEST_F(DetectorLogs, ACopyOfALogIsNotAnotherRun)
{
    const auto text = torchtitan({{1, "2.5"}, {2, "nan"}});
    m_folder.write("copy.log", text);
    m_folder.write("train.log", text);
    m_folder.write("other.log", torchtitan({{1, "3.5"}, {2, "3.0"}}));
    const auto run = ingest::readRun(m_folder.path());
    ASSERT_TRUE(run);
    EXPECT_THAT(diagnose::replayDetector(*run, {}), SizeIs(2));
}

TEST_F(DetectorLogs, RanksAreJoinedAcrossFilesThatDifferOnlyInTheRank)
{
    m_folder.write("logs/x/attempt_0/0/stdout.log", torchtitan({{1, "2.5"}, {2, "2.5"}, {3, "2.5"}}));
    m_folder.write("logs/x/attempt_0/1/stdout.log", torchtitan({{1, "2.5"}, {2, "nan"}, {3, "2.5"}}));
    const auto run = ingest::readRun(m_folder.path());
    ASSERT_TRUE(run);
    const auto all = diagnose::replayDetector(*run, {{.maxConsecutive = 1}});
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_THAT(all[0].ranks, ElementsAre(0, 1));
    ASSERT_TRUE(all[0].stop);
    EXPECT_EQ(all[0].stop->line.source, "logs/x/attempt_0/1/stdout.log:2");
}

TEST_F(DetectorLogs, RanksOfTwoRunsInOneFolderAreNotJoined)
{
    m_folder.write("a/rank_0.log", torchtitan({{1, "2.5"}, {2, "2.5"}, {3, "2.5"}}));
    m_folder.write("b/rank_1.log", torchtitan({{1, "2.5"}, {2, "nan"}, {3, "2.25"}}));
    m_folder.write("logs/x/attempt_1/1/stdout.log", torchtitan({{1, "3.5"}, {2, "nan"}, {3, "2.25"}}));
    const auto run = ingest::readRun(m_folder.path());
    ASSERT_TRUE(run);
    const auto all = diagnose::replayDetector(*run, {{.maxConsecutive = 1}});
    ASSERT_THAT(all, SizeIs(3));
    for (const auto& one : all) {
        EXPECT_THAT(one.ranks, SizeIs(1));
    }
}

TEST_F(DetectorLogs, AStepThatNoRunReachesIsPassedOver)
{
    const auto answer = replay(torchtitan({{1, "2.5"}, {2, "nan"}})
            + "step: 9223372036854775807  loss: nan  grad_norm: 1.0  memory: 1.0GiB(1.0%)  tps: 10\n"
              "NaN/Inf loss at step 9223372036854775807 (consecutive=1, total=1, last_good_loss=2.5 at step 1)\n",
        1);
    EXPECT_EQ(answer.lastStep, 2);
    EXPECT_EQ(answer.badSteps, 1);
}

TEST_F(DetectorLogs, NothingBadIsAnAnswerToo)
{
    const auto answer = replay(torchtitan({{1, "2.5"}, {2, "2.25"}}), 1);
    EXPECT_FALSE(answer.stop);
    EXPECT_EQ(answer.total, 0);
    EXPECT_THAT(answer.streaks, SizeIs(0));
    EXPECT_THAT(answer.everySetting, ElementsAre(std::nullopt));
    EXPECT_THAT(answer.notes, Not(says("might differ")));
}

} // namespace
} // namespace nanscope
