// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Trainers that print a step as a heading and a line per value below it, and those that log JSON of their own.
#include <gmock/gmock.h>

#include "core/ingest/logscanner.h"
#include "logfolder.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class Blocks : public LogFolder
{
protected:
    static bool has(const ingest::LogContents& contents, const std::string& name)
    {
        return std::any_of(
            contents.series.begin(), contents.series.end(), [&](const Series& series) { return series.name == name; });
    }

    static std::string setting(const ingest::LogContents& contents, const std::string& name)
    {
        for (const auto& setting : contents.settings) {
            if (setting.name == name) {
                return setting.value;
            }
        }
        return "(none)";
    }
};

std::string olmoLogger(const std::string& message)
{
    return "2024-08-06 09:59:26.181\tnode-7:0\tolmo.train:908\tINFO\t" + message + "\n";
}

const std::string olmo = olmoLogger("Pre-train system metrics") + "    System/Peak GPU Memory (MB)=5,000\n"
    + olmoLogger("[step=1/739328,epoch=0]")
    + "    optim/total_grad_norm=231.7\n    train/CrossEntropyLoss=12.18\n    train/Perplexity=195,153\n"
      "    throughput/device/tokens_per_second=26,668\n    optim/learning_rate_group0=0.0003\n"
    + olmoLogger("[eval_step=1/10]") + olmoLogger("pile-validation")
    + "    eval/pile-validation/CrossEntropyLoss=11.5\n    downstream/accuracy=0.5\n"
    + olmoLogger("[step=2/739328,epoch=0]") + "    train/CrossEntropyLoss=nan\n    train/Perplexity=nan\n"
    + "2024-08-06 09:59:27.181\tnode-7:0\tolmo.train:908\tCRITICAL\tUncaught ValueError: nan loss encountered\n"
      "Traceback (most recent call last):\n  File \"train.py\", line 1, in main\nValueError: nan loss encountered\n";

TEST_F(Blocks, olmoPrintsAStepAndItsValuesBelow)
{
    const auto log = read("train.log", olmo);
    EXPECT_EQ(log.format, "olmo");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(1, 2));
    EXPECT_THAT(states(find(log, "loss")), ElementsAre(number, PointState::nan));
    EXPECT_EQ(find(log, "loss").points[0].line, 5);
    EXPECT_THAT(values(find(log, "grad_norm")), ElementsAre(231.7));
    EXPECT_THAT(values(find(log, "train/Perplexity"))[0], 195153);
    EXPECT_THAT(values(find(log, "tokens_per_second")), ElementsAre(26668));
    EXPECT_THAT(values(find(log, "lr")), ElementsAre(3e-4));
    EXPECT_THAT(values(find(log, "eval/pile-validation/CrossEntropyLoss")), ElementsAre(11.5));
    EXPECT_THAT(steps(find(log, "eval/pile-validation/CrossEntropyLoss")), ElementsAre(1));
    EXPECT_FALSE(has(log, "downstream/accuracy")) << "its heading names no step, and neither does its name";
    EXPECT_FALSE(has(log, "System/Peak GPU Memory (MB)")) << "there was no step yet";
    ASSERT_THAT(log.events, SizeIs(1));
    EXPECT_EQ(log.events[0].kind, EventKind::nanLoss);
}

TEST_F(Blocks, olmoOnATerminalAndOlmoCore)
{
    const auto log = read("train.log",
        "[2024-08-06 09:59:26] INFO     [olmo.train:816, rank=0] [step=5/10,epoch=0]\n"
        "    train/CrossEntropyLoss=3.5\n");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(5));
    const auto core = read("core.log",
        olmoLogger("[step=15000/???,epoch=1,eta=2 days]")
            + "    train/CE loss=2.871\n    optim/total grad norm=0.0956\n    optim/LR (group 0)=8.1e-05\n"
              "    throughput/device/TPS=11,200\n    train/block 03/load imbalance=1.05\n");
    EXPECT_THAT(steps(find(core, "loss")), ElementsAre(15000));
    EXPECT_THAT(values(find(core, "grad_norm")), ElementsAre(0.0956));
    EXPECT_THAT(values(find(core, "lr")), ElementsAre(8.1e-5));
    EXPECT_THAT(values(find(core, "tokens_per_second")), ElementsAre(11200));
    EXPECT_THAT(values(find(core, "train/block 03/load imbalance")), ElementsAre(1.05));
}

