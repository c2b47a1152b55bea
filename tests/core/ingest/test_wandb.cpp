// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// What the records of a W&B file say.
#include <chrono>
#include <filesystem>

#include <gmock/gmock.h>

#include "core/session/session.h"
#include "logfolder.h"
#include "wandbwriter.h"

using namespace nanscope;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

constexpr auto wandbRunName = "run-kt2awly2.wandb";

class WandbFiles : public LogFolder
{
protected:
    ingest::LogContents readFile(const wandb::File& file) { return read(wandbRunName, file.bytes()); }

    static std::vector<std::string> texts(const ingest::LogContents& log)
    {
        std::vector<std::string> all;
        for (const auto& event : log.events) {
            all.push_back(std::string(name(event.kind)) + ": " + event.text);
        }
        return all;
    }

    static std::vector<std::string> names(const ingest::LogContents& log)
    {
        std::vector<std::string> all;
        for (const auto& series : log.series) {
            all.push_back(series.name);
        }
        return all;
    }

    static std::vector<std::string> settings(const ingest::LogContents& log)
    {
        std::vector<std::string> all;
        for (const auto& setting : log.settings) {
            all.push_back(setting.name + "=" + setting.value);
        }
        return all;
    }
};

} // namespace

TEST(SlowCrc32, isTheOneOfZlib)
{
    EXPECT_EQ(wandb::slowCrc32("123456789"), 0xcbf43926U) << "the check value of that polynomial";
}

TEST_F(WandbFiles, nonFiniteValuesInEverySpellingAndAbsentOnes)
{
    wandb::File file;
    const std::vector<std::string> spellings {"6.060142517089844", "NaN", "\"NaN\"", "Infinity", "\"-Infinity\"",
        "-Infinity", "null", "1.728774402596541e+09"};
    for (std::size_t i = 0; i < spellings.size(); ++i) {
        file.add(wandb::row({{"train/loss", spellings[i]}, {"_step", std::to_string(i)}}));
    }
    const auto log = readFile(file);
    EXPECT_EQ(log.format, "wandb");
    const auto loss = find(log, "loss");
    EXPECT_THAT(steps(loss), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    EXPECT_THAT(states(loss),
        ElementsAre(PointState::finite, PointState::nan, PointState::nan, PointState::posInf, PointState::negInf,
            PointState::negInf, PointState::reported, PointState::finite));
    EXPECT_EQ(loss.points[0].value, 6.060142517089844);
    EXPECT_EQ(loss.points[7].value, 1728774402.596541);
    EXPECT_EQ(loss.points[3].line, 4) << "the record";
    EXPECT_EQ(loss.missing, 1);
    EXPECT_EQ(log.lines, 8);
    EXPECT_EQ(log.bytes, static_cast<std::int64_t>(file.size()));
    EXPECT_THAT(log.events, IsEmpty());
}

TEST_F(WandbFiles, theTrainersOwnStepGoesBeforeWandbsCount)
{
    const auto log = readFile(wandb::File()
                                  .add(wandb::row({{"gpu", "1"}, {"_step", "0"}}))
                                  .add(wandb::row({{"iter", "0"}, {"loss", "4"}, {"_step", "1"}}))
                                  .add(wandb::row({{"iter", "250"}, {"loss", "3"}, {"_step", "2"}}))
                                  .add(wandb::row({{"accuracy", "0.5"}, {"_step", "3"}}))
                                  .add(wandb::row({{"loss", "2"}, {"_step", "4"}, {"iter", "500"}})));
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(0, 250, 500));
    const auto accuracy = find(log, "accuracy");
    EXPECT_THAT(steps(accuracy), ElementsAre(250)) << "the last step that was said";
    EXPECT_TRUE(accuracy.stepInferred);
    EXPECT_THAT(names(log), Not(Contains("iter")));
    EXPECT_THAT(names(log), Not(Contains("_step")));
}

TEST_F(WandbFiles, aStepThatIsNotLoggedWithTheLossIsNotTheSteps)
{
    const auto log = readFile(wandb::File()
                                  .add(wandb::row({{"loss", "4"}, {"_step", "10"}}))
                                  .add(wandb::row({{"loss", "3"}, {"_step", "11"}}))
                                  .add(wandb::row({{"sampler", "1"}, {"step", "3"}, {"_step", "12"}}))
                                  .add(wandb::row({{"loss", "2"}, {"_step", "13"}})));
    const auto loss = find(log, "loss");
    EXPECT_THAT(steps(loss), ElementsAre(10, 11, 13));
    EXPECT_FALSE(loss.stepInferred);
    EXPECT_THAT(steps(find(log, "sampler")), ElementsAre(12));
}

