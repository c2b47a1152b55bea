// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Several sessions open on one file, and files that are not quite sessions.
#include <thread>

#include <gmock/gmock.h>
#include <sqlite3.h>

#include "core/session/database.h"
#include "core/session/lockwait.h"
#include "core/session/session.h"
#include "tests/core/session/oldersession.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

using testing::HasSubstr;

Series lossOf(const std::vector<double>& values, std::int64_t firstStep = 0)
{
    Series series;
    series.name = "loss";
    for (const double value : values) {
        series.points.push_back({firstStep, value, stateOf(value), firstStep + 1});
        ++firstStep;
    }
    return series;
}

/// What was taken of a log, from one byte to another.
session::LogMark between(std::int64_t from, std::int64_t to)
{
    session::LogMark mark;
    mark.from = from;
    mark.offset = to;
    return mark;
}

TEST(Writers, ThreadsThatWriteAtOnceAllSucceed)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.nanscope";
    ASSERT_TRUE(session::Session::open(path, session::OpenMode::create));
    constexpr int writers = 4;
    constexpr int each = 15;
    std::atomic<int> failures = 0;
    {
        std::vector<std::jthread> threads;
        for (int writer = 0; writer < writers; ++writer) {
            threads.emplace_back([&, writer] {
                auto session = session::Session::open(path, session::OpenMode::readWrite);
                for (int i = 0; session && i < each; ++i) {
                    const auto source = "rank" + std::to_string(writer) + "/" + std::to_string(i) + ".log";
                    failures += session->addLog(source, "dion", {}, {{lossOf({1, 2, 3})}, {}}) ? 0 : 1;
                    Cell cell;
                    cell.variant = source;
                    failures += session->addCell(cell) ? 0 : 1;
                }
                failures += session ? 0 : 1;
            });
        }
    }
    EXPECT_EQ(failures, 0);
    const auto session = session::Session::open(path, session::OpenMode::readOnly);
    ASSERT_TRUE(session);
    EXPECT_EQ(session->summary()->series.size(), static_cast<std::size_t>(writers * each));
    EXPECT_EQ(session->cells()->size(), static_cast<std::size_t>(writers * each));
}

TEST(Writers, AReaderSeesOneMomentWhileAWriterGoesOn)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.nanscope";
    auto writer = session::Session::open(path, session::OpenMode::create);
    ASSERT_TRUE(writer);
    auto reader = session::Session::open(path, session::OpenMode::readWrite);
    ASSERT_TRUE(reader);
    session::LogMark mark;
    for (int i = 0; i < 30; ++i) {
        mark.from = mark.offset;
        mark.offset += 10;
        ASSERT_TRUE(writer->addLog("c.log", "dion", mark, {{lossOf({1, 2, 3}, 3 * i)}, {}}));
        const auto run = reader->load();
        ASSERT_TRUE(run);
        ASSERT_EQ(run->series.size(), 1U);
        EXPECT_EQ(static_cast<std::int64_t>(run->series[0].points.size()), run->series[0].pointCount);
        EXPECT_EQ(run->series[0].pointCount, 3 * (i + 1));
    }
}

TEST(Writers, OfLogsStoredTogetherOnlyTheOneThatAnotherProgramHasIsRefused)
{
    const TemporaryFolder folder;
    auto one = session::Session::open(folder / "a.nanscope", session::OpenMode::create);
    auto two = session::Session::open(folder / "a.nanscope", session::OpenMode::readWrite);
    ASSERT_TRUE(one && two);
    const auto mark = between(0, 100);
    ASSERT_TRUE(one->addLog("b.log", "dion", mark, {{lossOf({1, 2})}, {}}));
    const auto refused = two->addLogs({{"a.log", "dion", mark, {{lossOf({1})}, {}}},
        {"b.log", "dion", mark, {{lossOf({1, 2})}, {}}}, {"c.log", "dion", mark, {{lossOf({3})}, {}}}});
    ASSERT_TRUE(refused);
    EXPECT_THAT(*refused, testing::ElementsAre("b.log"));
    const auto run = two->load();
    ASSERT_TRUE(run);
    ASSERT_EQ(run->series.size(), 3U);
    EXPECT_EQ(run->series[0].points.at(0).value, 1);
    EXPECT_EQ(run->series[1].pointCount, 2);
    EXPECT_EQ(run->series[2].points.at(0).value, 3);
}

