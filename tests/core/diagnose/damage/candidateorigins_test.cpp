// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/diagnose/damage/candidateorigins.h"
#include "core/diagnose/damage/damage.h"
#include "core/model/words.h"
#include "core/replay/variants/variant.h"
#include "tests/core/replay/framecapture.h"

namespace nanscope {
namespace {

using testing::StartsWith;

replay::SpreadModel modelOf(std::string_view variant, std::int64_t rows, std::int64_t cols, bool mirrored)
{
    return {replay::compileProgram(*replay::builtInVariant(variant), {1, rows, cols}, {}).value(), mirrored};
}

std::pair<std::int64_t, std::int64_t> sizeAt(const replay::SpreadModel& model, std::size_t place)
{
    const auto& plan = model.program().buffers[static_cast<std::size_t>(model.program().code[place].out)];
    return plan.transposed ? std::pair {plan.cols, plan.rows} : std::pair {plan.rows, plan.cols};
}

/// Every tile there is in the result of a place, smaller than it in both directions.
std::vector<replay::Region> allTiles(const replay::SpreadModel& model, std::size_t place)
{
    const auto [height, width] = sizeAt(model, place);
    std::vector<replay::Region> tiles;
    for (std::int64_t row = 0; row < height; ++row) {
        for (std::int64_t rows = 1; rows <= height - row && rows < height; ++rows) {
            for (std::int64_t col = 0; col < width; ++col) {
                for (std::int64_t cols = 1; cols <= width - col && cols < width; ++cols) {
                    tiles.push_back({row, col, rows, cols});
                }
            }
        }
    }
    return tiles;
}

/// For each picture that any tile ends as, the places that can.
std::vector<std::pair<replay::BadBlocks, std::set<std::size_t>>> endsOf(const replay::SpreadModel& model)
{
    std::vector<std::pair<replay::BadBlocks, std::set<std::size_t>>> ends;
    for (const auto place : replay::placesIn(model.program())) {
        for (const auto& tile : allTiles(model, place)) {
            const auto end = model.end(place, tile);
            const auto [height, width] = sizeAt(model, place);
            if (replay::allBad(end) && (tile.rows > height / 2 || tile.cols > width / 2)) {
                continue; // it says nothing
            }
            auto known = std::ranges::find_if(ends, [&](const auto& entry) { return entry.first == end; });
            if (known == ends.end()) {
                known = ends.insert(ends.end(), {end, {}});
            }
            known->second.insert(place);
        }
    }
    return ends;
}

void expectFoundAsByTryingAll(std::string_view variant, std::int64_t rows, std::int64_t cols, bool mirrored)
{
    const auto model = modelOf(variant, rows, cols, mirrored);
    for (const auto& [end, places] : endsOf(model)) {
        std::set<std::size_t> found;
        for (const auto place : replay::placesIn(model.program())) {
            if (const auto tile = diagnose::tileEndingLike(model, place, end)) {
                found.insert(place);
                EXPECT_EQ(model.end(place, *tile), end);
            }
        }
        EXPECT_EQ(found, places) << variant << (mirrored ? " mirrored, " : ", ") << replay::badElements(end) << " bad";
    }
}

TEST(CandidateOrigins, FindsWhatTryingEveryTileFinds)
{
    for (const bool mirrored : {false, true}) {
        expectFoundAsByTryingAll("gns-gram", 5, 7, mirrored);
        expectFoundAsByTryingAll("gns-gram", 7, 4, mirrored);
        expectFoundAsByTryingAll("dion-polar-express", 6, 4, mirrored);
        expectFoundAsByTryingAll("keller-jordan", 4, 4, mirrored);
    }
}

TEST(CandidateOrigins, NamesNoTileThatIsAlmostEverything)
{
    const auto model = modelOf("keller-jordan", 64, 64, false);
    const replay::BadBlocks all {{0, 64}, {0, 64}, {1}};
    int found = 0;
    for (const auto place : replay::placesIn(model.program())) {
        if (const auto tile = diagnose::tileEndingLike(model, place, all)) {
            ++found;
            EXPECT_LE(tile->rows, 32);
            EXPECT_LE(tile->cols, 32);
        }
    }
    EXPECT_EQ(found, 13) << "as many as for a large one";
}

class EndsLikeDump : public testing::Test
{
protected:
    static constexpr std::int64_t rows = 320;
    static constexpr std::int64_t cols = 704;

    std::vector<double> output = std::vector<double>(rows * cols, 0.5);

