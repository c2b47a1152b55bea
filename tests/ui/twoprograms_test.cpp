// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The command line and the window answer alike: both work through core/workflow.
#include <filesystem>
#include <fstream>

#include <QProcess>
#include <QTemporaryDir>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/diagnose/rejudge.h"
#include "core/model/verdict.h"
#include "core/report/input/reportinput.h"
#include "core/session/session.h"
#include "tests/ui/samples.h"
#include "ui/jobs/readrun.h"
#include "ui/jobs/reporter.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

namespace fs = std::filesystem;

using test::patienceMs;

std::string answerOf(const QStringList& arguments)
{
    QProcess program;
    program.start(QStringLiteral(NANSCOPE_PROGRAMS "/nanscope"), arguments);
    EXPECT_TRUE(program.waitForFinished(patienceMs));
    return program.readAllStandardOutput().toStdString();
}

class TwoPrograms : public testing::Test
{
protected:
    void SetUp() override
    {
        run = fs::path(folder.path().toStdString()) / "run";
        fs::copy(NANSCOPE_SAMPLE, run, fs::copy_options::recursive);
        fs::remove(run / "sample.nanscope");
    }

    /// As the window opens and judges it.
    LoadedRun judged(const fs::path& path) const
    {
        auto read = loadRun(path, {}, [this](const fs::path& /*session*/) { return UserContext {{}, choices}; });
        EXPECT_TRUE(read) << read.error().what;
        OpenDevice own;
        auto diagnosis = judgeRun(read->loaded, {}, {}, own, {});
        EXPECT_TRUE(diagnosis) << diagnosis.error().what;
        read->loaded.diagnosis = std::make_shared<const Diagnosis>(std::move(*diagnosis));
        read->loaded.foundBy = choices.spikeRule;
        return read->loaded;
    }

    bool wouldJudge(const fs::path& path) const
    {
        const auto read = loadRun(path, {}, [this](const fs::path& /*session*/) { return UserContext {{}, choices}; });
        EXPECT_TRUE(read) << read.error().what;
        return read->changed;
    }

    QTemporaryDir folder;
    fs::path run;
    diagnose::FindingChoices choices; ///< in the window
};

/// Without the command that wrote it, which names what was opened.
nlohmann::json comparable(const std::string& report)
{
    auto json = nlohmann::json::parse(report);
    json.erase("command_line");
    return json;
}

TEST_F(TwoPrograms, TheWindowJudgesOnADeviceOfTheWorkerAndOnTheCpuWhereThereIsNone)
{
    const fs::path worker = fs::path(folder.path().toStdString()) / "worker";
    std::ofstream(worker) << "#!/bin/sh\nexec '" << NANSCOPE_PROGRAMS << "/nanscope' serve --device cpu\n";
    fs::permissions(worker, fs::perms::owner_all);
    const auto read = loadRun(run, {});
    ASSERT_TRUE(read);
    OpenDevice own;
    OpenDevice open;
    OpenDevice missing;
    const auto here = judgeRun(read->loaded, {}, {}, own, {});
    const auto there = judgeRun(read->loaded, {}, {"cuda:0", worker}, open, {});
    const auto nowhere = judgeRun(read->loaded, {}, {"cuda:0", "/nowhere/worker"}, missing, {});
    ASSERT_TRUE(here && there && nowhere);
    EXPECT_FALSE(own.device || missing.device);
    const auto* kept = open.device.get();
    JobContext superseded;
    ASSERT_TRUE(judgeRun(read->loaded, {}, {"cuda:0", worker}, open, superseded));
    superseded.cancel.cancel(); // as each new request does with the one before it
    const auto again = judgeRun(read->loaded, {}, {"cuda:0", worker}, open, {});
    ASSERT_TRUE(again);
    EXPECT_EQ(open.device.get(), kept) << "one process for all judgements";
    EXPECT_FALSE(open.device->lost());
    EXPECT_EQ(again->captures.front().summary, here->captures.front().summary);
    auto logsOnly = *read->loaded.run;
    logsOnly.captures.clear();
    auto nothingToReplay = read->loaded;
    nothingToReplay.run = std::make_shared<const RunData>(logsOnly);
    nothingToReplay.session.clear();
    OpenDevice unopened;
    EXPECT_TRUE(judgeRun(nothingToReplay, {}, {"cuda:0", worker}, unopened, {}));
    EXPECT_FALSE(unopened.device);
    const auto nothingReplayed = judgeRun(nothingToReplay, {}, {"cuda:0", worker}, open, {});
    ASSERT_TRUE(nothingReplayed);
    EXPECT_EQ(nothingReplayed->replayedOn, "");
    EXPECT_EQ(here->replayedOn, "");
    EXPECT_TRUE(there->replayedOn.starts_with("eigen")) << there->replayedOn;
    EXPECT_TRUE(nowhere->replayedOn.starts_with("the CPU; cuda:0 cannot be used (")) << nowhere->replayedOn;
    for (const auto* other : {&*there, &*nowhere}) {
        EXPECT_EQ(other->captures.front().summary, here->captures.front().summary);
        EXPECT_TRUE(other->captures.front().facts.replayed);
    }
}

TEST_F(TwoPrograms, WriteTheSameReportOfASession)
{
    const auto loaded = judged(run);
    const auto session = loaded.session;
    ASSERT_FALSE(session.empty());
    const auto input = reportInput({loaded, {}});
    ASSERT_TRUE(input);
    const auto file = folder.filePath(QStringLiteral("report.json"));
    answerOf({QStringLiteral("report"), qstr(session.string()), QStringLiteral("-o"), file});
    std::ifstream stream(file.toStdString());
    const std::string theirs {std::istreambuf_iterator<char>(stream), {}};
    EXPECT_EQ(comparable(report::jsonReport(*input)), comparable(theirs));
}