TEST_F(Blocks, composerInBatchesAndItsEvaluations)
{
    const auto log = read("train.log",
        "[batch=1/100]:\n\t Train time/batch: 0\n\t Train loss/train/total: 10.9736\n"
        "\t Train metrics/train/LanguageCrossEntropy: 10.9736\n\t Train l2_norm/grad/global: 3.2500\n"
        "\t Train lr-DecoupledAdamW/group0: 0.0001\n\t Train throughput/device/tokens_per_sec: 12000.5\n"
        "[batch=2/100]:\n\t Train loss/train/total: nan\n"
        "[Eval batch=1/5] Eval on c4 data\n"
        "[Eval batch=5/5] Eval on c4 data:\n\t Eval metrics/eval/LanguageCrossEntropy: 8.2500\n");
    EXPECT_EQ(log.format, "composer");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(1, 2));
    EXPECT_THAT(states(find(log, "loss")), ElementsAre(number, PointState::nan));
    EXPECT_THAT(values(find(log, "metrics/train/LanguageCrossEntropy")), ElementsAre(10.9736));
    EXPECT_THAT(values(find(log, "grad_norm")), ElementsAre(3.25));
    EXPECT_THAT(values(find(log, "lr")), ElementsAre(1e-4));
    EXPECT_THAT(values(find(log, "tokens_per_second")), ElementsAre(12000.5));
    EXPECT_THAT(steps(find(log, "val_loss")), ElementsAre(2));
    EXPECT_THAT(values(find(log, "val_loss")), ElementsAre(8.25));
}

TEST_F(Blocks, composerInEpochsCountsOnFromTheOneBefore)
{
    const auto log = read("train.log",
        "[epoch=1][batch=9/10]:\n\t Train loss/train/total: 3.0000\n"
        "[epoch=2][batch=1/10]:\n\t Train loss/train/total: 2.0000\n");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(9, 11));
    EXPECT_FALSE(find(log, "loss").stepInferred);
    const auto tokens =
        read("tokens.log", "[token=4096/100000]:\n\t Train time/batch: 0\n\t Train loss/train/total: 3.0000\n");
    EXPECT_TRUE(find(tokens, "loss").stepInferred) << "tokens are no steps";
}

TEST_F(Blocks, ofSeveralRanksBehindSrun)
{
    const auto log = read("slurm-7.out",
        "0: [batch=1/100]:\n1: [batch=1/100]:\n1: \t Train loss/train/total: 12.5000\n"
        "0:       Train loss/train/total: 12.0000\n1: \t Train loss/train/other: 1.0000\n");
    EXPECT_THAT(values(find(log, "loss", 0)), ElementsAre(12));
    EXPECT_THAT(values(find(log, "loss", 1)), ElementsAre(12.5));
    EXPECT_THAT(values(find(log, "loss/train/other", 1)), ElementsAre(1));
}

TEST_F(Blocks, valuesWithoutAHeadAreNobodys)
{
    const auto log = read("train.log",
        "    train/CrossEntropyLoss=3.5\n\t Train loss/train/total: 3.5000\n    lr = 5\n[step=x/5]\n[batch=]:\n");
    EXPECT_THAT(log.series, IsEmpty());
}

