// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/pictures/png.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include <zlib.h>

#include "core/report/pictures/glyphs.h"

namespace nanscope::report {

namespace {

constexpr int enlargement = 2; // as glyphs are

Box larger(const Box& box)
{
    return {box.x * enlargement, box.y * enlargement, box.width * enlargement, box.height * enlargement};
}

std::vector<Outline> larger(std::vector<Outline> outlines)
{
    for (auto& outline : outlines) {
        for (auto& point : outline.points) {
            point = {point.x * enlargement, point.y * enlargement};
        }
    }
    return outlines;
}

ShapeStyle larger(ShapeStyle style)
{
    style.strokeWidth *= enlargement;
    for (auto& length : style.dashes) {
        length *= enlargement;
    }
    return style;
}

void paintGlyph(Canvas& canvas, const Glyph& glyph, int left, int top, Rgb8 colour)
{
    const auto large = enlarged(glyph);
    for (std::size_t row = 0; row < large.size(); ++row) {
        for (std::size_t col = 0; col < large.at(row).size(); ++col) {
            if (large.at(row).at(col)) {
                canvas.blend(left + static_cast<int>(col), top + static_cast<int>(row), colour, 1);
            }
        }
    }
}

void paintText(Canvas& canvas, const Shape& shape)
{
    const auto style = styleOf("text", shape.classes);
    const auto glyphs = glyphsOf(shape.words);
    const auto width = static_cast<double>(glyphs.size()) * glyphAdvance;
    const auto shift = style.anchor == Anchor::end ? width : style.anchor == Anchor::middle ? width / 2 : 0;
    auto left = static_cast<int>(std::lround((shape.box.x - shift) * enlargement));
    const auto top = static_cast<int>(std::lround((shape.box.y - glyphBaseline) * enlargement));
    for (const auto& glyph : glyphs) {
        for (int again = 0; again <= (style.bold ? 1 : 0); ++again) {
            paintGlyph(canvas, glyph, left + again, top, style.fill.value_or(Rgb8 {}));
        }
        left += glyphAdvance * enlargement;
    }
}

void paintOutlines(Canvas& canvas, const Shape& shape)
{
    const auto style = larger(styleOf("path", shape.classes));
    const auto outlines = larger(shape.outlines);
    if (style.fill) {
        canvas.fill(outlines, *style.fill);
    }
    canvas.stroke(outlines, style);
}

/// The marks of figures that hatches are made of, a line apart from the next by so many pixels.
bool onHatching(std::string_view kind, int x, int y)
{
    constexpr int apart = 12;
    const bool falling = (x - y + apart * 10000) % apart < 2;
    const bool rising = (x + y) % apart < 2;
    if (kind == "zero") {
        return x % apart < 2 && y % apart < 2;
    }
    return (kind != "posinf" && falling) || (kind != "neginf" && rising);
}

void paintHatch(Canvas& canvas, const Shape& shape)
{
    constexpr double opacity = 0.65;
    constexpr Rgb8 white {255, 255, 255};
    const auto box = larger(shape.box);
    canvas.fillBox(box, styleOf("rect", "swatch " + shape.classes).fill.value_or(Rgb8 {}));
    for (int y = static_cast<int>(box.y); y < static_cast<int>(box.bottom()); ++y) {
        for (int x = static_cast<int>(box.x); x < static_cast<int>(box.right()); ++x) {
            if (onHatching(shape.classes, x, y)) {
                canvas.blend(x, y, white, opacity);
            }
        }
    }
}

void paint(Canvas& canvas, const Shape& shape)
{
    switch (shape.kind) {
    case Shape::Kind::outline:
        paintOutlines(canvas, shape);
        break;
    case Shape::Kind::text:
        paintText(canvas, shape);
        break;
    case Shape::Kind::paint:
        canvas.fillBox(larger(shape.box), colourOf(shape.words).value_or(Rgb8 {}));
        break;
    case Shape::Kind::hatch:
        paintHatch(canvas, shape);
        break;
    }
}

void putNumber(std::string& out, std::uint64_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        out += static_cast<char>(value >> static_cast<unsigned>(shift) & 0xffU);
    }
}

void putChunk(std::string& out, std::string_view type, std::string_view data)
{
    putNumber(out, data.size());
    const auto begin = out.size();
    out += type;
    out += data;
    const auto* bytes = reinterpret_cast<const Bytef*>(out.data() + begin);
    putNumber(out, crc32(0, bytes, static_cast<uInt>(out.size() - begin)));
}

/// Rows as differences from the one above, which is often the same.
std::string filteredRows(const Canvas& canvas)
{
    constexpr char filterUp = 2;
    const auto stride = static_cast<std::size_t>(canvas.width()) * 3;
    const auto& bytes = canvas.bytes();
    std::string rows;
    rows.reserve(bytes.size() + static_cast<std::size_t>(canvas.height()));
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        if (at % stride == 0) {
            rows += filterUp;
        }
        const auto above = at < stride ? 0 : bytes[at - stride];
        rows += static_cast<char>(bytes[at] - above);
    }
    return rows;
}

std::string compressed(const std::string& bytes)
{
    auto size = compressBound(static_cast<uLong>(bytes.size()));
    std::string out(size, '\0');
    compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
        static_cast<uLong>(bytes.size()), Z_DEFAULT_COMPRESSION);
    out.resize(size);
    return out;
}

} // namespace

std::string encodePng(const Canvas& canvas)
{
    constexpr std::string_view signature = "\x89PNG\r\n\x1a\n";
    constexpr std::array<char, 5> trueColour {8, 2, 0, 0, 0}; // 8 bits, RGB, deflate, adaptive filters, not interlaced
    std::string header;
    putNumber(header, static_cast<std::uint64_t>(canvas.width()));
    putNumber(header, static_cast<std::uint64_t>(canvas.height()));
    header.append(trueColour.data(), trueColour.size());
    std::string file(signature);
    putChunk(file, "IHDR", header);
    putChunk(file, "IDAT", compressed(filteredRows(canvas)));
    putChunk(file, "IEND", {});
    return file;
}

Canvas painted(const Svg& svg)
{
    const auto pixels = [](double size) { return std::max(1, static_cast<int>(std::ceil(size)) * enlargement); };
    Canvas canvas(pixels(svg.width()), pixels(svg.height()));
    for (const auto& shape : svg.shapes()) {
        paint(canvas, shape);
    }
    return canvas;
}

std::string pngOf(const Svg& svg)
{
    return encodePng(painted(svg));
}

} // namespace nanscope::report
