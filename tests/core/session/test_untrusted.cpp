// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "core/session/session.h"
#include "tests/core/session/oldersession.h"
#include "tests/core/session/temporaryfolder.h"

using namespace nanscope;
using testing::HasSubstr;

namespace {

Series someLoss()
{
    Series series;
    series.name = "loss";
    series.source = "console.log";
    for (int i = 0; i < 100; ++i) {
        series.points.push_back({i, 1.0 / (i + 1), PointState::finite, i + 1});
    }
    return series;
}

std::filesystem::path makeSession(const TemporaryFolder& folder)
{
    auto path = folder / "a.nanscope";
    auto session = session::Session::open(path, session::OpenMode::create);
    EXPECT_TRUE(session && session->setRun("run", "/run"));
    EXPECT_TRUE(session->addLog("console.log", "dion", {}, {{someLoss()}, {}}));
    Capture capture;
    capture.identity = "id";
    capture.input = {{2, 2}, DType::float32, {Scan {}}};
    std::vector captures {capture};
    EXPECT_TRUE(session->addCaptures(captures));
    Cell cell;
    cell.ops = {{0, OpName::input, 2, 2, {Scan {}},
        {TileMap {2, 2, 1, 1, 2, 2, {1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}, {1, 1, 1, 1}}}}};
    EXPECT_TRUE(session->addCell(cell));
    return path;
}

Error errorOf(const std::filesystem::path& path, session::OpenMode mode = session::OpenMode::readWrite)
{
    const auto session = session::Session::open(path, mode);
    EXPECT_FALSE(session);
    return session ? Error {} : session.error();
}

void readEverything(const std::filesystem::path& path)
{
    const auto session = session::Session::open(path, session::OpenMode::readOnly);
    if (!session) {
        EXPECT_FALSE(session.error().what.empty());
        return;
    }
    static_cast<void>(session->load());
    const auto cells = session->cells();
    for (const auto& cell : cells.value_or(std::vector<Cell> {})) {
        static_cast<void>(session->opTraces(cell.id));
    }
    static_cast<void>(session->diagnosis());
}

} // namespace

TEST(UntrustedSession, newerVersionIsRefusedWithBothVersions)
{
    const TemporaryFolder folder;
    const auto path = makeSession(folder);
    const auto own = "version " + std::to_string(session::sessionSchemaVersion);
    const auto newer = "version " + std::to_string(session::sessionSchemaVersion + 1);
    change(path, ("PRAGMA user_version = " + std::to_string(session::sessionSchemaVersion + 1)).c_str());
    for (const auto mode : {session::OpenMode::create, session::OpenMode::readWrite, session::OpenMode::readOnly}) {
        const auto error = errorOf(path, mode);
        EXPECT_EQ(error.kind, ErrorKind::unsupported);
        EXPECT_THAT(error.what, testing::AllOf(HasSubstr(newer), HasSubstr(own)));
        EXPECT_EQ(error.path, path.string());
    }
}

TEST(UntrustedSession, versionsThatNobodyWroteAreRefused)
{
    const TemporaryFolder folder;
    const auto path = makeSession(folder);
    for (const auto* const version : {"0", "-5"}) {
        change(path, (std::string("PRAGMA user_version = ") + version).c_str());
        const auto before = contentsOf(path);
        for (const auto mode : {session::OpenMode::create, session::OpenMode::readWrite, session::OpenMode::readOnly}) {
            const auto error = errorOf(path, mode);
            EXPECT_EQ(error.kind, ErrorKind::corrupt);
            EXPECT_THAT(error.what, HasSubstr(std::string("version ") + version + ", which no Nanscope ever wrote"));
        }
        EXPECT_EQ(contentsOf(path), before);
    }
}

TEST(UntrustedSession, otherFilesAreRefusedAndLeftAlone)
{
    const TemporaryFolder folder;
    const auto text = folder.write("text.nanscope", std::string(5000, 'x'));
    const auto foreign = folder / "foreign.nanscope";
    change(foreign, "CREATE TABLE notes (a); INSERT INTO notes VALUES (1)");
    const auto before = contentsOf(foreign);
    for (const auto mode : {session::OpenMode::create, session::OpenMode::readWrite, session::OpenMode::readOnly}) {
        EXPECT_THAT(errorOf(text, mode).what, HasSubstr("not a Nanscope session"));
        EXPECT_THAT(errorOf(foreign, mode).what, HasSubstr("not a Nanscope session"));
    }
    EXPECT_EQ(contentsOf(foreign), before);
    EXPECT_EQ(contentsOf(text), std::string(5000, 'x'));
    EXPECT_THAT(errorOf(folder.path()).what, HasSubstr("folder"));
    EXPECT_THAT(errorOf(folder / "none.nanscope").what, HasSubstr("no such session"));
    EXPECT_FALSE(std::filesystem::exists(folder / "none.nanscope"));
}

