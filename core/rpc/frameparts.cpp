// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/frameparts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/json.h"

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
    static const Json none;
    const auto found = json.is_object() ? json.find(key) : json.end();
    return found == json.end() ? none : *found;
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

std::optional<double> readNumber(const Json& json)
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (json.is_number()) {
        return json.get<double>();
    }
    if (json == "nan") {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (json == "inf" || json == "-inf") {
        return json == "inf" ? infinity : -infinity;
    }
    return std::nullopt;
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
    const auto absmax = readNumber(member(json, "absmax"));
    const auto smallest = readNumber(member(json, "min_nonzero"));
    const auto squares = readNumber(member(json, "sum_squares"));
    const auto trace = readNumber(member(json, "trace"));
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

} // namespace nanscope::rpc
