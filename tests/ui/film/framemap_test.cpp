// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>
#include <limits>

#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>

#include "core/replay/device/device.h"
#include "core/replay/engine/replay.h"
#include "core/replay/variants/variant.h"
#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/scan/scantensor.h"
#include "tests/core/replay/framecapture.h"
#include "tests/ui/samples.h"
#include "ui/film/framemap.h"
#include "ui/heatmap/heatview.h"
#include "ui/jobs/cellfilm.h"

namespace nanscope {

namespace {

using test::nan;
using test::patienceMs;

constexpr std::int64_t rows = 300;
constexpr std::int64_t cols = 520;
constexpr std::int64_t badRow = 200;
constexpr std::int64_t badCol = 310;

replay::CellRequest torchMuon()
{
    replay::CellRequest cell;
    cell.variant = "torch-muon";
    cell.precision = Precision::bf16;
    cell.epsilon = 1e-7;
    return cell;
}

/// A capture too large for a tile per element, with one NaN in its output, and the map of a frame of its replay.
class FrameMapTest : public testing::Test
{
protected:
    FrameMapTest()
    {
        output[badRow * cols + badCol] = nan;
        path = writeFrameCapture(folder / "big.pt", {1, rows, cols}, input, output);
        map.resize(200, 180);
        capture.path = path;
        film.setPlace({}, &capture);
        QObject::connect(&film, &CellFilm::changed, &map, [this](const std::shared_ptr<const Film>& made) {
            shown = made;
            map.setFrame(made, static_cast<int>(made->frames.size()) - 1);
        });
        QObject::connect(&film, &CellFilm::missing, &map, [this](const QString& why) { sentences << why; });
        QObject::connect(&map, &FrameMap::detailWanted, &film, &CellFilm::requestDetail);
        QObject::connect(&map, &FrameMap::detailDropped, &film, &CellFilm::dropDetail);
        QObject::connect(&film, &CellFilm::detailReady, &map, &FrameMap::setDetail);
        QObject::connect(&film, &CellFilm::detailMissing, &map, &FrameMap::setDetailMissing);
    }

    bool waitUntil(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, patienceMs); }
    bool show(FilmMode mode = FilmMode::values)
    {
        film.setMode(mode);
        film.showReplayed(torchMuon(), 0);
        return waitUntil([this] { return shown != nullptr; });
    }
    void look() { view.setView({(badCol + 0.5) / cols, (badRow + 0.5) / rows}, 12); }
    bool settle()
    {
        return waitUntil([this] { return map.settled(); });
    }

    std::vector<double> replayed() const
    {
        auto device = replay::makeCoreDevice("cpu");
        replay::ReplayOptions options;
        options.precision = Precision::bf16;
        options.epsilon = 1e-7;
        options.forceEpsilon = true;
        options.keepOutput = true;
        const auto done =
            replay::replay(*replay::builtInVariant("torch-muon"), {1, rows, cols}, input, **device, options);
        return done ? done->outputs.at(0).doubles() : std::vector<double>();
    }

    /// Every element in sight has the value that core says.
    void expectValues(const std::vector<double>& expected) const
    {
        ASSERT_EQ(expected.size(), static_cast<std::size_t>(rows * cols));
        const auto inSight = map.visibleRegion();
        ASSERT_TRUE(inSight);
        ASSERT_LT(inSight->rows * inSight->cols, FrameMap::mostInSight);
        for (auto row = inSight->row; row < inSight->row + inSight->rows; ++row) {
            for (auto col = inSight->col; col < inSight->col + inSight->cols; ++col) {
                const auto value = map.picture()->elementAt(row, col);
                const double wanted = expected[static_cast<std::size_t>(row * cols + col)];
                ASSERT_TRUE(value) << row << ", " << col;
                EXPECT_TRUE(*value == wanted || (std::isnan(*value) && std::isnan(wanted)))
                    << row << ", " << col << ": " << *value << " is not " << wanted;
            }
        }
    }

    TemporaryFolder folder;
    std::vector<double> input = waveValues(rows * cols);
    std::vector<double> output = std::vector<double>(rows * cols, 0.25);
    std::string path;
    Capture capture;
    ReplayService service {{{QStringLiteral(NANSCOPE_PROGRAMS "/nanscope"), {QStringLiteral("serve")}, false}}};
    const replay::Catalogue catalogue;
    CellFilm film {service, catalogue};
    HeatView view;
    FrameMap map {&view};
    std::shared_ptr<const Film> shown;
    QStringList sentences;
};

} // namespace

TEST_F(FrameMapTest, AnElementInSightIsThatOfTheReplay)
{
    ASSERT_TRUE(show());
    EXPECT_FALSE(map.picture()->hasElements());
    look();
    ASSERT_TRUE(settle());
    EXPECT_EQ(map.hint(), QString());
    const std::vector<double> expected = replayed();
    expectValues(expected);
    view.setCursor({(badCol + 0.5) / cols, (badRow + 0.5) / rows});
    const double there = expected[badRow * cols + badCol];
    EXPECT_TRUE(map.elementUnderCursor().startsWith(QStringLiteral("[200, 310] = %1").arg(there, 0, 'g', 4)))
        << qPrintable(map.elementUnderCursor());
}

