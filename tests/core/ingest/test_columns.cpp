// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/session/session.h"
#include "logfolder.h"

namespace nanscope {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Columns : public LogFolder
{
protected:
    static ingest::ColumnMap map(const std::vector<std::string>& words)
    {
        const auto columns = ingest::parseColumnMap(words);
        EXPECT_TRUE(columns) << (columns ? "" : columns.error().what);
        return columns.value_or(ingest::ColumnMap {});
    }

    ingest::LogContents readWith(
        const std::string& name, const std::string& text, const std::vector<std::string>& words)
    {
        const auto contents = ingest::readLog(m_folder.write(name, text), name, 0, 0, {}, map(words));
        EXPECT_TRUE(contents);
        return contents.value_or(ingest::LogContents {});
    }

    static std::vector<std::string> names(const ingest::LogContents& contents)
    {
        std::vector<std::string> names;
        for (const auto& series : contents.series) {
            names.push_back(series.name);
        }
        return names;
    }

    static std::string refusal(const std::vector<std::string>& words)
    {
        const auto columns = ingest::parseColumnMap(words);
        return columns ? "" : columns.error().what;
    }

    std::string rejection(const std::string& name, const std::string& text, const std::vector<std::string>& words = {})
    {
        const auto run = ingest::readRun(m_folder.write(name, text), {}, map(words));
        EXPECT_TRUE(run);
        return run && run->rejected.size() == 1 ? run->rejected.front().reason : "";
    }

    Result<RunData> import(const std::optional<ingest::ColumnMap>& columns = std::nullopt)
    {
        auto session = session::Session::open(m_folder / "s.nanscope", session::OpenMode::create);
        return ingest::importRun(m_folder / "run", *session, {}, columns).and_then([&](const RunData&) {
            return session->load();
        });
    }

    static std::vector<double> lossOf(const Result<RunData>& run)
    {
        std::vector<double> all;
        for (const auto& series : run->series) {
            if (series.name == "loss") {
                const auto own = values(series);
                all.insert(all.end(), own.begin(), own.end());
            }
        }
        return all;
    }
};

TEST_F(Columns, ATableOfUnknownNamesIsReadAsTheUserSays)
{
    const std::string table = "tick,objective,g\n3,2.5,1\n6,nan,2\n";
    EXPECT_THAT(read("a.csv", table).series, IsEmpty());
    const auto log = readWith("a.csv", table, {"step=tick", "loss=objective", "grad_norm=g"});
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(3, 6));
    EXPECT_THAT(states(find(log, "loss")), ElementsAre(PointState::finite, PointState::nan));
    EXPECT_THAT(values(find(log, "grad_norm")), ElementsAre(1, 2));
}

TEST_F(Columns, TheUsersWordGoesBeforeNamesThatAreKnown)
{
    const auto log =
        readWith("a.csv", "step,iter,loss,train_loss,total\n1,10,5,6,7\n2,20,5,6,8\n", {"loss=total", "step=iter"});
    EXPECT_THAT(values(find(log, "loss")), ElementsAre(7, 8));
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(10, 20));
    EXPECT_THAT(values(find(log, "loss (2)")), ElementsAre(5, 5)) << "what is called so keeps its values";
    EXPECT_THAT(values(find(log, "train_loss")), ElementsAre(6, 6));
    EXPECT_THAT(values(find(log, "step")), ElementsAre(1, 2));
}

TEST_F(Columns, AFileWithoutTheColumnIsReadAsEver)
{
    const auto log = readWith("a.jsonl", "{\"step\": 4, \"loss\": 2.5}\n", {"loss=total", "step=iter"});
    EXPECT_THAT(values(find(log, "loss")), ElementsAre(2.5));
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(4));
}

TEST_F(Columns, KeysOfObjectsAreColumns)
{
    const auto log = readWith("a.jsonl",
        "{\"loss\": 9, \"tick\": 1, \"step\": 7, \"ce\": 2.5, \"who\": 3}\n"
        "{\"loss\": 9, \"tick\": 2, \"step\": 7, \"ce\": NaN, \"who\": 3}\n",
        {"loss=ce", "step=tick", "rank=who"});
    EXPECT_THAT(steps(find(log, "loss", 3)), ElementsAre(1, 2));
    EXPECT_THAT(states(find(log, "loss", 3)), ElementsAre(PointState::finite, PointState::nan));
    EXPECT_THAT(values(find(log, "loss (2)", 3)), ElementsAre(9, 9));
}

