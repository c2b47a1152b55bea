// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ingest/ingest.h"
#include "tests/core/session/temporaryfolder.h"

using namespace nanscope;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class Logs : public testing::Test
{
protected:
    ingest::LogContents read(const std::string& text, const std::string& name = "console.log")
    {
        const auto contents = ingest::readLog(m_folder.write(name, text), name);
        EXPECT_TRUE(contents) << sentence(contents.error());
        return contents.value_or(ingest::LogContents {});
    }

    static const Series* find(
        const ingest::LogContents& contents, const std::string& name, std::optional<int> rank = {}, int segment = 0)
    {
        for (const auto& series : contents.series) {
            if (series.name == name && series.rank == rank && series.segment == segment) {
                return &series;
            }
        }
        ADD_FAILURE() << "no series " << name;
        static const Series none;
        return &none;
    }

    static std::vector<std::int64_t> steps(const Series* series)
    {
        std::vector<std::int64_t> result;
        for (const auto& point : series->points) {
            result.push_back(point.step);
        }
        return result;
    }

    static std::vector<double> values(const Series* series)
    {
        std::vector<double> result;
        for (const auto& point : series->points) {
            result.push_back(point.value);
        }
        return result;
    }

    static std::vector<EventKind> kinds(const ingest::LogContents& contents)
    {
        std::vector<EventKind> result;
        for (const auto& event : contents.events) {
            result.push_back(event.kind);
        }
        return result;
    }

    TemporaryFolder m_folder;
};

} // namespace

TEST_F(Logs, dionDebugLinesOfTwoRanks)
{
    const auto log = read("[default0]:Step 0: train_loss=0.9850, grad_norm=0.0173\n"
                          "[default1]:Step 0: train_loss=1.0295, grad_norm=0.0173\n"
                          "[default1]:Step 1: train_loss=nan, grad_norm=inf\n"
                          "[default0]:Step 1: train_loss=1.5, grad_norm=-inf\n");
    EXPECT_EQ(log.format, "dion");
    ASSERT_EQ(log.series.size(), 4U);
    const auto* loss = find(log, "loss", 1);
    EXPECT_THAT(steps(loss), ElementsAre(0, 1));
    EXPECT_EQ(loss->points[0].value, 1.0295);
    EXPECT_EQ(loss->points[1].state, PointState::nan);
    EXPECT_EQ(loss->points[1].line, 3);
    EXPECT_EQ(loss->nan, 1);
    EXPECT_EQ(loss->source, "console.log");
    EXPECT_EQ(find(log, "grad_norm", 1)->posInf, 1);
    EXPECT_EQ(find(log, "grad_norm", 0)->negInf, 1);
    EXPECT_EQ(log.lines, 4);
}

TEST_F(Logs, dionStepLinesKeepUnitsAndDropAveragesNotYetTaken)
{
    const auto log =
        read("step:0/6000 val_loss:10.8258 train_time:284ms step_avg:nanms\n"
             "step:1/6000 train_loss:10.8261 train_time:1000ms step_avg:nanms\n"
             "step:12/6000 train_loss:nan train_time:4000ms step_avg:363.37ms (fwd_bwd_avg:1.50ms opt_avg:2.25ms)\n");
    EXPECT_THAT(values(find(log, "val_loss")), ElementsAre(10.8258));
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(1, 12));
    EXPECT_EQ(find(log, "loss")->nan, 1);
    EXPECT_THAT(values(find(log, "step_avg_ms")), ElementsAre(363.37));
    EXPECT_THAT(values(find(log, "opt_avg_ms")), ElementsAre(2.25));
    EXPECT_EQ(find(log, "step_avg_ms")->nan, 0);
    EXPECT_THAT(values(find(log, "train_time_ms")), ElementsAre(284, 1000, 4000));
}

