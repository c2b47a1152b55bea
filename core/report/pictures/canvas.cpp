// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/pictures/canvas.h"

#include <algorithm>
#include <cmath>

namespace nanscope::report {

namespace {

constexpr int linesPerPixel = 4;

/// Where an edge crosses a scan line, and which way it runs.
struct Crossing
{
    double x = 0;
    int winding = 0;
};

/// Crossings by scan line, linesPerPixel of them in a row of pixels.
class Coverage
{
public:
    Coverage(std::span<const Outline> outlines, int height)
    {
        m_first = height * linesPerPixel;
        int last = -1;
        for (const auto& outline : outlines) {
            for (const auto& point : outline.points) {
                m_first = std::min(m_first, lineOf(point.y, height));
                last = std::max(last, lineOf(point.y, height));
            }
        }
        m_lines.resize(static_cast<std::size_t>(std::max(0, last - m_first + 1)));
        for (const auto& outline : outlines) {
            for (std::size_t i = 0; i < outline.points.size(); ++i) {
                addEdge(outline.points[i], outline.points[(i + 1) % outline.points.size()]);
            }
        }
    }

    int firstRow() const { return m_first / linesPerPixel; }
    int endRow() const { return (m_first + static_cast<int>(m_lines.size()) - 1) / linesPerPixel + 1; }

    /// Adds what the shape covers of each pixel of this row, 1 where it is all of it.
    void addRow(int row, std::vector<double>& shares)
    {
        for (int line = row * linesPerPixel; line < (row + 1) * linesPerPixel; ++line) {
            const auto index = line - m_first;
            if (index >= 0 && index < static_cast<int>(m_lines.size())) {
                addLine(m_lines[static_cast<std::size_t>(index)], shares);
            }
        }
    }

private:
    static int lineOf(double y, int height)
    {
        const auto most = static_cast<double>(height * linesPerPixel - 1);
        return static_cast<int>(std::clamp(std::floor(y * linesPerPixel), 0.0, most));
    }

    void addEdge(Spot from, Spot to)
    {
        const int winding = from.y < to.y ? 1 : -1;
        if (winding < 0) {
            std::swap(from, to);
        }
        const auto begin =
            static_cast<int>(std::max(std::ceil(from.y * linesPerPixel - 0.5), static_cast<double>(m_first)));
        for (int line = begin; line < m_first + static_cast<int>(m_lines.size()); ++line) {
            const auto y = (line + 0.5) / linesPerPixel;
            if (y >= to.y) {
                break;
            }
            const auto x = from.x + (to.x - from.x) * (y - from.y) / (to.y - from.y);
            m_lines[static_cast<std::size_t>(line - m_first)].push_back({x, winding});
        }
    }

    static void addLine(std::vector<Crossing>& crossings, std::vector<double>& shares)
    {
        std::ranges::sort(crossings, {}, &Crossing::x);
        int winding = 0;
        for (std::size_t i = 0; i + 1 < crossings.size(); ++i) {
            winding += crossings[i].winding;
            if (winding != 0) {
                addSpan(crossings[i].x, crossings[i + 1].x, shares);
            }
        }
    }

    static void addSpan(double from, double to, std::vector<double>& shares)
    {
        from = std::max(from, 0.0);
        to = std::min(to, static_cast<double>(shares.size()));
        for (auto pixel = std::floor(from); pixel < to; ++pixel) {
            const auto part = std::min(to, pixel + 1) - std::max(from, pixel);
            shares[static_cast<std::size_t>(pixel)] += part / linesPerPixel;
        }
    }

    int m_first = 0;
    std::vector<std::vector<Crossing>> m_lines;
};

/// A line of that width from one point to another, as an outline that turns the same way as a circle's.
Outline barOf(Spot from, Spot to, double width)
{
    const auto length = std::hypot(to.x - from.x, to.y - from.y);
    const auto dx = length > 0 ? (to.x - from.x) / length * width / 2 : 0;
    const auto dy = length > 0 ? (to.y - from.y) / length * width / 2 : 0;
    return {
        {{from.x - dy, from.y + dx}, {from.x + dy, from.y - dx}, {to.x + dy, to.y - dx}, {to.x - dy, to.y + dx}}, true};
}

/// An outline cut into dashes, or itself.
class Dashes
{
public:
    explicit Dashes(const std::vector<double>& lengths)
        : m_lengths(lengths)
        , m_left(lengths.empty() ? 0 : lengths.front())
    { }