// Logs of many ranks have the same steps and lines, which are stored once; those of a piece that was taken back to be
// continued are gone.
TEST(Writers, PiecesOfOneLogAndItsLikeAreStoredTogether)
{
    const TemporaryFolder folder;
    auto session = session::Session::open(folder / "a.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    const auto first = between(0, 100);
    const auto second = between(100, 200);
    const auto more = lossOf({3, 4}, 2);
    const auto stored =
        session->addLogs({{"a.log", "dion", first, {{lossOf({1, 2})}, {}}}, {"a.log", "dion", second, {{more}, {}}},
            {"b.log", "dion", first, {{lossOf({5, 6})}, {}}}, {"c.log", "dion", first, {{lossOf({7, 8})}, {}}}});
    ASSERT_TRUE(stored) << stored.error().what;
    EXPECT_THAT(*stored, testing::IsEmpty());
    const auto run = session->load();
    ASSERT_TRUE(run);
    ASSERT_EQ(run->series.size(), 3U);
    EXPECT_EQ(run->series[0].points.size(), 4U);
    ASSERT_EQ(run->series[1].points.size(), 2U);
    EXPECT_EQ(run->series[1].points[1].value, 6);
    ASSERT_EQ(run->series[2].points.size(), 2U);
    EXPECT_EQ(run->series[2].points[0].value, 7);
}

TEST(Writers, OfTwoImportsOfOneLogTheSecondIsRefusedAndNothingIsDoubled)
{
    const TemporaryFolder folder;
    auto one = session::Session::open(folder / "a.nanscope", session::OpenMode::create);
    auto two = session::Session::open(folder / "a.nanscope", session::OpenMode::readWrite);
    ASSERT_TRUE(one && two);
    const auto mark = between(0, 100);
    ASSERT_TRUE(one->addLog("c.log", "dion", mark, {{lossOf({1, 2})}, {}}));
    const auto refused = two->addLog("c.log", "dion", mark, {{lossOf({1, 2})}, {}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::busy);
    EXPECT_THAT(refused.error().what, HasSubstr("run the import again"));
    EXPECT_EQ(two->summary()->series.at(0).pointCount, 2);
    const auto known = two->logMark("c.log");
    ASSERT_TRUE(known && *known);
    EXPECT_EQ((*known)->offset, 100);
    EXPECT_EQ((*known)->from, 100) << "where the next addition has to begin";
}

TEST(Locks, WhatSqliteRefusesAtOnceIsTriedAgain)
{
    int calls = 0;
    session::untilUnlocked([&calls] {
        if (++calls < 4) {
            throw session::DatabaseFailure {{}, SQLITE_BUSY};
        }
    });
    EXPECT_EQ(calls, 4);
    EXPECT_THROW(session::untilUnlocked([] {
        throw session::DatabaseFailure {{}, SQLITE_CORRUPT};
    }),
        session::DatabaseFailure);
    const session::NoLockWait hurry;
    EXPECT_THROW(session::untilUnlocked([] {
        throw session::DatabaseFailure {{}, SQLITE_BUSY};
    }),
        session::DatabaseFailure);
}

TEST(Locks, ASessionThatIsBeingWrittenIsOpenedOnceItsWriterHasFinished)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.nanscope";
    ASSERT_TRUE(session::Session::open(path, session::OpenMode::create));
    sqlite3* writer = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &writer), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(writer, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    {
        const session::NoLockWait hurry;
        const auto refused = session::Session::open(path, session::OpenMode::readWrite);
        ASSERT_FALSE(refused);
        EXPECT_THAT(refused.error().what, HasSubstr("wait until it has finished"));
        EXPECT_TRUE(session::Session::open(path, session::OpenMode::readOnly));
    }
    // Whoever opens it reads for a moment, which a commit has to wait for.
    sqlite3_busy_timeout(writer, 60000);
    std::jthread opener([&] { EXPECT_TRUE(session::Session::open(path, session::OpenMode::readWrite)); });
    EXPECT_EQ(sqlite3_exec(writer, "COMMIT", nullptr, nullptr, nullptr), SQLITE_OK);
    opener.join();
    sqlite3_close(writer);
}

TEST(Locks, ASessionThatNobodyMayReadNowIsNotReadAroundItsLock)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.nanscope";
    ASSERT_TRUE(session::Session::open(path, session::OpenMode::create));
    sqlite3* writer = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &writer), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(writer, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
    const session::NoLockWait hurry;
    const auto refused = session::Session::open(path, session::OpenMode::readOnly);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("keeps the session locked"));
    sqlite3_close(writer);
}

TEST(Writers, ACaptureAddedTwiceIsOneCapture)
{
    const TemporaryFolder folder;
    auto one = session::Session::open(folder / "a.nanscope", session::OpenMode::create);
    auto two = session::Session::open(folder / "a.nanscope", session::OpenMode::readWrite);
    ASSERT_TRUE(one && two && one->setRun("elsewhere", "/elsewhere"));
    Capture capture;
    capture.identity = "same";
    capture.file = "a.pt";
    capture.path = "/runs/a.pt";
    capture.input = {{2, 2}, DType::float32, {Scan {}}};
    std::vector first {capture};
    capture.path = "/elsewhere/a.pt";
    std::vector second {capture};
    ASSERT_TRUE(one->addCaptures(first));
    ASSERT_TRUE(two->addCaptures(second));
    EXPECT_EQ(first[0].id, second[0].id);
    ASSERT_EQ(one->load()->captures.size(), 1U);
    EXPECT_EQ(one->load()->captures[0].path, "/elsewhere/a.pt");
    EXPECT_EQ(one->load()->captures[0].input.batches.size(), 1U);
}

