// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "core/session/session.h"
#include "tests/core/session/oldersession.h"
#include "tests/core/session/temporaryfolder.h"

using namespace nanscope;
using testing::ElementsAre;

namespace {

session::Session openNew(const std::filesystem::path& path)
{
    auto session = session::Session::open(path, session::OpenMode::create);
    EXPECT_TRUE(session) << sentence(session.error());
    return std::move(*session);
}

Series makeSeries(const std::string& name, std::int64_t firstStep, const std::vector<double>& values)
{
    Series series;
    series.name = name;
    series.rank = 1;
    series.source = "console.log";
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto step = firstStep + static_cast<std::int64_t>(i);
        series.points.push_back({step, values[i], stateOf(values[i]), 10 + 2 * step});
    }
    return series;
}

std::vector<double> ramp(std::size_t count, double start)
{
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = start + 0.5 * static_cast<double>(i);
    }
    return values;
}

std::string value(const session::Session& session, const std::string& sql)
{
    const auto table = session.query(sql);
    EXPECT_TRUE(table) << sentence(table.error());
    return table && !table->rows.empty() ? table->rows[0][0].value_or("NULL") : "no row";
}

std::uint32_t bigEndianAt(const std::string& bytes, std::size_t offset)
{
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        number = number << 8U | static_cast<unsigned char>(bytes.at(offset + i));
    }
    return number;
}

Scan makeScan(double absmax)
{
    Scan scan {6, 1, 2, 0, 1, 1, absmax, 0.25, 3.5, -1.25, 3, ValueClass::posInf};
    return scan;
}

Capture makeCapture(const std::string& identity)
{
    Capture capture;
    capture.identity = identity;
    capture.file = identity + ".pt";
    capture.path = "/runs/a/" + capture.file;
    capture.input = {{2, 3, 1}, DType::bfloat16, {makeScan(1.5), makeScan(INFINITY)}};
    return capture;
}

Cell makeCell(const std::string& variant)
{
    Cell cell;
    cell.capture = "a.pt";
    cell.variant = variant;
    cell.precision = Precision::tf32;
    cell.lowering = Lowering::fused;
    cell.device = "cuda:0";
    cell.native = true;
    cell.epsilon = 1e-7;
    cell.outcome = Outcome::degenerate;
    cell.firstNonFinite = NonFinite {2, OpName::polynomial, {0, 31, 64}, ValueClass::negInf, 7};
    cell.batches = {{0, Outcome::nan, cell.firstNonFinite}, {1, Outcome::finite, std::nullopt}};
    cell.gauges = {{1, 1.5, std::nullopt, 2.5, std::nullopt, 3.5, 0.125}};
    cell.seconds = 0.75;
    cell.environment = {"torch 2.11.0", "cuda:0", "H200", "13.0", 4, "tf32=1"};
    TileMap tiles {4, 6, 2, 3, 2, 2, {-1, 0, 2, 3}, {1, 1, 2, 3}, {1, 1, 2, 3}, {1, 2, 8, 33}};
    cell.ops = {{0, OpName::input, 4, 6, {makeScan(2)}, {tiles}}, {1, OpName::gram, 4, 4, {makeScan(3)}, {}}};
    return cell;
}

} // namespace

TEST(Session, headerCarriesApplicationAndVersion)
{
    const TemporaryFolder folder;
    {
        openNew(folder / "a.nanscope");
    }
    const auto bytes = contentsOf(folder / "a.nanscope");
    ASSERT_GE(bytes.size(), 100U);
    EXPECT_EQ(bytes.substr(0, 15), "SQLite format 3");
    EXPECT_EQ(bigEndianAt(bytes, 60), static_cast<std::uint32_t>(session::sessionSchemaVersion));
    EXPECT_EQ(bytes.substr(68, 4), "NanS");
}

TEST(Session, isItsOwnersAloneWithItsJournals)
{
    using std::filesystem::perms;
    const TemporaryFolder folder;
    const auto path = folder / "new/folder/a.nanscope";
    const auto modeOf = [&](const std::string& more) {
        return std::filesystem::status(path.string() + more).permissions();
    };
    const auto before = ::umask(0);
    {
        auto session = openNew(path);
        EXPECT_TRUE(session.setRun("private", "/private"));
        EXPECT_EQ(modeOf("-wal"), perms {0600});
        EXPECT_EQ(modeOf("-shm"), perms {0600});
    }
    EXPECT_EQ(modeOf(""), perms {0600});
    EXPECT_EQ(std::filesystem::status(folder / "new").permissions(), perms {0700});
    std::filesystem::permissions(path, perms {0644});
    {
        auto session = openNew(path);
        EXPECT_EQ(modeOf(""), perms {0644}) << "its owner opened it to others on purpose";
        EXPECT_EQ(modeOf("-wal"), perms {0644});
    }
    ::umask(before);
}

