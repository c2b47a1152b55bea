// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// One log per trainer, in the format of its own printing code, with what goes wrong in each.
#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>

#include "core/ingest/log/logformat.h"
#include "logfolder.h"

using namespace nanscope;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

class Trainers : public LogFolder
{
protected:
    bool has(const ingest::LogContents& contents, const std::string& name)
    {
        return std::any_of(
            contents.series.begin(), contents.series.end(), [&](const Series& series) { return series.name == name; });
    }
};

} // namespace

TEST_F(Trainers, torchtitanBehindItsLoggerAndColours)
{
    const auto log = read("train.log",
        "[rank3]:[titan] 2026-04-21 08:46:29,657 - root - INFO - \x1b[31mstep:  1  \x1b[32mloss: 11.76178  "
        "\x1b[38;2;180;60;0mgrad_norm: 87439263494307840.0000\x1b[39m  memory:  6.48GiB(20.65%)  tps: 1,513  "
        "tflops: 0.77  mfu: 0.25%\n"
        "[rank3]:[titan] 2026-04-21 08:46:30,657 - root - INFO - step: 10  loss:     nan  grad_norm:     inf  "
        "memory:  6.48GiB(20.65%)  tps: 513  tflops: 0.77  mfu: N/A\n"
        "[rank3]:[titan] 2026-04-21 08:46:31,657 - root - INFO - validate step: 10  loss:  3.1234  memory:  "
        "6.48GiB(20.65%)  tps: 600\n"
        "[rank3]:[titan] 2026-04-21 08:46:31,657 - root - INFO - step: 12 of training: saving\n"
        "    logger.info(f\"step: {step:2}  loss: {loss:8.5f}\")\n");
    EXPECT_EQ(log.format, "torchtitan");
    const auto loss = find(log, "loss", 3);
    EXPECT_THAT(steps(loss), ElementsAre(1, 10));
    EXPECT_THAT(states(loss), ElementsAre(number, PointState::nan));
    EXPECT_EQ(loss.points[0].value, 11.76178);
    EXPECT_EQ(loss.points[1].line, 2);
    EXPECT_EQ(find(log, "grad_norm", 3).points[0].value, 87439263494307840.0);
    EXPECT_EQ(find(log, "grad_norm", 3).points[1].state, PointState::posInf);
    EXPECT_THAT(values(find(log, "tokens_per_second", 3)), ElementsAre(1513, 513)) << "a validation's is its own";
    EXPECT_EQ(find(log, "memory", 3).points[0].value, 6.48);
    EXPECT_THAT(values(find(log, "mfu", 3)), ElementsAre(0.25)) << "N/A is no number";
    EXPECT_THAT(values(find(log, "val_loss", 3)), ElementsAre(3.1234));
}

TEST_F(Trainers, maxTextWithItsLogger)
{
    const auto log = read("train.log",
        "completed step: 0, seconds: 44.923, TFLOP/s/device: 17.022, Tokens/s/device: 1094.129, total_weights: 196608, "
        "loss: 12.038\n"
        "I0811 21:54:55.531340 138304 metric_logger.py:226] completed step: 1, seconds: 0.319, TFLOP/s/device: "
        "2400.734, Tokens/s/device: 154316.608, total_weights: 196608, loss: nan, lm_loss: nan, perplexity: nan\n"
        "completed step: 2 of the tutorial, loss: 3\ncompleted step: saving\n"
        "completed step: 2, seconds: 5.6, loss: 11.6");
    EXPECT_EQ(log.format, "maxtext");
    const auto loss = find(log, "loss");
    EXPECT_THAT(steps(loss), ElementsAre(0, 1)) << "the last line may still grow";
    EXPECT_THAT(states(loss), ElementsAre(number, PointState::nan));
    EXPECT_THAT(values(find(log, "step_time_s")), ElementsAre(44.923, 0.319));
    EXPECT_THAT(values(find(log, "tokens_per_second")), ElementsAre(1094.129, 154316.608));
}

