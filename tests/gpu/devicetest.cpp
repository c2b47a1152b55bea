// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "core/replay/analysis/singularsystem.h"
#include "core/replay/engine/capturecells.h"
#include "core/replay/engine/outcome.h"
#include "core/tensorfile/scan/scantensor.h"
#include "gpu/gpu.h"
#include "tests/core/replay/devicearound.h"
#include "tests/core/session/temporaryfolder.h"
#include "tests/gpu/samples.h"

namespace nanscope {

namespace {

replay::Replay replayed(
    const char* variant, const MatrixShape& shape, std::span<const double> input, replay::ReplayOptions options = {})
{
    options.keepOutput = true;
    auto device = makeTorchDevice("cpu").value();
    auto result = replay::replay(test::variantNamed(variant), shape, input, *device, options);
    EXPECT_TRUE(result) << (result ? "" : result.error().what);
    return result ? std::move(*result) : replay::Replay();
}

TEST(TorchDevice, namesItsTorchAndItsProcessor)
{
    const auto environment = makeTorchDevice("cpu").value()->environment();
    EXPECT_TRUE(environment.engine.starts_with("torch 2.")) << environment.engine;
    EXPECT_EQ(environment.device, "cpu");
    EXPECT_FALSE(environment.hardware.empty());
    EXPECT_GE(environment.threads, 1);
}

TEST(TorchDevice, refusesDevicesItDoesNotKnow)
{
    for (const char* name : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda0", "cpu:0"}) {
        const auto device = makeTorchDevice(name);
        ASSERT_FALSE(device) << name;
        EXPECT_EQ(device.error().kind, ErrorKind::usage) << name;
    }
}

TEST(TorchDevice, saysWhyThereIsNoGpu)
{
    const auto info = torchServiceInfo();
    ASSERT_FALSE(info.devices.empty());
    EXPECT_EQ(info.devices.front().first, "cpu");
    if (info.devices.size() > 1) {
        GTEST_SKIP() << "this machine has a GPU";
    }
    ASSERT_EQ(info.notes.size(), 1U);
    EXPECT_TRUE(info.notes.front().starts_with("no GPU: ")) << info.notes.front();
    const auto device = makeTorchDevice("cuda:0");
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().what, info.notes.front());
}

TEST(TorchDevice, findsTheLargestEigenvalueOfALargeBuffer)
{
    // I + 11^T / n, whose largest eigenvalue is 2.
    const MatrixShape shape {1, 400, 400};
    std::vector<double> matrix(400 * 400, 1.0 / 400);
    for (std::size_t i = 0; i < matrix.size(); i += 401) {
        matrix[i] += 1;
    }
    const auto device = makeTorchDevice("cpu").value();
    const auto program = replay::compileProgram(test::variantNamed("keller-jordan"), shape, {}).value();
    ASSERT_TRUE(device->prepare(program, 1) && device->upload(matrix));
    const auto largest = device->largestEigenvalue(0, 0);
    ASSERT_TRUE(largest && *largest);
    EXPECT_NEAR(**largest, 2, 1e-4);
    matrix[7] = std::nan("");
    ASSERT_TRUE(device->upload(matrix));
    EXPECT_EQ(device->largestEigenvalue(0, 0).value(), std::nullopt) << "the host says what becomes of NaN";
}

TEST(TorchDevice, decomposesASampleAsTheHostDoes)
{
    const auto device = makeTorchDevice("cpu").value();
    for (const auto& shape : {MatrixShape {1, 40, 70}, MatrixShape {1, 70, 40}, MatrixShape {1, 33, 33}}) {
        const auto matrix = test::normalInput(shape, 11);
        const replay::SampledPlaces places {
            {0, 5, 32}, {std::vector<double>(static_cast<std::size_t>(shape.rows), 0.5)}, {1, 30}};
        const auto here = replay::SampledSystem::of(matrix, shape, places);
        const auto there = replay::SampledSystem::of(matrix, shape, places, {}, device.get());
        ASSERT_TRUE(here && there);
        // A gain that depends on the value alone, so that the order in which they come does not matter.
        const auto amplified = [](const replay::SampledSystem& system) {
            std::vector<double> gains;
            for (const double value : system.values()) {
                gains.push_back(1 / (1 + value));
            }
            return std::vector<Values> {system.amplified(gains)};
        };
        EXPECT_LT(test::distance(amplified(*there), amplified(*here)), 1e-12) << shape.rows;
        EXPECT_TRUE(std::ranges::is_sorted(there->values())) << "torch's own order: it was asked";
    }
}

/// Holds these matrices in its buffer 0.
std::unique_ptr<replay::Device> holding(const MatrixShape& shape, ValueView values)
{
    auto device = makeTorchDevice("cpu").value();
    replay::CompileOptions options;
    options.precision = Precision::fp64;
    const auto program = replay::compileProgram(test::variantNamed("dion-ns5"), shape, options).value();
    EXPECT_TRUE(device->prepare(program, shape.batch) && device->upload(values));
    return device;
}

// Wide, tall (held as its transpose), and of more elements than are taken at a time.
const std::vector<MatrixShape> measuredShapes {{2, 40, 70}, {2, 70, 40}, {1, 2100, 2300}, {1, 2300, 2100}};

TEST(TorchDevice, measuresGainsAsTheHostDoes)
{
    for (const auto& shape : measuredShapes) {
        const auto input = test::normalInput(shape, 3);
        const auto device = holding(shape, input);
        const auto size = static_cast<std::size_t>(shape.elements());
        for (std::int64_t i = 0; i < shape.batch; ++i) {
            const auto matrix = std::span<const double>(input).subspan(static_cast<std::size_t>(i) * size, size);
            const auto directions = test::normalInput({1, 3, shape.rows}, 12);
            const auto there = device->gainsAlong(0, i, directions);
            ASSERT_TRUE(there && there->size() == 3) << shape.rows;
            for (std::size_t k = 0; k < 3; ++k) {
                const auto rows = static_cast<std::size_t>(shape.rows);
                const double here =
                    replay::gainAlong(std::span(directions).subspan(k * rows, rows), matrix, shape.cols);
                EXPECT_NEAR((*there)[k], here, 1e-12 * here) << shape.rows;
            }
        }
    }
}

TEST(TorchDevice, measuresDistancesFromWhatItKeptAsTheHostDoes)
{
    for (const auto& shape : measuredShapes) {
        const auto first = test::normalInput(shape, 3);
        auto second = first;
        second[7] += 1e-3;
        second.back() -= 2e-3;
        const auto device = holding(shape, first);
        const auto size = static_cast<std::size_t>(shape.elements());
        const auto last = shape.batch - 1;
        const auto kept = device->keep(0, last);
        ASSERT_TRUE(kept);
        EXPECT_EQ(kept->distanceOf(0, last), 0.0);
        ASSERT_TRUE(device->upload(second));
        const auto from = static_cast<std::size_t>(last) * size;
        const auto was = std::span<const double>(first).subspan(from);
        const double here = replay::relativeDistance(std::span<const double>(second).subspan(from), was);
        const auto there = kept->distanceOf(0, last);
        ASSERT_TRUE(there);
        EXPECT_NEAR(*there, here, 1e-12 * here) << shape.rows;
        EXPECT_EQ(kept->download().value(), Values(std::vector<double>(was.begin(), was.end())));
    }
}

TEST(TorchDevice, measuresTheEdgesOfADistanceAsTheHostDoes)
{
    const MatrixShape shape {1, 2, 3};
    const std::vector<double> zero(6, 0);
    const auto device = holding(shape, zero);
    const auto kept = device->keep(0, 0).value();
    EXPECT_EQ(kept.distanceOf(0, 0), 0.0);
    ASSERT_TRUE(device->upload(std::vector<double>(6, 1)));
    EXPECT_EQ(kept.distanceOf(0, 0), HUGE_VAL);
    const auto ones = device->keep(0, 0).value();
    ASSERT_TRUE(device->upload(std::vector<double> {0, 0, 0, 0, 0, NAN}));
    EXPECT_TRUE(std::isnan(ones.distanceOf(0, 0).value()));
}

/// Counts the matrices that are fetched.
class FetchingDevice : public test::DeviceAround
{
public:
    explicit FetchingDevice(bool measures)
        : DeviceAround(makeTorchDevice("cpu").value())
        , m_measures(measures)
    { }
    Result<Values> download(
        replay::BufferId buffer, std::int64_t element, const std::optional<replay::Region>& part) override
    {
        ++fetched;
        return DeviceAround::download(buffer, element, part);
    }
    std::optional<std::vector<double>> gainsAlong(
        replay::BufferId buffer, std::int64_t element, std::span<const double> directions) override
    {
        return m_measures ? inner().gainsAlong(buffer, element, directions) : std::nullopt;
    }
    std::optional<replay::KeptMatrix> keep(replay::BufferId buffer, std::int64_t element) override
    {
        return m_measures ? inner().keep(buffer, element) : std::nullopt;
    }
    int fetched = 0;

private:
    bool m_measures;
};

std::string writeInput(const TemporaryFolder& folder, const MatrixShape& shape, const std::vector<double>& values)
{
    tensorfile::TensorToWrite tensor {"input", DType::float64, {shape.batch, shape.rows, shape.cols},
        std::vector<std::byte>(values.size() * sizeof(double))};
    std::ranges::copy(std::as_bytes(std::span(values)), tensor.bytes.begin());
    const auto path = folder / "x.pt";
    EXPECT_TRUE(tensorfile::writePt(path, {{"input", tensor}, {"epsilon", 1e-7}}));
    return path.string();
}

TEST(TorchDevice, givesTheCellsThatTheHostGivesAndFetchesNothing)
{
    const TemporaryFolder folder;
    for (const MatrixShape shape : {MatrixShape {2, 48, 80}, MatrixShape {2, 80, 48}}) {
        const auto file = tensorfile::openCapture(writeInput(folder, shape, test::normalInput(shape, 5))).value();
        auto cellsHere = replay::CaptureCells::of(file, {}).value();
        auto cellsThere = replay::CaptureCells::of(file, {}).value();
        FetchingDevice fetching(false);
        FetchingDevice measuring(true);
        for (const auto& variant : replay::variants()) {
            for (const auto precision : allPrecisions()) {
                const replay::CellRequest request {variant.name, precision, variant.lowering, {}, {}};
                const auto here = cellsHere.cell(request, fetching, {});
                const auto there = cellsThere.cell(request, measuring, {});
                ASSERT_TRUE(here && there) << variant.name;
                const auto& distance = here->gauges.back().distanceToFp64;
                EXPECT_EQ(there->outcome, here->outcome) << variant.name << " " << name(precision);
                ASSERT_EQ(there->gauges.back().distanceToFp64.has_value(), distance.has_value());
                EXPECT_NEAR(there->gauges.back().distanceToFp64.value_or(0), distance.value_or(0),
                    1e-12 * distance.value_or(0));
            }
        }
        EXPECT_GT(fetching.fetched, 0);
        EXPECT_EQ(measuring.fetched, 0);
    }
}

void copyBuffer(const replay::Program& program, replay::BufferId id, replay::Device& from, replay::Device& to)
{
    if (id < 0) {
        return;
    }
    const auto& plan = program.buffers[static_cast<std::size_t>(id)];
    const replay::Region whole {0, 0, plan.transposed ? plan.cols : plan.rows, plan.transposed ? plan.rows : plan.cols};
    for (const std::int64_t element : {0, 1}) {
        const auto values = from.download(id, element)->doubles();
        ASSERT_TRUE(to.overwrite(id, element, whole, values));
    }
}

TEST(TorchDevice, emulatesOnTheCpuWhatIsNarrowerThanFp32)
{
    const auto device = makeTorchDevice("cpu").value();
    EXPECT_TRUE(device->native(Precision::fp64));
    EXPECT_TRUE(device->native(Precision::fp32));
    EXPECT_FALSE(device->native(Precision::tf32));
    EXPECT_FALSE(device->native(Precision::bf16));
    EXPECT_FALSE(device->native(Precision::fp16));
    EXPECT_FALSE(device->native(Precision::fp16Acc16));
}

TEST(TorchDevice, SumsInFp16OnTheCpuAsCoreDoesBitForBit)
{
    // Norms are summed in another order, so that each product is given the operands that core's had.
    const MatrixShape shape {2, 24, 200};
    const auto input = test::normalInput(shape, 8);
    replay::CompileOptions options;
    options.precision = Precision::fp16Acc16;
    for (const auto* variant : {"gns-gram", "keller-jordan", "dion-ns5"}) {
        options.rounding.lowering = test::variantNamed(variant).lowering;
        const auto program = replay::compileProgram(test::variantNamed(variant), shape, options).value();
        auto torch = makeTorchDevice("cpu").value();
        auto eigen = replay::makeEigenDevice();
        ASSERT_TRUE(torch->prepare(program, 2) && torch->upload(input));
        ASSERT_TRUE(eigen->prepare(program, 2) && eigen->upload(input));
        int products = 0;
        for (const auto& in : program.code) {
            if (in.code != replay::Code::gemm) {
                ASSERT_TRUE(torch->run(in) && eigen->run(in));
                continue;
            }
            for (const auto operand : {in.a, in.b, in.c}) {
                copyBuffer(program, operand, *eigen, *torch);
            }
            ASSERT_TRUE(torch->run(in) && eigen->run(in));
            for (const std::int64_t element : {0, 1}) {
                const auto ours = torch->download(in.out, element)->doubles();
                EXPECT_EQ(ours, eigen->download(in.out, element)->doubles()) << variant << " product " << products;
                const replay::Region part {1, 2, 3, 4};
                EXPECT_EQ(*torch->download(in.out, element, part), *eigen->download(in.out, element, part)) << variant;
            }
            ++products;
        }
        EXPECT_GE(products, 10) << variant;
    }
}

TEST(TorchDevice, batchesWhatIsSmallAndTakesLargeMatricesOneByOne)
{
    const auto device = makeTorchDevice("cpu").value();
    const auto program = [](std::int64_t size) {
        return replay::compileProgram(test::variantNamed("dion-ns5"), {8, size, size}, {}).value();
    };
    EXPECT_GT(device->batchLimit(program(64)), 8);
    EXPECT_EQ(device->batchLimit(program(4096)), 1);
}

TEST(TorchDevice, elementsOfABatchDoNotTouchEachOther)
{
    const MatrixShape shape {3, 32, 48};
    const auto size = static_cast<std::size_t>(shape.elements());
    auto input = test::normalInput(shape, 2);
    input[size + 5] = std::nan("");
    const auto whole = replayed("dion-ns5", shape, input);
    for (const std::size_t i : {0U, 2U}) {
        const auto alone = replayed("dion-ns5", {1, 32, 48}, std::span(input).subspan(i * size, size));
        EXPECT_LT(test::distance({whole.outputs[i]}, alone.outputs), 1e-4);
        EXPECT_TRUE(whole.ops.back().batches[i].finite());
    }
    EXPECT_GT(whole.ops.back().batches[1].nan, 0);
}

TEST(TorchDevice, zeroMatrixWithoutEpsilonBecomesNaNWhenItIsDivided)
{
    replay::ReplayOptions options;
    options.epsilon = 0;
    options.forceEpsilon = true;
    const auto result = replayed("keller-jordan", {1, 4, 6}, std::vector<double>(24, 0.0), options);
    for (const auto& op : result.ops) {
        const bool divided = op.iteration > 0 || op.op == OpName::normalize;
        EXPECT_EQ(op.batches.front().nan > 0, divided) << name(op.op) << " " << op.iteration;
    }
}

TEST(TorchDevice, halfPrecisionOverflowsInTheCastAboveItsLargestNumber)
{
    replay::ReplayOptions options;
    options.precision = Precision::fp16;
    std::vector<double> input(24, 1.0);
    input[10] = 80384;
    const auto result = replayed("deepspeed-gram", {1, 4, 6}, input, options);
    ASSERT_EQ(result.ops[1].op, OpName::cast);
    EXPECT_EQ(result.ops[0].batches.front().posInf, 0);
    EXPECT_EQ(result.ops[1].batches.front().posInf, 1);
    EXPECT_EQ(result.ops[1].batches.front().firstNonFinite, 10);
}

TEST(TorchDevice, movingTheDenominatorMovesTheResultByAsMuch)
{
    const MatrixShape shape {1, 1, 1};
    const std::vector<double> input {3.0};
    replay::ReplayOptions options;
    options.precision = Precision::fp64;
    options.steps = 1;
    const auto denominator = [&](int ulps) {
        options.rounding.normUlps = ulps;
        const auto result = replayed("keller-jordan", shape, input, options);
        for (const auto& op : result.ops) {
            if (op.op == OpName::norm) {
                return op.batches.front().absmax;
            }
        }
        return 0.0;
    };
    EXPECT_EQ(denominator(1), std::nextafter(denominator(0), 4.0));
    EXPECT_EQ(denominator(-1), std::nextafter(denominator(0), 0.0));
}

TEST(TorchDevice, downloadAndTilesAreInTheCapturesOwnOrientation)
{
    const MatrixShape shape {1, 6, 4};
    const auto input = test::normalInput(shape, 9);
    const auto program = replay::compileProgram(test::variantNamed("dion-ns5"), shape, {}).value();
    ASSERT_TRUE(program.buffers[0].transposed) << "a tall matrix is iterated as its transpose";
    auto device = makeTorchDevice("cpu").value();
    ASSERT_TRUE(device->prepare(program, 1));
    ASSERT_TRUE(device->upload(input));
    const auto back = device->download(0, 0);
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, Values(input));
    const auto tiles = device->tileMap(0, 0);
    ASSERT_TRUE(tiles);
    EXPECT_EQ(*tiles, tensorfile::tileMatrix(std::span<const double>(input), 6, 4, false, 0x1p-126));
}

TEST(TorchDevice, refusesAnInputOfTheWrongSize)
{
    const auto program = replay::compileProgram(test::variantNamed("dion-ns5"), {1, 6, 4}, {}).value();
    auto device = makeTorchDevice("cpu").value();
    ASSERT_TRUE(device->prepare(program, 1));
    EXPECT_FALSE(device->upload(std::vector<double>(23)));
}

TEST(TorchDevice, saysSoWhenMemoryIsMissing)
{
    const auto program = replay::compileProgram(test::variantNamed("dion-ns5"), {1, 1 << 26, 1 << 26}, {}).value();
    auto device = makeTorchDevice("cpu").value();
    const auto result = device->prepare(program, 1);
    ASSERT_FALSE(result);
    EXPECT_FALSE(result.error().what.empty());
    EXPECT_EQ(result.error().what.find('\n'), std::string::npos);
}

} // namespace

} // namespace nanscope
