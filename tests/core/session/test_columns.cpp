// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Every column comes back with the bits it was given, the ends of each type included.
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

#include <gmock/gmock.h>

#include "core/session/session.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto most = std::numeric_limits<std::int64_t>::max();

/// NaNs of both signs with payloads, infinities, the ends of the range. Negative zero is only kept in points: SQLite
/// holds a whole number of a REAL column as an integer.
const std::vector<double> awkward {std::bit_cast<double>(0x7ff8'0000'0000'0001ULL),
    std::bit_cast<double>(0xfff8'dead'beef'0001ULL), std::bit_cast<double>(0x7ff0'0000'0000'0001ULL), INFINITY,
    -INFINITY, 0.0, std::numeric_limits<double>::denorm_min(), -std::numeric_limits<double>::max(), 0.1};

void expectSameBits(double a, double b)
{
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b)) << a << " and " << b;
}

class Columns : public testing::Test
{
protected:
    Columns()
    {
        auto opened = session::Session::open(m_folder / "a.nanscope", session::OpenMode::create);
        EXPECT_TRUE(opened);
        m_session.emplace(std::move(*opened));
    }

    /// What the file says after it was closed and opened anew.
    session::Session& reopened()
    {
        m_session.reset();
        auto opened = session::Session::open(m_folder / "a.nanscope", session::OpenMode::readOnly);
        EXPECT_TRUE(opened);
        return m_session.emplace(std::move(*opened));
    }

    Cell stored(Cell cell)
    {
        EXPECT_TRUE(m_session->addCell(cell));
        return reopened().cells().value().at(0);
    }

    TemporaryFolder m_folder;
    std::optional<session::Session> m_session;
};

TEST_F(Columns, OfPointsKeepTheBitsOfEveryValue)
{
    auto values = awkward;
    values.push_back(-0.0);
    Series series;
    series.name = "loss";
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto number = static_cast<std::int64_t>(i);
        series.points.push_back({number, values[i], stateOf(values[i]), number + 1});
    }
    ASSERT_TRUE(m_session->addLog("c.log", "dion", {}, {{series}, {}}));
    const auto points = reopened().load().value().series.at(0).points;
    ASSERT_EQ(points.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        expectSameBits(points[i].value, values[i]);
        EXPECT_EQ(points[i].state, stateOf(values[i]));
    }
}

TEST_F(Columns, OfPointsReachBothEndsOfSteps)
{
    Series series;
    series.name = "loss";
    series.points = {{least, 1, PointState::finite, 1}, {most, 2, PointState::finite, most},
        {0, 3, PointState::finite, 2}, {-1, 4, PointState::finite, 1}};
    ASSERT_TRUE(m_session->addLog("c.log", "dion", {}, {{series}, {}}));
    const auto back = reopened().load().value().series.at(0);
    for (std::size_t i = 0; i < series.points.size(); ++i) {
        EXPECT_EQ(back.points.at(i).step, series.points[i].step);
        EXPECT_EQ(back.points.at(i).line, series.points[i].line);
    }
    EXPECT_EQ(back.firstStep, least);
    EXPECT_EQ(back.lastStep, -1) << "in the order of the log";
}

TEST_F(Columns, OfSeriesTellRankSegmentAndInferenceApart)
{
    std::vector<Series> all;
    for (const auto rank : {std::optional<int> {}, std::optional<int> {0}, std::optional<int> {9'999'999}}) {
        for (const int segment : {0, 7}) {
            for (const bool inferred : {false, true}) {
                Series series;
                series.name = "loss";
                series.rank = rank;
                series.segment = segment;
                series.stepInferred = inferred;
                series.points = {{1, static_cast<double>(all.size()), PointState::finite, 1}};
                all.push_back(series);
            }
        }
    }
    ASSERT_TRUE(m_session->addLog("c.log", "dion", {}, {all, {}}));
    const auto back = reopened().load().value().series;
    ASSERT_EQ(back.size(), 12U);
    for (const auto& series : back) {
        const auto& original = all.at(static_cast<std::size_t>(series.points.at(0).value));
        EXPECT_EQ(series.rank, original.rank);
        EXPECT_EQ(series.segment, original.segment);
        EXPECT_EQ(series.stepInferred, original.stepInferred);
    }
}

