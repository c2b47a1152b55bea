// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <span>

#include <gmock/gmock.h>

#include "core/replay/analysis/sweep.h"
#include "core/replay/engine/capturecells.h"
#include "core/replay/engine/outcome.h"
#include "devicearound.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

tensorfile::TensorToWrite doubles(const Shape& shape, const std::vector<double>& values)
{
    tensorfile::TensorToWrite tensor {
        "input", DType::float64, shape, std::vector<std::byte>(values.size() * sizeof(double))};
    std::ranges::copy(std::as_bytes(std::span(values)), tensor.bytes.begin());
    return tensor;
}

/// Full rank, without random numbers.
std::vector<double> waves(std::size_t count)
{
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) {
        const auto x = static_cast<double>(i);
        values.push_back(std::sin(1.7 * x) + 0.5 * std::cos(0.013 * x * x));
    }
    return values;
}

class Cells : public testing::Test
{
protected:
    std::string write(const std::string& name, const Shape& shape, const std::vector<double>& values)
    {
        const auto path = m_folder / name;
        EXPECT_TRUE(tensorfile::writePt(path, {{"input", doubles(shape, values)}, {"epsilon", 1e-3}}));
        return path.string();
    }

    Cell cellOf(const std::string& path, const replay::CellRequest& request)
    {
        const auto cell = replay::replayCell(*tensorfile::openCapture(path), request, {}, *m_device);
        EXPECT_TRUE(cell) << (cell ? "" : sentence(cell.error()));
        return cell.value_or(Cell {});
    }

    std::vector<Cell> swept(const replay::SweepRequest& request)
    {
        std::vector<Cell> cells;
        const auto done =
            replay::sweep(request, replay::makeCoreDevice, {}, [&](Cell cell) { cells.push_back(std::move(cell)); });
        EXPECT_TRUE(done) << (done ? "" : sentence(done.error()));
        return cells;
    }

    TemporaryFolder m_folder;
    std::unique_ptr<replay::Device> m_device = replay::makeEigenDevice(1);
};

std::vector<std::string> labels(const std::vector<Cell>& cells)
{
    std::vector<std::string> all;
    for (const auto& cell : cells) {
        all.push_back(cell.variant + " " + std::string(name(cell.precision)) + " " + std::string(name(cell.lowering)));
    }
    return all;
}

TEST_F(Cells, SayWhatWasReplayedWhereAndHow)
{
    const auto path = write("x.pt", {8, 12}, waves(96));
    const auto cell = cellOf(path, {"dion-ns5", Precision::bf16, Lowering::fused, {}, {}, "cpu", false});
    EXPECT_EQ(cell.capture, "x.pt");
    EXPECT_EQ(cell.variant, "dion-ns5");
    EXPECT_EQ(cell.precision, Precision::bf16);
    EXPECT_EQ(cell.lowering, Lowering::fused);
    EXPECT_EQ(cell.device, "cpu");
    EXPECT_FALSE(cell.native) << "core emulates bf16";
    EXPECT_EQ(cell.outcome, Outcome::finite);
    EXPECT_FALSE(cell.firstNonFinite);
    EXPECT_EQ(cell.environment, m_device->environment());
    EXPECT_THAT(cell.environment.engine, testing::StartsWith("eigen 3."));
    EXPECT_EQ(cell.environment.threads, 1);
    EXPECT_EQ(cell.gauges.size(), 5U);
    EXPECT_TRUE(cell.error.empty());
    EXPECT_TRUE(cellOf(path, {"dion-ns5", Precision::fp32, Lowering::eager, {}, {}, "cpu", false}).native);
}

TEST_F(Cells, TheCapturesEpsilonIsUsedUnlessTheVariantIgnoresItOrTheUserInsists)
{
    const auto path = write("x.pt", {8, 12}, waves(96));
    const auto epsilon = [&](const std::string& variant, std::optional<double> given) {
        return cellOf(path, {variant, Precision::fp32, Lowering::eager, given, {}, "cpu", false}).epsilon;
    };
    EXPECT_EQ(epsilon("dion-ns5", {}), 1e-3);
    EXPECT_EQ(epsilon("gns-gram", {}), 1e-7);
    EXPECT_EQ(epsilon("gns-gram", 0.5), 0.5);
}