TEST(Session, cleanCloseLeavesOneWholeFile)
{
    const TemporaryFolder folder;
    {
        auto session = openNew(folder / "a.nanscope");
        ASSERT_TRUE(session.addLog("console.log", "dion", {}, {{makeSeries("loss", 0, ramp(5000, 1))}, {}}));
    }
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
        names.push_back(entry.path().filename().string());
    }
    EXPECT_THAT(names, ElementsAre("a.nanscope"));
    std::filesystem::rename(folder / "a.nanscope", folder / "mailed.nanscope");
    const auto mailed = session::Session::open(folder / "mailed.nanscope", session::OpenMode::readOnly);
    ASSERT_TRUE(mailed);
    EXPECT_EQ(mailed->summary()->series.at(0).pointCount, 5000);
}

TEST(Session, nanKeepsItsBitsAndFourStatesStayApart)
{
    const TemporaryFolder folder;
    const auto payload = std::bit_cast<double>(0xfff8'dead'beef'0001ULL);
    auto series = makeSeries("loss", 7, {1.25, payload, INFINITY, -INFINITY, 0});
    series.points[4].state = PointState::reported;
    auto session = openNew(folder / "a.nanscope");
    ASSERT_TRUE(session.addLog("console.log", "dion", {}, {{series}, {}}));

    const auto stored = session.summary()->series.at(0);
    EXPECT_EQ(stored.pointCount, 4);
    EXPECT_EQ(stored.nan, 1);
    EXPECT_EQ(stored.posInf, 1);
    EXPECT_EQ(stored.negInf, 1);
    EXPECT_EQ(stored.missing, 1);
    EXPECT_EQ(stored.firstStep, 7);
    EXPECT_EQ(stored.lastStep, 11);

    const auto points = session.points(stored.id);
    ASSERT_TRUE(points);
    ASSERT_EQ(points->size(), 5U);
    const std::vector states {
        PointState::finite, PointState::nan, PointState::posInf, PointState::negInf, PointState::reported};
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(points->at(i).state, states[i]) << i;
        EXPECT_EQ(points->at(i).step, 7 + static_cast<int>(i));
        EXPECT_EQ(points->at(i).line, 24 + 2 * static_cast<int>(i));
    }
    EXPECT_EQ(std::bit_cast<std::uint64_t>(points->at(1).value), 0xfff8'dead'beef'0001ULL);
    // The same bits, as any other program finds them: little-endian, the second of five doubles.
    EXPECT_EQ(value(session, "SELECT hex(substr(bits, 9, 8)) FROM chunks"), "0100EFBEADDEF8FF");
}

TEST(Session, lowestLevelOfThePyramidIsPlainSql)
{
    const TemporaryFolder folder;
    auto session = openNew(folder / "a.nanscope");
    auto values = ramp(10'000, -3);
    values[9000] = std::nan("");
    ASSERT_TRUE(session.addLog("console.log", "dion", {}, {{makeSeries("loss", 0, values)}, {}}));
    EXPECT_EQ(value(session, "SELECT count(*) FROM chunks"), "3");
    EXPECT_EQ(value(session, "SELECT min(min) FROM chunks"), "-3");
    EXPECT_EQ(value(session, "SELECT max(max) FROM chunks"), "4996.5");
    EXPECT_EQ(value(session, "SELECT sum(nan) FROM chunks"), "1");
    EXPECT_EQ(value(session, "SELECT first || ' ' || last FROM chunks ORDER BY seq DESC LIMIT 1"), "4093.0 4996.5");
    EXPECT_EQ(value(session, "SELECT first_step || ' ' || last_step FROM chunks WHERE seq = 1"), "4096 8191");
}

TEST(Session, seriesOfOneLogShareTheirStepsAndLines)
{
    const TemporaryFolder folder;
    auto session = openNew(folder / "a.nanscope");
    const auto values = ramp(9000, 0);
    ASSERT_TRUE(session.addLog("console.log", "dion", {},
        {{makeSeries("loss", 0, values), makeSeries("grad_norm", 0, values), makeSeries("lr", 0, values)}, {}}));
    EXPECT_EQ(value(session, "SELECT count(*) FROM chunks"), "9");
    EXPECT_EQ(value(session, "SELECT count(*) FROM axes"), "3");
    EXPECT_LT(std::stoi(value(session, "SELECT sum(length(steps) + length(lines)) FROM axes")), 1000);
}

TEST(Session, additionsInPiecesEqualOneAddition)
{
    const TemporaryFolder folder;
    auto session = openNew(folder / "a.nanscope");
    const auto values = ramp(10'000, 0);
    const auto whole = makeSeries("loss", 0, values);
    for (std::size_t at = 0; at < values.size(); at += 700) {
        auto piece = whole;
        const auto end = std::min(at + 700, values.size());
        piece.points.assign(
            whole.points.begin() + static_cast<long>(at), whole.points.begin() + static_cast<long>(end));
        session::LogMark mark {"1:2:3", static_cast<std::int64_t>(end), static_cast<std::int64_t>(end), "hash",
            static_cast<std::int64_t>(at)};
        ASSERT_TRUE(session.addLog("console.log", "dion", mark, {{piece}, {}}));
    }
    const auto run = session.load();
    ASSERT_TRUE(run);
    ASSERT_EQ(run->series.size(), 1U);
    EXPECT_EQ(run->series[0].pointCount, 10'000);
    ASSERT_EQ(run->series[0].points.size(), 10'000U);
    for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(run->series[0].points[i].value, values[i]);
        ASSERT_EQ(run->series[0].points[i].step, whole.points[i].step);
    }
    EXPECT_EQ(value(session, "SELECT count(*) || ' ' || sum(count) FROM chunks"), "3 10000");
    EXPECT_EQ(value(session, "SELECT count(*) FROM axes"), "3");
}

TEST(Session, additionThatDoesNotContinueIsRefusedWhole)
{
    const TemporaryFolder folder;
    auto session = openNew(folder / "a.nanscope");
    const session::LogMark first {"1:2:3", 100, 5, "hash", 0};
    ASSERT_TRUE(session.addLog("console.log", "dion", first, {{makeSeries("loss", 0, {1, 2})}, {}}));
    const auto again = session.addLog("console.log", "dion", first, {{makeSeries("loss", 0, {1, 2})}, {}});
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().kind, ErrorKind::busy);
    EXPECT_EQ(session.summary()->series.at(0).pointCount, 2);
    const auto mark = session.logMark("console.log");
    ASSERT_TRUE(mark && *mark);
    EXPECT_EQ((*mark)->offset, 100);
    EXPECT_EQ((*mark)->line, 5);
    EXPECT_EQ((*mark)->from, 100);
}

TEST(Session, droppedLogLeavesNothing)
{
    const TemporaryFolder folder;
    auto session = openNew(folder / "a.nanscope");
    const Event event {0, EventKind::traceback, 3, 17, "", "RuntimeError: é", "console.log", 9};
    ASSERT_TRUE(session.addLog("console.log", "dion", {}, {{makeSeries("loss", 0, {1, 2})}, {event}}));
    ASSERT_TRUE(session.addLog("other.log", "dion", {}, {{makeSeries("loss", 0, {1, 2})}, {event}}));
    ASSERT_TRUE(session.dropLog("console.log"));
    const auto run = session.load();
    ASSERT_EQ(run->series.size(), 1U);
    EXPECT_EQ(run->series[0].source, "other.log");
    EXPECT_EQ(run->series[0].points.size(), 2U);
    ASSERT_EQ(run->events.size(), 1U);
    EXPECT_EQ(run->events[0].text, "RuntimeError: é");
    EXPECT_EQ(run->events[0].kind, EventKind::traceback);
    EXPECT_EQ(run->events[0].rank, 3);
    EXPECT_EQ(run->events[0].step, 17);
    ASSERT_TRUE(session.dropLog("other.log"));
    for (const auto* table : {"series", "chunks", "axes", "events", "sources"}) {
        EXPECT_EQ(value(session, std::string("SELECT count(*) FROM ") + table), "0") << table;
    }
}

TEST(Session, replacedLogIsKeptApartUnderANameOfItsOwn)
{
    const TemporaryFolder folder;
    auto session = openNew(folder / "a.nanscope");
    const Event event {0, EventKind::traceback, 3, 17, "", "RuntimeError", "logs/a.log", 9};
    const session::LogMark mark {"1:2:3", 100, 5, "hash", 0};
    ASSERT_TRUE(session.addLog("logs/a.log", "dion", mark, {{makeSeries("loss", 0, {1, 2})}, {event}}));
    ASSERT_TRUE(session.addLog("b.log", "dion", mark, {{makeSeries("loss", 0, {7})}, {}}));
    const session::LogMark other {"1:2:3", 90, 5, "hash", 0};
    EXPECT_FALSE(session.replaceLog("logs/a.log", other)) << "another program went on with it";
    EXPECT_EQ(session.replaceLog("logs/a.log", mark), "logs/(replaced) a.log");
    EXPECT_FALSE(session.replaceLog("logs/a.log", mark));
    ASSERT_TRUE(session.addLog("logs/a.log", "dion", mark, {{makeSeries("loss", 0, {3})}, {}}));
    EXPECT_EQ(session.replaceLog("logs/a.log", mark), "logs/(replaced 2) a.log");

    const auto run = session.load();
    ASSERT_EQ(run->series.size(), 1U);
    EXPECT_EQ(run->series[0].source, "b.log");
    EXPECT_TRUE(run->events.empty());
    ASSERT_EQ(run->replaced.size(), 2U);
    EXPECT_EQ(run->replaced[0].path, "logs/a.log");
    EXPECT_EQ(run->replaced[0].records.series.at(0).points.size(), 2U);
    EXPECT_EQ(run->replaced[0].records.events.at(0).source, "logs/(replaced) a.log");
    EXPECT_EQ(run->replaced[1].records.series.at(0).points.size(), 1U);
    ASSERT_TRUE(session.dropLog("logs/(replaced) a.log"));
    EXPECT_EQ(session.summary()->replaced.size(), 1U);
    EXPECT_EQ(value(session, "SELECT count(*) FROM replaced_logs"), "1");
}

TEST(Session, movedLogsHandTheirNamesOnAndLoseNothing)
{
    const TemporaryFolder folder;
    auto session = openNew(folder / "a.nanscope");
    const session::LogMark mark {"1:2:3", 100, 5, "hash", 0};
    for (const auto& [name, value] : {std::pair("a.log", 1.0), {"a.log.1", 2.0}, {"a.log.2", 3.0}}) {
        ASSERT_TRUE(session.addLog(name, "dion", mark, {{makeSeries("loss", 0, {value})}, {}}));
    }
    ASSERT_TRUE(session.moveLogs({{"a.log", "a.log.1"}, {"a.log.1", "a.log.2"}}));
    const auto run = session.load();
    ASSERT_EQ(run->series.size(), 2U);
    EXPECT_EQ(run->series[0].source, "a.log.1");
    EXPECT_EQ(run->series[0].points.at(0).value, 1.0);
    EXPECT_EQ(run->series[1].source, "a.log.2");
    EXPECT_EQ(run->series[1].points.at(0).value, 2.0);
    ASSERT_EQ(run->replaced.size(), 1U);
    EXPECT_EQ(run->replaced[0].records.series.at(0).points.at(0).value, 3.0) << "nobody moved it";
    ASSERT_TRUE(session.moveLogs({{"(replaced) a.log.2", "back.log"}}));
    EXPECT_TRUE(session.summary()->replaced.empty());
    EXPECT_EQ(session.summary()->series.at(2).source, "back.log");
}

TEST(Session, olderOneWithoutReplacedLogsIsReadAsItIsAndTakesThemOnceItIsWritten)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.nanscope";
    const session::LogMark mark {"1:2:3", 100, 5, "hash", 0};
    ASSERT_TRUE(openNew(path).addLog("a.log", "dion", mark, {{makeSeries("loss", 0, {1, 2})}, {}}));
    makeOlder(path, 5);
    const auto before = contentsOf(path);
    {
        const auto old = session::Session::open(path, session::OpenMode::readOnly);
        ASSERT_TRUE(old);
        EXPECT_EQ(old->summary()->series.size(), 1U);
        EXPECT_EQ(old->logs()->at(0).mark.offset, 100);
    }
    EXPECT_EQ(contentsOf(path), before);
    EXPECT_FALSE(std::filesystem::exists(path.string() + "-wal"));
    auto session = session::Session::open(path, session::OpenMode::readWrite);
    ASSERT_TRUE(session);
    EXPECT_EQ(session->replaceLog("a.log", mark), "(replaced) a.log");
    EXPECT_EQ(session->summary()->replaced.at(0).records.series.at(0).pointCount, 2);
    EXPECT_EQ(value(*session, "SELECT count(*) FROM replaced_logs"), "1");
}

TEST(Session, readerOfOneThatWasCopiedWhileItWasOpenLeavesNothingBeside)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.nanscope";
    ASSERT_TRUE(openNew(path).setRun("a", "/runs/a"));
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(db);
    const auto before = contentsOf(path);
    {
        auto session = session::Session::open(path, session::OpenMode::readOnly);
        ASSERT_TRUE(session);
        EXPECT_EQ(session->summary()->name, "a");
        EXPECT_FALSE(session->setRun("b", "/runs/b"));
    }
    EXPECT_EQ(contentsOf(path), before);
    for (const auto* beside : {"-wal", "-shm", "-journal"}) {
        EXPECT_FALSE(std::filesystem::exists(path.string() + beside)) << beside;
    }
}

TEST(Session, aReaderThatClosesLastLeavesOneFile)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.nanscope";
    ASSERT_TRUE(openNew(path).setRun("a", "/runs/a"));
    for (const bool readerIsFirst : {true, false}) {
        std::optional<session::Session> reader;
        std::optional<session::Session> writer;
        const auto openReader = [&] { reader = *session::Session::open(path, session::OpenMode::readOnly); };
        if (readerIsFirst) {
            openReader();
        }
        writer = *session::Session::open(path, session::OpenMode::readWrite);
        ASSERT_TRUE(writer->setRun("b", "/runs/b"));
        if (!readerIsFirst) {
            openReader();
        }
        EXPECT_EQ(reader->summary()->name, "b");
        EXPECT_FALSE(reader->setRun("c", "/runs/c"));
        writer.reset();
        EXPECT_EQ(reader->summary()->name, "b");
        reader.reset();
        for (const auto* beside : {"-wal", "-shm", "-journal"}) {
            EXPECT_FALSE(std::filesystem::exists(path.string() + beside)) << beside << ' ' << readerIsFirst;
        }
        EXPECT_EQ(session::Session::open(path, session::OpenMode::readOnly)->summary()->name, "b");
    }
}

