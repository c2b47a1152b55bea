// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The file that W&B writes offline, as records: LevelDB's log in blocks of 32 KiB, of which W&B's own header takes the
// first seven bytes, and with zlib's CRC-32 where LevelDB has another. And what one record says, of what is of use
// here: a row of values, configuration, console output, the run's facts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/platform/platform.h"

namespace nanscope::ingest {

/// Everything in it is valid as long as the record's bytes are.
struct WandbMessage
{
    struct Item
    {
        std::vector<std::string_view> path; ///< one key, or several of nested tables
        std::string_view json;
    };
    enum class Stream { none, errors, output };

    std::vector<Item> history;
    std::optional<std::int64_t> step; ///< of the history: W&B's count of log calls
    std::vector<Item> config;
    std::vector<std::pair<const char*, std::string_view>> facts; ///< names as settings have them
    std::string_view stepMetric; ///< a value that the trainer declared to be the step of others
    Stream stream = Stream::none; ///< where `text` was printed
    std::string_view text; ///< any piece of it: a line, a part of one, several
    std::optional<int> exitCode;
};

/// Throws protozero's exceptions on bytes that are no such message.
WandbMessage wandbMessage(std::string_view record);

class WandbRecords
{
public:
    /// `live`: somebody may still be writing, and what is wrong at the end may only be unfinished.
    WandbRecords(platform::FileReader file, bool live);

    struct Record
    {
        std::string_view bytes; ///< until the next call
        std::int64_t begin = 0;
        std::int64_t end = 0;
    };
    /// The next record that is whole; what is damaged is passed over. None at the end of the file.
    std::optional<Record> next();

    /// What could not be read, since the last call.
    struct Damage
    {
        std::int64_t begin = 0;
        std::int64_t end = 0;
        std::string_view what;
    };
    std::vector<Damage> takeDamage();

    /// Where a record begins that the file does not hold the end of; known at the end.
    std::optional<std::int64_t> torn() const { return m_torn; }

    std::int64_t size() const { return static_cast<std::int64_t>(m_file.size()); }

private:
    enum class Type : unsigned char { full = 1, first, middle, last };
    struct Chunk
    {
        Type type = Type::full;
        std::string_view data;
        std::int64_t begin = 0;
    };

    std::optional<Chunk> nextChunk();
    std::optional<Chunk> chunkHere();
    bool nextBlock();
    void skipBlock() { m_at = m_bytes.size(); }
    std::int64_t place() const { return m_block + static_cast<std::int64_t>(m_at); }
    std::int64_t blockEnd() const { return m_block + static_cast<std::int64_t>(m_bytes.size()); }
    void damaged(std::int64_t begin, std::int64_t end, std::string_view what);
    void tornAt(std::int64_t begin);
    void endDamage();
    void forgetRecord();
    bool append(const Chunk& chunk);

    platform::FileReader m_file;
    bool m_live;
    bool m_ended = false;
    std::int64_t m_block = 0; ///< place of m_bytes[0]
    std::vector<char> m_bytes; ///< of one block
    std::size_t m_at = 0;
    std::string m_parts; ///< of the record that is open
    std::optional<std::int64_t> m_open; ///< where it begins
    bool m_tooLong = false;
    bool m_doubtful = false; ///< the place of this chunk was told by one that is damaged
    bool m_lost = false; ///< what is in the middle of a record belongs to one that was passed over
    std::optional<Damage> m_current;
    std::vector<Damage> m_damage;
    std::optional<std::int64_t> m_torn;
};

/// The file begins as one of W&B's; a file that is empty has not begun yet.
Result<void> requireWandb(const platform::FileReader& file, const std::filesystem::path& path);

} // namespace nanscope::ingest