    void spoil(const replay::Region& region, double value = NAN)
    {
        for (auto r = region.row; r < region.row + region.rows; ++r) {
            for (auto c = region.col; c < region.col + region.cols; ++c) {
                output[static_cast<std::size_t>(r * cols + c)] = value;
            }
        }
    }

    CaptureVerdict fill(const std::vector<std::string>& variants, bool tall = false)
    {
        const Shape shape = tall ? Shape {1, cols, rows} : Shape {1, rows, cols};
        auto written = output;
        for (std::int64_t i = 0; tall && i < rows * cols; ++i) {
            written[static_cast<std::size_t>((i % cols) * rows + i / cols)] = output[static_cast<std::size_t>(i)];
        }
        const auto path =
            writeFrameCapture(m_folder / "x.pt", shape, waveValues(static_cast<std::size_t>(rows * cols)), written);
        const auto file = tensorfile::openCapture(path).value();
        CaptureVerdict verdict;
        verdict.facts.damage = diagnose::damagePatterns(file).value().front();
        verdict.variant.names = variants;
        diagnose::fillOrigins(verdict, file, {});
        return verdict;
    }

    TemporaryFolder m_folder;
};

TEST_F(EndsLikeDump, ARectangleIsTheLastWriteAlone)
{
    spoil({64, 128, 64, 64});
    const auto verdict = fill({"gns-gram"});
    ASSERT_EQ(verdict.origins.size(), 1);
    EXPECT_EQ(verdict.origins[0], (SpreadPlace {"gns-gram", 5, OpName::update, false}));
    EXPECT_EQ(originsText(verdict),
        "Rectangle: a bad tile in the last write ends like this, or code after the iteration (1 of 17 simulated bad "
        "tiles)");
    EXPECT_EQ(originsText(fill({"gns-gram", "gns-standard"})),
        "Rectangle: a bad tile in the last write ends like this, or code after the iteration (2 of 32 simulated bad "
        "tiles in 2 variants)");
}

TEST_F(EndsLikeDump, AllNanExcludesOnlyTheLatePlaces)
{
    spoil({0, 0, rows, cols});
    // Everything but the last Z, Q and write: Q is multiplied from the left here.
    EXPECT_EQ(originsText(fill({"deepspeed-gram"})),
        "All NaN: 14 of 17 simulated bad tiles end like this; only faults in the last steps can be ruled out");
    EXPECT_EQ(originsText(fill({"keller-jordan"})),
        "All NaN: 13 of 15 simulated bad tiles end like this; only faults in the last steps can be ruled out");
    spoil({0, 0, 1, 1}, INFINITY);
    EXPECT_THAT(
        originsText(fill({"keller-jordan"})), StartsWith("Nothing finite: 13 of 15 simulated bad tiles end like this"));
}

TEST_F(EndsLikeDump, WholeRowsAreTheLastProductsOfQ)
{
    spoil({128, 0, 64, cols});
    EXPECT_EQ(originsText(fill({"gns-gram"})),
        "Rows: a bad tile in q of steps 3-5 ends like this (3 of 17 simulated bad tiles)");
    EXPECT_EQ(originsText(fill({"deepspeed-gram"})),
        "Rows: a bad tile in z of step 5, q of step 5 ends like this (2 of 17 simulated bad tiles)");
    EXPECT_EQ(originsText(fill({"keller-jordan"})),
        "Rows: a bad tile in polynomial of step 5 ends like this (1 of 15 simulated bad tiles)");
}

TEST_F(EndsLikeDump, RowsDownToTheLastNeedAMirrorInZ)
{
    spoil({192, 0, rows - 192, cols});
    const auto verdict = fill({"gns-gram"});
    EXPECT_EQ(originsText(verdict),
        "Rows: a bad tile in z of step 5 (mirrored), q of steps 3-5 ends like this (4 of 17 simulated bad tiles)");
    for (const auto& place : verdict.origins) {
        EXPECT_EQ(place.mirrored, place.op == OpName::z);
    }
}

TEST_F(EndsLikeDump, ATallMatrixIsMappedBack)
{
    spoil({128, 0, 64, cols});
    const auto verdict = fill({"gns-gram"}, true);
    EXPECT_EQ(verdict.facts.damage.shape, DamageShape::columns);
    EXPECT_EQ(
        originsText(verdict), "Columns: a bad tile in q of steps 3-5 ends like this (3 of 17 simulated bad tiles)");
    // Whole rows of a tall matrix are no end of one tile.
    output.assign(output.size(), 0.5);
    spoil({0, 64, rows, 64});
    EXPECT_THAT(
        originsText(fill({"deepspeed-gram"}, true)), StartsWith("Rows: none of 17 simulated bad tiles ends like this"));
}

TEST_F(EndsLikeDump, PatternsAreComparedExactly)
{
    spoil({128, 0, 64, cols});
    output[static_cast<std::size_t>(150 * cols + 3)] = 0.5;
    EXPECT_THAT(
        originsText(fill({"deepspeed-gram"})), StartsWith("Scattered: none of 17 simulated bad tiles ends like this"));
}

TEST_F(EndsLikeDump, FinerDamageThanATileHasNoPlace)
{
    for (std::int64_t r = 0; r < rows; r += 2) {
        spoil({r, 40, 1, 8}, INFINITY);
    }
    const auto verdict = fill({"gns-gram"});
    EXPECT_TRUE(verdict.origins.empty());
    EXPECT_EQ(verdict.originsTried, 17);
    EXPECT_THAT(originsText(verdict), StartsWith("Strided rectangle: none of 17 simulated bad tiles ends like this"));
}

TEST_F(EndsLikeDump, OnlyDamageOfABirthIsAskedAbout)
{
    EXPECT_EQ(fill({"gns-gram"}).originsTried, 0);
    EXPECT_EQ(originsText(CaptureVerdict {}), "");
    spoil({64, 128, 64, 64});
    auto verdict = fill({"gns-gram"});
    verdict.origins.clear();
    verdict.originsTried = 0;
    verdict.role = Role::downstream;
    diagnose::fillOrigins(verdict, tensorfile::openCapture((m_folder / "x.pt").string()).value(), {});
    EXPECT_EQ(verdict.originsTried, 0);
}

TEST_F(EndsLikeDump, ASidecarSaysWhoseRoomItIs)
{
    spoil({64, 128, 64, 64});
    auto verdict = fill({});
    const auto ofAll = verdict.originsTried;
    auto file = tensorfile::openCapture((m_folder / "x.pt").string()).value();
    file.capture.variant = "gns-gram:fp16";
    diagnose::fillOrigins(verdict, file, {});
    EXPECT_EQ(verdict.originsTried, 17);
    file.capture.variant = "no-such-variant";
    diagnose::fillOrigins(verdict, file, {});
    EXPECT_EQ(verdict.originsTried, ofAll);
}

TEST_F(EndsLikeDump, FewerVariantsKeepTheirPlaces)
{
    spoil({64, 128, 64, 64});
    auto judged = fill({"gns-gram", "keller-jordan"});
    judged.facts.replayed = true;
    judged.facts.rows = rows;
    judged.facts.cols = cols;
    CaptureVerdict verdict;
    verdict.variant.names = {"keller-jordan"};
    diagnose::keepOrigins(verdict, judged, {});
    ASSERT_EQ(verdict.origins.size(), 1);
    EXPECT_EQ(verdict.origins[0].variant, "keller-jordan");
    EXPECT_EQ(verdict.originsTried, 15);
}

TEST(PlacesText, TheLastWriteIsThatOfEachVariant)
{
    CaptureVerdict verdict;
    verdict.facts.damage.shape = DamageShape::rectangle;
    verdict.origins = {{"a", 5, OpName::update, false}, {"b", 8, OpName::update, false}};
    verdict.originsTried = 41;
    EXPECT_THAT(originsText(verdict), StartsWith("Rectangle: a bad tile in the last write ends like this"));
    verdict.origins.push_back({"b", 7, OpName::update, false});
    EXPECT_EQ(originsText(verdict),
        "Rectangle: a bad tile in update of steps 5 and 7-8 ends like this (3 of 41 simulated bad tiles)");
}

TEST(PlacesText, JoinsStepsAndKeepsMirrorsApart)
{
    const std::vector<SpreadPlace> places {{"a", 1, OpName::z, false}, {"a", 2, OpName::z, false},
        {"b", 2, OpName::z, true}, {"a", 4, OpName::z, false}, {"a", 5, OpName::z, true}, {"a", 3, OpName::q, true}};
    EXPECT_EQ(placesText(places), "z of steps 1-2 and 4, z of step 5 (mirrored), q of step 3 (mirrored)");
    EXPECT_EQ(placesText({}), "");
}

} // namespace
} // namespace nanscope