TEST_F(Logs, progressBarGivesInferredSteps)
{
    const auto log = read("Training:   0%|          | 0/3000 [00:00<?, ?it/s]\r"
                          "Training:   0%|          | 1/3000 [00:01<50:00, 1.0it/s]\r"
                          "Training:   0%|          | 1/3000 [00:01<50:00, 1.0it/s, train_loss=10.8258]\r"
                          "Training:   0%|          | 2/3000 [00:01<50:00, 1.0it/s, train_loss=10.8258]\r"
                          "Training:   0%|          | 2/3000 [00:01<50:00, 1.0it/s, train_loss=nan]\r");
    const auto* loss = find(log, "loss");
    EXPECT_TRUE(loss->stepInferred);
    EXPECT_THAT(steps(loss), ElementsAre(0, 1));
    EXPECT_EQ(loss->points[0].value, 10.8258);
    EXPECT_EQ(loss->points[1].state, PointState::nan);
}

TEST_F(Logs, progressBarIsSilentWhereLinesGiveTheLoss)
{
    const auto log = read("Step 0: train_loss=0.9850, grad_norm=0.0173\n"
                          "Training:   0%|          | 1/3000 [00:01<50:00, 1.0it/s, train_loss=0.9850]\r");
    EXPECT_EQ(log.series.size(), 2U);
    EXPECT_FALSE(find(log, "loss")->stepInferred);
}

TEST_F(Logs, kempnerForgeMetricsAndWarnings)
{
    const auto log = read("\x1b[2m[rank 0] \x1b[0m\x1b[32mINFO     \x1b[0m[step 1000] "
                          "\x1b[36mloss\x1b[0m=\x1b[1m2.3400\x1b[0m | lr=3.00e-04 | grad_norm=1.250 | "
                          "tok/s=125,000 | mfu=52.3% | mem=71.2/80GB | step_time=1.25s\n"
                          "[rank 0] INFO     [step 1000] eval/loss=3.8200 | eval/perplexity=45.6000 | tokens=4.1M\n"
                          "[rank 0] WARNING  NaN/Inf loss at step 1000 (consecutive=1, total=1, last_good_loss=inf at "
                          "step 0) \xe2\x80\x94 skipping optimizer step\n"
                          "[rank 0] WARNING  NaN/Inf detected on another rank at step 1001 (consecutive=2, total=2)\n"
                          "[rank 0] ERROR    Too many consecutive NaNs \xe2\x80\x94 stopping\n"
                          "[rank 0] INFO     Checkpoint committed: /ckpt/step_900 (step=900)\n");
    EXPECT_EQ(log.format, "kempnerforge");
    EXPECT_THAT(values(find(log, "loss", 0)), ElementsAre(2.34));
    EXPECT_THAT(values(find(log, "tokens_per_second", 0)), ElementsAre(125000));
    EXPECT_THAT(values(find(log, "mfu", 0)), ElementsAre(52.3));
    EXPECT_THAT(values(find(log, "mem", 0)), ElementsAre(71.2));
    EXPECT_THAT(values(find(log, "step_time_s", 0)), ElementsAre(1.25));
    EXPECT_THAT(values(find(log, "val_loss", 0)), ElementsAre(3.82));
    EXPECT_THAT(values(find(log, "tokens", 0)), ElementsAre(4.1e6));
    EXPECT_EQ(find(log, "loss", 0)->missing, 0);
    EXPECT_THAT(
        kinds(log), ElementsAre(EventKind::nanLoss, EventKind::nanLoss, EventKind::optimizerStop, EventKind::other));
    EXPECT_EQ(log.events[0].step, 1000);
    EXPECT_EQ(log.events[0].rank, 0);
    EXPECT_EQ(log.events[1].step, 1001);
    EXPECT_EQ(log.events[1].rank, std::nullopt) << "the line names no rank, and rank 0 only passes it on";
    EXPECT_EQ(log.events[3].step, 900);
}

