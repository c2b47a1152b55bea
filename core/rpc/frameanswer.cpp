// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/frameanswer.h"

#include <algorithm>
#include <cmath>

#include "core/base/json.h"
#include "core/json/records.h"
#include "core/rpc/frameparts.h"

namespace nanscope::rpc {

namespace {

using Json = nlohmann::ordered_json;

// A hundred steps of the longest form are a tenth of it.
constexpr std::size_t mostOps = 10000;

Json distanceJson(const std::optional<double>& distance)
{
    return distance ? jsonNumber(*distance) : Json(nullptr);
}

Json opJson(const OpTrace& op, const std::optional<double>& distance, BlockFiller& block)
{
    return {{"iteration", op.iteration}, {"op", name(op.op)}, {"rows", op.rows}, {"cols", op.cols},
        {"scan", op.batches.empty() ? Json(nullptr) : scanToJson(op.batches.front())},
        {"distance", distanceJson(distance)},
        {"tiles", op.tiles.empty() ? Json(nullptr) : block.add(op.tiles.front())}};
}

Json headerJson(const Cell& cell, std::int64_t batch, std::int64_t batches)
{
    auto facts = toJson(cell);
    for (const char* unknown :
        {"outcome", "first_nonfinite", "birth", "batches", "seconds", "slack_percent", "id", "error"}) {
        facts.erase(unknown);
    }
    if (cell.gauges.empty()) {
        facts.erase("gauges");
    }
    return {{"cell", std::move(facts)}, {"batch", batch}, {"batches", batches}};
}

Json blockJson(const platform::SharedBlock& block)
{
    return {{"version", blockVersion}, {"name", block.name()}, {"bytes", block.size()}};
}

std::size_t tileBytes(const std::vector<TileMap>& tiles)
{
    return tiles.empty() ? 0 : BlockFiller::sizeOf(tiles.front());
}

PackedAnswer finish(const char* kind, Json header, platform::SharedBlock block)
{
    header["block"] = blockJson(block);
    block.close();
    Json answer;
    answer[kind] = std::move(header);
    return {std::move(answer), std::move(block)};
}

/// Everything of an answer but the pictures.
template <class Picture>
Result<platform::SharedView> unpackHeader(const Json& json, Picture& picture)
{
    auto cell = cellFromJson(member(json, "cell"));
    const auto& block = member(json, "block");
    std::int64_t bytes = 0;
    if (!cell || !readInteger(member(json, "batch"), picture.batch)
        || !readInteger(member(json, "batches"), picture.batches) || !member(block, "name").is_string()
        || !readInteger(member(block, "bytes"), bytes)) {
        return damagedAnswer();
    }
    if (member(block, "version") != blockVersion) {
        return failure(ErrorKind::unsupported, "the replay process is of another version than this program");
    }
    picture.cell = std::move(*cell);
    auto view = platform::SharedView::take(block["name"].get<std::string>(), static_cast<std::size_t>(bytes));
    if (view && !BlockReader(view->bytes()).valid()) {
        return damagedAnswer();
    }
    return view;
}

bool unpackOp(const Json& json, const BlockReader& block, OpTrace& op, std::optional<double>& distance)
{
    const auto& name = member(json, "op");
    const auto known = name.is_string() ? parseOpName(name.get<std::string>()) : std::nullopt;
    std::int64_t iteration = 0;
    if (!known || !readInteger(member(json, "iteration"), iteration) || !readInteger(member(json, "rows"), op.rows)
        || !readInteger(member(json, "cols"), op.cols)) {
        return false;
    }
    op.op = *known;
    op.iteration = static_cast<int>(std::min<std::int64_t>(iteration, mostOps));
    distance = readNumber(member(json, "distance"));
    const auto& scan = member(json, "scan");
    const auto& tiles = member(json, "tiles");
    return (scan.is_null() || scanFromJson(scan, op.batches.emplace_back()))
        && (tiles.is_null() || block.read(tiles, op.rows, op.cols, op.tiles.emplace_back()));
}

bool unpackRegion(const Json& json, const OpTrace& trace, replay::Region& region)
{
    const auto inside = [](std::int64_t first, std::int64_t count, std::int64_t size) {
        return count >= 1 && first <= size && count <= size - first;
    };
    return readInteger(member(json, "row"), region.row) && readInteger(member(json, "col"), region.col)
        && readInteger(member(json, "rows"), region.rows) && readInteger(member(json, "cols"), region.cols)
        && inside(region.row, region.rows, trace.rows) && inside(region.col, region.cols, trace.cols)
        && region.rows <= replay::maxFrameElements && region.cols <= replay::maxFrameElements
        && region.rows * region.cols <= replay::maxFrameElements;
}

bool unpackValues(const Json& json, const BlockReader& block, replay::ReplayedFrame& frame)
{
    if (json.is_null()) {
        return true;
    }
    if (!unpackRegion(json, frame.trace, frame.region)) {
        return false;
    }
    const auto count = static_cast<std::size_t>(frame.region.rows * frame.region.cols);
    const auto& type = member(json, "type");
    return type == "float64" ? block.read(json, count, frame.doubles)
                             : type == "float32" && block.read(json, count, frame.floats);
}

} // namespace

Result<PackedAnswer> packFilm(const replay::ReplayedFilm& film)
{
    std::size_t size = 0;
    for (const auto& op : film.ops) {
        size += tileBytes(op.tiles);
    }
    auto block = platform::SharedBlock::create(BlockFiller::headerBytes + size);
    if (!block) {
        return tl::make_unexpected(block.error());
    }
    BlockFiller filler(block->bytes());
    auto header = headerJson(film.cell, film.batch, film.batches);
    auto ops = Json::array();
    for (std::size_t i = 0; i < film.ops.size(); ++i) {
        ops.push_back(opJson(film.ops[i], film.distances.empty() ? std::nullopt : film.distances[i], filler));
    }
    header["compared"] = !film.distances.empty();
    header["ops"] = std::move(ops);
    return finish("film", std::move(header), std::move(*block));
}

Result<PackedAnswer> packFrame(const replay::ReplayedFrame& frame)
{
    const auto values = std::as_bytes(std::span(frame.floats)).size() + std::as_bytes(std::span(frame.doubles)).size();
    auto block = platform::SharedBlock::create(BlockFiller::headerBytes + values + tileBytes(frame.trace.tiles));
    if (!block) {
        return tl::make_unexpected(block.error());
    }
    BlockFiller filler(block->bytes());
    auto header = headerJson(frame.cell, frame.batch, frame.batches);
    header["index"] = frame.op;
    Json held(nullptr);
    if (frame.hasValues()) {
        const bool wide = !frame.doubles.empty();
        const auto& [row, col, rows, cols] = frame.region;
        held = {{"row", row}, {"col", col}, {"rows", rows}, {"cols", cols}, {"type", wide ? "float64" : "float32"},
            {"at", wide ? filler.add(std::span(frame.doubles)) : filler.add(std::span(frame.floats))}};
    }
    header["values"] = std::move(held);
    header.update(opJson(frame.trace, frame.distance, filler));
    return finish("frame", std::move(header), std::move(*block));
}

Result<replay::ReplayedFilm> unpackFilm(const Json& answer)
{
    const auto& json = member(answer, "film");
    replay::ReplayedFilm film;
    const auto view = unpackHeader(json, film);
    if (!view) {
        return tl::make_unexpected(view.error());
    }
    const BlockReader block(view->bytes());
    const auto& ops = member(json, "ops");
    if (!ops.is_array() || ops.size() > mostOps) {
        return damagedAnswer();
    }
    const bool compared = member(json, "compared") == true;
    for (const auto& op : ops) {
        std::optional<double> distance;
        if (!unpackOp(op, block, film.ops.emplace_back(), distance)) {
            return damagedAnswer();
        }
        if (compared) {
            film.distances.push_back(distance);
        }
    }
    return film;
}

Result<replay::ReplayedFrame> unpackFrame(const Json& answer)
{
    const auto& json = member(answer, "frame");
    replay::ReplayedFrame frame;
    const auto view = unpackHeader(json, frame);
    if (!view) {
        return tl::make_unexpected(view.error());
    }
    const BlockReader block(view->bytes());
    std::int64_t index = 0;
    if (!readInteger(member(json, "index"), index) || !unpackOp(json, block, frame.trace, frame.distance)
        || !unpackValues(member(json, "values"), block, frame)) {
        return damagedAnswer();
    }
    frame.op = static_cast<std::size_t>(index);
    return frame;
}

void discardAnswer(const Json& answer)
{
    for (const char* kind : {"film", "frame"}) {
        const auto& name = member(member(member(answer, kind), "block"), "name");
        if (name.is_string()) {
            platform::removeSharedBlock(name.get<std::string>());
        }
    }
}

} // namespace nanscope::rpc