TEST_F(Trainers, linguaPrintsTheSameFields)
{
    const auto log = read("train.log",
        "step: 10  acc: 0  loss:  5.1234  grad: 1.20e+00  flops: 1.0e+14  wps: 1.5e+04  iter: 0.5  lr: 3.00e-04  "
        "mem: 51%  pow: 600.0 W\n");
    EXPECT_THAT(values(find(log, "loss")), ElementsAre(5.1234));
    EXPECT_THAT(values(find(log, "grad_norm")), ElementsAre(1.2));
    EXPECT_THAT(values(find(log, "lr")), ElementsAre(3e-4));
}

TEST_F(Trainers, megatronWithoutALossWhereItIsNanOrSkipped)
{
    const auto log = read("out.log",
        " [2026-08-22 12:00:00.123456] iteration        1/    1000 | consumed samples:         1024 | elapsed time per "
        "iteration (ms): 1500.0 | learning rate: 0.000E+00 | global batch size:  1024 | loss scale: 4294967296.0 | "
        "number of skipped iterations:   1 | number of nan iterations:   0 |\n"
        " iteration        2/    1000 | consumed samples:         2048 | elapsed time per iteration (ms): 1400.0 | "
        "learning rate: 5.625000E-05 | global batch size:  1024 | lm loss: 4.103157E+01 | loss scale: -1.0 | grad "
        "norm: 0.250 | number of skipped iterations:   0 | number of nan iterations:   0 |\n"
        " iteration        3/    1000 | consumed samples:         3072 | elapsed time per iteration (ms): 1400.0 | "
        "learning rate: 5.625000E-05 | global batch size:  1024 | lm loss: INF | loss scale: 1.0 | grad norm: nan | "
        "number of skipped iterations:   0 | number of nan iterations:   0 |\n"
        " iteration        4/    1000 | consumed samples:         4096 | elapsed time per iteration (ms): 1400.0 | "
        "learning rate: 5.625000E-05 | global batch size:  1024 | loss scale: 1.0 | grad norm: nan | number of skipped "
        "iterations:   0 | number of nan iterations:   1 |\n"
        "----------------------------------------------------------\n"
        " validation loss at iteration 4 | lm loss value: 6.100000E+00 | lm loss PPL: 4.458578E+02 | \n");
    EXPECT_EQ(log.format, "megatron");
    const auto loss = find(log, "loss");
    EXPECT_THAT(steps(loss), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(states(loss), ElementsAre(absent, number, PointState::posInf, absent));
    EXPECT_EQ(loss.points[1].value, 41.03157);
    EXPECT_THAT(values(find(log, "loss_scale")), ElementsAre(4294967296.0, 1, 1)) << "-1 is no scale";
    EXPECT_THAT(states(find(log, "grad_norm")), ElementsAre(number, PointState::nan, PointState::nan));
    EXPECT_THAT(values(find(log, "skipped_iterations")), ElementsAre(1, 0, 0, 0));
    EXPECT_THAT(values(find(log, "nan_iterations")), ElementsAre(0, 0, 0, 1));
    EXPECT_THAT(values(find(log, "step_time_s")), ElementsAre(1.5, 1.4, 1.4, 1.4));
    EXPECT_THAT(steps(find(log, "val_loss")), ElementsAre(4));
}

TEST_F(Trainers, megatronOfTheLossWithADash)
{
    const auto log = read("out.log",
        " iteration       49/     100 | consumed samples: 50176 | consumed tokens: 1 | elapsed time per iteration "
        "(ms): "
        "1500.0 | learning rate: 1.5E-04 | lm-loss: 7.747273E+00 | grad norm: 1.1 |\n");
    EXPECT_THAT(values(find(log, "loss")), ElementsAre(7.747273));
}

TEST_F(Trainers, deepSpeedCountsWhatItSkipped)
{
    const auto log = read("ds.log",
        "[2025-07-13 21:48:34,943] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=4, lr=[1e-05, 2e-05], "
        "mom=[(0.9, 0.999)]\n"
        "steps: 11 loss: 12.7902 iter time (s): 1.250 samples/sec: 8.1\n"
        "[2025-07-13 21:48:35,943] [INFO] [loss_scaler.py:183:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping "
        "step. "
        "Attempted loss scale: 4294967296, reducing to 2147483648\n");
    EXPECT_EQ(log.format, "deepspeed");
    EXPECT_THAT(values(find(log, "skipped_steps")), ElementsAre(4));
    EXPECT_THAT(values(find(log, "deepspeed/lr")), ElementsAre(1e-5));
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(11));
    EXPECT_THAT(values(find(log, "step_time_s")), ElementsAre(1.25));
    ASSERT_EQ(log.events.size(), 1U);
    EXPECT_EQ(log.events[0].line, 3);
    EXPECT_FALSE(log.events[0].step) << "the line names none";
}

