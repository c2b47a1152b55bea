// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/frame.h"

#include <gmock/gmock.h>

#include "core/replay/engine/replay.h"
#include "core/replay/variants/variant.h"
#include "core/tensorfile/scan/scantensor.h"
#include "tests/core/replay/devicearound.h"
#include "tests/core/replay/framecapture.h"

namespace nanscope {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t frameRows = 12;
constexpr std::int64_t frameCols = 8;
constexpr std::int64_t batches = 3;
constexpr auto frameSize = static_cast<std::size_t>(frameRows * frameCols);

/// core's own device that counts what it runs, and cancels at an instruction.
struct Counter
{
    int instructions = 0;
    int cancelAt = -1;
    int devices = 0; ///< alive
    int mostDevices = 1000; ///< memory for so many
    std::int64_t mostAtOnce = 1000; ///< matrices
    std::int64_t mostOnTheWay = 1000; ///< the same, found out at the twelfth instruction and by whoever looks
    std::size_t mostFetched = 0; ///< numbers at once
    CancelToken cancel;
};

class CountingDevice : public test::DeviceAround
{
public:
    explicit CountingDevice(Counter& counter)
        : m_counter(counter)
    {
        ++m_counter.devices;
    }
    ~CountingDevice() override { --m_counter.devices; }
    CountingDevice(const CountingDevice&) = delete;
    CountingDevice& operator=(const CountingDevice&) = delete;
    // As a device that batches would have it.
    std::int64_t batchLimit(const replay::Program& /*program*/) const override { return 2; }
    Result<void> prepare(const replay::Program& program, std::int64_t batch) override
    {
        if (m_counter.devices > m_counter.mostDevices || batch > m_counter.mostAtOnce) {
            return failure(ErrorKind::refused, "not enough memory");
        }
        m_batch = batch;
        m_run = 0;
        return DeviceAround::prepare(program, batch);
    }
    Result<void> run(const replay::Instruction& instruction) override
    {
        if (++m_counter.instructions == m_counter.cancelAt) {
            m_counter.cancel.cancel();
        }
        return ++m_run == 12 && isShort() ? tooLittle() : DeviceAround::run(instruction);
    }
    Result<Values> download(
        replay::BufferId buffer, std::int64_t element, const std::optional<replay::Region>& part) override
    {
        auto values = isShort() ? tooLittle() : DeviceAround::download(buffer, element, part);
        m_counter.mostFetched = std::max(m_counter.mostFetched, values ? values->size() : 0);
        return values;
    }
    Result<TileMap> tileMap(replay::BufferId buffer, std::int64_t element) override
    {
        return isShort() ? tooLittle() : DeviceAround::tileMap(buffer, element);
    }

private:
    static tl::unexpected<Error> tooLittle() { return failure(ErrorKind::refused, "not enough memory"); }
    bool isShort() const { return m_batch > m_counter.mostOnTheWay; }

    Counter& m_counter;
    std::int64_t m_batch = 0;
    int m_run = 0;
};

class Frames : public testing::Test
{
protected:
    void SetUp() override
    {
        m_values = waveValues(batches * frameSize);
        m_path = writeFrameCapture(m_folder / "x.pt", {batches, frameRows, frameCols}, m_values);
        ASSERT_FALSE(m_path.empty());
    }

    static replay::CellRequest cell(const char* variant, Precision precision, Lowering lowering = Lowering::eager)
    {
        return {variant, precision, lowering, {}, {}, "cpu", true};
    }

    replay::DeviceFactory devices()
    {
        return [this](const std::string&) -> Result<std::unique_ptr<replay::Device>> {
            return std::make_unique<CountingDevice>(m_counter);
        };
    }

    replay::FrameRequest request(const replay::CellRequest& cell, std::size_t op, std::int64_t batch = 1) const
    {
        return {{m_path, cell, batch, {}}, op, {}};
    }

