// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Pictures of a matrix, of replays and of the captures of a run.
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

#include "core/model/verdict.h"
#include "core/report/pictures/pictures.h"
#include "core/report/pictures/svgtiles.h"
#include "handmade.h"
#include "wellformed.h"

using namespace nanscope;
using namespace nanscope::report;
using nanscope::handmade::markupOf;
using testing::HasSubstr;
using testing::Not;

namespace {

TileMap everyClass()
{
    auto map = handmade::flatMap(16, 24, 0.5F);
    const auto set = [&map](int row, int col, std::uint8_t bits) {
        const auto at = static_cast<std::size_t>(row) * 24 + static_cast<std::size_t>(col);
        map.classes[at] = bits;
        map.absmax[at] = 0;
    };
    set(2, 3, classNan);
    set(4, 7, classPosInf);
    set(6, 11, classNegInf);
    set(8, 15, classZero);
    return map;
}

} // namespace

TEST(Tiles, ShowEveryClassInItsOwnWay)
{
    const auto picture = markupOf(report::tilePicture(everyClass(), nullptr));
    for (const auto* kind : {"nan", "posinf", "neginf"}) {
        EXPECT_EQ(picture.countClass(kind), 3) << kind << ": cells, legend, mark of the column";
    }
    EXPECT_EQ(picture.countClass("zero"), 2) << "cells and legend";
    EXPECT_EQ(picture.countClass("mark"), 3);
    for (const auto* kind : {"url(#hatch-nan)", "url(#hatch-posinf)", "url(#hatch-neginf)", "url(#hatch-zero)"}) {
        EXPECT_EQ(std::count_if(picture.attributes.begin(), picture.attributes.end(),
                      [kind](const auto& attribute) { return attribute.value == kind; }),
            2)
            << kind;
    }
}