TEST_F(Trainers, nanoGptAndItsForkWithUnits)
{
    const auto log = read("output.log",
        "step 0: train loss 6.0601 BPC, val loss 6.0586 BPC\n"
        "iter 0: loss 6.0659 BPC, time 254533.50ms, mfu -100.00%\n"
        "iter 10: loss nan, time 250.00ms, mfu 8.92%\n"
        "step 250: train loss 1.5, val loss nan\n");
    EXPECT_EQ(log.format, "nanogpt");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(0, 10));
    EXPECT_THAT(states(find(log, "loss")), ElementsAre(number, PointState::nan));
    EXPECT_THAT(values(find(log, "step_time_s")), ElementsAre(254.5335, 0.25));
    EXPECT_THAT(values(find(log, "mfu")), ElementsAre(8.92)) << "-100 % is not measured yet";
    EXPECT_THAT(values(find(log, "eval_train_loss")), ElementsAre(6.0601, 1.5));
    EXPECT_THAT(states(find(log, "val_loss")), ElementsAre(number, PointState::nan));
}

TEST_F(Trainers, nanochatIsNotFooledByItsOtherFields)
{
    const auto log = read("speedrun.log",
        "step 00199/00470 (42.34%) | loss: 2.100000 | grad norm: 0.4000 | lrm: 0.89 | dt: 250.00ms | tok/sec: 1,234 | "
        "bf16_mfu: 40.00 | epoch: 1 pq: 3 rg: 7 | total time: 12.50m | eta: 3.1m\n"
        "step 00200/00470 (42.55%) | loss: nan | lrm: 0.89 | lr(adamw:7.718e-02, muon:1.706e-02) | dt: 258.47ms | "
        "total time: 12.51m\n"
        "Step 00470 | Validation bpb: nan | val_loss: nan\n"
        "Step 1/2 | Average reward: 0.5\n");
    EXPECT_EQ(log.format, "nanochat");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(199, 200));
    EXPECT_THAT(states(find(log, "loss")), ElementsAre(number, PointState::nan));
    EXPECT_THAT(values(find(log, "grad_norm")), ElementsAre(0.4));
    EXPECT_THAT(values(find(log, "tokens_per_second")), ElementsAre(1234));
    EXPECT_THAT(steps(find(log, "val_bpb")), ElementsAre(470));
    EXPECT_FALSE(has(log, "lr")) << "lrm is a multiplier";
}

