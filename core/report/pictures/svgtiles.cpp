// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/pictures/svgtiles.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/report/pictures/svgcolours.h"
#include "core/report/pictures/svglanes.h"
#include "core/report/pictures/svgtilegrid.h"

namespace nanscope::report {

namespace {

constexpr double left = 72;
constexpr double legendWidth = 150;
constexpr std::array<std::string_view, 4> kindClasses {"nan", "posinf", "neginf", "zero"};
constexpr std::array<std::string_view, 4> kindNames {"NaN", "+Inf", "−Inf", "zero"};

/// Runs of one kind as rows of strokes, relative moves: six or seven bytes a run.
class RunPath
{
public:
    void add(int row, int col, int length)
    {
        m_data += m_data.empty() ? fmt::format("M{} {}.5", col, row) : fmt::format("m{} {}", col - m_col, row - m_row);
        m_data += fmt::format("h{}", length);
        m_row = row;
        m_col = col + length;
    }
    const std::string& data() const { return m_data; }

private:
    std::string m_data;
    int m_row = 0;
    int m_col = 0;
};

using RunPaths = std::array<RunPath, kinds>;

RunPaths pathsOf(const std::vector<TileRun>& runs)
{
    RunPaths paths;
    for (const auto& run : runs) {
        paths.at(static_cast<std::size_t>(run.kind)).add(run.row, run.col, run.length);
    }
    return paths;
}

void drawCells(Svg& svg, const RunPaths& paths, Spot origin, int cell)
{
    svg.raw(fmt::format(R"svg(<g class="tiles" transform="translate({} {}) scale({})">)svg", coordinate(origin.x),
        coordinate(origin.y), cell));
    for (int level = 0; level < levels; ++level) {
        const auto& data = paths.at(static_cast<std::size_t>(level)).data();
        if (!data.empty()) {
            svg.raw(fmt::format(R"(<path stroke="{}" d="{}"/>)", magnitudeColour((level + 0.5) / levels), data));
        }
    }
    for (std::size_t kind = 0; kind < kindClasses.size(); ++kind) {
        const auto& data = paths.at(kind + levels).data();
        if (!data.empty()) {
            svg.path(data, fmt::format("tile {}", kindClasses.at(kind)));
        }
    }
    svg.raw("</g>");
}

std::string hatching(std::size_t kind, std::string_view data)
{
    return fmt::format(R"svg(<path fill="url(#hatch-{})" d="{}"/>)svg", kindClasses.at(kind), data);
}

constexpr std::string_view hatchPatterns =
    R"(<defs><pattern id="hatch-nan" class="hatch" width="6" height="6" patternUnits="userSpaceOnUse">)"
    R"(<path d="M0 0l6 6M6 0l-6 6"/></pattern>)"
    R"(<pattern id="hatch-posinf" class="hatch" width="6" height="6" patternUnits="userSpaceOnUse">)"
    R"(<path d="M-1 1l2-2M0 6l6-6M5 7l2-2"/></pattern>)"
    R"(<pattern id="hatch-neginf" class="hatch" width="6" height="6" patternUnits="userSpaceOnUse">)"
    R"(<path d="M-1 5l2 2M0 0l6 6M5-1l2 2"/></pattern>)"
    R"(<pattern id="hatch-zero" class="hatch" width="6" height="6" patternUnits="userSpaceOnUse">)"
    R"(<path d="M2.5 3h1"/></pattern></defs>)";

/// Over the cells, but in pixels: its lines stay as far apart whatever the size of a cell.
void drawHatching(Svg& svg, const std::vector<TileRun>& runs, Spot origin, int cell)
{
    std::array<std::string, kindClasses.size()> areas;
    for (const auto& run : runs) {
        if (run.kind >= levels) {
            areas.at(static_cast<std::size_t>(run.kind - levels)) +=
                fmt::format("M{} {}h{}v{}h-{}z", coordinate(origin.x + run.col * cell),
                    coordinate(origin.y + run.row * cell), run.length * cell, cell, run.length * cell);
        }
    }
    for (std::size_t kind = 0; kind < areas.size(); ++kind) {
        if (!areas.at(kind).empty()) {
            svg.raw(hatching(kind, areas.at(kind)));
        }
    }
}

bool columnHolds(const Grid& grid, int col, unsigned classes)
{
    for (int row = 0; row < grid.height; ++row) {
        if ((grid.at(row, col).classes & classes) != 0) {
            return true;
        }
    }
    return false;
}

/// Marks of the columns that hold what is not finite, as many as can be told apart.
std::vector<LaneMark> columnMarks(const Grid& grid, int cell)
{
    constexpr std::array states {PointState::nan, PointState::posInf, PointState::negInf};
    constexpr std::array bits {classNan, classPosInf, classNegInf};
    std::vector<LaneMark> marks;
    for (std::size_t i = 0; i < states.size(); ++i) {
        double free = 0;
        for (int col = 0; col < grid.width; ++col) {
            const auto at = left + (col + 0.5) * cell;
            if (at >= free && columnHolds(grid, col, bits.at(i))) {
                marks.push_back({at, states.at(i), {}});
                free = at + markWidth;
            }
        }
    }
    return marks;
}

void drawFrame(Svg& svg, const TileMap& map, const Grid& grid, const DamagePattern& damage, Spot origin, int cell)
{
    const auto rowsPerCell = static_cast<double>(map.tileRows * grid.tilesDown);
    const auto colsPerCell = static_cast<double>(map.tileCols * grid.tilesAcross);
    const auto x = origin.x + std::floor(static_cast<double>(damage.colBegin) / colsPerCell) * cell;
    const auto y = origin.y + std::floor(static_cast<double>(damage.rowBegin) / rowsPerCell) * cell;
    const auto right = origin.x + std::ceil(static_cast<double>(damage.colEnd) / colsPerCell) * cell;
    const auto bottom = origin.y + std::ceil(static_cast<double>(damage.rowEnd) / rowsPerCell) * cell;
    const Box box {x - 1.5, y - 1.5, right - x + 3, bottom - y + 3};
    svg.rect(box, "halo");
    svg.rect(box, "damage");
}

void drawEdges(Svg& svg, const TileMap& map, const Box& area)
{
    svg.text({area.x - 6, area.y + 11}, "row 0", "end");
    svg.text({area.x - 6, area.bottom()}, fmt::format("{}", map.rows - 1), "end");
    svg.text({area.x, area.bottom() + 16}, "column 0");
    svg.text({area.right(), area.bottom() + 16}, fmt::format("{}", map.cols - 1), "end");
}

void drawScale(Svg& svg, const LogRange& range, Spot at, double height)
{
    const auto step = height / levels;
    for (int level = 0; level < levels; ++level) {
        svg.raw(fmt::format(R"(<rect class="step" x="{}" y="{}" width="14" height="{}" fill="{}"/>)", coordinate(at.x),
            coordinate(at.y + height - (level + 1) * step), coordinate(step), magnitudeColour((level + 0.5) / levels)));
    }
    svg.text({at.x + 20, at.y + 10}, fmt::format("{:.2g}", std::pow(10, range.high)));
    svg.text({at.x + 20, at.y + height / 2 + 4}, "|x|, logarithmic", "quiet");
    svg.text({at.x + 20, at.y + height}, fmt::format("{:.2g}", std::pow(10, range.low)));
}

/// The scale and the kinds outside it that occur; returns where it ends.
double drawLegend(Svg& svg, const LogRange& range, const RunPaths& paths, Spot at)
{
    constexpr double scaleHeight = 120;
    drawScale(svg, range, at, scaleHeight);
    auto y = at.y + scaleHeight + 16;
    for (std::size_t kind = 0; kind < kindNames.size(); ++kind) {
        if (paths.at(kind + levels).data().empty()) {
            continue;
        }
        svg.rect({at.x, y, 14, 14}, fmt::format("swatch {}", kindClasses.at(kind)));
        svg.raw(hatching(kind, fmt::format("M{} {}h14v14h-14z", coordinate(at.x), coordinate(y))));
        svg.text({at.x + 20, y + 12}, kindNames.at(kind));
        y += 22;
    }
    return y;
}

} // namespace

MatrixShape tilePictureCell(const TileMap& map)
{
    const auto grid = gridOf(map);
    return {1, map.tileRows * grid.tilesDown, map.tileCols * grid.tilesAcross};
}

Svg tilePicture(const TileMap& map, const DamagePattern* damage)
{
    if (!consistent(map)) {
        return {};
    }
    const auto grid = gridOf(map);
    const auto range = rangeOf(grid);
    const auto runs = runsOf(grid, range);
    const auto paths = pathsOf(runs);
    // A whole number of pixels, so that no cell is wider than its neighbour.
    const auto cell = std::clamp(std::min(640 / grid.width, 560 / grid.height), 1, 16);
    const auto marks = columnMarks(grid, cell);
    const Spot origin {left, 12 + lanesHeight(marks)};
    const Box area {
        origin.x, origin.y, static_cast<double>(grid.width * cell), static_cast<double>(grid.height * cell)};
    Svg svg(area.right() + 24 + legendWidth, 0);
    svg.raw(hatchPatterns);
    drawLanes(svg, {left, 6, area.width, 0}, marks);
    drawCells(svg, paths, origin, cell);
    drawHatching(svg, runs, origin, cell);
    if (damage != nullptr && damage->rowEnd > damage->rowBegin && damage->colEnd > damage->colBegin) {
        drawFrame(svg, map, grid, *damage, origin, cell);
    }
    drawEdges(svg, map, area);
    const auto legendEnd = drawLegend(svg, range, paths, {area.right() + 24, origin.y});
    svg.setHeight(std::max(area.bottom() + 24, legendEnd + 4));
    return svg;
}

} // namespace nanscope::report