TEST(Session, captureComesBackAsItWas)
{
    const TemporaryFolder folder;
    auto session = openNew(folder / "a.nanscope");
    auto full = makeCapture("full");
    full.rank = 0;
    full.pid = 4711;
    full.timestampMs = 1795234396390;
    full.timestampFromName = true;
    full.epsilon = std::nan("");
    full.output = CaptureTensor {{2, 1, 3}, DType::float8_e4m3fn, {makeScan(0), makeScan(2)}};
    full.variant = "gns-gram";
    full.step = 5;
    full.part = "a part of a DTensor 4x3, Shard(0) over dp";
    std::vector captures {full, makeCapture("bare")};
    ASSERT_TRUE(session.setRun("a", "/runs/a"));
    ASSERT_TRUE(session.addCaptures(captures));
    EXPECT_GT(captures[0].id, 0);
    EXPECT_NE(captures[0].id, captures[1].id);

    const auto run = session.summary();
    ASSERT_EQ(run->captures.size(), 2U);
    const auto& got = run->captures[0];
    EXPECT_EQ(got.id, captures[0].id);
    EXPECT_EQ(got.file, "full.pt");
    EXPECT_EQ(got.path, "/runs/a/full.pt");
    EXPECT_EQ(got.rank, 0);
    EXPECT_EQ(got.pid, 4711);
    EXPECT_EQ(got.timestampMs, 1795234396390);
    EXPECT_TRUE(got.timestampFromName);
    ASSERT_TRUE(got.epsilon);
    EXPECT_TRUE(std::isnan(*got.epsilon));
    EXPECT_EQ(got.input.shape, (Shape {2, 3, 1}));
    EXPECT_EQ(got.input.dtype, DType::bfloat16);
    EXPECT_EQ(got.input.batches, full.input.batches);
    ASSERT_TRUE(got.output);
    EXPECT_EQ(got.output->dtype, DType::float8_e4m3fn);
    EXPECT_EQ(got.output->batches, full.output->batches);
    EXPECT_EQ(got.variant, "gns-gram");
    EXPECT_EQ(got.part, full.part);
    EXPECT_EQ(run->captures[1].part, "");
    EXPECT_EQ(got.step, 5);

    const auto& bare = run->captures[1];
    EXPECT_FALSE(bare.rank || bare.pid || bare.timestampMs || bare.epsilon || bare.output || bare.variant || bare.step);
    EXPECT_EQ(bare.input.batches.size(), 2U);
}