TEST_F(Logs, captureLineNamesItsFile)
{
    const auto log =
        read("[default1]:[dion NaN capture] non-finite Newton-Schulz output on rank 1, shape (1, 160, 96); "
             "dumped to ./caps/dion_nan_capture_rank1_shape1x160x96_pid7_42.pt\n"
             "[default1]:[rank9]: Traceback (most recent call last):\n"
             "[default1]:[rank9]:   File \"train.py\", line 40, in <module>\n"
             "[default1]:[rank9]:     opt.step()\n"
             "[default0]:Step 6: train_loss=0.9430, grad_norm=0.0193\n"
             "[default1]:[rank9]:     ^^^^^^^^^^\n"
             "[default1]:[rank9]: RuntimeError: [dion NaN capture] non-finite Newton-Schulz output on rank 1, "
             "shape (1, 160, 96); dumped to /a b/second.pt\n");
    EXPECT_THAT(kinds(log), ElementsAre(EventKind::captureDumped, EventKind::captureDumped, EventKind::traceback));
    EXPECT_EQ(log.events[0].capture, "dion_nan_capture_rank1_shape1x160x96_pid7_42.pt");
    EXPECT_EQ(log.events[0].rank, 1);
    EXPECT_EQ(log.events[1].capture, "second.pt");
    EXPECT_EQ(log.events[1].rank, 1) << "the wrapper's own word counts, not the prefix";
    EXPECT_EQ(log.events[1].line, 7);
    EXPECT_EQ(log.events[2].line, 7);
    EXPECT_THAT(log.events[2].text, testing::StartsWith("RuntimeError: [dion"));
    EXPECT_EQ(find(log, "loss", 0)->pointCount, 1);
}

TEST_F(Logs, consequencesAndMachineAreToldFromCauses)
{
    const auto log =
        read("[rank0]: Traceback (most recent call last):\n"
             "[rank0]:   File \"a.py\", line 1, in f\n"
             "[rank0]: RuntimeError: [gloo/transport/tcp/pair.cc:547] Connection closed by peer [127.0.0.1]:3987\n"
             "[rank1]: Traceback (most recent call last):\n"
             "[rank1]:   File \"a.py\", line 1, in f\n"
             "[rank1]: NotImplementedError: Operator aten._is_any_true.default does not have a sharding strategy "
             "registered.\n"
             "W1121 04:13:35 27479 torch/api.py:1012] Sending process 27482 closing signal SIGTERM\n"
             "[rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
             "OSError: [Errno 28] No space left on device\n"
             "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
             "[ 12.3] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n"
             "[Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)\n"
             "  rank      : 3 (local_rank: 1)\n"
             "  exitcode  : -15 (pid: 27482)\n"
             "  traceback : Signal 15 (SIGTERM) received by PID 27482\n");
    EXPECT_THAT(kinds(log),
        ElementsAre(EventKind::collective, EventKind::diagnosticFailed, EventKind::terminated,
            EventKind::infrastructure, EventKind::infrastructure, EventKind::infrastructure, EventKind::machine,
            EventKind::collective, EventKind::terminated));
    EXPECT_EQ(log.events[0].rank, 0);
    EXPECT_EQ(log.events[1].rank, 1);
    EXPECT_EQ(log.events[8].rank, 3);
    EXPECT_EQ(log.format, "console");
}

TEST_F(Logs, nanInAWordIsNoEvent)
{
    const auto log = read("loading nanoGPT from /home/nan\nstep_avg:nanms\nfinancial information\n(+nanz)\n");
    EXPECT_THAT(log.events, IsEmpty());
    EXPECT_THAT(log.series, IsEmpty());
    EXPECT_EQ(log.format, "");
}

TEST_F(Logs, sourceCodeInALogIsNotData)
{
    const auto log = read("    print0(f\"step:{step}/{args.n} val_loss:{val_loss:.4f} train_time:{t:.0f}ms\")\n"
                          "print(f\"Step {step}: train_loss={loss}\")\n"
                          "Step back: we go=home\n"
                          "step:5/10 val_loss:3.5000 train_time:10ms step_avg:2.00ms\n");
    EXPECT_THAT(steps(find(log, "val_loss")), ElementsAre(5));
    EXPECT_EQ(log.series.size(), 3U);
}