TEST_F(WandbFiles, aDeclaredStepCountsWhereItIsOne)
{
    const auto declared = [](const std::string& metric) {
        return wandb::record(12, [&](auto& message) {
            message.add_string(2, "*");
            message.add_string(4, metric);
        });
    };
    const auto log = readFile(
        wandb::File()
            .add(declared("tokens_seen"))
            .add(declared("optimizer/my_step"))
            .add(wandb::row({{"tokens_seen", "4096"}, {"optimizer/my_step", "100"}, {"loss", "4"}, {"_step", "0"}})));
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(100));
    EXPECT_THAT(values(find(log, "tokens_seen")), ElementsAre(4096));
}

TEST_F(WandbFiles, veryLargeAndRepeatedStepsStayWhatTheyAre)
{
    const auto log = readFile(wandb::File()
                                  .add(wandb::row({{"loss", "4"}, {"_step", "999999999999999999"}}))
                                  .add(wandb::row({{"loss", "3"}, {"_step", "1000000000000000000"}}))
                                  .add(wandb::row({{"loss", "NaN"}, {"_step", "1000000000000000000"}})));
    const auto loss = find(log, "loss");
    EXPECT_THAT(steps(loss), ElementsAre(999999999999999999, 1000000000000000000, 1000000000000000000));
    EXPECT_THAT(states(loss), ElementsAre(PointState::finite, PointState::finite, PointState::nan));
}

TEST_F(WandbFiles, aStepThatGoesBackBeginsASegment)
{
    const auto log = readFile(wandb::File()
                                  .add(wandb::row({{"loss", "4"}, {"step", "100"}}))
                                  .add(wandb::row({{"loss", "3"}, {"step", "50"}})));
    EXPECT_THAT(steps(find(log, "loss", {}, 0)), ElementsAre(100));
    EXPECT_THAT(steps(find(log, "loss", {}, 1)), ElementsAre(50));
}

TEST_F(WandbFiles, theStepOfTheRecordIsTakenWhereNoItemHasOne)
{
    const auto stepped = wandb::record(2, [](auto& history) {
        wandb::addItems(history, {{"loss", "4"}});
        protozero::pbf_writer step(history, 2);
        step.add_int64(1, 40);
    });
    const auto log = readFile(wandb::File().add(stepped).add(wandb::row({{"lr", "4"}})));
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(40));
    EXPECT_TRUE(find(log, "lr").stepInferred) << "rows without any step are counted";
}

TEST_F(WandbFiles, nestedKeysAndTablesAreNamedWithDots)
{
    const auto nested = wandb::record(2, [](auto& history) {
        protozero::pbf_writer item(history, 1);
        item.add_string(2, "train");
        item.add_string(2, "loss");
        item.add_string(16, "2.5");
    });
    const auto log = readFile(wandb::File().add(nested).add(
        wandb::row({{"eval", R"({"loss": NaN, "deep": {"er": 3, "text": "x"}, "gone": null})"},
            {"weights", R"({"_type": "histogram", "values": [1, 2], "bins": [0, 1]})"}, {"text", "\"nothing\""},
            {"_runtime", "5"}, {"_timestamp", "1.7e9"}, {"_step", "3"}})));
    EXPECT_THAT(names(log), testing::UnorderedElementsAre("loss", "val_loss", "eval.deep.er"));
    EXPECT_THAT(states(find(log, "val_loss")), ElementsAre(PointState::nan));
}

TEST_F(WandbFiles, whatIsLoggedLessOftenIsNotMissing)
{
    const auto log = readFile(wandb::File()
                                  .add(wandb::row({{"loss", "4"}, {"lr", "1"}, {"_step", "0"}}))
                                  .add(wandb::row({{"lr", "1"}, {"_step", "1"}})));
    EXPECT_EQ(find(log, "loss").missing, 0);
}

TEST_F(WandbFiles, theConsoleGivesEventsAndValuesOfItsOwn)
{
    wandb::File file;
    file.add(wandb::row({{"iter", "0"}, {"train/loss", "6.0601"}, {"_step", "0"}}));
    for (const auto* piece : {"iter 0: loss 6.0659, time 254.53ms, mfu -100.00%", "\n", "iter 10: loss na",
             "n, time 20.00ms, mfu 9.00%\r\n"}) {
        file.add(wandb::printed(piece));
    }
    file.add(wandb::printed("Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n", true));
    file.add(wandb::printed("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"));
    file.add(wandb::printed("\n    step()\nValueError: nan loss encountered\n", true));
    const auto log = readFile(file);
    EXPECT_THAT(values(find(log, "loss")), ElementsAre(6.0601)) << "as it was logged";
    const auto console = find(log, "loss (console)");
    EXPECT_THAT(steps(console), ElementsAre(0, 10));
    EXPECT_THAT(states(console), ElementsAre(PointState::finite, PointState::nan));
    EXPECT_EQ(console.points[1].line, 5) << "the record that ended the line";
    EXPECT_THAT(texts(log),
        testing::UnorderedElementsAre("nan_loss: ValueError: nan loss encountered",
            "infrastructure: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"));
    EXPECT_THAT(log.events[0].detail + log.events[1].detail, HasSubstr("train.py"));
}