TEST_F(Cells, IndexLeadsWithTheBatchOnlyWhereTheCaptureHasOne)
{
    auto values = waves(96);
    values[3 * 12 + 5] = 70000;
    const replay::CellRequest request {"deepspeed-gram", Precision::fp16, Lowering::eager, {}, {}, "cpu", false};
    const auto flat = cellOf(write("flat.pt", {8, 12}, values), request);
    EXPECT_THAT(flat.birth->index, ElementsAre(3, 5));
    const auto batched = cellOf(write("batched.pt", {1, 8, 12}, values), request);
    EXPECT_THAT(batched.birth->index, ElementsAre(0, 3, 5));
    EXPECT_EQ(batched.birth->op, OpName::cast);
}

TEST_F(Cells, TheWorstElementDecidesAndTheEarliestBirthIsTold)
{
    auto values = waves(3 * 96);
    values[1 * 96 + 7] = 70000; // overflows in the cast
    for (std::size_t i = 2 * 96; i < 3 * 96; ++i) {
        values[i] = 20000; // only its norm overflows: a silent zero
    }
    const auto cell = cellOf(
        write("x.pt", {3, 8, 12}, values), {"deepspeed-gram", Precision::fp16, Lowering::eager, {}, {}, "cpu", false});
    ASSERT_EQ(cell.batches.size(), 3U);
    EXPECT_EQ(cell.batches[0].outcome, Outcome::finite);
    EXPECT_EQ(cell.batches[1].outcome, Outcome::nan);
    EXPECT_EQ(cell.batches[2].outcome, Outcome::zero);
    EXPECT_EQ(cell.outcome, Outcome::nan);
    EXPECT_EQ(cell.firstNonFinite->op, OpName::cast);
    EXPECT_THAT(cell.firstNonFinite->index, ElementsAre(1, 0, 7));
    EXPECT_EQ(cell.batches[2].firstNonFinite->op, OpName::norm);
    EXPECT_EQ(cell.batches[2].batch, 2);
}

TEST_F(Cells, DamageInTheInputIsNoBirth)
{
    auto values = waves(96);
    values[4] = -INFINITY;
    const auto cell =
        cellOf(write("x.pt", {8, 12}, values), {"dion-ns5", Precision::bf16, Lowering::eager, {}, {}, "cpu", false});
    EXPECT_EQ(cell.firstNonFinite->op, OpName::input);
    EXPECT_EQ(cell.firstNonFinite->kind, ValueClass::negInf);
    EXPECT_EQ(cell.firstNonFinite->count, 1);
    EXPECT_FALSE(cell.birth);
}

TEST_F(Cells, TileMapsAreMadeOnRequestInTheCapturesOrientation)
{
    const auto path = write("x.pt", {12, 8}, waves(96));
    replay::CellRequest request {"dion-ns5", Precision::fp32, Lowering::eager, {}, {}, "cpu", true};
    const auto cell = cellOf(path, request);
    EXPECT_EQ(cell.ops.front().tiles.at(0).rows, 12);
    EXPECT_EQ(cell.ops.front().tiles.at(0).cols, 8);
    EXPECT_EQ(cell.ops.back().op, OpName::output);
    EXPECT_EQ(cell.ops.back().tiles.size(), 1U);
    request.tileMaps = false;
    EXPECT_TRUE(cellOf(path, request).ops.front().tiles.empty());
}

TEST_F(Cells, SweepTakesFp64FirstAndTellsEveryDistanceFromIt)
{
    replay::SweepRequest request;
    request.captures = {write("x.pt", {8, 12}, waves(96))};
    request.variants = {"dion-ns5", "gns-gram"};
    request.precisions = {Precision::fp16, Precision::fp64, Precision::fp32};
    const auto cells = swept(request);
    EXPECT_THAT(labels(cells),
        ElementsAre("dion-ns5 fp64 eager", "dion-ns5 fp32 eager", "dion-ns5 fp16 eager", "gns-gram fp64 fused",
            "gns-gram fp32 fused", "gns-gram fp16 fused"));
    EXPECT_FALSE(cells[0].gauges.back().distanceToFp64);
    ASSERT_TRUE(cells[1].gauges.back().distanceToFp64 && cells[2].gauges.back().distanceToFp64);
    EXPECT_GT(*cells[2].gauges.back().distanceToFp64, 100 * *cells[1].gauges.back().distanceToFp64);
    EXPECT_LT(*cells[1].gauges.back().distanceToFp64, 1e-4);
    EXPECT_FALSE(cells[1].gauges.front().distanceToFp64) << "of the output only";
}

