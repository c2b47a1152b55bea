// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/pictures/svgtiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "core/base/values.h"
#include "core/report/pictures/svg.h"

namespace nanscope::report {

namespace {

using Rgb = std::array<double, 3>;

/// Linear sRGB of an OKLCh colour (Björn Ottosson's OKLab).
Rgb linearRgb(double lightness, double chroma, double hue)
{
    const auto a = chroma * std::cos(hue);
    const auto b = chroma * std::sin(hue);
    const auto l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    const auto m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    const auto s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
    return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool displayable(const Rgb& colour)
{
    return std::all_of(colour.begin(), colour.end(), [](double part) { return part >= 0 && part <= 1; });
}

int byteOf(double linear)
{
    const auto part = std::clamp(linear, 0.0, 1.0);
    const auto encoded = part <= 0.0031308 ? 12.92 * part : 1.055 * std::pow(part, 1 / 2.4) - 0.055;
    return static_cast<int>(std::lround(encoded * 255));
}

} // namespace

std::string magnitudeColour(double place)
{
    const auto t = std::clamp(place, 0.0, 1.0);
    const auto hue = (288 - 180 * t) * std::numbers::pi / 180;
    Rgb colour {};
    for (int percent = 100; percent >= 0; percent -= 2) {
        colour = linearRgb(0.27 + 0.66 * t, 0.135 * percent / 100, hue);
        if (displayable(colour)) {
            break;
        }
    }
    return fmt::format("#{:02x}{:02x}{:02x}", byteOf(colour[0]), byteOf(colour[1]), byteOf(colour[2]));
}

namespace {

constexpr int mostCells = 160;

int dividedUp(int value, int by)
{
    return (value + by - 1) / by;
}

} // namespace

double LogRange::place(double magnitude) const
{
    return (std::log10(magnitude) - low) / (high - low);
}

bool consistent(const TileMap& map)
{
    if (map.width <= 0 || map.height <= 0 || map.width > maxTiles || map.height > maxTiles) {
        return false;
    }
    const auto tiles = static_cast<std::size_t>(map.width) * static_cast<std::size_t>(map.height);
    return map.classes.size() == tiles && map.absmax.size() == tiles && map.rows > 0 && map.cols > 0 && map.tileRows > 0
        && map.tileCols > 0;
}

Grid gridOf(const TileMap& map)
{
    Grid grid;
    grid.tilesAcross = std::max(1, dividedUp(map.width, mostCells));
    grid.tilesDown = std::max(1, dividedUp(map.height, mostCells));
    grid.width = dividedUp(map.width, grid.tilesAcross);
    grid.height = dividedUp(map.height, grid.tilesDown);
    grid.cells.resize(static_cast<std::size_t>(grid.width) * static_cast<std::size_t>(grid.height));
    for (int row = 0; row < map.height; ++row) {
        for (int col = 0; col < map.width; ++col) {
            const auto tile =
                static_cast<std::size_t>(row) * static_cast<std::size_t>(map.width) + static_cast<std::size_t>(col);
            const auto cell = static_cast<std::size_t>(row / grid.tilesDown) * static_cast<std::size_t>(grid.width)
                + static_cast<std::size_t>(col / grid.tilesAcross);
            grid.cells[cell].classes |= map.classes[tile];
            grid.cells[cell].absmax = std::max(grid.cells[cell].absmax, map.absmax[tile]);
        }
    }
    return grid;
}

ValueClass shownClass(unsigned classes, double absmax)
{
    if ((classes & classNan) != 0) {
        return ValueClass::nan;
    }
    if ((classes & classPosInf) != 0) {
        return ValueClass::posInf;
    }
    if ((classes & classNegInf) != 0) {
        return ValueClass::negInf;
    }
    return absmax > 0 ? ValueClass::normal : ValueClass::zero;
}

LogRange rangeOf(std::span<const float> magnitudes)
{
    std::vector<double> logs;
    logs.reserve(magnitudes.size());
    for (const float magnitude : magnitudes) {
        if (magnitude > 0 && std::isfinite(magnitude)) {
            logs.push_back(std::log10(static_cast<double>(magnitude)));
        }
    }
    if (logs.empty()) {
        return {};
    }
    const double high = *std::ranges::max_element(logs);
    return {std::min(quantileOf(std::move(logs), 0.01), high - 1), high};
}

LogRange rangeOf(const Grid& grid)
{
    std::vector<float> magnitudes(grid.cells.size());
    std::ranges::transform(grid.cells, magnitudes.begin(), &Patch::absmax);
    return rangeOf(magnitudes);
}

int kindOf(const Patch& cell, const LogRange& range)
{
    switch (shownClass(cell.classes, cell.absmax)) {
    case ValueClass::nan:
        return kindNan;
    case ValueClass::posInf:
        return kindPosInf;
    case ValueClass::negInf:
        return kindNegInf;
    case ValueClass::zero:
        return kindZero;
    default:
        return std::clamp(static_cast<int>(range.place(static_cast<double>(cell.absmax)) * levels), 0, levels - 1);
    }
}

namespace {

/// Neighbours in a row that are drawn alike.
struct TileRun
{
    int kind = 0;
    int row = 0;
    int col = 0;
    int length = 0;
};

std::vector<TileRun> runsOf(const Grid& grid, const LogRange& range)
{
    std::vector<TileRun> runs;
    for (int row = 0; row < grid.height; ++row) {
        for (int col = 0; col < grid.width; ++col) {
            const auto kind = kindOf(grid.at(row, col), range);
            if (col > 0 && runs.back().kind == kind) {
                ++runs.back().length;
            } else {
                runs.push_back({kind, row, col, 1});
            }
        }
    }
    return runs;
}

constexpr double tilesLeft = 72;
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

std::string levelColour(int level)
{
    return magnitudeColour((level + 0.5) / levels);
}

void drawCells(Svg& svg, const RunPaths& paths, Spot origin, int cell)
{
    svg.raw(fmt::format(R"svg(<g class="tiles" transform="translate({} {}) scale({})">)svg", coordinate(origin.x),
        coordinate(origin.y), cell));
    for (int level = 0; level < levels; ++level) {
        const auto& data = paths.at(static_cast<std::size_t>(level)).data();
        if (!data.empty()) {
            svg.raw(fmt::format(R"(<path stroke="{}" d="{}"/>)", levelColour(level), data));
        }
    }
    for (std::size_t kind = 0; kind < kindClasses.size(); ++kind) {
        const auto& data = paths.at(kind + levels).data();
        if (!data.empty()) {
            svg.raw(fmt::format(R"(<path class="tile {}" d="{}"/>)", kindClasses.at(kind), data));
        }
    }
    svg.raw("</g>");
}

/// The same cells for shapes().
void paintCells(Svg& svg, const std::vector<TileRun>& runs, Spot origin, int cell)
{
    std::vector<std::string> colours;
    for (int level = 0; level < levels; ++level) {
        colours.push_back(levelColour(level));
    }
    for (const auto& run : runs) {
        const Box box {origin.x + run.col * cell, origin.y + run.row * cell, static_cast<double>(run.length * cell),
            static_cast<double>(cell)};
        if (run.kind < levels) {
            svg.paint(box, colours.at(static_cast<std::size_t>(run.kind)));
        } else {
            svg.hatch(box, kindClasses.at(static_cast<std::size_t>(run.kind - levels)));
        }
    }
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
            const auto at = tilesLeft + (col + 0.5) * cell;
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
            coordinate(at.y + height - (level + 1) * step), coordinate(step), levelColour(level)));
        svg.paint({at.x, at.y + height - (level + 1) * step, 14, step}, levelColour(level));
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
        svg.hatch({at.x, y, 14, 14}, kindClasses.at(kind));
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
    const Spot origin {tilesLeft, 12 + lanesHeight(marks)};
    const Box area {
        origin.x, origin.y, static_cast<double>(grid.width * cell), static_cast<double>(grid.height * cell)};
    Svg svg(area.right() + 24 + legendWidth, 0);
    svg.raw(hatchPatterns);
    drawLanes(svg, {tilesLeft, 6, area.width, 0}, marks);
    drawCells(svg, paths, origin, cell);
    drawHatching(svg, runs, origin, cell);
    paintCells(svg, runs, origin, cell);
    if (damage != nullptr && damage->rowEnd > damage->rowBegin && damage->colEnd > damage->colBegin) {
        drawFrame(svg, map, grid, *damage, origin, cell);
    }
    drawEdges(svg, map, area);
    const auto legendEnd = drawLegend(svg, range, paths, {area.right() + 24, origin.y});
    svg.setHeight(std::max(area.bottom() + 24, legendEnd + 4));
    return svg;
}

} // namespace nanscope::report