TEST_F(Logs, csvWithGapsAndNonFinite)
{
    const auto log =
        read("epoch,step,train_loss,val/loss,note\n0,1,2.5,,a\n0,2,nan,,b\n0,3,,1.5,c\n0,4,-inf,,\n", "m.csv");
    EXPECT_EQ(log.format, "csv");
    const auto* loss = find(log, "loss");
    EXPECT_THAT(steps(loss), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(loss->pointCount, 3);
    EXPECT_EQ(loss->nan, 1);
    EXPECT_EQ(loss->negInf, 1);
    EXPECT_EQ(loss->missing, 1);
    EXPECT_EQ(loss->points[2].state, PointState::reported);
    EXPECT_EQ(loss->points[2].line, 4);
    EXPECT_EQ(find(log, "val_loss")->missing, 3);
    EXPECT_EQ(find(log, "epoch")->pointCount, 4);
    EXPECT_EQ(log.series.size(), 3U) << "words are no series";
}

TEST_F(Logs, quotedExportOfSeveralRuns)
{
    const auto log =
        read("\"Step\",\"a, b - train/loss\",\"c - train/loss\"\n\"1\",\"2.5\",\"\"\n\"2\",\"NaN\",\"3\"", "w.csv");
    EXPECT_EQ(find(log, "a, b - train/loss")->nan, 1);
    EXPECT_THAT(steps(find(log, "c - train/loss")), ElementsAre(2));
    const auto single = read("\"Step\",\"a - train/loss\"\n\"1\",\"2.5\"\n", "single.csv");
    EXPECT_THAT(values(find(single, "loss")), ElementsAre(2.5));
}

TEST_F(Logs, tabsRanksAndRepeatedHeadings)
{
    const auto log = read("step\trank\tloss\n1\t0\t1.5\n1\t1\t2.5\nstep\trank\tloss\n2\t0\t3.5\n", "m.tsv");
    EXPECT_EQ(log.format, "tsv");
    EXPECT_THAT(values(find(log, "loss", 0)), ElementsAre(1.5, 3.5));
    EXPECT_THAT(values(find(log, "loss", 1)), ElementsAre(2.5));
}

TEST_F(Logs, tableWithoutStepsCountsRows)
{
    const auto log = read("loss,lr\n5,1\n4,1\n", "m.csv");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(0, 1));
    EXPECT_TRUE(find(log, "loss")->stepInferred);
}

TEST_F(Logs, otherTablesAreNoLogs)
{
    EXPECT_EQ(read("name,address\nbob,rome\n", "a.csv").format, "");
    EXPECT_EQ(read("1,2\n3,4\n", "b.csv").format, "");
    EXPECT_EQ(read("We train step by step, with care\nand that is all\n", "c.txt").format, "");
}

TEST_F(Logs, jsonLinesInEverySpelling)
{
    const auto log =
        read("{\"step\": 1, \"loss\": 2.5, \"lr\": \"1e-3\", \"time\": \"0:00:28\", \"ok\": true, \"tags\": [1, NaN]}\n"
             "{\"step\": 2, \"loss\": NaN, \"name\": \"NaN of \\\"Nan\\\"\"}\n"
             "{\"step\": 3, \"loss\": -Infinity, \"lr\": null}\n"
             "{\"step\": 4, \"loss\": \"Infinity\"}\n"
             "{\"step\": 5, \"loss\": nan}\n"
             "{\"step\": 6, \"loss\": null, \"grad_norm\": 1}\n"
             "{\"step\": 7, \"grad_norm\": 1}\r\n"
             "{\"epoch\": 1, \"summary\": 4}\n"
             "{\"step\": 8, \"los",
            "m.jsonl");
    EXPECT_EQ(log.format, "jsonl");
    const auto* loss = find(log, "loss");
    EXPECT_THAT(steps(loss), ElementsAre(1, 2, 3, 4, 5, 6, 7));
    EXPECT_EQ(loss->nan, 2);
    EXPECT_EQ(loss->negInf, 1);
    EXPECT_EQ(loss->posInf, 1);
    EXPECT_EQ(loss->missing, 2) << "null at step 6, and step 7 reports a gradient without a loss";
    EXPECT_EQ(loss->points[6].state, PointState::reported);
    EXPECT_EQ(find(log, "lr")->missing, 1);
    EXPECT_THAT(steps(find(log, "grad_norm")), ElementsAre(6, 7));
    EXPECT_EQ(log.series.size(), 3U);
    EXPECT_EQ(log.lines, 8);
}

TEST_F(Logs, missingValueMayComeInALaterLineOfTheSameStep)
{
    const auto log = read("{\"step\":1,\"loss\":1}\n{\"step\":1,\"grad_norm\":1}\n"
                          "{\"step\":2,\"grad_norm\":1}\n{\"step\":2,\"loss\":1}\n");
    EXPECT_EQ(find(log, "loss")->missing, 0);
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(1, 2));
    EXPECT_EQ(find(log, "loss")->points[1].line, 4);
}