TEST(Tiles, TheMarkOfAColumnStandsOverIt)
{
    const auto svg = report::tilePicture(everyClass(), nullptr).inlined("x");
    // 24 columns of 16 pixels, from 72 on: column 3 is centred at 128, column 7 at 192.
    EXPECT_THAT(svg, HasSubstr(R"(class="mark nan" d="M128 )"));
    EXPECT_THAT(svg, HasSubstr(R"(class="mark posinf" d="M192 )"));
}

TEST(Tiles, FrameTheDamage)
{
    DamagePattern damage;
    damage.rowBegin = 2;
    damage.rowEnd = 4;
    damage.colBegin = 3;
    damage.colEnd = 6;
    const auto svg = report::tilePicture(everyClass(), &damage).inlined("x");
    EXPECT_THAT(svg, HasSubstr(R"(class="damage" x="118.5")"));
    EXPECT_THAT(svg, HasSubstr(R"(width="51" height="35")"));
    damage = {};
    EXPECT_THAT(report::tilePicture(everyClass(), &damage).inlined("x"), Not(HasSubstr(R"(class="damage")")));
}

TEST(Tiles, LargeMapsAreMergedAndKeepTheWorst)
{
    auto map = handmade::flatMap(256, 256, 0.5F);
    map.classes[255 * 256 + 255] = classNormal | classNegInf;
    map.absmax[7] = 100;
    const auto grid = report::gridOf(map);
    EXPECT_EQ(grid.width, 128);
    EXPECT_EQ(grid.tilesAcross, 2);
    EXPECT_EQ(grid.at(0, 3).absmax, 100);
    EXPECT_EQ(report::kindOf(grid.at(127, 127), report::rangeOf(grid)), kindNegInf);
    EXPECT_EQ(report::tilePictureCell(map).rows, 2);
    EXPECT_EQ(markupOf(report::tilePicture(map, nullptr)).countClass("neginf"), 3);
}

TEST(Tiles, NoiseStaysSmall)
{
    auto map = handmade::flatMap(160, 160, 1);
    std::uint32_t seed = 1;
    for (auto& value : map.absmax) {
        seed = seed * 1664525U + 1013904223U;
        value = std::exp(-static_cast<float>(seed >> 20U) / 400.0F);
    }
    EXPECT_LT(report::tilePicture(map, nullptr).inlined("x").size(), 220'000U);
}

TEST(Tiles, AMapThatContradictsItselfHasNoPicture)
{
    auto map = everyClass();
    map.classes.pop_back();
    EXPECT_TRUE(report::tilePicture(map, nullptr).empty());
    EXPECT_TRUE(report::tilePicture({}, nullptr).empty());
    map = everyClass();
    map.width = -1;
    EXPECT_TRUE(report::tilePicture(map, nullptr).empty());
}

TEST(Tiles, LightnessOfTheScaleGrowsEvenly)
{
    int before = -1;
    for (int i = 0; i <= 10; ++i) {
        const auto colour = report::magnitudeColour(i / 10.0);
        ASSERT_EQ(colour.size(), 7U);
        const auto part = [&colour](std::size_t at) { return std::stoi(colour.substr(at, 2), nullptr, 16); };
        const auto luma = (2126 * part(1) + 7152 * part(3) + 722 * part(5)) / 10000;
        EXPECT_GT(luma, before + 8) << colour;
        before = luma;
    }
}

TEST(Gauges, MarkWhatIsNotFinite)
{
    const auto cell = handmade::failingCell();
    const std::vector<report::GaugeLine> lines {{&cell, "keller-jordan, fp16"}};
    const auto picture = markupOf(report::gaugePicture(lines));
    EXPECT_EQ(picture.countClass("posinf"), 1);
    EXPECT_EQ(picture.countClass("nan"), 1);
    EXPECT_EQ(picture.countClass("limit"), 1);
    for (const auto* word : {"keller-jordan, fp16", "limit", "max |Q|", "keller-jordan, fp16, step 2: NaN"}) {
        EXPECT_THAT(picture.text, HasSubstr(word));
    }
    auto negative = cell;
    negative.gauges[0].absmaxX = -INFINITY;
    EXPECT_EQ(
        markupOf(report::gaugePicture(std::vector<report::GaugeLine> {{&negative, "x"}})).countClass("neginf"), 1);
    EXPECT_TRUE(report::gaugePicture({}).empty());
}

TEST(Faults, ABirthAndItsDescendants)
{
    auto diagnosis = handmade::diagnosis();
    auto& later = diagnosis.captures[1];
    later.rank = 1;
    later.step = {6, 7};
    diagnosis.captures.push_back(later);
    const auto picture = markupOf(report::faultPicture(diagnosis));
    EXPECT_EQ(picture.countClass("birth"), 2) << "the birth and the legend";
    EXPECT_EQ(picture.countClass("descendant"), 2);
    EXPECT_EQ(picture.countClass("arrow"), 1);
    for (const auto* word : {"rank 0", "rank 1", "5–6", "6–7", "×2", "2 downstream"}) {
        EXPECT_THAT(picture.text, HasSubstr(word));
    }
}

TEST(Faults, EveryRoleHasItsOwnShape)
{
    Diagnosis diagnosis;
    for (const auto role : {Role::birth, Role::upstream, Role::padding, Role::downstream, Role::healthy}) {
        CaptureVerdict verdict;
        verdict.role = role;
        verdict.rank = static_cast<int>(role);
        diagnosis.captures.push_back(verdict);
    }
    const auto picture = markupOf(report::faultPicture(diagnosis));
    EXPECT_THAT(picture.text, HasSubstr("damaged input, no earlier birth"));
    EXPECT_THAT(picture.text, HasSubstr("not recorded"));
    EXPECT_EQ(picture.countClass("upstream"), 2);
    EXPECT_EQ(picture.countClass("healthy"), 2);
}

TEST(Faults, FiveHundredRanksFit)
{
    auto diagnosis = handmade::diagnosis();
    for (int rank = 1; rank < 512; ++rank) {
        for (int step = 6; step < 106; ++step) {
            auto verdict = diagnosis.captures[1];
            verdict.rank = rank;
            verdict.step = {step, step + 1};
            diagnosis.captures.push_back(verdict);
        }
    }
    diagnosis.captures.back().role = Role::birth;
    const auto svg = report::faultPicture(diagnosis);
    EXPECT_LT(svg.inlined("x").size(), 150'000U);
    EXPECT_LT(svg.height(), 1000);
    const auto picture = markupOf(svg);
    EXPECT_THAT(picture.text, HasSubstr("more ranks"));
    EXPECT_THAT(picture.text, HasSubstr("rank 511")) << "a rank with a birth keeps its lane";
    EXPECT_THAT(picture.text, HasSubstr("later"));
    EXPECT_TRUE(report::faultPicture({}).empty());
}
