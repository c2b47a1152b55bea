// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The command line and the window answer alike: both work through core/workflow.
#include <filesystem>
#include <fstream>

#include <QProcess>
#include <QTemporaryDir>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/session/session.h"
#include "ui/jobs/readrun.h"
#include "ui/jobs/reportjob.h"
#include "ui/text.h"

namespace nanscope {

namespace {

namespace fs = std::filesystem;

constexpr int patienceMs = 120000;

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
        auto read = loadRun(path, {}, [](const fs::path& /*session*/) { return workflow::UserFiles(); });
        EXPECT_TRUE(read) << read.error().what;
        auto diagnosis = judgeRun(read->loaded, {}, {});
        EXPECT_TRUE(diagnosis) << diagnosis.error().what;
        read->loaded.diagnosis = std::make_shared<const Diagnosis>(std::move(*diagnosis));
        return read->loaded;
    }

    bool wouldJudge(const fs::path& path) const
    {
        const auto read = loadRun(path, {}, [](const fs::path& /*session*/) { return workflow::UserFiles(); });
        EXPECT_TRUE(read) << read.error().what;
        return read->changed;
    }

    QTemporaryDir folder;
    fs::path run;
};

/// Without the command that wrote it, which names what was opened.
nlohmann::json comparable(const std::string& report)
{
    auto json = nlohmann::json::parse(report);
    json.erase("command_line");
    return json;
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
    EXPECT_EQ(read->loaded.run->captures.size(), 9U);
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
