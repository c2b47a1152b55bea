// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/answers.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/base/try.h"
#include "core/json/jsonfields.h"
#include "core/json/records.h"
#include "core/session/sessiontypes.h"

namespace nanscope::rpc {

namespace {

using Json = nlohmann::ordered_json;

constexpr char magic[] = {'n', 'a', 'n', 's', 'c', 'o', 'p', 'e'};

ValueClass classOf(const Json& json)
{
    for (const auto value : {ValueClass::nan, ValueClass::posInf, ValueClass::negInf}) {
        if (json == name(value)) {
            return value;
        }
    }
    return ValueClass::normal;
}

/// How many tiles of this size cover so many elements; 0 where that is no tile map.
std::int64_t tilesOver(std::int64_t elements, std::int64_t perTile)
{
    const auto tiles = perTile < 1 || elements < 1 ? 0 : (elements - 1) / perTile + 1;
    return tiles <= maxTiles ? tiles : 0;
}

} // namespace

const Json& member(const Json& json, const char* key)
{
    return jsonread::at(json, key);
}

bool readInteger(const Json& json, std::int64_t& out)
{
    // What is beyond the range turns negative here.
    if (!json.is_number_integer() || json.get<std::int64_t>() < 0) {
        return false;
    }
    out = json.get<std::int64_t>();
    return true;
}

Json scanToJson(const Scan& scan)
{
    const bool finite = scan.firstNonFinite < 0;
    return {{"count", scan.count}, {"nan", scan.nan}, {"pos_inf", scan.posInf}, {"neg_inf", scan.negInf},
        {"zero", scan.zero}, {"subnormal", scan.subnormal}, {"absmax", jsonNumber(scan.absmax)},
        {"min_nonzero", jsonNumber(scan.minNonzero)}, {"sum_squares", jsonNumber(scan.sumSquares)},
        {"trace", jsonNumber(scan.trace)}, {"first_nonfinite", finite ? Json(nullptr) : Json(scan.firstNonFinite)},
        {"first_kind", finite ? Json(nullptr) : Json(name(scan.firstClass))}};
}

bool scanFromJson(const Json& json, Scan& scan)
{
    const auto absmax = jsonread::number(member(json, "absmax"));
    const auto smallest = jsonread::number(member(json, "min_nonzero"));
    const auto squares = jsonread::number(member(json, "sum_squares"));
    const auto trace = jsonread::number(member(json, "trace"));
    const auto& first = member(json, "first_nonfinite");
    const bool counts = readInteger(member(json, "count"), scan.count) && readInteger(member(json, "nan"), scan.nan)
        && readInteger(member(json, "pos_inf"), scan.posInf) && readInteger(member(json, "neg_inf"), scan.negInf)
        && readInteger(member(json, "zero"), scan.zero) && readInteger(member(json, "subnormal"), scan.subnormal);
    if (!counts || !absmax || !smallest || !squares || !trace) {
        return false;
    }
    scan.absmax = *absmax;
    scan.minNonzero = *smallest;
    scan.sumSquares = *squares;
    scan.trace = *trace;
    scan.firstClass = classOf(member(json, "first_kind"));
    return first.is_null() || (readInteger(first, scan.firstNonFinite) && scan.firstNonFinite < scan.count);
}

tl::unexpected<Error> damagedAnswer()
{
    return failure(ErrorKind::corrupt, "the replay process sent a picture that contradicts itself");
}

std::size_t BlockFiller::sizeOf(const TileMap& tiles)
{
    return tiles.classes.size() * (2 * sizeof(float) + 1);
}

BlockFiller::BlockFiller(std::span<std::byte> block)
    : m_block(block)
{
    const std::int64_t version = blockVersion;
    std::memcpy(block.data(), magic, sizeof(magic));
    std::memcpy(block.data() + sizeof(magic), &version, sizeof(version));
}

Json BlockFiller::add(const TileMap& tiles)
{
    const auto at = add(std::span(tiles.min));
    add(std::span(tiles.max));
    add(std::span(tiles.classes));
    return {{"tile_rows", tiles.tileRows}, {"tile_cols", tiles.tileCols}, {"height", tiles.height},
        {"width", tiles.width}, {"at", at}};
}

bool BlockReader::valid() const
{
    std::int64_t version = 0;
    if (m_block.size() < BlockFiller::headerBytes || std::memcmp(m_block.data(), magic, sizeof(magic)) != 0) {
        return false;
    }
    std::memcpy(&version, m_block.data() + sizeof(magic), sizeof(version));
    return version == blockVersion;
}

bool BlockReader::read(const Json& json, std::int64_t rows, std::int64_t cols, TileMap& tiles) const
{
    std::int64_t at = 0;
    tiles.rows = rows;
    tiles.cols = cols;
    if (!readInteger(member(json, "at"), at) || !readInteger(member(json, "tile_rows"), tiles.tileRows)
        || !readInteger(member(json, "tile_cols"), tiles.tileCols)) {
        return false;
    }
    tiles.height = static_cast<std::int32_t>(tilesOver(rows, tiles.tileRows));
    tiles.width = static_cast<std::int32_t>(tilesOver(cols, tiles.tileCols));
    const auto count = static_cast<std::size_t>(tiles.height) * static_cast<std::size_t>(tiles.width);
    const auto begin = static_cast<std::size_t>(at);
    if (count == 0 || member(json, "height") != tiles.height || member(json, "width") != tiles.width
        || !readAt(begin, count, tiles.min) || !readAt(begin + count * sizeof(float), count, tiles.max)
        || !readAt(begin + 2 * count * sizeof(float), count, tiles.classes)) {
        return false;
    }
    tiles.absmax.resize(count);
    std::transform(tiles.min.begin(), tiles.min.end(), tiles.max.begin(), tiles.absmax.begin(),
        [](float low, float high) { return std::max(std::abs(low), std::abs(high)); });
    return true;
}

namespace {

// A hundred steps of the longest form are a tenth of it.
constexpr std::size_t mostOps = 10000;

Json opJson(const OpTrace& op, const std::optional<double>& distance, BlockFiller& block)
{
    return {{"iteration", op.iteration}, {"op", name(op.op)}, {"rows", op.rows}, {"cols", op.cols},
        {"scan", op.batches.empty() ? Json(nullptr) : scanToJson(op.batches.front())},
        {"distance", numberOrNull(distance)},
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

Result<platform::SharedView> takeBlock(const Json& block)
{
    std::int64_t bytes = 0;
    if (!member(block, "name").is_string() || !readInteger(member(block, "bytes"), bytes)) {
        return damagedAnswer();
    }
    if (member(block, "version") != blockVersion) {
        return failure(ErrorKind::unsupported, "the replay process is of another version than this program");
    }
    auto view = platform::SharedView::take(block["name"].get<std::string>(), static_cast<std::size_t>(bytes));
    if (view && !BlockReader(view->bytes()).valid()) {
        return damagedAnswer();
    }
    return view;
}

/// Everything of an answer but the pictures.
template <class Picture>
Result<platform::SharedView> unpackHeader(const Json& json, Picture& picture)
{
    auto cell = cellFromJson(member(json, "cell"));
    if (!cell || !readInteger(member(json, "batch"), picture.batch)
        || !readInteger(member(json, "batches"), picture.batches)) {
        return damagedAnswer();
    }
    picture.cell = std::move(*cell);
    return takeBlock(member(json, "block"));
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
    distance = jsonread::number(member(json, "distance"));
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

bool unpackBlock(const Json& json, const BlockReader& block, replay::ReplayedFrame& frame)
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

Result<PackedAnswer> packValues(ValueView values)
{
    return values.visit([](auto span) -> Result<PackedAnswer> {
        auto block = TRY(platform::SharedBlock::create(BlockFiller::headerBytes + span.size_bytes()));
        const bool wide = sizeof(span.front()) == sizeof(double);
        const auto at = BlockFiller(block.bytes()).add(span);
        Json answer {{"block", blockJson(block)}, {"count", span.size()}, {"wide", wide}, {"at", at}};
        block.close();
        return PackedAnswer {std::move(answer), std::move(block)};
    });
}

Result<MappedValues> MappedValues::take(const Json& answer)
{
    std::int64_t count = 0;
    auto block = TRY(takeBlock(member(answer, "block")));
    if (!readInteger(member(answer, "count"), count)) {
        return damagedAnswer();
    }
    const auto mapped = [&](auto numbers) -> Result<MappedValues> {
        return numbers ? Result<MappedValues>(MappedValues(std::move(block), *numbers)) : damagedAnswer();
    };
    const BlockReader reader(block.bytes());
    const auto size = static_cast<std::size_t>(count);
    return member(answer, "wide") == true ? mapped(reader.view<double>(answer, size))
                                          : mapped(reader.view<float>(answer, size));
}

Result<Values> unpackValues(const Json& answer)
{
    return MappedValues::take(answer).map([](const MappedValues& mapped) {
        return mapped.view().visit([](auto numbers) { return Values(std::vector(numbers.begin(), numbers.end())); });
    });
}

Result<PackedAnswer> packTiles(const TileMap& tiles)
{
    auto block = TRY(platform::SharedBlock::create(BlockFiller::headerBytes + BlockFiller::sizeOf(tiles)));
    auto places = BlockFiller(block.bytes()).add(tiles);
    Json answer {{"block", blockJson(block)}, {"rows", tiles.rows}, {"cols", tiles.cols}, {"tiles", std::move(places)}};
    block.close();
    return PackedAnswer {std::move(answer), std::move(block)};
}

Result<TileMap> unpackTiles(const Json& answer)
{
    TileMap tiles;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    const auto view = TRY(takeBlock(member(answer, "block")));
    const bool there = readInteger(member(answer, "rows"), rows) && readInteger(member(answer, "cols"), cols)
        && BlockReader(view.bytes()).read(member(answer, "tiles"), rows, cols, tiles);
    return there ? Result<TileMap>(std::move(tiles)) : damagedAnswer();
}

Result<PackedAnswer> packFilm(const replay::ReplayedFilm& film)
{
    std::size_t size = 0;
    for (const auto& op : film.ops) {
        size += tileBytes(op.tiles);
    }
    auto block = TRY(platform::SharedBlock::create(BlockFiller::headerBytes + size));
    BlockFiller filler(block.bytes());
    auto header = headerJson(film.cell, film.batch, film.batches);
    auto ops = Json::array();
    for (std::size_t i = 0; i < film.ops.size(); ++i) {
        ops.push_back(opJson(film.ops[i], film.distances.empty() ? std::nullopt : film.distances[i], filler));
    }
    header["compared"] = !film.distances.empty();
    header["ops"] = std::move(ops);
    return finish("film", std::move(header), std::move(block));
}

Result<PackedAnswer> packFrame(const replay::ReplayedFrame& frame)
{
    const auto values = std::as_bytes(std::span(frame.floats)).size() + std::as_bytes(std::span(frame.doubles)).size();
    auto block = TRY(platform::SharedBlock::create(BlockFiller::headerBytes + values + tileBytes(frame.trace.tiles)));
    BlockFiller filler(block.bytes());
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
    return finish("frame", std::move(header), std::move(block));
}

Result<replay::ReplayedFilm> unpackFilm(const Json& answer)
{
    const auto& json = member(answer, "film");
    replay::ReplayedFilm film;
    const auto view = TRY(unpackHeader(json, film));
    const BlockReader block(view.bytes());
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
    const auto view = TRY(unpackHeader(json, frame));
    const BlockReader block(view.bytes());
    std::int64_t index = 0;
    if (!readInteger(member(json, "index"), index) || !unpackOp(json, block, frame.trace, frame.distance)
        || !unpackBlock(member(json, "values"), block, frame)) {
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

namespace {

Json numbers(const std::vector<double>& values)
{
    return jsonArray(values, jsonNumber);
}

bool readNumbers(const Json& json, std::vector<double>& out)
{
    if (!json.is_array()) {
        return false;
    }
    for (const auto& item : json) {
        const auto number = jsonread::number(item);
        if (!number) {
            return false;
        }
        out.push_back(*number);
    }
    return true;
}

bool readReplay(const Json& json, std::size_t steps, replay::CliffReplay& replay)
{
    auto cell = cellFromJson(member(json, "cell"));
    const auto& rounding = member(json, "rounding");
    if (!cell || !rounding.is_string() || !readNumbers(member(json, "sigma"), replay.sigma)) {
        return false;
    }
    replay.cell = std::move(*cell);
    replay.rounding = rounding.get<std::string>();
    return replay.sigma.size() == steps;
}

} // namespace

Json packCliff(const replay::ReplayedCliff& cliff)
{
    auto replays = jsonArray(cliff.replays, [](const auto& each) -> Json {
        return {{"rounding", each.rounding}, {"sigma", numbers(each.sigma)}, {"cell", toJson(each.cell)}};
    });
    return {{"cliff",
        {{"batch", cliff.batch}, {"batches", cliff.batches}, {"scale", cliff.scale}, {"safety", cliff.safety},
            {"limits", numbers(cliff.limits)}, {"replays", std::move(replays)}}}};
}

Result<replay::ReplayedCliff> unpackCliff(const Json& answer)
{
    const auto& json = member(answer, "cliff");
    replay::ReplayedCliff cliff;
    const auto scale = jsonread::number(member(json, "scale"));
    const auto safety = jsonread::number(member(json, "safety"));
    const auto& replays = member(json, "replays");
    if (!scale || !safety || !readInteger(member(json, "batch"), cliff.batch)
        || !readInteger(member(json, "batches"), cliff.batches) || !readNumbers(member(json, "limits"), cliff.limits)
        || !replays.is_array() || replays.empty()) {
        return damagedAnswer();
    }
    cliff.scale = *scale;
    cliff.safety = *safety;
    for (const auto& each : replays) {
        if (!readReplay(each, cliff.limits.size(), cliff.replays.emplace_back())) {
            return damagedAnswer();
        }
    }
    return cliff;
}

bool isOfThisVersion(const nlohmann::ordered_json& hello)
{
    const auto& sessions = member(hello, "sessions");
    return sessions.is_null() || sessions == session::sessionSchemaVersion;
}

} // namespace nanscope::rpc