/// Keeps `room` matrices and measures itself, as a GPU does; `fails` once it no longer can.
class MeasuringDevice : public test::DeviceAround
{
public:
    std::optional<std::vector<double>> gainsAlong(
        replay::BufferId buffer, std::int64_t element, std::span<const double> directions) override
    {
        const auto count = static_cast<std::size_t>(m_program.shape.rows);
        const auto values = *inner().download(buffer, element);
        std::vector<double> gains;
        for (std::size_t i = 0; i < directions.size(); i += count) {
            gains.push_back(replay::gainAlong(directions.subspan(i, count), values, m_program.shape.cols));
        }
        return fails ? std::nullopt : std::optional(gains);
    }
    std::optional<replay::KeptMatrix> keep(replay::BufferId buffer, std::int64_t element) override
    {
        if (room == 0) {
            return std::nullopt;
        }
        --room;
        const auto kept = *inner().download(buffer, element);
        return replay::KeptMatrix {[this, kept](replay::BufferId other, std::int64_t i) {
                                       ++compared;
                                       return fails
                                           ? std::nullopt
                                           : std::optional(replay::relativeDistance(*inner().download(other, i), kept));
                                   },
            [this, kept]() -> Result<Values> {
                ++downloads;
                return kept;
            }};
    }
    Result<void> prepare(const replay::Program& program, std::int64_t batch) override
    {
        m_program = program;
        return batch > batches ? failure(ErrorKind::refused, "not enough memory")
                               : DeviceAround::prepare(program, batch);
    }
    Result<Values> download(
        replay::BufferId buffer, std::int64_t element, const std::optional<replay::Region>& part) override
    {
        ++downloads;
        return DeviceAround::download(buffer, element, part);
    }

    int room = 1000;
    std::int64_t batches = 1000;
    bool fails = false;
    int compared = 0;
    int downloads = 0;

private:
    replay::Program m_program;
};

/// The cells of a batch of three under one variant, each on a device of its own.
class CellsOnDevices : public Cells
{
protected:
    std::vector<Cell> onDevices(const std::vector<replay::Device*>& devices)
    {
        const std::vector<Precision> precisions {Precision::fp64, Precision::fp32, Precision::bf16};
        const auto file = tensorfile::openCapture(write("x.pt", {3, 8, 12}, waves(3 * 96)));
        auto cells = replay::CaptureCells::of(*file, {});
        std::vector<Cell> made;
        for (std::size_t i = 0; i < devices.size(); ++i) {
            const replay::CellRequest request {"dion-ns5", precisions[i], Lowering::eager, {}, {}};
            auto cell = cells->cell(request, *devices[i], {});
            EXPECT_TRUE(cell) << (cell ? "" : sentence(cell.error()));
            made.push_back(cell.value_or(Cell {}));
        }
        return made;
    }

    static void expectSame(const std::vector<Cell>& found, const std::vector<Cell>& expected)
    {
        for (std::size_t i = 0; i < expected.size(); ++i) {
            EXPECT_EQ(found[i].outcome, expected[i].outcome) << i;
            EXPECT_EQ(found[i].gauges.back().distanceToFp64, expected[i].gauges.back().distanceToFp64) << i;
        }
    }

    std::vector<Cell> m_expected = onDevices({m_device.get(), m_device.get(), m_device.get()});
    MeasuringDevice m_measuring;
};

TEST_F(CellsOnDevices, FetchNothingWhereTheDeviceMeasures)
{
    ASSERT_TRUE(m_expected[1].gauges.back().distanceToFp64);
    expectSame(onDevices({&m_measuring, &m_measuring, &m_measuring}), m_expected);
    EXPECT_EQ(m_measuring.compared, 6);
    EXPECT_EQ(m_measuring.downloads, 0);
}

