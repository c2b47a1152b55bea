// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/film/film.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>

#include "ui/shared/text.h"

namespace nanscope {

namespace {

float elementOfTile(const TileMap& tiles, std::size_t at)
{
    if (tiles.classes[at] & classNan) {
        return std::numeric_limits<float>::quiet_NaN();
    }
    if (tiles.classes[at] & (classPosInf | classNegInf)) {
        const auto infinity = std::numeric_limits<float>::infinity();
        return tiles.classes[at] & classPosInf ? infinity : -infinity;
    }
    return tiles.max[at];
}

/// A matrix of at most 256 x 256 has a tile per element, which then are its values; tiles hold floats, so those of
/// fp64 are rounded and stay out.
std::vector<float> elementsOf(const TileMap& tiles, DType dtype)
{
    if (tiles.tileRows != 1 || tiles.tileCols != 1 || dtype == DType::float64) {
        return {};
    }
    std::vector<float> elements(tiles.classes.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
        elements[i] = elementOfTile(tiles, i);
    }
    return elements;
}

std::shared_ptr<const MatrixPicture> iteratePicture(const OpTrace& op, std::size_t batch, DType dtype)
{
    MatrixPicture picture;
    picture.tiles = op.tiles[batch];
    picture.dtype = dtype;
    picture.floats = elementsOf(picture.tiles, dtype);
    picture.scan = op.batches[batch];
    return std::make_shared<const MatrixPicture>(std::move(picture));
}

bool isMatrix(const OpTrace& op)
{
    return op.op != OpName::norm;
}

/// Adds the ops of one step to the rows: each before the next one that has a row, else at the end.
void mergeRows(std::vector<OpName>& rows, const std::vector<OpName>& step)
{
    auto before = rows.end();
    for (auto op = step.rbegin(); op != step.rend(); ++op) {
        const auto found = std::find(rows.begin(), rows.end(), *op);
        before = found != rows.end() ? found : rows.insert(before, *op);
    }
}

int rowOf(const std::vector<OpName>& rows, OpName op)
{
    return static_cast<int>(std::find(rows.begin(), rows.end(), op) - rows.begin());
}

std::vector<OpName> opsOfStep(const Film& film, int iteration)
{
    std::vector<OpName> ops;
    for (const FilmFrame& frame : film.frames) {
        if (frame.iteration == iteration && !frame.captured) {
            ops.push_back(frame.name);
        }
    }
    return ops;
}

void add(FilmScales& scales, const ScaleGroup& group, const LogScale& scale)
{
    const auto [at, isNew] = scales.try_emplace(group, scale);
    if (!isNew) {
        at->second = united(at->second, scale);
    }
}

/// Of the numbers that a precision's results are, for telling subnormals.
DType elementType(Precision precision)
{
    switch (precision) {
    case Precision::fp64:
        return DType::float64;
    case Precision::bf16:
        return DType::bfloat16;
    case Precision::fp16:
    case Precision::fp16Acc16:
        return DType::float16;
    case Precision::fp32:
    case Precision::tf32:
        break;
    }
    return DType::float32;
}

} // namespace

Film makeFilm(const Cell& cell, const std::vector<OpTrace>& ops, int batch, FilmMode mode)
{
    Film film;
    film.cell = cell;
    film.mode = mode;
    film.cell.ops.clear();
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const OpTrace& op = ops[i];
        film.batches = std::max(film.batches, static_cast<int>(op.batches.size()));
        film.batch = std::clamp(batch, 0, film.batches - 1);
        const auto shown = static_cast<std::size_t>(film.batch);
        if (!isMatrix(op)) {
            continue;
        }
        if (shown >= op.tiles.size() || shown >= op.batches.size()) {
            ++film.uncompared;
            continue;
        }
        if (!op.batches[shown].finite() && film.firstNonFinite < 0 && mode == FilmMode::values) {
            film.firstNonFinite = static_cast<int>(film.frames.size());
            film.birth = op.op == OpName::input ? -1 : film.firstNonFinite;
        }
        // A difference is taken in doubles, of which a tile holds the nearest float.
        const DType own = op.op == OpName::input ? DType::float32 : elementType(cell.precision);
        const DType dtype = mode == FilmMode::values ? own : DType::float64;
        film.frames.push_back({static_cast<int>(i), op.iteration, op.op, iteratePicture(op, shown, dtype), {}});
    }
    return film;
}