    template <class Draw>
    void along(Spot from, Spot to, Draw draw)
    {
        if (m_lengths.empty()) {
            draw(from, to);
            return;
        }
        auto length = std::hypot(to.x - from.x, to.y - from.y);
        while (length > 0) {
            const auto part = std::min(length, m_left);
            const Spot next {from.x + (to.x - from.x) * part / length, from.y + (to.y - from.y) * part / length};
            if (m_place % 2 == 0) {
                draw(from, next);
            }
            advance(part);
            from = next;
            length -= part;
        }
    }

private:
    void advance(double by)
    {
        m_left -= by;
        if (m_left <= 0) {
            m_place = (m_place + 1) % m_lengths.size();
            m_left = std::max(m_lengths[m_place], 0.1);
        }
    }

    const std::vector<double>& m_lengths;
    std::size_t m_place = 0;
    double m_left;
};

std::size_t segments(const Outline& outline)
{
    return outline.closed ? outline.points.size() : outline.points.size() - 1;
}

} // namespace

Canvas::Canvas(int width, int height)
    : m_width(width)
    , m_height(height)
    , m_bytes(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3, 255)
{ }

Rgb8 Canvas::at(int x, int y) const
{
    const auto place =
        (static_cast<std::size_t>(y) * static_cast<std::size_t>(m_width) + static_cast<std::size_t>(x)) * 3;
    return {m_bytes[place], m_bytes[place + 1], m_bytes[place + 2]};
}

void Canvas::blend(int x, int y, Rgb8 colour, double share)
{
    if (x < 0 || y < 0 || x >= m_width || y >= m_height) {
        return;
    }
    const auto place =
        (static_cast<std::size_t>(y) * static_cast<std::size_t>(m_width) + static_cast<std::size_t>(x)) * 3;
    for (std::size_t i = 0; i < colour.size(); ++i) {
        auto& byte = m_bytes[place + i];
        byte = static_cast<std::uint8_t>(std::lround(byte + (colour.at(i) - byte) * std::clamp(share, 0.0, 1.0)));
    }
}

void Canvas::fill(std::span<const Outline> outlines, Rgb8 colour)
{
    Coverage coverage(outlines, m_height);
    std::vector<double> shares(static_cast<std::size_t>(m_width));
    for (int row = coverage.firstRow(); row < std::min(coverage.endRow(), m_height); ++row) {
        std::ranges::fill(shares, 0.0);
        coverage.addRow(row, shares);
        for (int x = 0; x < m_width; ++x) {
            if (const auto share = shares[static_cast<std::size_t>(x)]; share > 0) {
                blend(x, row, colour, share);
            }
        }
    }
}

void Canvas::stroke(std::span<const Outline> outlines, const ShapeStyle& style)
{
    if (!style.stroke) {
        return;
    }
    std::vector<Outline> bars;
    for (const auto& outline : outlines) {
        Dashes dashes(style.dashes);
        for (std::size_t i = 0; i < segments(outline); ++i) {
            dashes.along(outline.points[i], outline.points[(i + 1) % outline.points.size()], [&](Spot from, Spot to) {
                bars.push_back(barOf(from, to, style.strokeWidth));
                if (style.round) {
                    bars.push_back(outlineOfCircle(from, style.strokeWidth / 2));
                    bars.push_back(outlineOfCircle(to, style.strokeWidth / 2));
                }
            });
        }
    }
    fill(bars, *style.stroke);
}

void Canvas::fillBox(const Box& box, Rgb8 colour)
{
    const auto whole = [](double value) { return static_cast<int>(std::lround(value)); };
    for (int y = std::max(0, whole(box.y)); y < std::min(m_height, whole(box.bottom())); ++y) {
        for (int x = std::max(0, whole(box.x)); x < std::min(m_width, whole(box.right())); ++x) {
            blend(x, y, colour, 1);
        }
    }
}

} // namespace nanscope::report