    replay::ReplayedFrame frame(const replay::FrameRequest& wanted)
    {
        auto made = replay::FrameReplay(devices()).frame(wanted);
        EXPECT_TRUE(made) << sentence(made.error());
        return made.value_or(replay::ReplayedFrame {});
    }

    std::vector<OpTrace> sweptOps(const replay::CellRequest& wanted)
    {
        const auto device = replay::makeEigenDevice(1);
        const auto swept = replay::replayCell(*tensorfile::openCapture(m_path), wanted, {}, *device);
        EXPECT_TRUE(swept) << sentence(swept.error());
        return swept ? swept->ops : std::vector<OpTrace>();
    }

    /// What the first so many steps alone give.
    std::vector<double> outputAfter(const replay::CellRequest& wanted, int steps, std::size_t batch)
    {
        replay::ReplayOptions options;
        options.precision = wanted.precision;
        options.rounding.lowering = wanted.lowering;
        options.epsilon = 1e-7;
        options.steps = steps;
        options.keepOutput = true;
        const auto device = replay::makeEigenDevice(1);
        auto replayed = replay::replay(
            *replay::builtInVariant(wanted.variant), {batches, frameRows, frameCols}, m_values, *device, options);
        EXPECT_TRUE(replayed);
        return replayed->outputs.at(batch).doubles();
    }

    std::size_t indexOf(const replay::CellRequest& wanted, OpName op, int iteration)
    {
        const auto ops = sweptOps(wanted);
        const auto found = std::find_if(
            ops.begin(), ops.end(), [&](const OpTrace& each) { return each.op == op && each.iteration == iteration; });
        EXPECT_NE(found, ops.end());
        return static_cast<std::size_t>(found - ops.begin());
    }