TEST_F(Columns, OfEventsKeepEveryKindAndEveryGap)
{
    using namespace std::string_view_literals;
    std::vector<Event> events;
    for (int kind = 0; kind <= static_cast<int>(EventKind::other); ++kind) {
        Event event;
        event.kind = static_cast<EventKind>(kind);
        event.line = kind + 1;
        event.text = "text with \0 inside and µ"sv;
        if (kind % 2 == 0) {
            event.rank = kind;
            event.step = most;
            event.capture = "x.pt";
        }
        events.push_back(event);
    }
    ASSERT_TRUE(m_session->addLog("c.log", "dion", {}, {{}, events}));
    const auto back = reopened().load().value().events;
    ASSERT_EQ(back.size(), events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
        EXPECT_EQ(back[i].kind, events[i].kind);
        EXPECT_EQ(back[i].rank, events[i].rank);
        EXPECT_EQ(back[i].step, events[i].step);
        EXPECT_EQ(back[i].capture, events[i].capture);
        EXPECT_EQ(back[i].text, events[i].text);
        EXPECT_EQ(back[i].line, events[i].line);
        EXPECT_EQ(back[i].source, "c.log");
    }
}

TEST_F(Columns, OfScansKeepTheirBitsOnBothSides)
{
    Capture capture;
    capture.identity = "a";
    capture.file = "a.pt";
    capture.path = "/runs/a.pt";
    capture.input = {{4, 2, 3}, DType::float8_e4m3fn, {}};
    capture.output = CaptureTensor {{4, 2, 3}, DType::complex64, {}};
    for (const double value : awkward) {
        capture.input.batches.push_back({6, 1, 2, 3, 4, 5, value, value, value, value, most, ValueClass::negInf});
        capture.output->batches.push_back({most, 0, 0, 0, 0, 0, 0, 0, value, 0, -1, ValueClass::normal});
    }
    std::vector captures {capture};
    ASSERT_TRUE(m_session->addCaptures(captures));
    const auto back = reopened().load().value().captures.at(0);
    EXPECT_EQ(back.input.dtype, DType::float8_e4m3fn);
    EXPECT_EQ(back.output->dtype, DType::complex64);
    ASSERT_EQ(back.input.batches.size(), awkward.size());
    ASSERT_EQ(back.output->batches.size(), awkward.size());
    for (std::size_t i = 0; i < awkward.size(); ++i) {
        const auto& scan = back.input.batches[i];
        for (const double value : {scan.absmax, scan.minNonzero, scan.sumSquares, scan.trace}) {
            expectSameBits(value, awkward[i]);
        }
        EXPECT_EQ(scan.firstNonFinite, most);
        EXPECT_EQ(scan.firstClass, ValueClass::negInf);
        EXPECT_EQ(scan.subnormal, 5);
        expectSameBits(back.output->batches[i].sumSquares, awkward[i]);
        EXPECT_EQ(back.output->batches[i].count, most);
    }
}

TEST_F(Columns, OfCapturesKeepGapsAsGaps)
{
    Capture bare;
    bare.identity = "bare";
    bare.file = "bare.pt";
    bare.path = "/runs/bare.pt";
    bare.input = {{}, DType::boolean, {}};
    auto full = bare;
    full.identity = "full";
    full.rank = 0;
    full.pid = 0;
    full.timestampMs = 0;
    full.timestampFromName = true;
    full.epsilon = std::nan("");
    full.variant = "";
    full.step = 0;
    full.output = CaptureTensor {{0, 3}, DType::float16, {}};
    std::vector captures {bare, full};
    ASSERT_TRUE(m_session->addCaptures(captures));
    const auto back = reopened().load().value().captures;
    ASSERT_EQ(back.size(), 2U);
    EXPECT_TRUE(back[0].input.shape.empty());
    EXPECT_FALSE(back[0].rank || back[0].pid || back[0].timestampMs || back[0].epsilon || back[0].variant
        || back[0].step || back[0].output);
    EXPECT_EQ(back[1].rank, 0);
    EXPECT_EQ(back[1].pid, 0);
    EXPECT_EQ(back[1].timestampMs, 0);
    EXPECT_TRUE(back[1].timestampFromName);
    ASSERT_TRUE(back[1].epsilon);
    EXPECT_TRUE(std::isnan(*back[1].epsilon)) << "NaN is not a gap";
    EXPECT_EQ(back[1].variant, "");
    EXPECT_EQ(back[1].step, 0);
    EXPECT_EQ(back[1].output->shape, (Shape {0, 3}));
}