TEST_F(Logs, bestStepNameWinsAndRankIsRead)
{
    const auto log = read("{\"_step\":0,\"iter\":250,\"rank\":3,\"train/loss\":1.5}\n");
    EXPECT_THAT(steps(find(log, "loss", 3)), ElementsAre(250));
}

TEST_F(Logs, jsonWithoutStepsCountsRows)
{
    const auto log = read("{\"loss\":3}\n{\"loss\":2}\n");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(0, 1));
    EXPECT_TRUE(find(log, "loss")->stepInferred);
}

TEST_F(Logs, stepThatFallsStartsASegment)
{
    const auto log = read("Step 3: train_loss=1.0, grad_norm=2.0\nStep 4: train_loss=1.1, grad_norm=2.1\n"
                          "Step 2: train_loss=1.2, grad_norm=2.2\nStep 3: train_loss=1.3, grad_norm=2.3\n");
    EXPECT_THAT(steps(find(log, "loss", {}, 0)), ElementsAre(3, 4));
    EXPECT_THAT(steps(find(log, "loss", {}, 1)), ElementsAre(2, 3));
    EXPECT_THAT(steps(find(log, "grad_norm", {}, 1)), ElementsAre(2, 3));
    EXPECT_EQ(log.series.size(), 4U);
}

TEST_F(Logs, namesAndNumbersInTurnAreARow)
{
    const auto log = read("step 60 loss 3.4 grad_norm 0.2\nstep 61 loss nan grad_norm inf\n"
                          "step 62 loss 2 of 3 shards\nstep 63 loss 1.5 2.5\nstep 64 of 100 loss 1 more\n");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(60, 61)) << "prose is no row";
    EXPECT_THAT(steps(find(log, "grad_norm")), ElementsAre(60, 61));
}

TEST_F(Logs, validationJoinsTheSegmentOfItsTraining)
{
    const auto log = read("step:10/99 val_loss:5.0 train_time:1ms\nstep:50/99 train_loss:4.0 train_time:1ms\n"
                          "step:20/99 train_loss:4.5 train_time:1ms\nstep:30/99 val_loss:4.0 train_time:1ms\n");
    EXPECT_THAT(steps(find(log, "val_loss", {}, 0)), ElementsAre(10));
    EXPECT_THAT(steps(find(log, "val_loss", {}, 1)), ElementsAre(30));
}

TEST_F(Logs, torchrunTreeTellsRankAndAttempt)
{
    const std::string name = "logs/none_ab12/attempt_2/5/stdout.log";
    const auto log = read("Step 0: train_loss=1.0, grad_norm=2.0\nValueError: x\nTraceback (most recent call last):\n  "
                          "a\nValueError: y\n",
        name);
    EXPECT_THAT(steps(find(log, "loss", 5, 2)), ElementsAre(0));
    ASSERT_EQ(log.events.size(), 1U);
    EXPECT_EQ(log.events[0].rank, 5);
    EXPECT_EQ(log.events[0].text, "ValueError: y");
    EXPECT_THAT(steps(find(read("Step 0: a=1.0\n", "train_job7_rank3.log"), "a", 3)), ElementsAre(0));
}

TEST_F(Logs, severalFormatsInOneFile)
{
    const auto log = read("Step 0: train_loss=1.0, grad_norm=2.0\n{\"step\": 1, \"reward\": 0.5}\n"
                          "[rank 0] INFO     [step 2] loss=3.0 | lr=1.00e-04\n");
    EXPECT_EQ(find(log, "loss")->pointCount, 1);
    EXPECT_EQ(find(log, "reward")->pointCount, 1);
    EXPECT_EQ(find(log, "loss", 0)->pointCount, 1);
}

TEST_F(Logs, cutOffNumbersAreNotBelieved)
{
    EXPECT_THAT(read("Step 0: train_loss=1.2345, grad_norm=2.").series, IsEmpty());
    EXPECT_THAT(read("Step 0: train_loss=1.2345").series, testing::SizeIs(1));
    EXPECT_THAT(read("step,loss\n1,2.5\n2,2.", "a.csv").series.at(0).points, testing::SizeIs(1));
    EXPECT_THAT(read("{\"step\":1,\"loss\":2.5}\n{\"step\":2,\"loss\":2.5}", "a.jsonl").series.at(0).points,
        testing::SizeIs(2));
    EXPECT_THAT(read("[rank 0] INFO     [step 2] loss=3.01 | lr=1.0").series, IsEmpty());
}