    TemporaryFolder m_folder;
    std::string m_path;
    std::vector<double> m_values;
    Counter m_counter;
};

std::vector<double> valuesOf(const replay::ReplayedFrame& frame)
{
    return frame.doubles.empty() ? std::vector<double>(frame.floats.begin(), frame.floats.end()) : frame.doubles;
}

TEST_F(Frames, UpdatesAreTheOutputsOfShorterReplays)
{
    for (const auto precision : allPrecisions()) {
        const auto wanted = cell("torch-muon", precision);
        for (const int steps : {1, 3, 5}) {
            const auto shown = frame(request(wanted, indexOf(wanted, OpName::update, steps), 2));
            EXPECT_EQ(valuesOf(shown), outputAfter(wanted, steps, 2)) << name(precision) << " " << steps;
            EXPECT_EQ(shown.doubles.empty(), precision != Precision::fp64);
        }
    }
}

TEST_F(Frames, ARestartIsTheOutputOfTheStepsBeforeIt)
{
    const auto wanted = cell("gns-gram", Precision::fp16, Lowering::fused);
    const auto ops = sweptOps(wanted);
    const auto restart =
        std::find_if(ops.begin(), ops.end(), [](const OpTrace& op) { return op.op == OpName::restart; });
    ASSERT_NE(restart, ops.end());
    const auto shown = frame(request(wanted, static_cast<std::size_t>(restart - ops.begin()), 0));
    EXPECT_EQ(valuesOf(shown), outputAfter(wanted, restart->iteration - 1, 0));
}

TEST_F(Frames, ScansAndTilesAreThoseOfTheSweep)
{
    for (const auto& wanted : {cell("torch-muon", Precision::bf16), cell("gns-gram", Precision::fp64, Lowering::fused),
             cell("gns-gram", Precision::fp16)}) {
        const auto ops = sweptOps(wanted);
        for (std::size_t op = 0; op < ops.size(); ++op) {
            const auto shown = frame(request(wanted, op));
            EXPECT_EQ(shown.op, op);
            EXPECT_EQ(shown.trace.op, ops[op].op);
            EXPECT_EQ(shown.trace.iteration, ops[op].iteration);
            EXPECT_THAT(shown.trace.batches, ElementsAre(ops[op].batches[1]));
            if (ops[op].op != OpName::norm) {
                EXPECT_THAT(shown.trace.tiles, ElementsAre(ops[op].tiles[1])) << op;
            }
        }
    }
}

TEST_F(Frames, ValuesLieWhereTheTilesShowThem)
{
    const auto wanted = cell("gns-gram", Precision::bf16);
    const auto ops = sweptOps(wanted);
    for (std::size_t op = 0; op < ops.size(); ++op) {
        const auto shown = frame(request(wanted, op));
        EXPECT_EQ(shown.region, (replay::Region {0, 0, ops[op].rows, ops[op].cols}));
        if (ops[op].op != OpName::norm) {
            EXPECT_EQ(shown.floats, ops[op].tiles[1].max) << "each element is a tile";
        }
    }
}

TEST_F(Frames, TheNormIsAMatrixOfOne)
{
    const auto wanted = cell("torch-muon", Precision::fp64);
    const auto shown = frame(request(wanted, indexOf(wanted, OpName::norm, 0), 1));
    double squares = 0;
    for (std::size_t i = frameSize; i < 2 * frameSize; ++i) {
        squares += m_values[i] * m_values[i];
    }
    ASSERT_EQ(shown.doubles.size(), 1U);
    EXPECT_NEAR(shown.doubles[0], std::sqrt(squares), 1e-6);
    EXPECT_EQ(shown.trace.rows, 1);
}

TEST_F(Frames, WhatWasReplayedIsSaid)
{
    auto wanted = cell("torch-muon", Precision::fp32);
    wanted.epsilon = 0.25;
    const auto shown = frame(request(wanted, 3));
    EXPECT_EQ(shown.cell.capture, "x.pt");
    EXPECT_EQ(shown.cell.variant, "torch-muon");
    EXPECT_EQ(shown.cell.epsilon, 0.25);
    EXPECT_TRUE(shown.cell.native);
    EXPECT_EQ(shown.cell.environment, replay::makeEigenDevice(1)->environment());
    EXPECT_EQ(shown.batch, 1);
    EXPECT_EQ(shown.batches, batches);
    EXPECT_FALSE(shown.distance);
}

TEST_F(Frames, ARegionIsCutOutRowByRow)
{
    const auto wanted = cell("torch-muon", Precision::fp32);
    auto part = request(wanted, 5);
    const auto whole = frame(part).floats;
    const auto width = static_cast<std::size_t>(frame(part).trace.cols);
    part.region = replay::Region {2, 3, 4, 5};
    const auto shown = frame(part);
    EXPECT_EQ(shown.region, *part.region);
    ASSERT_EQ(shown.floats.size(), 20U);
    for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_EQ(shown.floats[i], whole[(2 + i / 5) * width + 3 + i % 5]);
    }
    EXPECT_EQ(shown.trace.batches[0].count, static_cast<std::int64_t>(whole.size())) << "facts are of the whole";
}

TEST_F(Frames, NoMoreIsFetchedThanTheRegion)
{
    auto part = request(cell("torch-muon", Precision::fp64), 5);
    part.region = replay::Region {2, 3, 4, 5};
    const auto whole = frame(request(part.film.cell, 5)).doubles;
    m_counter.mostFetched = 0;
    const auto shown = frame(part).doubles;
    EXPECT_EQ(m_counter.mostFetched, 20U);
    EXPECT_EQ(shown.front(), whole[2 * 8 + 3]);
}