TEST_F(Columns, OfGaugesKeepTheirBitsAndTheirGaps)
{
    Cell cell;
    cell.gauges.push_back({1, {}, {}, {}, {}, 0, {}});
    for (const double value : awkward) {
        cell.gauges.push_back({2, value, value, value, value, value, value});
    }
    const auto back = stored(cell).gauges;
    ASSERT_EQ(back.size(), awkward.size() + 1);
    EXPECT_FALSE(back[0].spectralBound || back[0].spectralLimit || back[0].absmaxQ || back[0].orthogonality
        || back[0].distanceToFp64);
    for (std::size_t i = 0; i < awkward.size(); ++i) {
        const auto& gauge = back[i + 1];
        for (const auto& value : {gauge.spectralBound, gauge.spectralLimit, gauge.absmaxQ, gauge.orthogonality,
                 std::optional(gauge.absmaxX), gauge.distanceToFp64}) {
            ASSERT_TRUE(value);
            expectSameBits(*value, awkward[i]);
        }
    }
}

TEST_F(Columns, OfCellsKeepEveryName)
{
    std::vector<Cell> cells;
    for (int i = 0; i <= static_cast<int>(OpName::restart); ++i) {
        Cell cell;
        cell.variant = "v" + std::to_string(i);
        cell.precision = static_cast<Precision>(i % 5);
        cell.lowering = static_cast<Lowering>(i % 2);
        cell.outcome = static_cast<Outcome>(i % 5);
        cell.firstNonFinite = NonFinite {i, static_cast<OpName>(i), {i, most}, ValueClass::posInf, most};
        cell.batches = {{3, static_cast<Outcome>(i % 5), cell.firstNonFinite}};
        ASSERT_TRUE(m_session->addCell(cell));
        cells.push_back(cell);
    }
    const auto back = reopened().cells().value();
    ASSERT_EQ(back.size(), cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
        EXPECT_EQ(back[i].precision, cells[i].precision);
        EXPECT_EQ(back[i].lowering, cells[i].lowering);
        EXPECT_EQ(back[i].outcome, cells[i].outcome);
        EXPECT_EQ(back[i].firstNonFinite, cells[i].firstNonFinite);
        EXPECT_FALSE(back[i].birth);
        ASSERT_EQ(back[i].batches.size(), 1U);
        EXPECT_EQ(back[i].batches[0].batch, 3);
        EXPECT_EQ(back[i].batches[0].outcome, cells[i].batches[0].outcome);
    }
}

TEST_F(Columns, OfTilesKeepNegativeZeroAndTheLargestMap)
{
    TileMap tiles {512, 512, 2, 2, 256, 256, {}, {}, {}, {}};
    for (std::size_t i = 0; i < 65536; ++i) {
        const auto value = static_cast<float>(i) - 30000.0F;
        tiles.min.push_back(value);
        tiles.max.push_back(value + 0.5F);
        tiles.absmax.push_back(std::max(std::abs(value), std::abs(value + 0.5F)));
        tiles.classes.push_back(static_cast<std::uint8_t>(i % 64));
    }
    tiles.min[7] = -std::numeric_limits<float>::max();
    tiles.max[7] = std::numeric_limits<float>::denorm_min();
    tiles.absmax[7] = std::numeric_limits<float>::max();
    Cell cell;
    cell.ops = {{1, OpName::gram, 512, 512, {Scan {}}, {tiles}}};
    ASSERT_TRUE(m_session->addCell(cell));
    const auto back = reopened().opTraces(cell.id).value();
    EXPECT_EQ(back.at(0).tiles.at(0), tiles);
}

TEST_F(Columns, OfTheRunKeepTextInEveryEncoding)
{
    const std::string odd = "caf\xe9 µ 山 \x01";
    ASSERT_TRUE(m_session->setRun(odd, "/runs/" + odd));
    ASSERT_TRUE(m_session->setRejections({{odd, odd}}));
    ASSERT_TRUE(m_session->setDiagnosis(odd));
    auto& session = reopened();
    EXPECT_EQ(session.summary()->name, odd);
    EXPECT_EQ(session.summary()->root, "/runs/" + odd);
    EXPECT_EQ(session.summary()->rejected.at(0).reason, odd);
    EXPECT_EQ(session.diagnosis(), odd);
}

} // namespace
} // namespace nanscope