TEST_F(Logs, resumeContinuesLinesAndBytes)
{
    const auto path = m_folder.write("grow.log", "Step 0: train_loss=1.0000, grad_norm=2.0000\nStep 1: tr");
    const auto first = ingest::readLog(path, "grow.log");
    ASSERT_TRUE(first);
    EXPECT_EQ(first->bytes, 44);
    EXPECT_EQ(first->lines, 1);
    m_folder.write("grow.log", "ain_loss=1.5000, grad_norm=2.0000\n", true);
    const auto second = ingest::readLog(path, "grow.log", first->bytes, first->lines);
    ASSERT_TRUE(second);
    ASSERT_EQ(second->series.size(), 2U);
    EXPECT_EQ(second->series[0].points.at(0).step, 1);
    EXPECT_EQ(second->series[0].points.at(0).line, 2);
    EXPECT_EQ(second->lines, 2);
}

TEST_F(Logs, badFilesAreSentencesOrNothing)
{
    std::string utf16 = "\xff\xfe";
    for (const char c : std::string("Step 0: train_loss=1.0\n")) {
        utf16 += c;
        utf16 += '\0';
    }
    const auto refused = ingest::readLog(m_folder.write("a.log", utf16), "a.log");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("UTF-16"));
    const auto pointer =
        ingest::readLog(m_folder.write("b.log", "version https://git-lfs.github.com/spec/v1\noid x\n"), "b.log");
    ASSERT_FALSE(pointer);
    EXPECT_THAT(pointer.error().what, HasSubstr("git lfs pull"));
    EXPECT_FALSE(ingest::readLog(m_folder / "none.log", "none.log"));
    EXPECT_FALSE(ingest::readLog(m_folder.path(), "folder"));

    std::string rubbish;
    for (unsigned i = 0; i < 100'000; ++i) {
        rubbish += static_cast<char>(i * 2654435761U >> 24U);
    }
    EXPECT_THAT(read(rubbish, "c.bin").series, IsEmpty());
    EXPECT_EQ(read("", "empty.log").lines, 0);
    EXPECT_THAT(read("\xef\xbb\xbfstep,loss\r\n1,2.5\r\n", "bom.csv").series, testing::SizeIs(1));
}

TEST_F(Logs, invalidTextIsMadeReadable)
{
    const auto log = read(std::string("a\xff\xfeStep\n") + "Traceback (most recent call last):\nError: caf\xe9 "
        + std::string(3000, 'x') + "\n");
    ASSERT_EQ(log.events.size(), 1U);
    EXPECT_THAT(log.events[0].text, testing::StartsWith("Error: caf\\xe9 xxx"));
    EXPECT_LE(log.events[0].text.size(), 1000U);
}

TEST_F(Logs, overlongLineIsSaid)
{
    const auto log = read("Step 0: train_loss=1.0, grad_norm=2.0\n" + std::string(3 << 20, 'y')
        + "\nStep 1: train_loss=1.0, grad_norm=2.0\n");
    ASSERT_EQ(log.events.size(), 1U);
    EXPECT_THAT(log.events[0].text, HasSubstr("longer than"));
    EXPECT_EQ(log.events[0].line, 2);
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(0, 1));
}

TEST_F(Logs, everyCutOfALogIsReadWithoutHarm)
{
    const std::string text =
        "\x1b[2m[rank 0] INFO     [step 1] loss=2.3400 | lr=3.00e-04\n{\"step\": 2, \"loss\": NaN}\n"
        "[default1]:[rank1]: Traceback (most recent call last):\n[default1]:[rank1]: E: x\n"
        "step:5/10 val_loss:3.5000 train_time:10ms\nStep 7: train_loss=1.0000, grad_norm=2.0000\n";
    for (std::size_t size = 0; size <= text.size(); ++size) {
        const auto log = read(text.substr(0, size), "cut.log");
        EXPECT_LE(log.bytes, static_cast<std::int64_t>(size));
    }
}