std::int64_t bytesOf(const Film& film)
{
    std::size_t bytes = 0;
    const auto add = [&](const auto&... numbers) { bytes += (std::span(numbers).size_bytes() + ...); };
    for (const FilmFrame& frame : film.frames) {
        const auto& tiles = frame.picture->tiles;
        add(tiles.min, tiles.max, tiles.absmax, tiles.classes, frame.picture->floats, frame.picture->doubles);
    }
    return static_cast<std::int64_t>(bytes);
}

Film withCapturedOutput(Film film, std::shared_ptr<const MatrixPicture> output)
{
    const int last = film.frames.empty() ? 0 : film.frames.back().iteration;
    film.frames.push_back({-1, last, OpName::output, std::move(output), {}, true});
    return film;
}

int capturedFrame(const Film& film)
{
    const bool has = !film.frames.empty() && film.frames.back().captured;
    return has ? static_cast<int>(film.frames.size()) - 1 : -1;
}

const FilmFrame& lastReplayed(const Film& film)
{
    return film.frames[film.frames.size() - (film.frames.back().captured ? 2 : 1)];
}

int frameOf(const Film& film, int iteration, OpName op)
{
    const auto found = std::ranges::find_if(film.frames,
        [&](const FilmFrame& frame) { return frame.iteration == iteration && frame.name == op && !frame.captured; });
    return found == film.frames.end() ? -1 : static_cast<int>(found - film.frames.begin());
}

int counterpartOf(const FilmFrame& frame, const Film& film)
{
    const int captured = capturedFrame(film);
    if (!frame.captured || film.frames.empty()) {
        return frameOf(film, frame.iteration, frame.name);
    }
    return captured >= 0 ? captured : frameOf(film, film.frames.back().iteration, OpName::output);
}

QString overridesText(const replay::CellRequest& cell)
{
    return overridesText(cell.epsilon, cell.steps);
}

QString cellName(const replay::CellRequest& cell)
{
    QStringList parts {qstr(cell.variant), qstr(name(cell.precision)), qstr(name(cell.lowering)), overridesText(cell)};
    if (cell.device != "cpu") {
        parts << qstr(cell.device);
    }
    parts.removeAll(QString());
    return parts.join(QStringLiteral(" · "));
}

FilmGrid gridOf(const Film& film)
{
    FilmGrid grid;
    for (const FilmFrame& frame : film.frames) {
        grid.columns = std::max(grid.columns, frame.iteration + 1);
    }
    for (int iteration = 1; iteration < grid.columns; ++iteration) {
        mergeRows(grid.rows, opsOfStep(film, iteration));
    }
    grid.captured = capturedFrame(film) >= 0;
    for (const FilmFrame& frame : film.frames) {
        const int row = frame.captured ? static_cast<int>(grid.rows.size())
            : frame.iteration == 0     ? grid.prologue++
                                       : rowOf(grid.rows, frame.name);
        grid.places.push_back({frame.captured ? grid.columns - 1 : frame.iteration, row});
    }
    return grid;
}

int FilmGrid::frameNear(int column, int row) const
{
    int nearest = -1;
    int distance = std::numeric_limits<int>::max();
    for (std::size_t i = 0; i < places.size(); ++i) {
        const int away = std::abs(places[i].row - row);
        if (places[i].column == column && away < distance) {
            nearest = static_cast<int>(i);
            distance = away;
        }
    }
    return nearest;
}

ScaleGroup groupOf(const FilmFrame& frame)
{
    return {frame.iteration > 0, frame.name};
}

std::optional<LogScale> ownScale(const FilmFrame& frame)
{
    const bool has = frame.picture->scan.absmax > 0;
    return has ? std::optional(scaleOf(frame.picture->tiles)) : std::nullopt;
}

FilmScales scalesOf(const Film& film)
{
    FilmScales scales;
    for (const FilmFrame& frame : film.frames) {
        if (const auto scale = ownScale(frame)) {
            add(scales, groupOf(frame), *scale);
        }
    }
    return scales;
}

FilmScales united(FilmScales scales, const FilmScales& others)
{
    for (const auto& [group, scale] : others) {
        add(scales, group, scale);
    }
    return scales;
}

LogScale united(const LogScale& a, const LogScale& b)
{
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

bool canShareScale(const Film* a, const Film* b)
{
    return a && b && a->mode == FilmMode::values && b->mode == FilmMode::values;
}

} // namespace nanscope