TEST_F(Trainers, llmCsFileAndConsole)
{
    const auto file = read("main.log",
        "s:0 tel:11.0092\ns:0 trl:11.0091 lr:0.000001 norm:15.37\ns:1 trl:-nan lr:0.0 norm:nan\n"
        "s:250 eval:0.2543\n");
    EXPECT_EQ(file.format, "llm.c");
    EXPECT_THAT(states(find(file, "loss")), ElementsAre(number, PointState::nan));
    EXPECT_THAT(values(find(file, "val_loss")), ElementsAre(11.0092));
    EXPECT_THAT(values(find(file, "hellaswag")), ElementsAre(0.2543));
    const auto console = read("console.txt",
        "step    1/21479 | loss 11.007906 (+nanz)| norm 16.3235 (+nanz)| lr 2.86e-06 | 2734.50 ms | -100.0% bf16 MFU | "
        "167751 tok/s\n");
    EXPECT_THAT(values(find(console, "loss")), ElementsAre(11.007906));
    EXPECT_THAT(values(find(console, "grad_norm")), ElementsAre(16.3235)) << "nan is the z score, which needs a window";
    EXPECT_THAT(values(find(console, "lr")), ElementsAre(2.86e-6));
    EXPECT_THAT(values(find(console, "step_time_s")), ElementsAre(2.7345));
    EXPECT_THAT(values(find(console, "tokens_per_second")), ElementsAre(167751));
}

TEST_F(Trainers, huggingFaceConsoleTakesItsStepsFromTheBar)
{
    const auto log = read("trainer.log",
        "  0%|          | 0/3000 [00:00<?, ?it/s]\r 12%|#2        | 360/3000 [01:55<14:02,  3.13it/s]"
        "                                    {'loss': 2.8911, 'grad_norm': nan, 'learning_rate': 4.9e-05, 'epoch': "
        "0.05}\n"
        " 50%|#####     | 5/10 [00:01<00:01,  5.0it/s]\n"
        " 24%|##4       | 720/3000 [03:55<14:02,  3.13it/s]\r"
        "{'loss': '0', 'grad_norm': 'nan', 'learning_rate': '1.265e-05', 'epoch': '1.292'}\n"
        "{'eval_loss': 3.5, 'eval_runtime': 1.0, 'epoch': 1.292}\n"
        "{'train_runtime': 100.0, 'train_loss': 2.5, 'epoch': 3.0}\n");
    EXPECT_EQ(log.format, "hf-console");
    const auto loss = find(log, "loss");
    EXPECT_TRUE(loss.stepInferred);
    EXPECT_THAT(steps(loss), ElementsAre(360, 720)) << "the bar of an evaluation counts other steps";
    EXPECT_THAT(values(loss), ElementsAre(2.8911, 0)) << "the mean over the run is no step";
    EXPECT_THAT(states(find(log, "grad_norm")), ElementsAre(PointState::nan, PointState::nan));
    EXPECT_THAT(steps(find(log, "val_loss")), ElementsAre(720));
}

TEST_F(Trainers, huggingFaceConsoleWithoutABarCountsRows)
{
    const auto log = read("trainer.log",
        "{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.05}\n{'eval_loss': 3.5, 'epoch': 0.05}\n"
        "{'loss': 2.4, 'learning_rate': 5e-05, 'epoch': 0.1}\n{'input_ids': [1, 2], 'labels': [3]}\n");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(0, 1));
    EXPECT_THAT(steps(find(log, "val_loss")), ElementsAre(0));
    EXPECT_TRUE(find(log, "loss").stepInferred);
}