TEST_F(Frames, ARegionOfADifferenceIsThatOfTheWholeOne)
{
    m_path = writeFrameCapture(
        m_folder / "y.pt", {batches, frameRows, frameCols}, m_values, std::vector(m_values.rbegin(), m_values.rend()));
    for (const auto& wanted : {cell("torch-muon", Precision::bf16), cell("gns-gram", Precision::fp16)}) {
        for (const auto& against :
            {replay::againstFp64(wanted), replay::againstFp64(cell("keller-jordan", Precision::fp16)),
                replay::Against {replay::Against::Kind::output, {}}}) {
            const auto last = sweptOps(wanted).size() - 1;
            auto whole = request(wanted, last);
            whole.film.against = against;
            auto part = whole;
            part.region = replay::Region {2, 3, 4, 5};
            const auto all = frame(whole).doubles;
            const auto shown = frame(part).doubles;
            ASSERT_EQ(shown.size(), 20U);
            for (std::size_t i = 0; i < 20; ++i) {
                EXPECT_EQ(shown[i], all[(2 + i / 5) * frameCols + 3 + i % 5]);
            }
        }
    }
}

TEST_F(Frames, RegionsOutsideAreRefused)
{
    for (const replay::Region region : {replay::Region {0, 0, 0, 1}, replay::Region {0, 0, 1, 0},
             replay::Region {frameRows, 0, 1, 1}, replay::Region {0, frameCols, 1, 1},
             replay::Region {0, 0, frameRows + 1, 1}, replay::Region {1, 0, frameRows, 1}, replay::Region {-1, 0, 1, 1},
             replay::Region {0, -1, 1, 1}, replay::Region {1, 1, INT64_MAX, INT64_MAX}}) {
        auto part = request(cell("torch-muon", Precision::fp32), 0);
        part.region = region;
        const auto refused = replay::FrameReplay(devices()).frame(part);
        ASSERT_FALSE(refused) << region.row << " " << region.rows;
        EXPECT_THAT(refused.error().what, HasSubstr("does not lie within the 12 × 8 matrix"));
    }
}

TEST_F(Frames, WhatDoesNotExistIsRefused)
{
    const auto errorOf = [&](const replay::FrameRequest& wanted) {
        const auto refused = replay::FrameReplay(devices()).frame(wanted);
        return refused ? "no error" : sentence(refused.error());
    };
    const auto good = cell("torch-muon", Precision::fp32);
    EXPECT_THAT(errorOf(request(good, 1000)), HasSubstr("no op 1000"));
    EXPECT_THAT(errorOf(request(good, 0, 3)), HasSubstr("no matrix 3, the capture holds 3"));
    EXPECT_THAT(errorOf(request(good, 0, -1)), HasSubstr("no matrix -1"));
    EXPECT_THAT(errorOf(request(cell("nobody", Precision::fp32), 0)), HasSubstr("nobody"));
    m_path = (m_folder / "none.pt").string();
    EXPECT_THAT(errorOf(request(good, 0)), HasSubstr("none.pt"));
}

TEST_F(Frames, AnotherRegionCostsNothingAndALaterOpOnlyTheRest)
{
    replay::FrameReplay kept(devices());
    const auto wanted = cell("torch-muon", Precision::fp16);
    const auto last = sweptOps(wanted).size() - 1;
    const auto costOf = [&](const replay::FrameRequest& each) {
        const int before = m_counter.instructions;
        const auto shown = kept.frame(each);
        EXPECT_TRUE(shown) << sentence(shown.error());
        const auto alone = frame(each);
        EXPECT_EQ(shown->floats, alone.floats);
        EXPECT_EQ(shown->trace.batches, alone.trace.batches);
        const int both = m_counter.instructions - before;
        m_counter.instructions = 0;
        frame(each);
        return both - m_counter.instructions;
    };
    const int first = costOf(request(wanted, 6));
    EXPECT_GT(first, 0);
    auto part = request(wanted, 6);
    part.region = replay::Region {1, 1, 2, 2};
    EXPECT_EQ(costOf(part), 0);
    const int rest = costOf(request(wanted, last));
    const int again = costOf(request(wanted, 6));
    EXPECT_EQ(again, first) << "an earlier op begins anew";
    EXPECT_EQ(costOf(request(wanted, last)), rest);
    EXPECT_EQ(costOf(request(wanted, 6, 2)), first) << "so does another matrix";
}