TEST_F(TwoPrograms, WriteTheSameReportOverWhatTheUserSaysRan)
{
    auto loaded = judged(run);
    const auto all = comparable(report::jsonReport(*reportInput({loaded, {}})));
    const CaptureVerdict& birth = loaded.diagnosis->captures.front();
    const auto ticks = diagnose::ticksOf(birth, loaded.catalogue);
    ASSERT_GE(ticks.size(), 2U);
    loaded.observed.answers = {{birth.capture, {ticks.front().name}}};
    ASSERT_TRUE(storeObserved(loaded, loaded.observed));
    const auto one = comparable(report::jsonReport(*reportInput({loaded, {}})));
    EXPECT_NE(one, all);
    const auto file = folder.filePath(QStringLiteral("report.json"));
    answerOf({QStringLiteral("report"), qstr(loaded.session.string()), QStringLiteral("-o"), file});
    std::ifstream stream(file.toStdString());
    EXPECT_EQ(one, comparable(std::string(std::istreambuf_iterator<char>(stream), {})));
}

TEST_F(TwoPrograms, WriteTheSameReportByOtherFindings)
{
    test::writeSpikes(run);
    const auto file = folder.filePath(QStringLiteral("report.json"));
    const auto byCommandLine = [&](const QString& session, const QString& rule, const QString& silenced) {
        answerOf({QStringLiteral("report"), session, QStringLiteral("-o"), file, QStringLiteral("--spike-rule"), rule,
            QStringLiteral("--silence"), silenced});
        std::ifstream stream(file.toStdString());
        return comparable(std::string(std::istreambuf_iterator<char>(stream), {}));
    };
    choices = {{"P12", "log-interval"}, "lightning"};
    auto loaded = judged(run);
    const auto session = qstr(loaded.session.string());
    const auto first = comparable(report::jsonReport(*reportInput({loaded, {}})));
    EXPECT_EQ(first, byCommandLine(session, QStringLiteral("lightning"), QStringLiteral("log-interval,P12")));

    choices = {{"P13"}, "megatron"};
    EXPECT_FALSE(wouldJudge(run)) << "no capture is replayed for it";
    const auto again = loadRun(run, {}, [this](const fs::path& /*session*/) { return UserContext {{}, choices}; });
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->loaded.findingsDue());
    const auto second = comparable(report::jsonReport(*reportInput({again->loaded, {}})));
    EXPECT_EQ(second, byCommandLine(session, QStringLiteral("megatron"), QStringLiteral("P13")));
    EXPECT_NE(first, second);
}

TEST_F(TwoPrograms, ShowWhatTheOtherSilencedByTheirOwnChoices)
{
    test::writeSpikes(run);
    const auto session = fs::path(folder.path().toStdString()) / "kept.nanscope";
    const auto fired = [&] {
        const auto read = loadRun(session, {}, [this](const fs::path& /*session*/) {
            return UserContext {{}, choices};
        });
        EXPECT_TRUE(read);
        EXPECT_FALSE(read->changed);
        std::vector<std::string> ids;
        for (const auto& finding : read->loaded.diagnosis->findings) {
            if (finding.state == FindingState::fired) {
                ids.push_back(finding.id);
            }
        }
        return ids;
    };
    answerOf({QStringLiteral("diagnose"), qstr(run.string()), QStringLiteral("--session"), qstr(session.string()),
        QStringLiteral("--silence"), QStringLiteral("P12")});
    const auto all = fired();
    EXPECT_THAT(all, testing::Contains("P12"));
    choices.silenced = {"P12"};
    EXPECT_THAT(fired(), testing::Not(testing::Contains("P12")));
}

TEST_F(TwoPrograms, JudgeARunOnceForBoth)
{
    (void)judged(run);
    EXPECT_FALSE(wouldJudge(run));
    const auto session = fs::path(folder.path().toStdString()) / "kept.nanscope";
    answerOf({QStringLiteral("diagnose"), qstr(run.string()), QStringLiteral("--session"), qstr(session.string())});
    EXPECT_FALSE(wouldJudge(session)) << "the command line judged all that the session holds";

    std::ofstream(run / "more.csv") << "step,loss\n1,2.5\n2,2.25\n";
    answerOf({QStringLiteral("import"), qstr(run.string()), QStringLiteral("--session"), qstr(session.string())});
    EXPECT_TRUE(wouldJudge(session)) << "what the command line imported since has not been judged";
}

TEST_F(TwoPrograms, TakeADatabaseOfAnyNameForASession)
{
    const auto session = fs::path(folder.path().toStdString()) / "night.db";
    answerOf({QStringLiteral("import"), qstr(run.string()), QStringLiteral("--session"), qstr(session.string())});
    const auto read = loadRun(session, {});
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(read->loaded.run->captures.size(), 10U);
    EXPECT_EQ(read->loaded.session, session);
}

TEST_F(TwoPrograms, JudgeAgainWhatWasJudgedWithOtherFiles)
{
    const auto session = fs::path(folder.path().toStdString()) / "kept.nanscope";
    std::ofstream(folder.filePath(QStringLiteral("params.txt")).toStdString()) << "w [96, 160]\n";
    answerOf({QStringLiteral("diagnose"), qstr(run.string()), QStringLiteral("--session"), qstr(session.string()),
        QStringLiteral("--params"), folder.filePath(QStringLiteral("params.txt"))});
    EXPECT_TRUE(wouldJudge(session)) << "the window was given no list of parameters";
}

} // namespace

} // namespace nanscope
