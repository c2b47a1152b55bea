// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/heatmap/heatrender.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/report/pictures/svgtiles.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

/// Half-open range of elements or tiles below one pixel.
struct Span
{
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

std::vector<Span> spansOf(double origin, double pixelsPerCell, int pixels, std::int64_t cells)
{
    std::vector<Span> spans(static_cast<std::size_t>(pixels));
    for (int i = 0; i < pixels; ++i) {
        const double begin = (i - origin) / pixelsPerCell;
        const double end = (i + 1 - origin) / pixelsPerCell;
        if (end <= 0 || begin >= static_cast<double>(cells)) {
            continue;
        }
        const auto first = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(begin)), 0, cells - 1);
        // Below one cell per pixel the cell under the pixel's centre decides, so that edges stay sharp.
        const auto middle =
            std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor((begin + end) / 2)), 0, cells - 1);
        const auto last = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(end)), first + 1, cells);
        spans[static_cast<std::size_t>(i)] = pixelsPerCell >= 1 ? Span {middle, middle + 1} : Span {first, last};
    }
    return spans;
}

struct PixelValue
{
    std::uint8_t classes = 0;
    double absmax = 0;
};

template <class Value>
std::uint8_t classBit(Value value)
{
    if (std::isnan(value)) {
        return classNan;
    }
    if (std::isinf(value)) {
        return value > 0 ? classPosInf : classNegInf;
    }
    return value == 0 ? classZero : classNormal;
}

template <class Value>
PixelValue gatherElements(std::span<const Value> values, std::int64_t cols, Span rows, Span columns)
{
    PixelValue pixel;
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        for (std::int64_t c = columns.begin; c < columns.end; ++c) {
            const Value value = values[static_cast<std::size_t>(r * cols + c)];
            pixel.classes |= classBit(value);
            if (std::isfinite(value)) {
                pixel.absmax = std::max(pixel.absmax, static_cast<double>(std::abs(value)));
            }
        }
    }
    return pixel;
}

PixelValue gatherTiles(const TileMap& tiles, Span rows, Span columns)
{
    PixelValue pixel;
    for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        for (std::int64_t c = columns.begin; c < columns.end; ++c) {
            const auto at = static_cast<std::size_t>(r * tiles.width + c);
            pixel.classes |= tiles.classes[at];
            pixel.absmax = std::max(pixel.absmax, static_cast<double>(tiles.absmax[at]));
        }
    }
    return pixel;
}

/// Elements are worth their cost only where a tile has grown to several pixels.
bool useElements(const MatrixPicture& picture, const HeatGeometry& geometry)
{
    constexpr double pixelsPerTile = 3;
    const bool tilesAreElements = picture.tiles.tileRows == 1 && picture.tiles.tileCols == 1;
    const double tile = std::max(geometry.element.width() * static_cast<double>(picture.tiles.tileCols),
        geometry.element.height() * static_cast<double>(picture.tiles.tileRows));
    return picture.hasElements() && !tilesAreElements && tile > pixelsPerTile;
}

class Painter
{
public:
    Painter(const LogScale& scale, const Theme& theme)
        : m_scale(scale)
        , m_theme(theme)
    { }

    QRgb color(const PixelValue& pixel, int x, int y) const
    {
        const ValueClass shown = report::shownClass(pixel.classes, pixel.absmax);
        if (shown == ValueClass::normal) {
            return ColorMap::standard().at(m_scale.position(std::log10(pixel.absmax)));
        }
        return (hatched(shown, x, y) ? hatchColor(shown, m_theme) : classColor(shown, m_theme)).rgb();
    }

private:
    const LogScale& m_scale;
    const Theme& m_theme;
};

template <class Gather>
void paint(QImage& image, const std::vector<Span>& rows, const std::vector<Span>& columns, const Painter& painter,
    Gather gather)
{
    for (int y = 0; y < image.height(); ++y) {
        const Span row = rows[static_cast<std::size_t>(y)];
        if (row.end <= row.begin) {
            continue;
        }
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
        for (int x = 0; x < image.width(); ++x) {
            const Span column = columns[static_cast<std::size_t>(x)];
            if (column.end > column.begin) {
                line[x] = painter.color(gather(row, column), x, y);
            }
        }
    }
}

/// What lies below a pixel only in part would hide the rest of it; the tiles keep that.
std::vector<Span> within(std::vector<Span> spans, std::int64_t begin, std::int64_t count)
{
    for (Span& span : spans) {
        span = span.begin >= begin && span.end <= begin + count ? Span {span.begin - begin, span.end - begin} : Span {};
    }
    return spans;
}