TEST_F(CellsOnDevices, MeasureHereWhatTheDeviceCannotKeep)
{
    m_measuring.room = 1;
    m_measuring.batches = 2;
    expectSame(onDevices({&m_measuring, &m_measuring, &m_measuring}), m_expected);
    EXPECT_EQ(m_measuring.compared, 2);
    EXPECT_EQ(m_measuring.downloads, 6) << "two of each cell";
}

TEST_F(CellsOnDevices, FetchOnceWhatTheDeviceNoLongerMeasures)
{
    m_measuring.fails = true;
    expectSame(onDevices({&m_measuring, &m_measuring, &m_measuring}), m_expected);
    EXPECT_EQ(m_measuring.downloads, 3 * 3 + 3) << "outputs of three cells, and what was kept of the first";
}

TEST_F(CellsOnDevices, AreMeasuredAgainstWhatAnotherDeviceKept)
{
    MeasuringDevice other;
    expectSame(onDevices({&m_measuring, &other, m_device.get()}), m_expected);
    EXPECT_EQ(m_measuring.downloads, 3) << "once for both";
    EXPECT_EQ(other.compared, 0);
}

TEST_F(Cells, SweepOverLoweringsReplaysBoth)
{
    replay::SweepRequest request;
    request.captures = {write("x.pt", {8, 12}, waves(96))};
    request.variants = {"dion-ns5"};
    request.precisions = {Precision::bf16};
    request.lowerings = {Lowering::fused, Lowering::eager};
    EXPECT_THAT(labels(swept(request)), ElementsAre("dion-ns5 bf16 fused", "dion-ns5 bf16 eager"));
}

TEST_F(Cells, ASweepOfNamedCellsReplaysThoseAlone)
{
    replay::SweepRequest request;
    request.captures = {write("x.pt", {8, 12}, waves(96))};
    request.variants = {"dion-ns5", "gns-gram"};
    request.precisions = {Precision::fp32, Precision::bf16};
    request.cells = {{"gns-gram", Precision::bf16, Lowering::fused, 1e-3, 2, "cpu"},
        {"dion-ns5", Precision::fp32, Lowering::eager, {}, {}, "cpu"}};
    EXPECT_EQ(replay::cellCount(request), 2);
    const auto cells = swept(request);
    EXPECT_THAT(labels(cells), ElementsAre("gns-gram bf16 fused", "dion-ns5 fp32 eager"));
    EXPECT_EQ(cells[0].epsilon, 1e-3);
    EXPECT_EQ(cells[0].steps, 2);
    EXPECT_EQ(cells[0].gauges.size(), 2U);
    EXPECT_EQ(cells[1].steps, 5);
    request.cells[1].variant = "dion-ns6";
    EXPECT_FALSE(replay::sweep(request, replay::makeCoreDevice, {}, [](const Cell&) { ADD_FAILURE() << "no cell"; }));
}

TEST_F(Cells, ACellIsAskedForAgainWithWhatIsNotUsual)
{
    replay::SweepRequest request;
    request.captures = {write("x.pt", {8, 12}, waves(96))};
    request.variants = {"dion-ns5"};
    request.precisions = {Precision::fp32};
    const auto again = [&](double captured) { return replay::requestOf(swept(request).at(0), captured, {}); };
    EXPECT_FALSE(again(1e-3).epsilon || again(1e-3).steps);
    EXPECT_EQ(again(1e-7).epsilon, 1e-3) << "of another capture it would not be usual";
    request.epsilon = 1e-5;
    request.steps = 7;
    EXPECT_EQ(again(1e-3).epsilon, 1e-5);
    EXPECT_EQ(again(1e-3).steps, 7);
    request.devices = {"cuda:7"};
    EXPECT_EQ(again(1e-3).epsilon, 1e-5) << "of one that failed, too";
    EXPECT_EQ(again(1e-3).steps, 7);
}

