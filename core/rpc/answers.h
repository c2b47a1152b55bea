// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Films, frames and cliffs on their way through the pipe: facts in a JSON answer, tiles and values in a shared block
// (server.h says how both are laid out).
#pragma once

#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/values.h"
#include "core/model/model.h"
#include "core/platform/sharedmemory.h"
#include "core/replay/analysis/cliff.h"
#include "core/replay/engine/frame.h"

namespace nanscope::rpc {

constexpr int blockVersion = 1;

/// The member of an object, or null.
const nlohmann::ordered_json& member(const nlohmann::ordered_json& json, const char* key);

/// A whole number that is not negative.
bool readInteger(const nlohmann::ordered_json& json, std::int64_t& out);

nlohmann::ordered_json scanToJson(const Scan& scan);
bool scanFromJson(const nlohmann::ordered_json& json, Scan& scan);

tl::unexpected<Error> damagedAnswer();

/// Writes one part after the other, and says where each begins.
class BlockFiller
{
public:
    static constexpr std::size_t headerBytes = 16;
    static std::size_t sizeOf(const TileMap& tiles);

    explicit BlockFiller(std::span<std::byte> block);

    nlohmann::ordered_json add(const TileMap& tiles);

    template <class T>
    std::size_t add(std::span<const T> values)
    {
        const auto at = m_end;
        std::memcpy(m_block.data() + at, values.data(), values.size_bytes());
        m_end += values.size_bytes();
        return at;
    }

    template <class T>
    std::size_t add(std::span<T> values)
    {
        return add(std::span<const T>(values));
    }

private:
    std::span<std::byte> m_block;
    std::size_t m_end = headerBytes;
};

/// Reads what lies within the block.
class BlockReader
{
public:
    explicit BlockReader(std::span<const std::byte> block)
        : m_block(block)
    { }

    bool valid() const;

    /// `count` numbers where they lie; nothing where they do not lie within the block.
    template <class T>
    std::optional<std::span<const T>> view(const nlohmann::ordered_json& json, std::size_t count) const
    {
        std::int64_t at = 0;
        const bool there = readInteger(member(json, "at"), at)
            && isWithin(static_cast<std::size_t>(at), count, sizeof(T))
            && static_cast<std::size_t>(at) % alignof(T) == 0;
        return there ? std::optional(std::span(reinterpret_cast<const T*>(m_block.data() + at), count)) : std::nullopt;
    }

    /// The tile map of a matrix of this size.
    bool read(const nlohmann::ordered_json& json, std::int64_t rows, std::int64_t cols, TileMap& tiles) const;

    template <class T>
    bool read(const nlohmann::ordered_json& json, std::size_t count, std::vector<T>& out) const
    {
        std::int64_t at = 0;
        return readInteger(member(json, "at"), at) && readAt(static_cast<std::size_t>(at), count, out);
    }

private:
    bool isWithin(std::size_t at, std::size_t count, std::size_t bytes) const
    {
        return at <= m_block.size() && count <= (m_block.size() - at) / bytes;
    }

    template <class T>
    bool readAt(std::size_t at, std::size_t count, std::vector<T>& out) const
    {
        if (!isWithin(at, count, sizeof(T))) {
            return false;
        }
        out.resize(count);
        if (count > 0) {
            std::memcpy(out.data(), m_block.data() + at, count * sizeof(T));
        }
        return true;
    }

    std::span<const std::byte> m_block;
};

/// An answer without its id, and the block it names.
struct PackedAnswer
{
    nlohmann::ordered_json json;
    platform::SharedBlock block;
};

Result<PackedAnswer> packFilm(const replay::ReplayedFilm& film);
Result<PackedAnswer> packFrame(const replay::ReplayedFrame& frame);

/// The way back; takes the block, which thereby is gone. Nothing that contradicts itself is believed.
Result<replay::ReplayedFilm> unpackFilm(const nlohmann::ordered_json& answer);
Result<replay::ReplayedFrame> unpackFrame(const nlohmann::ordered_json& answer);

/// Numbers on their way to a device or back, and the way back, which takes the block.
///   {"block":{BLOCK},"count":..,"wide":false,"at":BYTE}, floats unless wide
Result<PackedAnswer> packValues(ValueView values);
Result<Values> unpackValues(const nlohmann::ordered_json& answer);

/// Such numbers where they lie, in the block, which is taken and gone with this object.
class MappedValues
{
public:
    static Result<MappedValues> take(const nlohmann::ordered_json& answer);

    ValueView view() const { return m_values; }

private:
    MappedValues(platform::SharedView block, ValueView values)
        : m_block(std::move(block))
        , m_values(values)
    { }

    platform::SharedView m_block;
    ValueView m_values; ///< within it
};

///   {"block":{BLOCK},"rows":..,"cols":..,"tiles":{..}}
Result<PackedAnswer> packTiles(const TileMap& tiles);
Result<TileMap> unpackTiles(const nlohmann::ordered_json& answer);

/// For an answer that is not wanted any more.
void discardAnswer(const nlohmann::ordered_json& answer);

/// An answer without its id, and the way back. Nothing that contradicts itself is believed.
nlohmann::ordered_json packCliff(const replay::ReplayedCliff& cliff);
Result<replay::ReplayedCliff> unpackCliff(const nlohmann::ordered_json& answer);

/// The process that said hello so writes sessions as this program does. One that does not say is taken to.
bool isOfThisVersion(const nlohmann::ordered_json& hello);

} // namespace nanscope::rpc