TEST_F(WandbFiles, aConsoleThatLiesBesideIsReadThere)
{
    const auto bytes = wandb::File()
                           .add(wandb::row({{"loss", "4"}, {"_step", "0"}}))
                           .add(wandb::printed("NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"))
                           .bytes();
    std::filesystem::create_directories(m_folder.path() / "run" / "files");
    const auto path = m_folder.write(std::string("run/") + wandbRunName, bytes);
    m_folder.write("run/files/output.log", "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n");
    for (const auto& given : {path, m_folder.path()}) {
        const auto run = ingest::readRun(given);
        ASSERT_TRUE(run);
        ASSERT_EQ(run->events.size(), 1U) << given;
        EXPECT_THAT(run->events[0].source, HasSubstr("files/output.log"));
        EXPECT_EQ(run->series.size(), 1U);
    }
    m_folder.write("run/files/output.log", "");
    EXPECT_THAT(ingest::readRun(path)->events.at(0).source, wandbRunName);
}

TEST_F(WandbFiles, configurationAndFactsAreSettings)
{
    const auto run = wandb::record(17, [](auto& message) {
        message.add_string(1, "kt2awly2");
        message.add_string(2, "an entity");
        message.add_string(3, "shakespeare-char");
        {
            protozero::pbf_writer config(message, 4);
            wandb::addItems(config,
                {{"lr", "0.001"}, {"optimizer", R"({"name": "muon", "betas": [0.9, 0.95]})"},
                    {"_wandb", R"({"python": "3.12"})"}});
        }
        message.add_string(13, "a host");
        protozero::pbf_writer git(message, 21);
        git.add_string(2, "abc123");
    });
    const auto environment = wandb::record(26, [](auto& message) {
        message.add_string(2, "3.12.1");
        message.add_string(18, "NVIDIA H100 80GB HBM3");
    });
    const auto log = readFile(wandb::File()
                                  .add(run)
                                  .add(environment)
                                  .add(wandb::config({{"lr", "0.001"}, {"api_key", "\"0123\""}, {"eps", "NaN"}}))
                                  .add(wandb::config({{"lr", "0.002"}})));
    EXPECT_THAT(settings(log),
        testing::UnorderedElementsAre("wandb.run_id=kt2awly2", "wandb.project=shakespeare-char", "git.commit=abc123",
            "lr=0.001", "optimizer.name=muon", "optimizer.betas=[0.9, 0.95]", "python.version=3.12.1",
            "gpu.name=NVIDIA H100 80GB HBM3", "eps=NaN", "lr=0.002"));
    EXPECT_THAT(log.settings.back().line, 4);
    EXPECT_THAT(log.series, IsEmpty());
}

TEST_F(WandbFiles, anExitCodeIsAnEventUnlessItIsZero)
{
    const auto exit = [](int code) {
        return wandb::File()
            .add(wandb::record(18,
                [&](auto& message) {
                    message.add_int32(1, code);
                    message.add_int32(2, 100);
                }))
            .add(wandb::record(22, [](auto&) {}));
    };
    EXPECT_THAT(
        texts(readFile(exit(255))), ElementsAre("terminated: W&B noted that the program ended with exit code 255"));
    EXPECT_THAT(readFile(exit(0)).events, IsEmpty());
}

TEST_F(WandbFiles, aRealOneGivesItsRows)
{
    const std::string name = "wandb_offline_binary__jackokeefe11__nanoGPT__run-kt2awly2.wandb";
    const auto path = std::filesystem::path(NANSCOPE_SHARED_DATA) / "logs" / name;
    if (!std::filesystem::exists(path)) {
        GTEST_SKIP() << "the real logs are not here";
    }
    const auto log = ingest::readLog(path, name);
    ASSERT_TRUE(log) << log.error().what;
    const auto loss = find(*log, "loss");
    ASSERT_EQ(loss.points.size(), 21U);
    EXPECT_EQ(loss.points[1].step, 250);
    EXPECT_EQ(loss.points[1].value, 2.5832927227020264);
    EXPECT_EQ(loss.points[20].step, 5000);
    EXPECT_EQ(loss.points[20].value, 0.11914050579071045);
    EXPECT_EQ(find(*log, "loss (console)").pointCount, 501);
    EXPECT_EQ(log->lines, 1168);
    EXPECT_THAT(settings(*log), Contains("dtype=float16"));
    EXPECT_THAT(log->events, IsEmpty());
}