TEST(UntrustedSession, triggersViewsAndForeignTablesAreRefused)
{
    const std::vector<std::pair<const char*, const char*>> attacks {
        {"CREATE TRIGGER t AFTER INSERT ON facts BEGIN DELETE FROM captures; END", "trigger"},
        {"CREATE VIEW series_view AS SELECT 1", "view"},
        {"CREATE TABLE extra (a)", "extra"},
        {"CREATE INDEX extra ON facts (upper(value))", "extra"},
        {"DROP TABLE rejections; CREATE VIEW rejections AS SELECT 'a' AS path, 'b' AS reason", "view"},
        {"DROP TABLE rejections; CREATE TABLE rejections (path TEXT, reason TEXT DEFAULT (hex(randomblob(9))))",
            "rejections"},
    };
    for (const auto& [sql, named] : attacks) {
        const TemporaryFolder folder;
        const auto path = makeSession(folder);
        change(path, sql);
        const auto error = errorOf(path);
        EXPECT_EQ(error.kind, ErrorKind::refused) << sql;
        EXPECT_THAT(error.what, HasSubstr(named)) << sql;
    }
}

TEST(UntrustedSession, lackOfATableIsSaid)
{
    const TemporaryFolder folder;
    const auto path = makeSession(folder);
    change(path, "DROP TABLE gauges");
    EXPECT_EQ(errorOf(path).kind, ErrorKind::corrupt);
}

TEST(UntrustedSession, aCaptureWithoutAnIdentityIsNotOpened)
{
    const TemporaryFolder folder;
    const auto path = makeSession(folder);
    folder.write("secret.pt", "private");
    const auto sql = "UPDATE captures SET identity = '', path = '" + (folder / "secret.pt").string() + "'";
    change(path, sql.c_str());
    const auto session = session::Session::open(path, session::OpenMode::readOnly);
    ASSERT_TRUE(session);
    ASSERT_FALSE(session->summary()->captures.empty());
    EXPECT_EQ(session->summary()->captures[0].path, "");
}

TEST(UntrustedSession, valuesThatContradictThemselvesAreErrors)
{
    for (const auto* sql : {"UPDATE chunks SET bits = x'00'", "UPDATE chunks SET count = 4000000000",
             "UPDATE chunks SET count = -1", "UPDATE axes SET steps = x'28b52ffd'",
             "UPDATE axes SET lines = zeroblob(50)", "UPDATE chunks SET missing = 99999, missing_at = x'00'"}) {
        const TemporaryFolder folder;
        const auto path = makeSession(folder);
        change(path, sql);
        const auto session = session::Session::open(path, session::OpenMode::readOnly);
        ASSERT_TRUE(session) << sql;
        const auto run = session->load();
        ASSERT_FALSE(run) << sql;
        EXPECT_EQ(run.error().kind, ErrorKind::corrupt) << sql;
    }
    const TemporaryFolder folder;
    const auto path = makeSession(folder);
    change(path, "UPDATE op_tiles SET tiles = zeroblob(100); UPDATE captures SET input_shape = '2x'");
    const auto session = session::Session::open(path, session::OpenMode::readOnly);
    ASSERT_TRUE(session);
    EXPECT_FALSE(session->opTraces(session->cells()->at(0).id));
}

TEST(UntrustedSession, flippedBytesNeverCrash)
{
    const TemporaryFolder folder;
    const auto good = contentsOf(makeSession(folder));
    std::mt19937 random(20);
    for (int round = 0; round < 400; ++round) {
        auto bad = good;
        for (int flips = 0; flips < 1 + round % 5; ++flips) {
            bad[random() % bad.size()] ^= static_cast<char>(1 + random() % 255);
        }
        readEverything(folder.write("bad.nanscope", bad));
    }
}

TEST(UntrustedSession, cutOffFilesNeverCrash)
{
    const TemporaryFolder folder;
    const auto good = contentsOf(makeSession(folder));
    for (std::size_t size = 0; size < good.size(); size += 997) {
        readEverything(folder.write("bad.nanscope", good.substr(0, size)));
    }
}

TEST(ReadOnlySession, opensAsItIsWhereNothingCanBeWritten)
{
    const TemporaryFolder folder;
    const auto path = makeSession(folder);
    change(path, "PRAGMA journal_mode = WAL");
    // A folder in the place of the shared memory SQLite wants to make, as good as a disk that refuses it.
    std::filesystem::create_directories(folder / "a.nanscope-shm");
    const auto session = session::Session::open(path, session::OpenMode::readOnly);
    ASSERT_TRUE(session) << sentence(session.error());
    EXPECT_EQ(session->load()->series.at(0).points.size(), 100U);
}