TEST(Session, knownCaptureIsFoundAgainAndMoves)
{
    const TemporaryFolder folder;
    auto session = openNew(folder / "a.nanscope");
    std::vector captures {makeCapture("one")};
    EXPECT_EQ(session.knowsCapture("one", "/x"), false);
    ASSERT_TRUE(session.addCaptures(captures));
    const auto id = captures[0].id;
    EXPECT_EQ(session.knowsCapture("one", "/elsewhere/two.pt"), true);
    ASSERT_TRUE(session.addCaptures(captures));
    const auto run = session.summary();
    ASSERT_EQ(run->captures.size(), 1U);
    EXPECT_EQ(captures[0].id, id);
    EXPECT_EQ(run->captures[0].input.batches.size(), 2U);
}

TEST(Session, cellComesBackWithItsTraces)
{
    const TemporaryFolder folder;
    auto session = openNew(folder / "a.nanscope");
    auto cell = makeCell("gns-standard");
    cell.birth = NonFinite {0, OpName::cast, {1, 2}, ValueClass::nan, 1};
    cell.error = "not enough memory";
    ASSERT_TRUE(session.addCell(cell));
    const auto cells = session.cells();
    ASSERT_EQ(cells->size(), 1U);
    const auto& got = cells->at(0);
    EXPECT_EQ(got.id, cell.id);
    EXPECT_EQ(got.capture, "a.pt");
    EXPECT_EQ(got.variant, "gns-standard");
    EXPECT_EQ(got.precision, Precision::tf32);
    EXPECT_EQ(got.lowering, Lowering::fused);
    EXPECT_TRUE(got.native);
    EXPECT_EQ(got.epsilon, 1e-7);
    EXPECT_EQ(got.outcome, Outcome::degenerate);
    EXPECT_EQ(got.firstNonFinite, cell.firstNonFinite);
    EXPECT_EQ(got.birth, cell.birth);
    ASSERT_EQ(got.batches.size(), 2U);
    EXPECT_EQ(got.batches[0].outcome, Outcome::nan);
    EXPECT_EQ(got.batches[0].firstNonFinite, cell.firstNonFinite);
    EXPECT_EQ(got.batches[1].outcome, Outcome::finite);
    EXPECT_FALSE(got.batches[1].firstNonFinite);
    ASSERT_EQ(got.gauges.size(), 1U);
    EXPECT_EQ(got.gauges[0].spectralBound, 1.5);
    EXPECT_FALSE(got.gauges[0].spectralLimit);
    EXPECT_EQ(got.gauges[0].distanceToFp64, 0.125);
    EXPECT_EQ(got.environment, cell.environment);
    EXPECT_EQ(got.seconds, 0.75);
    EXPECT_EQ(got.error, "not enough memory");
    EXPECT_TRUE(got.ops.empty());

    const auto ops = session.opTraces(cell.id);
    ASSERT_EQ(ops->size(), 2U);
    EXPECT_EQ(ops->at(0).op, OpName::input);
    EXPECT_EQ(ops->at(0).batches, cell.ops[0].batches);
    EXPECT_EQ(ops->at(0).tiles, cell.ops[0].tiles);
    EXPECT_EQ(ops->at(1).iteration, 1);
    EXPECT_TRUE(ops->at(1).tiles.empty());
}