template <class Value>
void paintElements(QImage& image, const HeatGeometry& geometry, const TileMap& tiles, const replay::Region& region,
    std::span<const Value> values, const Painter& painter)
{
    const auto rows = spansOf(geometry.origin.y(), geometry.element.height(), image.height(), tiles.rows);
    const auto columns = spansOf(geometry.origin.x(), geometry.element.width(), image.width(), tiles.cols);
    paint(image, within(rows, region.row, region.rows), within(columns, region.col, region.cols), painter,
        [&](Span r, Span c) { return gatherElements<Value>(values, region.cols, r, c); });
}

void paintTiles(QImage& image, const HeatGeometry& geometry, const TileMap& tiles, const Painter& painter)
{
    const auto rows = spansOf(geometry.origin.y(), geometry.element.height() * static_cast<double>(tiles.tileRows),
        image.height(), tiles.height);
    const auto columns = spansOf(geometry.origin.x(), geometry.element.width() * static_cast<double>(tiles.tileCols),
        image.width(), tiles.width);
    paint(image, rows, columns, painter, [&](Span r, Span c) { return gatherTiles(tiles, r, c); });
}

void paintPatch(QImage& image, const HeatGeometry& geometry, const MatrixPicture& picture, const Painter& painter)
{
    const MatrixPatch* patch = picture.patch.get();
    if (patch && !patch->doubles.empty()) {
        paintElements<double>(image, geometry, picture.tiles, patch->region, patch->doubles, painter);
    } else if (patch && !patch->floats.empty()) {
        paintElements<float>(image, geometry, picture.tiles, patch->region, patch->floats, painter);
    }
}

} // namespace

ColorMap::ColorMap()
{
    for (std::size_t i = 0; i < m_table.size(); ++i) {
        const double place = static_cast<double>(i) / static_cast<double>(m_table.size() - 1);
        m_table[i] = QColor(QString::fromStdString(report::magnitudeColour(place))).rgb();
    }
}

QRgb ColorMap::at(double t) const
{
    const double last = static_cast<double>(m_table.size() - 1);
    return m_table[static_cast<std::size_t>(std::lround(std::clamp(t, 0.0, 1.0) * last))];
}

const ColorMap& ColorMap::standard()
{
    static const ColorMap map;
    return map;
}

QColor classColor(ValueClass value, const Theme& theme)
{
    switch (value) {
    case ValueClass::nan:
        return theme.nan;
    case ValueClass::posInf:
        return theme.posInf;
    case ValueClass::negInf:
        return theme.negInf;
    default:
        return theme.zero;
    }
}

QColor hatchColor(ValueClass value, const Theme& theme)
{
    return value == ValueClass::zero ? QColor(0x4a4d55) : classColor(value, theme).lighter(145);
}

bool hatched(ValueClass value, int x, int y)
{
    constexpr int period = 7;
    switch (value) {
    case ValueClass::nan:
        return (x + y) % period == 0;
    case ValueClass::posInf:
        return x % period == 3;
    case ValueClass::negInf:
        return y % period == 3;
    case ValueClass::zero:
        return x % period == 3 && y % period == 3;
    default:
        return false;
    }
}

PixelCover pixelCover(const MatrixPicture& picture, const HeatGeometry& geometry, bool exact)
{
    const auto cells = [](double pixelsPerCell) {
        constexpr double nothing = 1e-9;
        return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(1 / pixelsPerCell - nothing)));
    };
    const bool elements = exact || useElements(picture, geometry);
    const std::int64_t rows = elements ? 1 : picture.tiles.tileRows;
    const std::int64_t cols = elements ? 1 : picture.tiles.tileCols;
    return {rows * cells(geometry.element.height() * static_cast<double>(rows)),
        cols * cells(geometry.element.width() * static_cast<double>(cols))};
}

QImage renderHeat(
    const MatrixPicture& picture, const HeatGeometry& geometry, const LogScale& scale, QSize size, const Theme& theme)
{
    QImage image(size, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    const TileMap& tiles = picture.tiles;
    if (size.isEmpty() || tiles.width <= 0 || tiles.height <= 0) {
        return image;
    }
    const Painter painter(scale, theme);
    const bool elements = useElements(picture, geometry);
    const replay::Region whole {0, 0, tiles.rows, tiles.cols};
    if (elements && !picture.doubles.empty()) {
        paintElements<double>(image, geometry, tiles, whole, picture.doubles, painter);
    } else if (elements) {
        paintElements<float>(image, geometry, tiles, whole, picture.floats, painter);
    } else {
        paintTiles(image, geometry, tiles, painter);
        paintPatch(image, geometry, picture, painter);
    }
    return image;
}

} // namespace nanscope
