// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What launchers do to logs: folders and names that say whose a file is, labels that say whose a line is.
#include <gmock/gmock.h>

#include "core/ingest/log/logsource.h"
#include "core/ingest/logscanner.h"
#include "core/ingest/text/launchlabels.h"
#include "logfolder.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

class Launch : public LogFolder
{
protected:
    static bool has(const ingest::LogContents& contents, const std::string& name, std::optional<int> rank = {})
    {
        return std::any_of(contents.series.begin(), contents.series.end(),
            [&](const Series& series) { return series.name == name && series.rank == rank; });
    }
};

std::string debugLine(int step, double loss)
{
    return "Step " + std::to_string(step) + ": train_loss=" + std::to_string(loss).substr(0, 6) + "\n";
}

TEST(LogPlaces, foldersAndNamesTellRankAndAttempt)
{
    struct Case
    {
        const char* path;
        std::optional<int> rank;
        int attempt;
    };
    for (const auto& [path, rank, attempt] : std::vector<Case> {
             {"none_x7k2/attempt_0/3/stdout.log", 3, 0},
             {"logs/1234_ab/attempt_2/11/stderr.log", 11, 2},
             {"attempt_1/0/error.json", std::nullopt, 0},
             {"train_job77_rank3.log", 3, 0},
             {"20250101_rank12.log", 12, 0},
             {"tb/rank_3/events.out.tfevents.1.h.1.0", 3, 0},
             {"out/1/rank.7/stdout", 7, 0},
             {"1234567_3_log.out", 3, 0},
             {"1234567_2_5_log.err", 5, 0},
             {"logs/1234567_0007.out", 7, 0},
             {"slurm-1234567.out", std::nullopt, 0},
             {"slurm-1234567_3.out", std::nullopt, 0},
             {"1234567.out", std::nullopt, 0},
             {"2025_11_22.log", std::nullopt, 0},
             {"step_12_3.out", std::nullopt, 0},
             {"ranking/train.log", std::nullopt, 0},
         }) {
        EXPECT_EQ(ingest::placeOf(path).rank, rank) << path;
        EXPECT_EQ(ingest::placeOf(path).attempt, attempt) << path;
    }
}

TEST_F(Launch, aTorchrunTreeIsRanksAndAttempts)
{
    m_folder.write("none_x7/attempt_0/0/stdout.log", debugLine(0, 1) + debugLine(1, 2));
    m_folder.write("none_x7/attempt_0/1/stdout.log", debugLine(0, 3));
    m_folder.write("none_x7/attempt_0/1/stderr.log", "[rank1]: ValueError: no\nRuntimeError: CUDA out of memory\n");
    m_folder.write("none_x7/attempt_1/1/stdout.log", debugLine(1, 4));
    const auto run = ingest::readRun(m_folder.path());
    ASSERT_TRUE(run);
    ASSERT_THAT(run->series, SizeIs(3));
    ingest::LogContents all;
    all.series = run->series;
    EXPECT_THAT(values(find(all, "loss", 0, 0)), ElementsAre(1, 2));
    EXPECT_THAT(values(find(all, "loss", 1, 0)), ElementsAre(3));
    EXPECT_THAT(values(find(all, "loss", 1, 1)), ElementsAre(4));
    ASSERT_THAT(run->events, SizeIs(1));
    EXPECT_EQ(run->events[0].rank, 1) << "of the folder";
    EXPECT_EQ(run->events[0].kind, EventKind::infrastructure);
}

TEST_F(Launch, srunsLabelsMayBeWiderThanTheirNumbers)
{
    std::string text;
    for (int step = 0; step < 3; ++step) {
        text += "  0: " + debugLine(step, 1 + step) + " 12: " + debugLine(step, 2 + step)
            + "504: " + debugLine(step, 3 + step);
    }
    const auto log = read("slurm-1234.out", text);
    EXPECT_THAT(values(find(log, "loss", 0)), ElementsAre(1, 2, 3));
    EXPECT_THAT(values(find(log, "loss", 12)), ElementsAre(2, 3, 4));
    EXPECT_THAT(values(find(log, "loss", 504)), ElementsAre(3, 4, 5));
    EXPECT_THAT(log.series, SizeIs(3));
}

TEST_F(Launch, localRanksOfSeveralTasksAreToldApart)
{
    // srun starts one torchrun per node, so that its label is a node and the rank behind it one of the node.
    std::string text;
    for (int step = 10; step < 13; ++step) {
        text += "1: [default3]:" + debugLine(step - 1, 2 + step) + "0: [default3]:" + debugLine(step, 1 + step);
    }
    text += "1: [default3]:[rank11]: Traceback (most recent call last):\n"
            "0: [default3]:[rank3]: Traceback (most recent call last):\n"
            "1: [default3]:[rank11]:   File \"train.py\", line 11, in node1\n"
            "0: [default3]:[rank3]:   File \"train.py\", line 3, in node0\n"
            "1: [default3]:[rank11]: ValueError: one\n0: [default3]:[rank3]: ValueError: nought\n";
    const auto log = read("slurm-1234.out", text);
    EXPECT_THAT(steps(find(log, "loss", 3)), ElementsAre(10, 11, 12));
    EXPECT_THAT(values(find(log, "loss", 3)), ElementsAre(11, 12, 13));
    EXPECT_THAT(values(find(log, "loss @task 1", 3)), ElementsAre(12, 13, 14));
    EXPECT_THAT(log.series, SizeIs(2)) << "and no segment for every line";
    ASSERT_THAT(log.events, SizeIs(2));
    EXPECT_EQ(log.events[0].rank, 11);
    EXPECT_THAT(log.events[0].detail, testing::HasSubstr("node1"));
    EXPECT_EQ(log.events[1].rank, 3);
    EXPECT_THAT(log.events[1].detail, testing::HasSubstr("node0"));
}