TEST_F(Columns, KeysOfPairsAreColumnsWhereverTheyStand)
{
    const auto log = readWith("a.log",
        "[rank1]: epoch 3 | ce=2.5, t=1,000 gn: 0.5\n"
        "[rank1]: saving to x=y\n"
        "[rank1]: {'ce': nan, 't': 1001}\n",
        {"loss=ce", "step=t", "grad_norm=gn"});
    EXPECT_THAT(steps(find(log, "loss", 1)), ElementsAre(1000, 1001));
    EXPECT_THAT(states(find(log, "loss", 1)), ElementsAre(PointState::finite, PointState::nan));
    EXPECT_THAT(values(find(log, "grad_norm", 1)), ElementsAre(0.5));
}

TEST_F(Columns, AStepAtTheFrontOfALineNeedsNoWord)
{
    const auto log = readWith("a.log", "Step 10 | ce=2.5\nStep 20 | ce=2.25\n", {"loss=ce"});
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(10, 20));
}

TEST_F(Columns, BarsAndBlanksSeparateToo)
{
    EXPECT_THAT(values(find(read("a.txt", "step|loss\n1|2.5\n"), "loss")), ElementsAre(2.5));
    EXPECT_THAT(values(find(read("a.txt", "step  loss\n1  2.5\n 2 3.5\n"), "loss")), ElementsAre(2.5, 3.5));
    EXPECT_THAT(read("a.txt", "the loss of step\nwas 3 today\n").series, IsEmpty()) << "prose";
}

TEST_F(Columns, WhatCannotBeMeantIsRefused)
{
    EXPECT_THAT(refusal({"loss"}), HasSubstr("NAME=COLUMN"));
    EXPECT_THAT(refusal({"=a"}), HasSubstr("NAME=COLUMN"));
    EXPECT_THAT(refusal({"colour=a"}), HasSubstr("cannot be 'colour'"));
    EXPECT_THAT(refusal({"loss=a", "loss=b"}), HasSubstr("'a' and 'b' cannot both be the loss"));
    EXPECT_THAT(refusal({"loss=a", "lr=a"}), HasSubstr("'a' cannot be both loss and lr"));
    EXPECT_THAT(refusal({"loss=a\nstep=b"}), HasSubstr("one line"));
    EXPECT_EQ(refusal({"loss=a", "loss=a"}), "");
    EXPECT_EQ(map({"learning_rate=a=b"}).columnOf("lr"), "a=b");
}

TEST_F(Columns, AnUnknownTableNamesItsColumnsAndWhatToTry)
{
    const auto said = rejection("a.csv", "tick,mean reward,g\n1,2.5,0.1\n2,2.25,0.2\n");
    EXPECT_THAT(said, HasSubstr("(tick, mean reward, g)"));
    EXPECT_THAT(said, HasSubstr("--map step=tick --map 'loss=mean reward'"));
    EXPECT_THAT(rejection("b.jsonl", "{\"t\": 1, \"ce\": 2.5}\n{\"t\": 2, \"ce\": 2.25}\n"),
        HasSubstr("--map step=t --map loss=ce"));
    EXPECT_THAT(rejection("c.log", "t=1 ce=2.5\nt=2 ce=2.25\n"), HasSubstr("--map step=t --map loss=ce"));
    EXPECT_EQ(rejection("d.log", "hello\nworld\n"), "");
}

TEST_F(Columns, AFolderIsOnlyToldOfTablesThatLookLikeLogs)
{
    m_folder.write("run/cities.csv", "name,people\nBerlin,3.5\nParis,2.1\n");
    m_folder.write("run/train.csv", "tick,ce_loss_x,g\n1,2.5,0.1\n2,2.25,0.2\n");
    const auto run = ingest::readRun(m_folder / "run");
    ASSERT_TRUE(run);
    ASSERT_EQ(run->rejected.size(), 1U);
    EXPECT_EQ(run->rejected.front().path, "train.csv");
}

TEST_F(Columns, ALogOfWhichNoLineIsKnownIsSaid)
{
    m_folder.write("run/train.log", "hello\nworld\n");
    const auto alone = ingest::readRun(m_folder / "run" / "train.log");
    ASSERT_TRUE(alone);
    ASSERT_EQ(alone->notes.size(), 1U);
    EXPECT_EQ(alone->notes.front().path, "train.log");
    EXPECT_THAT(alone->notes.front().reason, HasSubstr("no line of this log holds a number or an event"));
    EXPECT_TRUE(alone->rejected.empty());
    m_folder.write("run/known.log", "NVRM: Xid 79\n");
    m_folder.write("run/empty.log", "");
    m_folder.write("run/requirements.txt", "torch\n");
    m_folder.write("run/Makefile", "all:\n\ttrue\n");
    m_folder.write("run/wandb/run-1/logs/debug-internal.log", "hello\n");
    const auto among = ingest::readRun(m_folder / "run");
    ASSERT_EQ(among->notes.size(), 1U);
    EXPECT_EQ(among->notes.front().path, "train.log");
    m_folder.write("run/console.log", "step 1 loss 2.5\nstep 2 loss 2.25\n");
    EXPECT_TRUE(ingest::readRun(m_folder / "run")->notes.empty()) << "another log tells the run";
    auto session = session::Session::open(m_folder / "s.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    for (const char* look : {"first", "again"}) {
        EXPECT_TRUE(ingest::importRun(m_folder / "run", *session)->notes.empty()) << look;
    }
}