TEST_F(Frames, TwoCellsInTurnsAreReplayedOnceEach)
{
    replay::FrameReplay kept(devices());
    const std::vector films {cell("torch-muon", Precision::fp16), cell("torch-muon", Precision::fp64)};
    const auto costOf = [&](const replay::CellRequest& wanted, std::size_t op) {
        const int before = m_counter.instructions;
        const auto shown = kept.frame(request(wanted, op));
        const int cost = m_counter.instructions - before;
        const auto alone = frame(request(wanted, op));
        EXPECT_TRUE(shown && shown->floats == alone.floats && shown->doubles == alone.doubles);
        return cost;
    };
    for (const auto& film : films) {
        EXPECT_GT(costOf(film, 6), 0);
    }
    for (const auto& film : films) {
        EXPECT_EQ(costOf(film, 6), 0);
    }
    const int rest = costOf(films[0], 9);
    EXPECT_GT(rest, 0);
    const auto third = cell("torch-muon", Precision::fp32);
    const int whole = costOf(third, 9);
    EXPECT_LT(rest, whole) << "the replay went on where it had stopped";
    EXPECT_EQ(costOf(films[0], 9), 0);
    EXPECT_GT(costOf(films[1], 6), 0) << "of three the one not asked for longest is gone";
    kept.forget();
    EXPECT_EQ(costOf(films[0], 9), whole);
}

TEST_F(Frames, TwoReplaysTooLargeTogetherAreNotBothKept)
{
    const auto first = request(cell("torch-muon", Precision::fp16), 6);
    const auto second = request(cell("torch-muon", Precision::fp64), 6);
    const auto costInTurns = [&](std::int64_t mostBytes) {
        replay::FrameReplay kept(devices(), mostBytes);
        m_counter.instructions = 0;
        EXPECT_TRUE(kept.frame(first) && kept.frame(second));
        const int once = m_counter.instructions;
        EXPECT_TRUE(kept.frame(second));
        EXPECT_EQ(m_counter.instructions, once) << "the last one is kept, whatever it takes";
        EXPECT_TRUE(kept.frame(first) && kept.frame(second));
        return m_counter.instructions - once;
    };
    EXPECT_GT(costInTurns(1), 0);
    EXPECT_EQ(costInTurns(1 << 20), 0);
}

TEST_F(Frames, AKeptReplayMakesRoomForWhatWouldNotFitBesideIt)
{
    replay::FrameReplay kept(devices());
    ASSERT_TRUE(kept.frame(request(cell("torch-muon", Precision::fp16), 6)));
    m_counter.mostDevices = 1;
    const auto shown = kept.frame(request(cell("torch-muon", Precision::fp64), 6));
    EXPECT_TRUE(shown) << sentence(shown.error());
    m_counter.mostDevices = 0;
    EXPECT_FALSE(kept.frame(request(cell("torch-muon", Precision::fp32), 6)));
}

TEST_F(Frames, TakeFewerMatricesWhereMemoryIsShort)
{
    auto second = request(cell("torch-muon", Precision::fp32), 6);
    second.film.batch = 1;
    const auto together = replay::FrameReplay(devices()).frame(second);
    m_counter.mostAtOnce = 1;
    const auto alone = replay::FrameReplay(devices()).frame(second);
    ASSERT_TRUE(together);
    ASSERT_TRUE(alone) << sentence(alone.error());
    EXPECT_EQ(alone->floats, together->floats);
    EXPECT_EQ(alone->trace.tiles, together->trace.tiles);
    m_counter.mostAtOnce = 0;
    EXPECT_FALSE(replay::FrameReplay(devices()).frame(second));
}

