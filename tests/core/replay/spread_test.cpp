// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/replay/analysis/spreadmodel.h"
#include "core/replay/engine/cellrun.h"
#include "core/replay/engine/frame.h"
#include "core/replay/variants/variant.h"
#include "core/rpc/requests.h"
#include "tests/core/replay/framecapture.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

replay::Program compiled(std::string_view variant, std::int64_t rows, std::int64_t cols)
{
    replay::CompileOptions options;
    options.rounding.lowering = Lowering::eager;
    return replay::compileProgram(*replay::builtInVariant(variant), {1, rows, cols}, options).value();
}

replay::PlantedFault faultAt(
    const replay::Program& program, std::size_t place, const replay::Region& region, bool mirrored)
{
    replay::PlantedFault fault;
    fault.op = *program.code[place].label;
    fault.iteration = program.code[place].iteration;
    fault.region = region;
    fault.mirrored = mirrored;
    return fault;
}

/// Neither at an edge nor of equal sides, and no tile of any grid; below the diagonal, across it and above it.
std::vector<replay::Region> tilesIn(const replay::Program& program, std::size_t place)
{
    const auto& plan = program.buffers[static_cast<std::size_t>(program.code[place].out)];
    const auto rows = plan.transposed ? plan.cols : plan.rows;
    const auto cols = plan.transposed ? plan.rows : plan.cols;
    return {{rows - 5, 1, 3, 2}, {2, 1, 4, 5}, {0, cols - 3, 2, 3}};
}

class PlantedReplay : public testing::Test
{
protected:
    replay::CellRun begin(const std::string& variant, std::int64_t rows, std::int64_t cols, Precision precision)
    {
        auto known = m_captures.find({rows, cols});
        if (known == m_captures.end()) {
            const auto path = writeFrameCapture(m_folder / fmt::format("{}x{}.pt", rows, cols), {1, rows, cols},
                waveValues(static_cast<std::size_t>(rows * cols)));
            known = m_captures.emplace(std::pair {rows, cols}, tensorfile::openCapture(path).value()).first;
        }
        replay::CellRequest request;
        request.variant = variant;
        request.precision = precision;
        // Such small matrices are slower on several threads.
        const auto devices = [](const std::string&) -> Result<std::unique_ptr<replay::Device>> {
            return replay::makeEigenDevice(1);
        };
        auto run = replay::CellRun::begin(known->second, request, {}, 0, devices);
        EXPECT_TRUE(run) << sentence(run.error());
        return std::move(*run);
    }

    /// The first element in which the replay and the model do not say the same, empty where there is none.
    std::string difference(
        const replay::PlantedFault& fault, const std::string& variant, std::int64_t rows, std::int64_t cols)
    {
        auto run = begin(variant, rows, cols, Precision::fp32);
        const auto place = replay::plantingPoint(run.program(), fault);
        EXPECT_TRUE(place && run.plant(fault));
        const auto film = replay::SpreadModel(run.program(), fault.mirrored).film(*place, fault.region);
        EXPECT_EQ(film.size(), run.ops().size());
        for (std::size_t op = 0; op < film.size(); ++op) {
            EXPECT_TRUE(run.runThrough(op, {}));
            const auto values = run.matrix().value();
            if (auto found = differenceIn(values, film[op]); !found.empty()) {
                return fmt::format("{} of step {} {}", name(run.ops()[op].op), run.ops()[op].iteration, found);
            }
            const auto scan = run.scans().value().back();
            if (scan.nan != replay::badElements(film[op])) {
                return fmt::format("the scan of {} counts {}", name(run.ops()[op].op), scan.nan);
            }
        }
        return {};
    }

    static std::string differenceIn(const std::vector<double>& values, const replay::BadBlocks& blocks)
    {
        std::size_t next = 0;
        for (std::size_t row = 0; row < blocks.height(); ++row) {
            for (auto r = blocks.rowEdges[row]; r < blocks.rowEdges[row + 1]; ++r) {
                for (std::size_t col = 0; col < blocks.width(); ++col) {
                    for (auto c = blocks.colEdges[col]; c < blocks.colEdges[col + 1]; ++c) {
                        const double value = values.at(next++);
                        if (blocks.at(row, col) ? !std::isnan(value) : !std::isfinite(value)) {
                            return fmt::format("[{}, {}] is {}", r, c, value);
                        }
                    }
                }
            }
        }
        return next == values.size() ? "" : "other sizes";
    }

    TemporaryFolder m_folder;
    std::map<std::pair<std::int64_t, std::int64_t>, tensorfile::CaptureFile> m_captures; ///< by rows and columns
};