TEST_F(FrameMapTest, AnOutputOfAnotherSizeIsSaidWithBothSizes)
{
    capture.path = (folder / "odd.pt").string();
    ASSERT_TRUE(tensorfile::writePt(capture.path,
        {{"input", doublesTensor("input", {1, rows, cols}, input)},
            {"output", doublesTensor("output", {1, 8, 4}, std::vector<double>(32))}, {"epsilon", 1e-7}}));
    capture.output.emplace();
    capture.output->shape = {1, 8, 4};
    film.setPlace({}, &capture);
    film.setMode(FilmMode::againstOutput);
    film.showReplayed(torchMuon(), 0);
    ASSERT_TRUE(waitUntil([this] { return sentences.size() > 1; }));
    EXPECT_EQ(sentences.last(),
        QStringLiteral("The captured output is 8×4, and no op of this replay is: it ends with 300×520"));
}

TEST_F(FrameMapTest, ADifferenceKeepsWhatIsNotANumber)
{
    ASSERT_TRUE(show(FilmMode::againstOutput));
    look();
    ASSERT_TRUE(settle());
    std::vector<double> expected = replayed();
    for (std::size_t i = 0; i < expected.size(); ++i) {
        expected[i] -= output[i];
    }
    expectValues(expected);
    EXPECT_TRUE(std::isnan(map.picture()->elementAt(badRow, badCol).value_or(0)));
}

TEST_F(FrameMapTest, NothingIsAskedForWhileTheViewMoves)
{
    ASSERT_TRUE(show());
    EXPECT_TRUE(map.settled()) << "as a whole it is shown by its tiles";
    QSignalSpy wanted(&map, &FrameMap::detailWanted);
    for (int zoom = 6; zoom <= 24; ++zoom) {
        view.setView({0.5, 0.5}, zoom);
    }
    EXPECT_EQ(wanted.size(), 0);
    ASSERT_TRUE(settle());
    ASSERT_EQ(wanted.size(), 1);
    const auto region = wanted[0][1].value<replay::Region>();
    const auto inSight = *map.visibleRegion();
    EXPECT_TRUE((MatrixPatch {region, {}, {}}.covers(inSight)));
    EXPECT_LE(region.rows, 2 * inSight.rows + 1);
    view.setView({0.5, 0.5}, 30);
    EXPECT_TRUE(map.settled()) << "what is in sight now was there before";
}

TEST_F(FrameMapTest, WhatIsNoLongerInSightIsNotWaitedFor)
{
    ASSERT_TRUE(show());
    QSignalSpy wanted(&map, &FrameMap::detailWanted);
    QSignalSpy dropped(&map, &FrameMap::detailDropped);
    look();
    ASSERT_TRUE(waitUntil([&] { return wanted.size() == 1; }));
    EXPECT_EQ(map.hint(), QStringLiteral("Exact values to come…"));
    view.fit();
    EXPECT_EQ(dropped.size(), 1);
    EXPECT_TRUE(map.settled());
    EXPECT_EQ(map.hint(), QString());
    EXPECT_FALSE(film.busy());
}

TEST_F(FrameMapTest, OfAnotherReplayThereIsADoubt)
{
    ASSERT_TRUE(show());
    QObject::disconnect(&map, &FrameMap::detailWanted, &film, nullptr);
    QSignalSpy wanted(&map, &FrameMap::detailWanted);
    look();
    ASSERT_TRUE(waitUntil([&] { return wanted.size() == 1; }));
    replay::ReplayedFrame answer;
    answer.op = static_cast<std::size_t>(wanted[0][0].toInt());
    answer.region = wanted[0][1].value<replay::Region>();
    answer.cell.environment.engine = "stranger 1.0";
    answer.trace.op = OpName::output;
    answer.trace.iteration = shown->frames.back().iteration;
    answer.trace.rows = rows;
    answer.trace.cols = cols;
    answer.floats.assign(static_cast<std::size_t>(answer.region.rows * answer.region.cols), 2);
    auto stale = answer;
    stale.region.row += 1;
    map.setDetail(std::make_shared<const replay::ReplayedFrame>(stale));
    EXPECT_FALSE(map.picture()->patch) << "an answer to another question";
    map.setDetail(std::make_shared<const replay::ReplayedFrame>(answer));
    ASSERT_TRUE(map.picture()->patch);
    EXPECT_TRUE(map.hint().contains(QStringLiteral("stranger 1.0"))) << qPrintable(map.hint());
}

TEST_F(FrameMapTest, OtherStepsAreNotShownAsThisFrames)
{
    ASSERT_TRUE(show());
    QObject::disconnect(&map, &FrameMap::detailWanted, &film, nullptr);
    QSignalSpy wanted(&map, &FrameMap::detailWanted);
    look();
    ASSERT_TRUE(waitUntil([&] { return wanted.size() == 1; }));
    replay::ReplayedFrame answer;
    answer.op = static_cast<std::size_t>(wanted[0][0].toInt());
    answer.region = wanted[0][1].value<replay::Region>();
    answer.trace.op = OpName::update;
    answer.trace.rows = rows;
    answer.trace.cols = cols;
    answer.floats.assign(static_cast<std::size_t>(answer.region.rows * answer.region.cols), 2);
    map.setDetail(std::make_shared<const replay::ReplayedFrame>(answer));
    EXPECT_FALSE(map.picture()->patch);
    EXPECT_FALSE(map.hint().isEmpty());
}

TEST_F(FrameMapTest, WithoutAReplayTheReasonIsTold)
{
    ASSERT_TRUE(show());
    std::filesystem::remove(path);
    look();
    ASSERT_TRUE(settle());
    EXPECT_TRUE(map.hint().startsWith(QStringLiteral("No exact values: "))) << qPrintable(map.hint());
    EXPECT_FALSE(map.picture()->patch);
}

} // namespace nanscope