TEST(ReadOnlySession, refusesToWrite)
{
    const TemporaryFolder folder;
    const auto path = makeSession(folder);
    auto session = session::Session::open(path, session::OpenMode::readOnly);
    ASSERT_TRUE(session);
    const auto written = session->setRun("a", "b");
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().what, HasSubstr("read-only"));
    EXPECT_EQ(session->summary()->name, "run");
}

TEST(FullDisk, leavesTheSessionValidAndKeepsWhatWasStored)
{
    const TemporaryFolder folder;
    auto session = session::Session::open(folder / "a.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before {};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit small = before;
    small.rlim_cur = 2 * 1024 * 1024;
    setrlimit(RLIMIT_FSIZE, &small);
    Result<void> stored;
    int pieces = 0;
    for (; stored && pieces < 10'000; ++pieces) {
        auto series = someLoss();
        series.points.resize(4096, {100, 0.5, PointState::finite, 101});
        stored = session->addLog("log" + std::to_string(pieces), "dion", {}, {{series}, {}});
    }
    setrlimit(RLIMIT_FSIZE, &before);
    ASSERT_FALSE(stored);
    EXPECT_EQ(stored.error().kind, ErrorKind::io);
    EXPECT_THAT(stored.error().what, HasSubstr("ulimit -f"));
    ASSERT_GT(pieces, 5);
    EXPECT_EQ(session->load()->series.size(), static_cast<std::size_t>(pieces - 1));
    ASSERT_TRUE(session->setRun("later", "/later")) << "with room again, the same session goes on";
    const auto check = session->query("SELECT count(*) FROM chunks");
    EXPECT_EQ(check->rows[0][0], std::to_string(pieces - 1));
}

namespace {

/// Where captures of a session that lies in `folder` and says that it was imported from `root` may be opened.
std::string openedAt(const TemporaryFolder& folder, const std::string& root, const std::string& kept)
{
    const auto path = folder / "places.nanscope";
    std::filesystem::remove(path);
    {
        auto session = session::Session::open(path, session::OpenMode::create);
        EXPECT_TRUE(session && session->setRun("run", root));
        Capture capture;
        capture.identity = "id";
        capture.path = "/elsewhere/x.pt";
        std::vector captures {capture};
        EXPECT_TRUE(session->addCaptures(captures));
    }
    change(path, ("UPDATE captures SET path = '" + kept + "'").c_str());
    const auto session = session::Session::open(path, session::OpenMode::readOnly);
    EXPECT_TRUE(session);
    const auto summary = session->summary();
    const auto whole = session->load();
    EXPECT_TRUE(summary && whole);
    EXPECT_EQ(summary->captures.front().path, whole->captures.front().path);
    return summary->captures.front().path;
}

} // namespace

TEST(Untrusted, CapturesLieInTheSessionsFolderOrTheOneItWasImportedFrom)
{
    const TemporaryFolder folder;
    EXPECT_EQ(openedAt(folder, "/runs/a", "/runs/a/rank_0/x.pt"), "/runs/a/rank_0/x.pt");
    EXPECT_EQ(openedAt(folder, "/runs/a", "rank_0/x.pt"), (folder / "rank_0/x.pt").string());
    EXPECT_EQ(openedAt(folder, "/runs/a", (folder / "x.pt").string()), (folder / "x.pt").string());
    for (const auto* outside : {"/etc/passwd", "/runs/a/../b/x.pt", "/runs/ab/x.pt", "../x.pt", "rank_0/../../x.pt"}) {
        EXPECT_EQ(openedAt(folder, "/runs/a", outside), "") << outside;
    }
    EXPECT_EQ(openedAt(folder, "/", "/etc/passwd"), "") << "everything is no folder that a run was imported from";
    EXPECT_EQ(openedAt(folder, "", "/etc/passwd"), "");
}

TEST(Untrusted, CapturesOfAMailedSessionAreFoundBesideIt)
{
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder / "rank_0");
    std::ofstream(folder / "rank_0/x.pt") << "x";
    EXPECT_EQ(openedAt(folder, "/runs/a", "/runs/a/rank_0/x.pt"), (folder / "rank_0/x.pt").string());
    EXPECT_EQ(openedAt(folder, "/runs/a", "/runs/a/rank_1/x.pt"), "/runs/a/rank_1/x.pt") << "is neither here nor there";
}