TEST_F(Blocks, aBlockThatIsStillBeingWrittenWaitsForItsEnd)
{
    const auto whole = olmoLogger("[step=1/9,epoch=0]") + "    train/CrossEntropyLoss=3.5\n"
        + olmoLogger("[step=2/9,epoch=0]") + "    optim/total_grad_norm=1.5\n    train/CrossEntropyLoss=2.5\n"
        + olmoLogger("[step=3/9,epoch=0]");
    for (std::size_t cut = 1; cut < whole.size(); ++cut) {
        const auto path = m_folder.write("grow.log", whole.substr(0, cut));
        auto growing = ingest::LogScanner::open(path, "grow.log");
        ASSERT_TRUE(growing);
        growing->leaveTail();
        const auto first = growing->next(1'000'000, {});
        m_folder.write("grow.log", whole);
        auto scanner = ingest::LogScanner::open(path, "grow.log", first.bytes, first.lines, first.series);
        ASSERT_TRUE(scanner);
        auto all = first.series;
        const auto second = scanner->next(1'000'000, {});
        all.insert(all.end(), second.series.begin(), second.series.end());
        std::string found;
        for (const auto& series : all) {
            for (const auto& point : series.points) {
                if (series.name == "loss") {
                    found += std::to_string(point.step) + "@" + std::to_string(point.line) + " ";
                }
            }
        }
        EXPECT_EQ(found, "1@2 2@5 ") << "cut at " << cut;
    }
}

TEST_F(Blocks, llamaFactorysNullsAreOfAnotherCall)
{
    const auto log = read("trainer_log.jsonl",
        "{\"current_steps\": 10, \"total_steps\": 25, \"loss\": 3.9862, \"reward\": null, \"learning_rate\": 4.9e-05, "
        "\"epoch\": 0.02, \"percentage\": 40.0, \"elapsed_time\": \"0:00:28\", \"remaining_time\": \"18:44:40\"}\n"
        "{\"current_steps\": 15, \"total_steps\": 25, \"loss\": null, \"eval_loss\": 3.5, \"learning_rate\": null, "
        "\"epoch\": 0.03, \"percentage\": 60.0}\n"
        "{\"current_steps\": 20, \"total_steps\": 25, \"loss\": NaN, \"lr\": 3e-05, \"epoch\": 0.04, \"percentage\": "
        "80.0, \"throughput\": \"1234.5\"}\n"
        "{\"current_steps\": 25, \"total_steps\": 25, \"loss\": null, \"epoch\": 0.05, \"percentage\": 100.0}\n");
    EXPECT_EQ(log.format, "jsonl");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(10, 20));
    EXPECT_THAT(states(find(log, "loss")), ElementsAre(number, PointState::nan));
    EXPECT_EQ(find(log, "loss").missing, 0) << "neither an evaluation nor the last row has a loss";
    EXPECT_THAT(steps(find(log, "val_loss")), ElementsAre(15));
    EXPECT_THAT(values(find(log, "percentage")), ElementsAre(40, 60, 80, 100));
    EXPECT_THAT(values(find(log, "epoch")), ElementsAre(0.02, 0.03, 0.04, 0.05));
    EXPECT_FALSE(has(log, "grad_norm"));
    EXPECT_FALSE(has(log, "elapsed_time"));
}

TEST_F(Blocks, linguasMetricsAndItsConsole)
{
    const auto log = read("metrics.jsonl",
        "{\"global_step\": 10, \"acc_step\": 0, \"speed/wps\": 51000.5, \"speed/curr_iter_time\": 0.25, "
        "\"optim/grad_norm\": 1.5, \"optim/lr\": 0.0003, \"optim/total_tokens\": 81920, \"loss/out\": 5.1234, "
        "\"created_at\": \"2024-11-02T12:00:00+00:00\"}\n"
        "{\"global_step\": 10, \"acc_step\": 1, \"optim/grad_norm\": -1.0, \"optim/lr\": 0.0003, \"loss/out\": NaN, "
        "\"created_at\": \"2024-11-02T12:00:01+00:00\"}\n");
    EXPECT_THAT(states(find(log, "loss")), ElementsAre(number, PointState::nan));
    EXPECT_THAT(values(find(log, "grad_norm")), ElementsAre(1.5)) << "-1 is not computed";
    EXPECT_EQ(find(log, "grad_norm").missing, 0);
    EXPECT_THAT(values(find(log, "tokens_per_second")), ElementsAre(51000.5));
    EXPECT_THAT(values(find(log, "step_time_s")), ElementsAre(0.25));
    const auto console = read("train.log",
        "0: INFO    24-11-02 12:00:00.123456 - 0:00:10 - step: 10  acc: 0  loss:  5.1234  grad: -1.00e+00  flops: "
        "1.0e+14  wps: 1.5e+04  iter: 0.5  data: 0.01  lr: 3.00e-04  mem: 51%  pow: 600.0 W\n"
        "0: INFO    24-11-02 12:00:00.123456 - 0:00:10 - step: 20  acc: 0  loss:     nan  grad: nan  flops: "
        "1.0e+14  wps: 1.5e+04  iter: 0.5  data: 0.01  lr: 3.00e-04  mem: 51%  pow: 600.0 W\n");
    EXPECT_THAT(states(find(console, "loss", 0)), ElementsAre(number, PointState::nan));
    EXPECT_THAT(states(find(console, "grad_norm", 0)), ElementsAre(PointState::nan));
    EXPECT_THAT(values(find(console, "step_time_s", 0)), ElementsAre(0.5, 0.5));
}