TEST_F(Columns, ManyLogsOfWhichNoLineIsKnownAreOneNote)
{
    for (int rank = 0; rank < 8; ++rank) {
        m_folder.write("run/rank" + std::to_string(rank) + ".log", "hello from " + std::to_string(rank) + "\n");
    }
    auto session = session::Session::open(m_folder / "s.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    const auto run = ingest::importRun(m_folder / "run", *session);
    ASSERT_TRUE(run);
    ASSERT_EQ(run->notes.size(), 1U);
    EXPECT_EQ(run->notes.front().path, "rank0.log");
    EXPECT_THAT(run->notes.front().reason, HasSubstr("this log and 7 more hold no number"));
}

TEST_F(Columns, AStepThatIsNeverWholeIsSaid)
{
    EXPECT_THAT(rejection("a.csv", "at,ce\n0.5,2\n0.75,3\n", {"step=at", "loss=ce"}),
        HasSubstr("'at' cannot be the step, it holds no whole numbers"));
}

TEST_F(Columns, TheSurveyFindsColumnsFarDownAndNamesTheOthers)
{
    std::string text;
    for (int i = 0; i < 200; ++i) {
        text += "{\"step\": " + std::to_string(i) + ", \"loss\": 1}\n";
    }
    m_folder.write("run/a.jsonl", text + "{\"step\": 200, \"held/out\": 2}\n");
    const auto there = ingest::surveyColumns({m_folder / "run"}, map({"val_loss=held/out"}));
    ASSERT_TRUE(there);
    EXPECT_THAT(there->missing, IsEmpty());
    const auto missing = ingest::surveyColumns({m_folder / "run"}, map({"val_loss=held_out"}));
    ASSERT_TRUE(missing);
    EXPECT_THAT(missing->missing, ElementsAre("held_out"));
    EXPECT_THAT(missing->seen, Contains("held/out"));
}

TEST_F(Columns, ASessionKeepsThemAndReadsAgainWhatWasReadWithOthers)
{
    m_folder.write("run/a.csv", "step,loss,total\n1,5,7\n2,5,8\n");
    EXPECT_THAT(lossOf(import()), ElementsAre(5, 5));
    EXPECT_THAT(lossOf(import(map({"loss=total"}))), ElementsAre(7, 8));
    m_folder.write("run/a.csv", "3,5,9\n", true);
    EXPECT_THAT(lossOf(import()), ElementsAre(7, 8, 9)) << "a growing log goes on as it began";
    EXPECT_THAT(lossOf(import(ingest::ColumnMap {})), ElementsAre(5, 5, 5));
}

TEST_F(Columns, WhatWasReadWithOthersIsNoLogThatWasBegunAnew)
{
    m_folder.write("run/a.csv", "step,loss,total\n1,5,7\n2,5,8\n");
    ASSERT_TRUE(import());
    ASSERT_TRUE(import(map({"loss=total"})));
    auto session = session::Session::open(m_folder / "s.nanscope", session::OpenMode::readWrite);
    EXPECT_THAT(session->summary()->replaced, testing::IsEmpty());
    m_folder.write("run/a.csv", "step,loss,total\n1,6,9\n");
    EXPECT_THAT(lossOf(import(ingest::ColumnMap {})), ElementsAre(6));
    RunData before;
    ASSERT_EQ(session->summary()->replaced.size(), 1U);
    static_cast<LogRecords&>(before) = session->load()->replaced[0].records;
    EXPECT_THAT(lossOf(before), ElementsAre(7, 8)) << "as it was read then";
}

TEST_F(Columns, WhatWasJudgedWithOtherColumnsIsForgotten)
{
    m_folder.write("run/a.csv", "step,loss,total\n1,5,7\n2,5,8\n");
    ASSERT_TRUE(import());
    auto session = session::Session::open(m_folder / "s.nanscope", session::OpenMode::readWrite);
    ASSERT_TRUE(session->setDiagnosis("{}"));
    ASSERT_TRUE(import(map({"loss=total"})));
    EXPECT_EQ(session->diagnosis().value(), "");
    EXPECT_EQ(ingest::textOf(ingest::columnsOf(*session).value()), "loss=total\n");
}

} // namespace
} // namespace nanscope