TEST_F(Launch, hostsOfPdshAreTakenOffAndToldApart)
{
    std::string text = "[2025-07-13 21:48:34,943] [INFO] [runner.py:568:main] cmd = pdsh -w worker-0,worker-1\n";
    for (int step = 10; step < 13; ++step) {
        text += "worker-1: steps: " + std::to_string(step - 1) + " loss: 2.5 iter time (s): 1.250 samples/sec: 8.1\n"
            + "worker-0: steps: " + std::to_string(step) + " loss: 1.5 iter time (s): 1.250 samples/sec: 8.1\n";
    }
    text += "worker-0: [rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
            "worker-1: [2025-07-13 21:48:35,943] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=4, "
            "lr=[1e-05], mom=[(0.9, 0.999)]\n";
    const auto log = read("ds.log", text);
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(9, 10, 11)) << "of the host that comes first";
    EXPECT_THAT(steps(find(log, "loss @worker-0")), ElementsAre(10, 11, 12));
    EXPECT_THAT(values(find(log, "loss @worker-0")), ElementsAre(1.5, 1.5, 1.5));
    EXPECT_TRUE(has(log, "skipped_steps"));
    ASSERT_THAT(log.events, SizeIs(1));
    EXPECT_EQ(log.events[0].rank, 3);
    EXPECT_THAT(log.events[0].text, testing::StartsWith("torch.OutOfMemoryError"));
}

TEST_F(Launch, ranksOfTheWholeJobNeedNoHost)
{
    const auto log = read("job.log",
        "gpu-a1.cluster: [rank 0] INFO     [step 1] loss=2.3400 | lr=3.00e-04\n"
        "gpu-b7.cluster: [rank 8] INFO     [step 1] loss=2.4400 | lr=3.00e-04\n"
        "gpu-b7.cluster: [rank 8] WARNING  NaN/Inf loss at step 1 (consecutive=1, total=1, last_good_loss=2.4400 at "
        "step 0)\n");
    EXPECT_THAT(values(find(log, "loss", 0)), ElementsAre(2.34));
    EXPECT_THAT(values(find(log, "loss", 8)), ElementsAre(2.44));
    ASSERT_THAT(log.events, SizeIs(1));
    EXPECT_EQ(log.events[0].rank, 8);
}

TEST_F(Launch, aWordAndAColonAreNoHost)
{
    const auto log = read("train.log",
        "epoch-1: begins\nstep: 10  loss:  5.1234  grad_norm: 1.2\nval-loss: 3.5\nepoch-2: begins\nnode-3: [rank5]: "
        "ValueError: x\nstep: 11  loss:  4.1234  grad_norm: 1.2\nValueError: nan loss encountered\n");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(10, 11));
    ASSERT_THAT(log.events, SizeIs(1)) << "a host only where a rank follows it, if not all lines have one";
    EXPECT_EQ(log.events[0].kind, EventKind::nanLoss);
    ingest::LineOrigin origin;
    EXPECT_EQ(ingest::HostLabels().peel("node-3: [rank5]: x", origin), "[rank5]: x");
    EXPECT_EQ(origin.host, "node-3");
    EXPECT_EQ(ingest::HostLabels().peel("node-3: x", origin), "node-3: x");
    EXPECT_EQ(ingest::HostLabels().peel("10.0.0.3: [default1]:x", origin), "[default1]:x");
    EXPECT_EQ(ingest::HostLabels().peel("0.5: [default1]:x", origin), "0.5: [default1]:x");
}

TEST_F(Launch, lanesGoOnWhereAnImportWasBrokenOff)
{
    std::string text;
    for (int step = 10; step < 14; ++step) {
        text += "0: [default3]:" + debugLine(step, 1) + "1: [default3]:" + debugLine(step - 1, 2);
    }
    const auto half = text.size() / 2;
    const auto path = m_folder.write("a.log", text.substr(0, half));
    const auto first = ingest::readLog(path, "a.log");
    ASSERT_TRUE(first);
    m_folder.write("a.log", text);
    auto scanner = ingest::LogScanner::open(path, "a.log", first->bytes, first->lines, first->series);
    ASSERT_TRUE(scanner);
    const auto second = scanner->next(1000, {});
    EXPECT_THAT(steps(find(second, "loss", 3)), ElementsAre(12, 13)) << "in the segment it began in";
    EXPECT_THAT(steps(find(second, "loss @task 1", 3)), ElementsAre(11, 12));
    EXPECT_THAT(second.series, SizeIs(2));
}

TEST_F(Launch, barsOfTwoHostsAreTwoLosses)
{
    const auto log = read("ds.log",
        "node1: Training:   0%|          | 1/3000 [00:01<50:00, 1.0it/s, train_loss=10.5]\n"
        "node2: Training:   0%|          | 1/3000 [00:01<50:00, 1.0it/s, train_loss=11.5]\n"
        "node1: Training:   0%|          | 2/3000 [00:01<50:00, 1.0it/s, train_loss=9.5]\n"
        "node2: Training:   0%|          | 2/3000 [00:01<50:00, 1.0it/s, train_loss=nan]\n");
    EXPECT_THAT(values(find(log, "loss")), ElementsAre(10.5, 9.5));
    EXPECT_THAT(states(find(log, "loss @node2")), ElementsAre(PointState::finite, PointState::nan));
}

} // namespace
} // namespace nanscope
