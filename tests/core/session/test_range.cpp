// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "core/session/session.h"
#include "tests/core/session/temporaryfolder.h"

using namespace nanscope;

namespace {

constexpr std::int64_t chunk = 4096;
constexpr std::int64_t everything = 1'000'000'000;

/// 20 chunks at every second step: one NaN, one Inf, a value without a number, and a spike in chunks of their own.
std::vector<Point> wave()
{
    std::vector<Point> points;
    for (std::int64_t i = 0; i < 20 * chunk + 100; ++i) {
        points.push_back({2 * i, std::sin(0.01 * static_cast<double>(i)), PointState::finite, i + 1});
    }
    const auto set = [&points](std::int64_t at, double value) {
        points[static_cast<std::size_t>(at)].value = value;
        points[static_cast<std::size_t>(at)].state = stateOf(value);
    };
    set(5 * chunk + 17, std::numeric_limits<double>::quiet_NaN());
    set(9 * chunk, -std::numeric_limits<double>::infinity());
    set(12 * chunk + 4095, 1e6);
    points[3 * chunk].state = PointState::reported;
    points[3 * chunk].value = 0;
    return points;
}

class Range : public testing::Test
{
protected:
    Range()
        : session(std::move(*session::Session::open(folder / "a.nanscope", session::OpenMode::create)))
    {
        Series series;
        series.name = "loss";
        series.source = "console.log";
        series.points = wave();
        EXPECT_TRUE(session.addLog("console.log", "dion", {}, {{series}, {}}));
        id = session.summary()->series.at(0).id;
        all = *session.points(id);
    }

    std::vector<session::SeriesPiece> read(std::int64_t first, std::int64_t last, std::int64_t most) const
    {
        std::vector<session::SeriesPiece> pieces;
        const auto done = session.visitRange({id, first, last, most}, [&](session::SeriesPiece piece) {
            pieces.push_back(std::move(piece));
            return true;
        });
        EXPECT_TRUE(done);
        return pieces;
    }

    TemporaryFolder folder;
    session::Session session;
    std::int64_t id = 0;
    std::vector<Point> all;
};

std::vector<Point> joined(const std::vector<session::SeriesPiece>& pieces)
{
    std::vector<Point> points;
    for (const auto& piece : pieces) {
        points.insert(points.end(), piece.points.begin(), piece.points.end());
    }
    return points;
}

std::int64_t countOf(const std::vector<Point>& points, std::int64_t first, std::int64_t last, PointState state)
{
    return std::ranges::count_if(
        points, [&](const Point& point) { return point.step >= first && point.step <= last && point.state == state; });
}

bool same(const Point& a, const Point& b)
{
    return a.step == b.step && a.state == b.state && a.line == b.line && (a.value == b.value || std::isnan(a.value));
}

} // namespace

TEST_F(Range, fewPointsComeWhole)
{
    const auto pieces = read(0, everything, everything);
    EXPECT_EQ(pieces.size(), 21U);
    EXPECT_TRUE(std::ranges::equal(joined(pieces), all, same));
}

TEST_F(Range, aCutOfTheMiddleHoldsEveryPointOfIt)
{
    const std::int64_t first = 2 * (4 * chunk + 5);
    const std::int64_t last = 2 * (6 * chunk + 5);
    const auto points = joined(read(first, last, 3 * chunk));
    for (const auto state : {PointState::finite, PointState::nan, PointState::negInf}) {
        EXPECT_EQ(countOf(points, first, last, state), countOf(all, first, last, state));
    }
    EXPECT_EQ(points.front().step, 2 * 4 * chunk) << "whole chunks, so that they can stand for their summaries";
    EXPECT_EQ(points.size(), static_cast<std::size_t>(3 * chunk));
}

TEST_F(Range, manyPointsComeAsSummariesThatAgreeWithThem)
{
    std::int64_t at = 0;
    for (const auto& piece : read(0, everything, 0)) {
        EXPECT_TRUE(piece.points.empty());
        const std::vector<Point> own(all.begin() + at, all.begin() + at + piece.count);
        at += piece.count;
        EXPECT_EQ(piece.firstStep, own.front().step);
        EXPECT_EQ(piece.lastStep, own.back().step);
        std::vector<double> finite;
        for (const auto& point : own) {
            if (point.state == PointState::finite) {
                finite.push_back(point.value);
            }
        }
        EXPECT_EQ(piece.min, std::ranges::min(finite));
        EXPECT_EQ(piece.max, std::ranges::max(finite));
        EXPECT_EQ(piece.first, finite.front());
        EXPECT_EQ(piece.last, finite.back());
        EXPECT_EQ(piece.nan, countOf(own, 0, everything, PointState::nan));
        EXPECT_EQ(piece.posInf, countOf(own, 0, everything, PointState::posInf));
        EXPECT_EQ(piece.negInf, countOf(own, 0, everything, PointState::negInf));
        EXPECT_EQ(piece.missing, countOf(own, 0, everything, PointState::reported));
    }
    EXPECT_EQ(at, static_cast<std::int64_t>(all.size()));
}

TEST_F(Range, onlyEndsAndNonFiniteChunksAreDecodedWhenThereAreMany)
{
    std::vector<std::int64_t> decoded;
    for (const auto& piece : read(2 * (chunk + 1), 2 * 15 * chunk, 8 * chunk)) {
        if (!piece.points.empty()) {
            decoded.push_back(piece.seq);
        }
    }
    EXPECT_EQ(decoded, (std::vector<std::int64_t> {1, 5, 9, 15}));
}

TEST_F(Range, aStepBetweenChunksOrBeyondThemIsEmpty)
{
    EXPECT_TRUE(read(2 * 20 * chunk - 1, 2 * 20 * chunk - 1, everything).empty());
    EXPECT_TRUE(read(-50, -1, everything).empty());
    EXPECT_EQ(read(0, 0, everything).size(), 1U);
    EXPECT_EQ(read(2 * chunk - 2, 2 * chunk - 2, everything).at(0).seq, 0) << "the last step of a chunk is its own";
}

TEST_F(Range, theVisitorEndsIt)
{
    int visited = 0;
    EXPECT_TRUE(session.visitRange({id, 0, everything, 0}, [&](const session::SeriesPiece&) { return ++visited < 3; }));
    EXPECT_EQ(visited, 3);
}

TEST_F(Range, countsThatCannotBeAreCorrupt)
{
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open((folder / "a.nanscope").c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, "UPDATE chunks SET nan = -5 WHERE seq = 2", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(db);
    const auto done = session.visitRange({id, 0, everything, 0}, [](const session::SeriesPiece&) { return true; });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::corrupt);
}