TEST_F(Frames, BeginAgainWithFewerMatricesWhereMemoryEndsOnTheWay)
{
    auto film = replay::FilmRequest {m_path, cell("torch-muon", Precision::fp32), 1, {}};
    const auto enough = replay::replayFilm(film, devices());
    m_counter.mostOnTheWay = 1;
    const auto fewer = replay::replayFilm(film, devices());
    ASSERT_TRUE(enough);
    ASSERT_TRUE(fewer) << sentence(fewer.error());
    for (std::size_t op = 0; op < enough->ops.size(); ++op) {
        EXPECT_EQ(fewer->ops[op].batches, enough->ops[op].batches) << op;
        EXPECT_EQ(fewer->ops[op].tiles, enough->ops[op].tiles) << op;
    }
    film.plant = replay::PlantedFault {OpName::update, 1, {1, 1, 2, 2}};
    const auto planted = replay::replayFilm(film, devices());
    m_counter.mostOnTheWay = 1000;
    const auto before = replay::replayFilm(film, devices());
    ASSERT_TRUE(planted && before);
    EXPECT_EQ(planted->ops.back().batches, before->ops.back().batches);
    m_counter.mostOnTheWay = 0;
    const auto none = replay::replayFilm(film, devices());
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().what, "not enough memory");
}

TEST_F(Frames, ACancelledReplayLeavesTheOtherOneAlone)
{
    replay::FrameReplay kept(devices());
    const auto first = request(cell("torch-muon", Precision::fp16), 6);
    ASSERT_TRUE(kept.frame(first));
    JobContext job;
    job.cancel = m_counter.cancel;
    m_counter.cancelAt = m_counter.instructions + 3;
    EXPECT_FALSE(kept.frame(request(cell("torch-muon", Precision::fp64), 6), job));
    const int before = m_counter.instructions;
    EXPECT_TRUE(kept.frame(first));
    EXPECT_EQ(m_counter.instructions, before);
}

TEST(KeptReplays, TwoOfTheLargestCommonSizeFit)
{
    const auto bytesIn = [](Precision precision, std::size_t element) {
        replay::CompileOptions options;
        options.precision = precision;
        const auto program = replay::compileProgram(*replay::builtInVariant("gns-gram"), {1, 4096, 4096}, options);
        return program->workspaceBytes(element);
    };
    EXPECT_LE(
        bytesIn(Precision::fp16, sizeof(float)) + bytesIn(Precision::fp64, sizeof(double)), replay::maxKeptReplayBytes);
}

TEST_F(Frames, ACaptureThatWasWrittenSinceIsReadAgain)
{
    replay::FrameReplay kept(devices());
    const auto wanted = request(cell("torch-muon", Precision::fp64), 0, 0);
    EXPECT_EQ(kept.frame(wanted)->doubles[0], m_values[0]);
    auto changed = m_values;
    changed[0] = 99;
    writeFrameCapture(m_path, {batches, frameRows, frameCols}, changed);
    EXPECT_EQ(kept.frame(wanted)->doubles[0], 99);
}

TEST_F(Frames, CancelStopsAtTheNextInstructionAndNothingIsKept)
{
    replay::FrameReplay kept(devices());
    const auto wanted = request(cell("torch-muon", Precision::fp32), 15);
    JobContext job;
    job.cancel = m_counter.cancel;
    m_counter.cancelAt = 7;
    const auto stopped = kept.frame(wanted, job);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::cancelled);
    EXPECT_EQ(m_counter.instructions, 7);
    const auto after = kept.frame(wanted);
    ASSERT_TRUE(after);
    EXPECT_EQ(after->floats, frame(wanted).floats);
}

TEST_F(Frames, ProgressCountsTheOpsUpToIt)
{
    std::vector<std::int64_t> done;
    JobContext job;
    job.progress = [&](const Progress& progress) {
        EXPECT_EQ(progress.job, "frame");
        EXPECT_EQ(progress.unit, "ops");
        EXPECT_EQ(progress.total, 4);
        done.push_back(progress.done);
    };
    ASSERT_TRUE(replay::FrameReplay(devices()).frame(request(cell("torch-muon", Precision::fp32), 3), job));
    EXPECT_THAT(done, ElementsAre(0, 1, 2, 3));
}

} // namespace

} // namespace nanscope