TEST(Session, sameCellIsReplacedAndOtherMachineIsKept)
{
    const TemporaryFolder folder;
    auto session = openNew(folder / "a.nanscope");
    auto first = makeCell("gns-gram");
    auto second = first;
    second.outcome = Outcome::zero;
    auto elsewhere = first;
    elsewhere.environment.hardware = "A100";
    auto longer = first;
    longer.steps = 8;
    ASSERT_TRUE(session.addCell(first));
    ASSERT_TRUE(session.addCell(longer));
    ASSERT_TRUE(session.addCell(elsewhere));
    ASSERT_TRUE(session.addCell(second));
    const auto cells = session.cells();
    ASSERT_EQ(cells->size(), 3U);
    EXPECT_EQ(cells->at(0).steps, 8);
    EXPECT_EQ(cells->at(1).environment.hardware, "A100");
    EXPECT_EQ(cells->at(2).outcome, Outcome::zero);
    EXPECT_EQ(value(session, "SELECT count(*) FROM ops"), "6");
    EXPECT_EQ(value(session, "SELECT count(*) FROM op_tiles"), "3");
}

TEST(Session, stepsOfAnOlderSessionAreCounted)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.nanscope";
    auto cell = makeCell("gns-gram");
    const auto steps = static_cast<int>(cell.gauges.size());
    ASSERT_GT(steps, 0);
    cell.steps = steps;
    ASSERT_TRUE(openNew(path).addCell(cell));
    makeOlder(path, 9);
    const auto stepsIn = [&](session::OpenMode mode) {
        const auto session = session::Session::open(path, mode);
        return session ? session->cells()->at(0).steps : -1;
    };
    EXPECT_EQ(stepsIn(session::OpenMode::readOnly), steps) << "as it is";
    EXPECT_EQ(stepsIn(session::OpenMode::readWrite), steps) << "migrated";
    EXPECT_EQ(stepsIn(session::OpenMode::readOnly), steps);
}