TEST_F(PlantedReplay, SpreadsAsTheModelSaysFromEveryPlaceOfEveryVariant)
{
    int checked = 0;
    for (const auto& variant : replay::variants()) {
        for (const auto& [rows, cols] : {std::pair {12, 20}, std::pair {20, 12}, std::pair {14, 14}}) {
            const auto program = compiled(variant.name, rows, cols);
            for (std::size_t place = 0; place < program.code.size(); ++place) {
                if (!program.code[place].label || program.code[place].out < 0) {
                    continue;
                }
                for (const auto& tile : tilesIn(program, place)) {
                    for (const bool mirrored : {false, true}) {
                        const auto fault = faultAt(program, place, tile, mirrored);
                        EXPECT_EQ(difference(fault, variant.name, rows, cols), "")
                            << variant.name << " " << rows << "x" << cols << " " << name(fault.op) << " of step "
                            << fault.iteration << (mirrored ? ", mirrored" : "");
                        ++checked;
                    }
                }
            }
        }
    }
    EXPECT_GT(checked, 2000);
}

TEST_F(PlantedReplay, ValuesAreWhatWasAskedFor)
{
    const auto planted = [this](std::string_view value, Precision precision) {
        auto run = begin("gns-gram", 12, 20, precision);
        replay::PlantedFault fault;
        fault.op = OpName::gram;
        fault.iteration = 1;
        fault.region = {2, 7, 1, 2};
        EXPECT_TRUE(replay::parseValue(value, fault));
        EXPECT_TRUE(run.plant(fault));
        const auto& ops = run.ops();
        const auto gram = std::find_if(ops.begin(), ops.end(), [](const OpTrace& op) { return op.op == OpName::gram; });
        EXPECT_TRUE(run.runThrough(static_cast<std::size_t>(gram - ops.begin()), {}));
        const auto values = run.matrix().value();
        EXPECT_NE(values[2 * 12 + 6], values[2 * 12 + 7]);
        EXPECT_TRUE(std::isfinite(values[7 * 12 + 2]));
        return std::vector {values[2 * 12 + 7], values[2 * 12 + 8]};
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_THAT(planted("inf", Precision::fp16), ElementsAre(infinity, infinity));
    EXPECT_THAT(planted("-inf", Precision::fp64), ElementsAre(-infinity, -infinity));
    EXPECT_THAT(planted("zero", Precision::bf16), ElementsAre(0, 0));
    EXPECT_THAT(planted("stale:0.05", Precision::fp64), ElementsAre(0.05, 0.05));
    // The nearest number of bf16.
    EXPECT_THAT(planted("stale:0.05", Precision::bf16), ElementsAre(0.050048828125, 0.050048828125));
}

TEST_F(PlantedReplay, StaleMemoryHoldsWhatWasThereBefore)
{
    const auto gramOf = [this](int iteration, bool planted) {
        auto run = begin("dion-ns5", 12, 20, Precision::fp32);
        replay::PlantedFault fault;
        fault.op = OpName::gram;
        fault.iteration = 3;
        fault.region = {4, 5, 2, 3};
        fault.value = replay::PlantedValue::held;
        EXPECT_TRUE(!planted || run.plant(fault));
        for (std::size_t op = 0; op < run.ops().size(); ++op) {
            EXPECT_TRUE(run.runThrough(op, {}));
            if (run.ops()[op].op == OpName::gram && run.ops()[op].iteration == iteration) {
                return run.matrix().value();
            }
        }
        return std::vector<double>();
    };
    const auto before = gramOf(2, false);
    const auto right = gramOf(3, false);
    const auto stale = gramOf(3, true);
    for (std::size_t r = 0; r < 12; ++r) {
        for (std::size_t c = 0; c < 12; ++c) {
            const bool within = r >= 4 && r < 6 && c >= 5 && c < 8;
            EXPECT_EQ(stale[r * 12 + c], (within ? before : right)[r * 12 + c]) << r << ", " << c;
        }
    }
    EXPECT_NE(before, right);
}

TEST_F(PlantedReplay, MirroredGoesIntoBothTriangles)
{
    auto run = begin("gns-gram", 12, 20, Precision::fp32);
    replay::PlantedFault fault;
    fault.op = OpName::z;
    fault.iteration = 1;
    fault.region = {9, 2, 2, 3};
    fault.value = replay::PlantedValue::number;
    fault.number = 7;
    fault.mirrored = true;
    ASSERT_TRUE(run.plant(fault));
    std::size_t op = 0;
    while (run.ops()[op].op != OpName::z) {
        ++op;
    }
    ASSERT_TRUE(run.runThrough(op, {}));
    const auto values = run.matrix().value();
    for (std::size_t r = 0; r < 12; ++r) {
        for (std::size_t c = 0; c < 12; ++c) {
            EXPECT_EQ(values[r * 12 + c], values[c * 12 + r]);
        }
    }
    EXPECT_EQ(values[9 * 12 + 4], 7);
    EXPECT_EQ(values[4 * 12 + 9], 7);
    EXPECT_NE(values[9 * 12 + 5], 7);
}

TEST_F(PlantedReplay, RefusesWhatIsNotThere)
{
    auto run = begin("gns-gram", 12, 20, Precision::fp32);
    const auto refused = [&](OpName op, int iteration, replay::Region region) {
        replay::PlantedFault fault;
        fault.op = op;
        fault.iteration = iteration;
        fault.region = region;
        const auto planted = run.plant(fault);
        return planted ? std::string() : sentence(planted.error());
    };
    EXPECT_THAT(refused(OpName::r, 5, {0, 0, 1, 1}), HasSubstr("has no r in step 5, which has z, q, update, output"));
    EXPECT_THAT(refused(OpName::q, 6, {0, 0, 1, 1}), HasSubstr("it has 5 steps"));
    EXPECT_THAT(refused(OpName::norm, 0, {0, 0, 1, 1}), HasSubstr("one number"));
    EXPECT_THAT(refused(OpName::q, 3, {11, 0, 2, 1}), HasSubstr("12 × 12"));
    EXPECT_THAT(refused(OpName::q, 3, {0, 12, 1, 1}), HasSubstr("12 × 12"));
    EXPECT_THAT(refused(OpName::q, 3, {0, 0, 0, 1}), HasSubstr("12 × 12"));
    EXPECT_THAT(refused(OpName::q, 3, {-1, 0, 2, 1}), HasSubstr("12 × 12"));
    EXPECT_EQ(refused(OpName::update, 5, {11, 19, 1, 1}), "");
    EXPECT_THAT(refused(OpName::update, 5, {12, 19, 1, 1}), HasSubstr("12 × 20"));
}

TEST_F(PlantedReplay, AFilmOfItShowsTheFaultAndKeepsTheRest)
{
    const auto path = writeFrameCapture(m_folder / "film.pt", {2, 12, 20}, waveValues(std::size_t {2} * 12 * 20));
    replay::FilmRequest request;
    request.capture = path;
    request.cell.variant = "gns-gram";
    request.batch = 1;
    replay::PlantedFault fault;
    fault.op = OpName::update;
    fault.iteration = 5;
    fault.region = {3, 4, 2, 8};
    request.plant = fault;
    const auto film = replay::replayFilm(request, replay::makeCoreDevice).value();
    const auto& end = film.ops.back();
    EXPECT_EQ(end.batches.front().nan, 16);
    EXPECT_EQ(end.batches.front().firstNonFinite, 3 * 20 + 4);
    for (std::size_t op = 0; op + 2 < film.ops.size(); ++op) {
        EXPECT_TRUE(film.ops[op].batches.front().finite()) << op;
    }
    request.plant.reset();
    EXPECT_TRUE(replay::replayFilm(request, replay::makeCoreDevice).value().ops.back().batches.front().finite());
}

TEST(PlantJson, GoesThereAndBack)
{
    replay::PlantedFault fault;
    fault.op = OpName::restart;
    fault.iteration = 3;
    fault.region = {64, 128, 32, 16};
    fault.value = replay::PlantedValue::number;
    fault.number = -0.1;
    fault.mirrored = true;
    EXPECT_EQ(rpc::plantFromJson(rpc::plantToJson(fault)).value(), fault);
    fault.value = replay::PlantedValue::held;
    fault.number = 0;
    EXPECT_EQ(rpc::plantFromJson(rpc::plantToJson(fault)).value(), fault);
}

TEST(PlantJson, SaysWhatIsWrong)
{
    const auto problem = [](const char* text) {
        const auto fault = rpc::plantFromJson(nlohmann::ordered_json::parse(text));
        return fault ? std::string() : sentence(fault.error());
    };
    EXPECT_EQ(problem(R"({"op":"q","iteration":3,"tile":[0,0,4,4]})"), "");
    EXPECT_THAT(problem(R"({"op":"qq","iteration":3,"tile":[0,0,4,4]})"), HasSubstr("\"op\""));
    EXPECT_THAT(problem(R"([])"), HasSubstr("\"op\""));
    EXPECT_THAT(problem(R"({"op":"q","iteration":-3,"tile":[0,0,4,4]})"), HasSubstr("\"iteration\""));
    EXPECT_THAT(problem(R"({"op":"q","iteration":4000000000,"tile":[0,0,4,4]})"), HasSubstr("\"iteration\""));
    EXPECT_THAT(problem(R"({"op":"q","iteration":3,"tile":[0,0,4]})"), HasSubstr("\"tile\""));
    EXPECT_THAT(problem(R"({"op":"q","iteration":3,"tile":[0,0,4,-4]})"), HasSubstr("\"tile\""));
    EXPECT_THAT(problem(R"({"op":"q","iteration":3,"tile":[0,0,4,4],"value":"stale:nan"})"), HasSubstr("\"value\""));
    EXPECT_THAT(problem(R"({"op":"q","iteration":3,"tile":[0,0,4,4],"value":1})"), HasSubstr("\"value\""));
}

/// "all", "rows", "rectangle" or "other", and how many rows are bad throughout.
std::pair<std::string, std::int64_t> shapeOf(const replay::BadBlocks& end)
{
    if (replay::allBad(end)) {
        return {"all", end.rows()};
    }
    const auto bounds = replay::boundsOf(end);
    const auto count = replay::badElements(end);
    if (count % end.cols() == 0 && bounds.cols == end.cols()) {
        return {"rows", count / end.cols()};
    }
    return {count == bounds.rows * bounds.cols ? "rectangle" : "other", 0};
}

/// One 64 x 64 tile below the diagonal in each place of 256 x 704, as in the measurement that the counts are from.
std::map<std::string, int> countEnds(std::string_view variant, bool mirrored, std::set<std::int64_t>* rows = nullptr)
{
    const replay::SpreadModel model(compiled(variant, 256, 704), mirrored);
    std::map<std::string, int> counts;
    for (const auto place : replay::placesIn(model.program())) {
        const auto [shape, bad] = shapeOf(model.end(place, {128, 64, 64, 64}));
        ++counts[shape];
        if (rows != nullptr && shape == "rows") {
            rows->insert(bad);
        }
    }
    return counts;
}

TEST(SpreadModel, EndsAsMeasuredIn32Places)
{
    using Counts = std::map<std::string, int>;
    std::set<std::int64_t> rows;
    EXPECT_EQ(countEnds("gns-standard", true, &rows), (Counts {{"all", 13}, {"rows", 1}, {"rectangle", 1}}));
    EXPECT_EQ(countEnds("gns-gram", true, &rows), (Counts {{"all", 12}, {"rows", 4}, {"rectangle", 1}}));
    EXPECT_THAT(rows, ElementsAre(128, 192));
}

TEST(SpreadModel, PlainKernelsLeaveOnlyQToEndAsRows)
{
    using Counts = std::map<std::string, int>;
    EXPECT_EQ(countEnds("gns-gram", false), (Counts {{"all", 13}, {"rows", 3}, {"rectangle", 1}}));
    EXPECT_EQ(countEnds("gns-standard", false), (Counts {{"all", 13}, {"rows", 1}, {"rectangle", 1}}));
}

TEST(SpreadModel, ATallMatrixTurnsRowsIntoColumns)
{
    const replay::SpreadModel model(compiled("gns-gram", 704, 256), false);
    const auto places = replay::placesIn(model.program());
    const auto lastQ = places[places.size() - 2];
    ASSERT_EQ(model.program().code[lastQ].label, OpName::q);
    const auto end = model.end(lastQ, {128, 64, 64, 64});
    EXPECT_EQ(replay::boundsOf(end), (replay::Region {0, 128, 704, 64}));
    EXPECT_EQ(replay::badElements(end), 704 * 64);
    // Of what the last write leaves, the tile is where it was planted.
    EXPECT_EQ(replay::boundsOf(model.end(places.back(), {512, 128, 64, 32})), (replay::Region {512, 128, 64, 32}));
}

TEST(BadBlocks, AreEqualOnceSimplified)
{
    const replay::BadBlocks fine {{0, 2, 5, 9}, {0, 3, 4}, {0, 0, 1, 1, 1, 1}};
    const replay::BadBlocks coarse {{0, 2, 9}, {0, 4}, {0, 1}};
    EXPECT_EQ(replay::simplified(fine), coarse);
    EXPECT_EQ(replay::simplified(coarse), coarse);
    EXPECT_EQ(replay::badElements(fine), 7 * 4);
    EXPECT_EQ(replay::boundsOf(fine), (replay::Region {2, 0, 7, 4}));
    EXPECT_FALSE(replay::allBad(fine));
    EXPECT_EQ(replay::boundsOf({{0, 4}, {0, 4}, {0}}), replay::Region {});
}

} // namespace
} // namespace nanscope