TEST_F(Blocks, acceleratePrintsNothingOfItsOwn)
{
    const auto log = read("console.log",
        "11/22/2026 06:40:00 - INFO - accelerate.tracking - Initialized TensorBoard project my_project\n"
        "11/22/2026 06:40:01 - INFO - accelerate.accelerator - Saving current state to /out/step_5\n"
        "INFO:accelerate.checkpointing:Model weights saved in /out/step_5/model.safetensors\n");
    EXPECT_THAT(log.series, IsEmpty()) << "its trackers write TensorBoard, W&B and the like";
    EXPECT_THAT(log.events, IsEmpty());
}

TEST_F(Blocks, mlperfsEntriesBehindALabel)
{
    const auto log = read("result_0.txt",
        "0: :::MLLOG {\"namespace\": \"\", \"time_ms\": 1, \"event_type\": \"POINT_IN_TIME\", \"key\": "
        "\"global_batch_size\", \"value\": 8, \"metadata\": {\"file\": \"a.py\", \"lineno\": 1}}\n"
        "0: :::MLLOG {\"namespace\": \"\", \"time_ms\": 2, \"event_type\": \"INTERVAL_START\", \"key\": \"run_start\", "
        "\"value\": null, \"metadata\": {\"file\": \"a.py\", \"lineno\": 2, \"samples_count\": 0}}\n"
        "0: :::MLLOG {\"namespace\": \"\", \"time_ms\": 3, \"event_type\": \"POINT_IN_TIME\", \"key\": \"train_loss\", "
        "\"value\": 3.2219, \"metadata\": {\"file\": \"a.py\", \"lineno\": 170, \"samples_count\": 192, \"lr\": "
        "0.0004}}\n"
        "0: :::MLLOG {\"namespace\": \"\", \"time_ms\": 4, \"event_type\": \"POINT_IN_TIME\", \"key\": "
        "\"tracked_stats\", \"value\": {\"loss\": NaN, \"throughput\": 21.5}, \"metadata\": {\"step\": 200}}\n"
        "0: :::MLLOG {\"namespace\": \"\", \"time_ms\": 5, \"event_type\": \"POINT_IN_TIME\", \"key\": "
        "\"eval_accuracy\", \"value\": 0.9375, \"metadata\": {\"epoch_num\": 384}}\n"
        "0: :::MLLOG {\"namespace\": \"\", \"time_ms\": 6, \"event_type\": \"POINT_IN_TIME\", \"key\": \"eval_accur");
    EXPECT_EQ(log.format, "mllog");
    EXPECT_THAT(steps(find(log, "loss", 0)), ElementsAre(192));
    EXPECT_THAT(values(find(log, "lr", 0)), ElementsAre(4e-4));
    EXPECT_THAT(states(find(log, "loss (2)", 0)), ElementsAre(PointState::nan)) << "under two names, two series";
    EXPECT_THAT(values(find(log, "throughput", 0)), ElementsAre(21.5));
    EXPECT_THAT(steps(find(log, "eval_accuracy", 0)), ElementsAre(384));
    EXPECT_EQ(setting(log, "global_batch_size"), "8");
    EXPECT_EQ(setting(log, "run_start"), "(none)");
}

} // namespace
} // namespace nanscope