TEST(Session, factsAndRejectionsAreKept)
{
    const TemporaryFolder folder;
    {
        auto session = openNew(folder / "a.nanscope");
        EXPECT_EQ(session.diagnosis(), "");
        ASSERT_TRUE(session.setRun("ddp", "/runs/ddp"));
        ASSERT_TRUE(session.setRejections({{"b.pt", "cut off"}, {"a.pt", "empty"}}));
        ASSERT_TRUE(session.setDiagnosis(R"({"schema":"nanscope.diagnosis/1"})"));
    }
    auto session = session::Session::open(folder / "a.nanscope", session::OpenMode::readWrite);
    ASSERT_TRUE(session);
    const auto run = session->summary();
    EXPECT_EQ(run->name, "ddp");
    EXPECT_EQ(run->root, "/runs/ddp");
    ASSERT_EQ(run->rejected.size(), 2U);
    EXPECT_EQ(run->rejected[0].path, "a.pt");
    EXPECT_EQ(session->diagnosis(), R"({"schema":"nanscope.diagnosis/1"})");
}

TEST(Session, twoProcessesMayWriteInTurn)
{
    const TemporaryFolder folder;
    auto one = openNew(folder / "a.nanscope");
    auto two = openNew(folder / "a.nanscope");
    for (int i = 0; i < 20; ++i) {
        auto& session = i % 2 == 0 ? one : two;
        ASSERT_TRUE(session.addLog("log" + std::to_string(i), "dion", {}, {{makeSeries("loss", 0, {1.0 * i})}, {}}));
    }
    EXPECT_EQ(one.summary()->series.size(), 20U);
    EXPECT_EQ(two.summary()->series.size(), 20U);
}