TEST_F(Trainers, trainerStateWithBareNonFiniteWords)
{
    const auto log = read("trainer_state.json",
        "{\n  \"best_metric\": null,\n  \"epoch\": 1.0,\n  \"global_step\": 75,\n  \"log_history\": [\n"
        "    {\n      \"epoch\": 0.1,\n      \"grad_norm\": 6.25,\n      \"learning_rate\": 2.9e-08,\n      \"loss\": "
        "3.9113,\n      \"step\": 25\n    },\n"
        "    {\n      \"epoch\": 0.2,\n      \"grad_norm\": NaN,\n      \"learning_rate\": 6.1e-06,\n      \"loss\": "
        "Infinity,\n      \"step\": 50\n    },\n"
        "    {\n      \"epoch\": 0.3,\n      \"grad_norm\": 1.0,\n      \"loss\": null,\n      \"step\": 75\n    },\n"
        "    {\n      \"epoch\": 0.3,\n      \"eval_loss\": 3.4,\n      \"step\": 75\n    },\n"
        "    {\n      \"epoch\": 0.3,\n      \"step\": 75,\n      \"train_loss\": 3.0,\n      \"train_runtime\": "
        "10.0\n    }\n"
        "  ],\n  \"logging_steps\": 25,\n  \"loss\": 5\n}\n");
    EXPECT_EQ(log.format, "hf-trainer-state");
    const auto loss = find(log, "loss");
    EXPECT_FALSE(loss.stepInferred);
    EXPECT_THAT(steps(loss), ElementsAre(25, 50, 75));
    EXPECT_THAT(states(loss), ElementsAre(number, PointState::posInf, absent));
    EXPECT_EQ(loss.points[0].line, 10);
    EXPECT_THAT(states(find(log, "grad_norm")), ElementsAre(number, PointState::nan, number));
    EXPECT_THAT(steps(find(log, "val_loss")), ElementsAre(75));
}

TEST_F(Trainers, linesOfAHomeMadeLoop)
{
    const auto log = read("run.log",
        "Namespace(step=10, lr=0.1, loss='mse')\n"
        "    print(f\"step:{step}, loss:{loss}\")\n"
        "step:0, loss:5.45\n"
        "Step 10 | train_loss=2.31 grad_norm=nan lr=1e-4\n"
        "iter 20/100: loss 2.25, loss_scale: 1024\n"
        "[step 30] note: nothing\n"
        "step 40 took 3.2: fine\n"
        "steps: many\n");
    EXPECT_EQ(log.format, "key-value");
    EXPECT_THAT(values(find(log, "loss")), ElementsAre(5.45, 2.25));
    EXPECT_THAT(states(find(log, "loss")), ElementsAre(number, number)) << "step 10 has its loss, under another name";
    EXPECT_THAT(values(find(log, "train_loss")), ElementsAre(2.31)) << "which may be another loss";
    EXPECT_EQ(find(log, "grad_norm").points[0].state, PointState::nan);
    EXPECT_THAT(values(find(log, "lr")), ElementsAre(1e-4));
    EXPECT_THAT(values(find(log, "loss_scale")), ElementsAre(1024));
    EXPECT_FALSE(has(log, "took"));
}

TEST_F(Trainers, aNameIsTakenWhole)
{
    const auto log = read("run.log",
        "step 1 | val loss: 3.21 | aux loss: 0.5 | weight norm: 350 | tok/s: 125,000\n"
        "step 1,000 | loss: 2.31\n"
        "step 2 | loss: 2.5, kl-loss=0.1\n"
        "step 3 | loss: 2,31\n"
        "Step 4: set lr=0.1 in the config\n"
        "    step = 5; loss = 0.1\n"
        "batch: 32, loss: 1\n"
        "step:6/100 | loss: nan | lr: 1e-4\n");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(2, 6)) << "1,000 is not 1, and 2,31 no number here";
    EXPECT_EQ(find(log, "loss").points[1].state, PointState::nan);
    EXPECT_THAT(values(find(log, "val_loss")), ElementsAre(3.21));
    EXPECT_THAT(values(find(log, "weight norm")), ElementsAre(350));
    EXPECT_THAT(values(find(log, "tokens_per_second")), ElementsAre(125000));
    EXPECT_FALSE(has(log, "grad_norm"));
}

TEST_F(Trainers, twoNamesOfOneThingAreTwoSeries)
{
    const auto log = read("run.csv", "step,train_loss,loss\n1,2.5,3.5\n2,2.25,3.25\n");
    EXPECT_THAT(values(find(log, "loss")), ElementsAre(2.5, 2.25));
    EXPECT_THAT(values(find(log, "loss (2)")), ElementsAre(3.5, 3.25));
}

