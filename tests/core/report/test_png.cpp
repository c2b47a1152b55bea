// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// A file is read back by zlib alone, and what was painted is looked at pixel by pixel.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <zlib.h>

#include "core/model/verdict.h"
#include "core/report/pictures/glyphs.h"
#include "core/report/pictures/pictures.h"
#include "core/report/pictures/png.h"
#include "core/report/pictures/svgtiles.h"
#include "handmade.h"

using namespace nanscope;
using report::Canvas;
using report::Rgb8;
using testing::ElementsAre;

namespace {

std::size_t bigEndian(const std::string& bytes, std::size_t at)
{
    std::size_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
    }
    return value;
}

struct ReadPng
{
    std::vector<std::string> chunks;
    std::size_t width = 0;
    std::size_t height = 0;
    std::vector<std::uint8_t> rgb;
};

ReadPng readPng(const std::string& file)
{
    ReadPng png;
    std::string packed;
    for (std::size_t at = 8; at + 12 <= file.size();) {
        const auto size = bigEndian(file, at);
        const auto type = file.substr(at + 4, 4);
        const auto crc = crc32(0, reinterpret_cast<const Bytef*>(file.data() + at + 4), static_cast<uInt>(size + 4));
        EXPECT_EQ(crc, bigEndian(file, at + 8 + size)) << type;
        png.chunks.push_back(type);
        if (type == "IHDR") {
            png.width = bigEndian(file, at + 8);
            png.height = bigEndian(file, at + 12);
            EXPECT_EQ(file.substr(at + 16, 5), std::string("\x08\x02\0\0\0", 5));
        } else if (type == "IDAT") {
            packed += file.substr(at + 8, size);
        }
        at += 12 + size;
    }
    const auto stride = png.width * 3;
    std::string rows((stride + 1) * png.height, '\0');
    auto length = static_cast<uLongf>(rows.size());
    EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &length, reinterpret_cast<const Bytef*>(packed.data()),
                  static_cast<uLong>(packed.size())),
        Z_OK);
    EXPECT_EQ(length, rows.size());
    for (std::size_t row = 0; row < png.height; ++row) {
        EXPECT_EQ(rows[row * (stride + 1)], 2);
        for (std::size_t i = 0; i < stride; ++i) {
            const auto above = row == 0 ? 0 : png.rgb[(row - 1) * stride + i];
            png.rgb.push_back(
                static_cast<std::uint8_t>(static_cast<unsigned char>(rows[row * (stride + 1) + 1 + i]) + above));
        }
    }
    return png;
}

/// 160 x 96, NaN in rows 32-63 and columns 64-95.
report::Svg damagedPicture()
{
    auto map = handmade::flatMap(160, 96, 0.5F);
    for (std::size_t row = 32; row < 64; ++row) {
        for (std::size_t col = 64; col < 96; ++col) {
            map.classes[row * 96 + col] = classNan;
            map.absmax[row * 96 + col] = 0;
        }
    }
    const auto verdict = handmade::birthVerdict();
    return report::tilePicture(map, &verdict.facts.damage);
}

constexpr Rgb8 red {0xe0, 0x17, 0x3f};

/// The smallest box that holds every pixel of a colour: left, top, right, bottom, ends inclusive.
std::array<int, 4> extentOf(const Canvas& canvas, Rgb8 colour, int right)
{
    std::array<int, 4> box {canvas.width(), canvas.height(), -1, -1};
    for (int y = 60; y < canvas.height(); ++y) {
        for (int x = 0; x < right; ++x) {
            if (canvas.at(x, y) == colour) {
                box = {std::min(box[0], x), std::min(box[1], y), std::max(box[2], x), std::max(box[3], y)};
            }
        }
    }
    return box;
}

} // namespace

TEST(Png, HoldsEveryPixel)
{
    Canvas canvas(5, 4);
    canvas.fillBox({1, 1, 3, 2}, red);
    canvas.blend(4, 3, {1, 2, 3}, 1);
    const auto png = readPng(report::encodePng(canvas));
    EXPECT_THAT(png.chunks, ElementsAre("IHDR", "IDAT", "IEND"));
    EXPECT_EQ(png.width, 5U);
    EXPECT_EQ(png.height, 4U);
    EXPECT_EQ(png.rgb, canvas.bytes());
}

TEST(Png, ThePictureOfATileShowsItsNanRedAndFramed)
{
    // 96 x 160 elements in cells of 3 pixels (560 / 160), twice as large; the map begins at 72 and below one lane.
    const auto canvas = report::painted(damagedPicture());
    const int left = (72 + 64 * 3) * 2;
    const int right = (72 + 96 * 3) * 2;
    const int top = (12 + 14 + 32 * 3) * 2;
    const int bottom = (12 + 14 + 64 * 3) * 2;
    const auto box = extentOf(canvas, red, right + 40);
    EXPECT_NEAR(box[0], left, 8);
    EXPECT_NEAR(box[1], top, 8);
    EXPECT_NEAR(box[2], right, 8);
    EXPECT_NEAR(box[3], bottom, 8);
    EXPECT_EQ(canvas.at((left + right) / 2, top - 3), (Rgb8 {0xc2, 0x17, 0x9b})) << "the frame";
    EXPECT_NE(canvas.at(left - 40, top + 40), red);
    EXPECT_NE(canvas.at(left - 40, top + 40), (Rgb8 {255, 255, 255})) << "what is finite has its colour";
}