TEST(Session, survivesPowerFailure)
{
    const TemporaryFolder folder;
    auto session = openNew(folder / "a.nanscope");
    ASSERT_TRUE(session.addLog("console.log", "dion", {}, {{makeSeries("loss", 0, {1, 2, 3})}, {}}));
    // What lies on the disk at this moment is what a machine that stopped now would find.
    for (const auto* suffix : {"", "-wal"}) {
        std::filesystem::copy_file(
            folder / (std::string("a.nanscope") + suffix), folder / (std::string("b.nanscope") + suffix));
    }
    auto after = session::Session::open(folder / "b.nanscope", session::OpenMode::readWrite);
    ASSERT_TRUE(after) << sentence(after.error());
    EXPECT_EQ(after->load()->series.at(0).points.size(), 3U);
}

TEST(Session, queryReadsAndOnlyReads)
{
    const TemporaryFolder folder;
    auto session = openNew(folder / "a.nanscope");
    ASSERT_TRUE(session.setRun("x", "/x"));
    const auto table =
        session.query("SELECT name, value, NULL AS gap, 0.1 AS tenth, x'00ff' FROM facts ORDER BY name; -- by name");
    ASSERT_TRUE(table) << sentence(table.error());
    EXPECT_EQ(table->columns[2], "gap");
    ASSERT_EQ(table->rows.size(), 2U);
    EXPECT_EQ(table->rows[0][0], "run_name");
    EXPECT_EQ(table->rows[0][2], std::nullopt);
    EXPECT_EQ(table->rows[0][3], "0.1");
    EXPECT_EQ(table->rows[0][4], "00ff");
    for (const auto* sql : {"DELETE FROM facts", "INSERT INTO facts VALUES ('a','b')", "ATTACH '/tmp/x.db' AS x",
             "PRAGMA journal_mode = DELETE", "SELECT 1; DELETE FROM facts", "SELECT load_extension('x')", "VACUUM", "",
             "CREATE TEMP TABLE t (a)", "BEGIN", "SELEC 1"}) {
        const auto refused = session.query(sql);
        ASSERT_FALSE(refused) << sql;
        EXPECT_EQ(refused.error().kind, ErrorKind::usage) << sql;
    }
    EXPECT_EQ(value(session, "SELECT count(*) FROM facts"), "2");
    EXPECT_TRUE(session.setRun("y", "/y")) << "the guard must not outlive the query";
}