TEST_F(Cells, ADeviceThatDoesNotExistFailsItsCellsOnly)
{
    replay::SweepRequest request;
    request.captures = {write("x.pt", {8, 12}, waves(96))};
    request.variants = {"dion-ns5"};
    request.precisions = {Precision::fp32};
    request.devices = {"cuda:7", "cpu"};
    const auto cells = swept(request);
    ASSERT_EQ(cells.size(), 2U);
    EXPECT_THAT(cells[0].error, HasSubstr("no device 'cuda:7'"));
    EXPECT_EQ(cells[0].device, "cuda:7");
    EXPECT_EQ(cells[0].capture, "x.pt");
    EXPECT_TRUE(cells[1].error.empty());
}

TEST_F(Cells, AFileThatCannotBeReadFailsEachOfItsCellsAndTheNextIsSwept)
{
    replay::SweepRequest request;
    request.captures = {(m_folder / "none.pt").string(), write("x.pt", {8, 12}, waves(96))};
    request.variants = {"dion-ns5", "gns-gram"};
    request.precisions = {Precision::fp32};
    const auto cells = swept(request);
    ASSERT_EQ(cells.size(), 4U);
    EXPECT_EQ(cells[0].capture, "none.pt");
    EXPECT_FALSE(cells[0].error.empty());
    EXPECT_FALSE(cells[1].error.empty());
    EXPECT_TRUE(cells[2].error.empty());
    EXPECT_TRUE(cells[3].error.empty());
}

TEST_F(Cells, RequestsThatNameNothingAreUsageErrors)
{
    const auto path = write("x.pt", {8, 12}, waves(96));
    const replay::SweepRequest good {{path}, {"dion-ns5"}, {Precision::fp32}, {}, {"cpu"}, {}, {}, false};
    const auto refused = [](const replay::SweepRequest& request) {
        const auto done =
            replay::sweep(request, replay::makeCoreDevice, {}, [](const Cell&) { ADD_FAILURE() << "no cell"; });
        return done ? ErrorKind::internal : done.error().kind;
    };
    auto request = good;
    request.captures.clear();
    EXPECT_EQ(refused(request), ErrorKind::usage);
    request = good;
    request.variants.clear();
    EXPECT_EQ(refused(request), ErrorKind::usage);
    request = good;
    request.precisions.clear();
    EXPECT_EQ(refused(request), ErrorKind::usage);
    request = good;
    request.variants.push_back("dion-ns6");
    EXPECT_EQ(refused(request), ErrorKind::usage) << "before anything is replayed";
}

TEST_F(Cells, CancelEndsTheSweepBetweenCells)
{
    replay::SweepRequest request;
    request.captures = {write("x.pt", {8, 12}, waves(96))};
    request.variants = {"dion-ns5"};
    request.precisions = {Precision::fp64, Precision::fp32, Precision::bf16};
    JobContext job;
    int cells = 0;
    const auto done = replay::sweep(request, replay::makeCoreDevice, job, [&](const Cell&) {
        ++cells;
        job.cancel.cancel();
    });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::cancelled);
    EXPECT_EQ(cells, 1);
}

TEST_F(Cells, ProgressCountsCellsOfAllCaptures)
{
    const auto path = write("x.pt", {8, 12}, waves(96));
    replay::SweepRequest request;
    request.captures = {path, path};
    request.variants = {"dion-ns5"};
    request.precisions = {Precision::fp64, Precision::fp32};
    std::vector<std::int64_t> done;
    JobContext job;
    job.progress = [&](const Progress& p) {
        EXPECT_EQ(p.total, 4);
        EXPECT_EQ(p.unit, "cells");
        done.push_back(p.done);
    };
    ASSERT_TRUE(replay::sweep(request, replay::makeCoreDevice, job, [](const Cell&) {}));
    EXPECT_THAT(done, ElementsAre(0, 1, 2, 3));
}

TEST_F(Cells, AnEmptyTensorIsAFailedCellNotACrash)
{
    replay::SweepRequest request;
    request.captures = {write("x.pt", {0, 12}, {})};
    request.variants = {"dion-ns5"};
    request.precisions = {Precision::fp32};
    const auto cells = swept(request);
    ASSERT_EQ(cells.size(), 1U);
    EXPECT_THAT(cells[0].error, HasSubstr("has no elements"));
}

} // namespace
} // namespace nanscope