TEST(Writers, AnUnknownLogHasNoMarkAndDroppingItIsNoError)
{
    const TemporaryFolder folder;
    auto session = session::Session::open(folder / "a.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    EXPECT_EQ(session->logMark("none.log").value(), std::nullopt);
    EXPECT_TRUE(session->dropLog("none.log"));
}

TEST(Migrations, AFileOfNoVersionIsNotTouchedAndTheVersionIsNamed)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.nanscope";
    ASSERT_TRUE(session::Session::open(path, session::OpenMode::create));
    change(path, "PRAGMA user_version = 0");
    const auto before = contentsOf(path);
    const auto refused = session::Session::open(path, session::OpenMode::readOnly);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("version 0"));
    EXPECT_EQ(contentsOf(path), before);
}

TEST(Migrations, ThatAreRefusedLeaveTheFileAsItWas)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.nanscope";
    {
        auto session = session::Session::open(path, session::OpenMode::create);
        ASSERT_TRUE(session && session->setRun("kept", "/kept"));
    }
    change(path, "PRAGMA user_version = 0");
    EXPECT_FALSE(session::Session::open(path, session::OpenMode::readWrite));
    change(path, ("PRAGMA user_version = " + std::to_string(session::sessionSchemaVersion)).c_str());
    const auto session = session::Session::open(path, session::OpenMode::readWrite);
    ASSERT_TRUE(session);
    EXPECT_EQ(session->summary()->name, "kept");
}

TEST(Migrations, AnotherProgramsDatabaseIsNeverMigrated)
{
    const TemporaryFolder folder;
    const auto path = folder / "other.db";
    change(path, "CREATE TABLE facts (a); PRAGMA application_id = 252006674");
    const auto before = contentsOf(path);
    for (const auto mode : {session::OpenMode::create, session::OpenMode::readWrite, session::OpenMode::readOnly}) {
        const auto refused = session::Session::open(path, mode);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().kind, ErrorKind::format);
    }
    EXPECT_EQ(contentsOf(path), before);
}

TEST(Migrations, AnEmptyFileBecomesASessionOnlyWhereOneMayBeMade)
{
    const TemporaryFolder folder;
    const auto path = folder.write("a.nanscope", "");
    EXPECT_FALSE(session::Session::open(path, session::OpenMode::readWrite));
    EXPECT_FALSE(session::Session::open(path, session::OpenMode::readOnly));
    EXPECT_EQ(std::filesystem::file_size(path), 0U);
    EXPECT_TRUE(session::Session::open(path, session::OpenMode::create));
    EXPECT_TRUE(session::Session::open(path, session::OpenMode::readOnly));
}

TEST(Query, ShowsEveryTypeAsText)
{
    const TemporaryFolder folder;
    auto session = session::Session::open(folder / "a.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    const auto table =
        session->query("SELECT 9223372036854775807 AS big, -0.5 AS real, 1e300 * 1e300 AS inf, NULL AS gap,"
                       " 'µ' AS text, x'' AS none, x'00ff' AS blob");
    ASSERT_TRUE(table);
    EXPECT_THAT(table->columns, testing::ElementsAre("big", "real", "inf", "gap", "text", "none", "blob"));
    EXPECT_THAT(
        table->rows.at(0), testing::ElementsAre("9223372036854775807", "-0.5", "inf", std::nullopt, "µ", "", "00ff"));
    EXPECT_TRUE(session->query("SELECT 1 WHERE 0")->rows.empty());
    EXPECT_EQ(session->query("SELECT 1 AS a, 2 AS a WHERE 0")->columns.size(), 2U);
}

TEST(Query, RefusesEveryWayToWriteAndSaysWhy)
{
    const TemporaryFolder folder;
    auto session = session::Session::open(folder / "a.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session && session->setRun("x", "/x"));
    for (const auto* sql : {"WITH t AS (SELECT 1) DELETE FROM facts", "UPDATE facts SET value = ''",
             "REPLACE INTO facts VALUES ('run_name', 'y')", "DROP TABLE facts", "ALTER TABLE facts RENAME TO f",
             "PRAGMA user_version = 9", "SELECT 1; SELECT 2", "REINDEX", "ANALYZE", "DETACH main",
             "SELECT * FROM pragma_user_version", "EXPLAIN DELETE FROM facts"}) {
        const auto refused = session->query(sql);
        ASSERT_FALSE(refused) << sql;
        EXPECT_EQ(refused.error().kind, ErrorKind::usage) << sql;
        EXPECT_FALSE(refused.error().what.empty()) << sql;
    }
    EXPECT_EQ(session->summary()->name, "x");
    EXPECT_FALSE(session->query("SELECT nothing FROM facts"));
    EXPECT_THAT(session->query("SELECT nothing FROM facts").error().what, HasSubstr("nothing"));
}

TEST(HashText, IsTheOfficialFnv1a)
{
    // Reference values of the FNV authors for 64 bits.
    EXPECT_EQ(session::hashText(""), "cbf29ce484222325");
    EXPECT_EQ(session::hashText("a"), "af63dc4c8601ec8c");
    EXPECT_EQ(session::hashText("foobar"), "85944171f73967e8");
}

} // namespace
} // namespace nanscope