TEST_F(Trainers, aSecondTrainingInOneConsoleHasItsOwnBar)
{
    const auto log = read("trainer.log",
        "100%|#| 3000/3000 [01:55<00:00,  3.13it/s]\r{'loss': 2.5, 'epoch': 3.0}\n"
        "{'train_runtime': 100.0, 'train_loss': 2.7, 'epoch': 3.0}\n"
        " 10%|#| 10/100 [00:05<00:50,  2.0it/s]\r{'loss': 1.5, 'epoch': 0.1}\n");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(3000)) << "and the next one begins a segment";
    EXPECT_THAT(steps(find(log, "loss", {}, 1)), ElementsAre(10));
}

TEST_F(Trainers, barsOfDownloadsAndConfigurationsAreNoSteps)
{
    const auto log = read("trainer.log",
        "Loading checkpoint shards: 100%|##########| 2/2 [00:05<00:00,  2.6s/it]\n"
        "Loss weights: {'loss': 1.0, 'epoch': 0.1}\n"
        "{'loss': 'mse', 'epoch': 3}\n"
        " 12%|#2        | 360/3000 [01:55<14:02,  3.13it/s]\r{'loss': 2.5, 'epoch': 0.5}\n"
        " 24%|##4       | 720/3000 [01:55<14:02,  3.13it/s][rank0]: NaN/Inf loss at step 37\n");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(360));
    ASSERT_EQ(log.events.size(), 1U) << "written right behind a bar";
    EXPECT_EQ(log.events[0].step, 37);
}

TEST_F(Trainers, megatronsLossIsAbsentOnlyWhereTheLineIsWhole)
{
    const auto log = read("out.log",
        " iteration 6/ 1000 | elapsed time per iteration (ms): 1400.0 | mlm loss: 4.1 | number of nan iterations:   0 "
        "|\n"
        " validation loss at iteration 6 on test set | lm loss value: 6.1E+00 |\n"
        " iteration 7/ 1000 | elapsed time per iteration (ms): 1400.0 | learning rate: 5E-05 |");
    EXPECT_FALSE(has(log, "loss"));
    EXPECT_THAT(values(find(log, "test_loss")), ElementsAre(6.1));
}

TEST_F(Trainers, aChartExportOfSeveralRunsHasNoGapsBetweenThem)
{
    const auto log = read("wandb_export.csv",
        "\"Step\",\"a - train/loss\",\"a - train/loss__MIN\",\"a - train/loss__MAX\",\"b - train/loss\","
        "\"b - train/loss__MIN\",\"b - train/loss__MAX\"\n"
        "\"0\",\"4.5\",\"4.5\",\"4.5\",\"\",\"\",\"\"\n\"1\",\"\",\"\",\"\",\"NaN\",\"NaN\",\"NaN\"\n");
    ASSERT_EQ(log.series.size(), 2U);
    EXPECT_THAT(states(find(log, "a - train/loss")), ElementsAre(number));
    EXPECT_THAT(states(find(log, "b - train/loss")), ElementsAre(PointState::nan));
}