TEST(Session, defaultPathIsKeyedByTheRealFolder)
{
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder / "my run/sub");
    std::filesystem::create_directories(folder / "other/my run");
    std::filesystem::create_directory_symlink(folder / "my run", folder / "link");
    const auto path = session::Session::defaultPath(folder / "my run");
    EXPECT_EQ(path, session::Session::defaultPath(folder / "my run/sub/.."));
    EXPECT_EQ(path, session::Session::defaultPath((folder / "my run").string() + "/"));
    EXPECT_EQ(path, session::Session::defaultPath(folder / "link"));
    EXPECT_NE(path, session::Session::defaultPath(folder / "other/my run"));
    EXPECT_THAT(path.filename().string(), testing::MatchesRegex("my_run-[0-9a-f]+\\.nanscope"));
}

TEST(Session, IsOpenedAgainOnlyForItsOwnRun)
{
    const TemporaryFolder folder;
    const auto path = folder.path() / "run.nanscope";
    const auto key = session::hashText("/runs/one");
    const auto gone = session::openSessionOfRun(path, session::OpenMode::readWrite, key);
    ASSERT_FALSE(gone);
    EXPECT_THAT(gone.error().what, testing::HasSubstr("is gone"));
    EXPECT_FALSE(std::filesystem::exists(path));
    (void)openNew(path);
    const auto empty = session::openSessionOfRun(path, session::OpenMode::readWrite, key);
    ASSERT_FALSE(empty);
    EXPECT_THAT(empty.error().what, testing::HasSubstr("was begun anew"));
    ASSERT_TRUE(openNew(path).setRun("one", "/runs/one"));
    EXPECT_TRUE(session::openSessionOfRun(path, session::OpenMode::readWrite, key));
    EXPECT_EQ(*session::Session::open(path, session::OpenMode::readOnly)->root(), "/runs/one");
    ASSERT_TRUE(openNew(path).setRun("two", "/runs/two"));
    const auto other = session::openSessionOfRun(path, session::OpenMode::readWrite, key);
    ASSERT_FALSE(other);
    EXPECT_THAT(other.error().what, testing::HasSubstr("another run's"));
}

TEST(Session, besideItsCapturesItCanBeMovedWithThem)
{
    const TemporaryFolder folder;
    const auto dump = folder.write("here/run/a.pt", "bytes");
    {
        auto session = session::Session::open(folder / "here/run.nanscope", session::OpenMode::create).value();
        ASSERT_TRUE(session.setRun("run", (folder / "here/run").string()));
        std::vector<Capture> captures {makeCapture("x")};
        captures[0].path = dump.string();
        ASSERT_TRUE(session.addCaptures(captures));
    }
    std::filesystem::rename(folder / "here", folder / "there");
    auto moved = session::Session::open(folder / "there/run.nanscope", session::OpenMode::readWrite).value();
    const auto run = moved.summary().value();
    EXPECT_EQ(run.root, (folder / "there/run").string());
    EXPECT_EQ(run.captures.at(0).path, (folder / "there/run/a.pt").string());
    EXPECT_TRUE(std::filesystem::exists(run.captures.at(0).path));
    EXPECT_TRUE(moved.knowsCapture("x", run.captures.at(0).path).value());
}