TEST(Png, EveryPictureOfAReportIsPainted)
{
    const auto input = handmade::reportInput();
    const auto cell = handmade::failingCell();
    const report::GaugeLine line {&cell, "gns"};
    for (const auto& svg : {report::timelinePicture(input.run, input.diagnosis), report::faultPicture(input.diagnosis),
             report::gaugePicture(std::span(&line, 1)), damagedPicture()}) {
        const auto canvas = report::painted(svg);
        const auto& bytes = canvas.bytes();
        EXPECT_GT(std::ranges::count_if(bytes, [](std::uint8_t byte) { return byte != 255; }), 1000);
        EXPECT_EQ(canvas.width(), static_cast<int>(svg.width()) * 2);
    }
}

TEST(Canvas, CoversWhatAShapeCoversAndNoMore)
{
    Canvas canvas(10, 10);
    const report::Outline half {{{2, 2}, {4, 2}, {4, 3.5}, {2, 3.5}}, true};
    canvas.fill(std::span(&half, 1), {0, 0, 0});
    EXPECT_EQ(canvas.at(2, 2), (Rgb8 {0, 0, 0}));
    EXPECT_EQ(canvas.at(3, 3), (Rgb8 {128, 128, 128})) << "half of it";
    EXPECT_EQ(canvas.at(4, 2), (Rgb8 {255, 255, 255}));
    EXPECT_EQ(canvas.at(2, 4), (Rgb8 {255, 255, 255}));
}

TEST(Canvas, WhatLiesOutsideIsCutOff)
{
    Canvas canvas(4, 4);
    const report::Outline wide {{{-100, -100}, {100, -100}, {100, 100}, {-100, 100}}, true};
    canvas.fill(std::span(&wide, 1), red);
    canvas.fillBox({-5, -5, 50, 50}, red);
    canvas.blend(9, 9, red, 1);
    EXPECT_EQ(canvas.at(0, 0), red);
    EXPECT_EQ(canvas.at(3, 3), red);
}

TEST(Canvas, DashesLeaveGaps)
{
    Canvas canvas(40, 3);
    const report::Outline line {{{0, 1.5}, {40, 1.5}}, false};
    canvas.stroke(std::span(&line, 1), {{}, Rgb8 {}, 1, {10, 10}});
    EXPECT_EQ(canvas.at(5, 1), (Rgb8 {}));
    EXPECT_EQ(canvas.at(15, 1), (Rgb8 {255, 255, 255}));
    EXPECT_EQ(canvas.at(25, 1), (Rgb8 {}));
    EXPECT_EQ(canvas.at(5, 0), (Rgb8 {255, 255, 255}));
}

TEST(Outlines, OfPathDataAreItsPoints)
{
    const auto outlines = report::outlinesOf("M1 2l3-1m0 2h-4v1.5zM0 0L5 5");
    ASSERT_EQ(outlines.size(), 3U);
    EXPECT_EQ(outlines[0].points.size(), 2U);
    EXPECT_EQ(outlines[0].points[1].x, 4);
    EXPECT_EQ(outlines[0].points[1].y, 1);
    EXPECT_EQ(outlines[1].points.size(), 3U);
    EXPECT_EQ(outlines[1].points[2].x, 0);
    EXPECT_EQ(outlines[1].points[2].y, 4.5);
    EXPECT_TRUE(outlines[1].closed);
    EXPECT_FALSE(outlines[2].closed);
    EXPECT_TRUE(report::outlinesOf("curve").empty());
}

TEST(ShapeStyle, IsThatOfTheLightPage)
{
    EXPECT_EQ(report::styleOf("rect", "swatch nan").fill, red);
    EXPECT_EQ(report::styleOf("path", "mark nan").stroke, red);
    EXPECT_EQ(report::styleOf("path", "line s0 d1").strokeWidth, 1.6);
    EXPECT_THAT(report::styleOf("path", "line s0 d1").dashes, ElementsAre(7, 4));
    EXPECT_FALSE(report::styleOf("path", "frame").fill);
    EXPECT_EQ(report::styleOf("text", "quiet end").anchor, report::Anchor::end);
    EXPECT_EQ(report::styleOf("text", "").fill, (Rgb8 {0x1b, 0x1d, 0x21}));
    EXPECT_TRUE(report::styleOf("text", "birthtext").bold);
    EXPECT_FALSE(report::colourOf("red"));
    EXPECT_EQ(report::colourOf("#fff"), (Rgb8 {255, 255, 255}));
}

TEST(Glyphs, EveryLetterHasOneOfItsOwn)
{
    std::vector<report::Glyph> seen;
    for (char letter = '!'; letter <= '~'; ++letter) {
        const auto glyph = report::glyphsOf(std::string(1, letter)).at(0);
        EXPECT_EQ(std::ranges::find(seen, glyph), seen.end()) << letter;
        seen.push_back(glyph);
    }
    EXPECT_EQ(report::glyphsOf("−–×…").size(), 4U);
    EXPECT_EQ(report::glyphsOf("−").at(0), report::glyphsOf("-").at(0));
    EXPECT_EQ(report::glyphsOf("日本").size(), 2U);
    const auto large = report::enlarged(report::glyphsOf("/").at(0));
    EXPECT_TRUE(large.at(0).at(9));
    EXPECT_FALSE(large.at(0).at(0));
}