TEST_F(Trainers, aLogThatBeginsInMidRunSaysHowItsTrainerCounts)
{
    const auto base = [this](const std::string& text) {
        std::string said;
        for (const auto& setting : read("train.log", text).settings) {
            said += setting.name == ingest::stepBaseSetting ? setting.value + ":" + std::to_string(setting.line) : "";
        }
        return said;
    };
    EXPECT_EQ(base("Step 5000: train_loss=1.0000, grad_norm=2.0000\n"), "") << "as of a log that does not say";
    EXPECT_EQ(base("Step 0: train_loss=1.0000, grad_norm=2.0000\n"), "1:1") << "its checkpoint 0 holds one update";
    EXPECT_EQ(base("iter 0: loss 2.5000, time 250.00ms, mfu 8.92%\n"), "") << "the log shows it";
    EXPECT_EQ(base("iter 5000: loss 2.5000, time 250.00ms, mfu 8.92%\n"), "0:1");
    EXPECT_EQ(base("step 05000/09000 (55.00%) | loss: 2.1 | lrm: 0.89 | total time: 12.50m\n"), "0:1");
    EXPECT_EQ(base("s:5000 trl:2.5 lr:0.000001 norm:15.37\n"), "0:1");
    EXPECT_EQ(base("step 5000/21479 | loss 2.5 (+nanz)| norm 1.3 (+nanz)| lr 2.86e-06\n"), "");
    EXPECT_EQ(base("step:5000/6000 train_loss:2.5 train_time:1000ms step_avg:1.50ms\n"), "") << "counts from 1";
    EXPECT_EQ(base("step: 5000  loss:  2.1234  grad_norm: 1.2\n"), "");
    EXPECT_EQ(base("completed step: 0, seconds: 5.667, loss: 10.374\n"), "1:1")
        << "its checkpoint 0 holds the weights after the first update";
    EXPECT_EQ(base("{\"step\": 5000, \"loss\": 2.5}\n"), "") << "nobody knows";
}

TEST_F(Trainers, aLastLineThatWasCutGivesNoValue)
{
    for (const char* line : {"step:  1  loss: 11.76178  grad_norm: 8", "s:1 trl:10.9", "iter 10: loss 2.5, time 1",
             " iteration 1/ 10 | elapsed time per iteration (ms): 1.0 | lm loss: 4.1", "{'loss': 2.5, 'epoch': 0.0",
             "step 1/2 (50%) | loss: 2.1 | dt: 2", "step:1, loss:2.5"}) {
        EXPECT_THAT(read("cut.log", line).series, IsEmpty()) << line;
    }
}

TEST_F(Trainers, theRealLogsGiveEveryLoss)
{
    struct Case
    {
        const char* file;
        const char* format;
        std::size_t losses;
        double last;
    };
    const std::filesystem::path logs = std::filesystem::path(NANSCOPE_SHARED_DATA) / "logs";
    if (!std::filesystem::exists(logs)) {
        GTEST_SKIP() << "the real logs are not here";
    }
    for (const auto& [file, format, losses, last] : std::vector<Case> {
             {"hf_trainer_state__Ysn-Ir__medBot-finetuning-part__trainer_state.json", "hf-trainer-state", 642, 1.8868},
             {"llamafactory_trainer_log_jsonl__112292454__ChatGLM-Efficient-Tuning-main__trainer_log.jsonl", "jsonl",
                 2380, 0.0018},
             {"llmc_main_log__KellerJordan__modded-nanogpt__main.log", "llm.c", 19560, 3.2217},
             {"megatron_console__bigscience-workshop__bigscience__meg_ds_3d_gpt2_perf_n16-ds-on.out", "megatron", 49,
                 7.747273},
             {"nanogpt_console__jackokeefe11__nanoGPT__kt2awly2-output.log", "nanogpt", 501, 0.1636},
             {"modded_nanogpt__KellerJordan__modded-nanogpt__5bdc3988-496c-4232-b4ef-53764cb81c92.txt", "dion", 6000,
                 3.4305},
             {"deepspeed_overflow__hwang2006__large-scale-lm-tutorials__07_zero-excerpt.log", "key-value", 12,
                 3.9704933166503906},
         }) {
        const auto log = ingest::readLog(logs / file, file);
        ASSERT_TRUE(log) << log.error().what;
        EXPECT_EQ(log->format, format) << file;
        const auto loss = find(*log, "loss");
        EXPECT_EQ(loss.points.size(), losses) << file;
        ASSERT_FALSE(loss.points.empty());
        EXPECT_NEAR(loss.points.back().value, last, 1e-4) << file;
    }
}
