// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Field numbers are those of wandb_internal.proto.
#include "core/ingest/stores/wandbrecords.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>

#include "core/base/bytes.h"
#include "core/base/try.h"
#include "core/ingest/log/logsource.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::ingest {

namespace {

using Wire = protozero::pbf_wire_type;
using Item = WandbMessage::Item;

constexpr std::uint32_t number(std::uint32_t field)
{
    return protozero::tag_and_type(field, Wire::varint);
}

constexpr std::uint32_t bytes(std::uint32_t field)
{
    return protozero::tag_and_type(field, Wire::length_delimited);
}

std::string_view textIn(protozero::pbf_reader& reader)
{
    const auto view = reader.get_view();
    return {view.data(), view.size()};
}

/// Of a history, a configuration or a summary.
Item itemIn(protozero::pbf_reader item)
{
    Item result;
    while (item.next()) {
        switch (item.tag_and_type()) {
        case bytes(1):
        case bytes(2):
            result.path.push_back(textIn(item));
            break;
        case bytes(16):
            result.json = textIn(item);
            break;
        default:
            item.skip();
        }
    }
    return result;
}

void addItem(protozero::pbf_reader& from, std::vector<Item>& items)
{
    if (auto item = itemIn(from.get_message()); !item.path.empty() && !item.json.empty()) {
        items.push_back(std::move(item));
    }
}

void readHistory(protozero::pbf_reader history, WandbMessage& message)
{
    while (history.next()) {
        if (history.tag_and_type() == bytes(1)) {
            addItem(history, message.history);
        } else if (history.tag_and_type() == bytes(2)) {
            message.step = 0; // a step of 0 is left out, as protobuf has it
            for (auto step = history.get_message(); step.next(1, Wire::varint);) {
                message.step = step.get_int64();
            }
        } else {
            history.skip();
        }
    }
}

void readConfig(protozero::pbf_reader config, WandbMessage& message)
{
    while (config.next(1, Wire::length_delimited)) {
        addItem(config, message.config);
    }
}

void readOutput(protozero::pbf_reader output, WandbMessage& message)
{
    message.stream = WandbMessage::Stream::errors;
    while (output.next()) {
        if (output.tag_and_type() == number(1)) {
            message.stream = output.get_enum() == 0 ? WandbMessage::Stream::errors : WandbMessage::Stream::output;
        } else if (output.tag_and_type() == bytes(3)) {
            message.text = textIn(output);
        } else {
            output.skip();
        }
    }
}

void readCommit(protozero::pbf_reader repository, WandbMessage& message)
{
    while (repository.next(2, Wire::length_delimited)) {
        message.facts.emplace_back("git.commit", textIn(repository));
    }
}

/// Neither the machine's name nor the user's: nobody needs them.
void readRun(protozero::pbf_reader run, WandbMessage& message)
{
    while (run.next()) {
        switch (run.tag_and_type()) {
        case bytes(1):
            message.facts.emplace_back("wandb.run_id", textIn(run));
            break;
        case bytes(3):
            message.facts.emplace_back("wandb.project", textIn(run));
            break;
        case bytes(4):
            readConfig(run.get_message(), message);
            break;
        case bytes(6):
            message.facts.emplace_back("wandb.group", textIn(run));
            break;
        case bytes(8):
            message.facts.emplace_back("wandb.run_name", textIn(run));
            break;
        case bytes(21):
            readCommit(run.get_message(), message);
            break;
        default:
            run.skip();
        }
    }
}

void readEnvironment(protozero::pbf_reader environment, WandbMessage& message)
{
    while (environment.next()) {
        switch (environment.tag_and_type()) {
        case bytes(2):
            message.facts.emplace_back("python.version", textIn(environment));
            break;
        case bytes(9):
            readCommit(environment.get_message(), message);
            break;
        case bytes(18):
            message.facts.emplace_back("gpu.name", textIn(environment));
            break;
        default:
            environment.skip();
        }
    }
}

void readMetric(protozero::pbf_reader metric, WandbMessage& message)
{
    while (metric.next(4, Wire::length_delimited)) {
        message.stepMetric = textIn(metric);
    }
}

/// An exit code of 0 is left out, too.
void readExit(protozero::pbf_reader exit, WandbMessage& message)
{
    message.exitCode = 0;
    while (exit.next(1, Wire::varint)) {
        message.exitCode = exit.get_int32();
    }
}

} // namespace

WandbMessage wandbMessage(std::string_view record)
{
    WandbMessage message;
    protozero::pbf_reader reader(record.data(), record.size());
    while (reader.next()) {
        switch (reader.tag_and_type()) {
        case bytes(2):
            readHistory(reader.get_message(), message);
            break;
        case bytes(5):
            readConfig(reader.get_message(), message);
            break;
        case bytes(4):
        case bytes(13):
            readOutput(reader.get_message(), message);
            break;
        case bytes(12):
            readMetric(reader.get_message(), message);
            break;
        case bytes(17):
            readRun(reader.get_message(), message);
            break;
        case bytes(18):
            readExit(reader.get_message(), message);
            break;
        case bytes(26):
            readEnvironment(reader.get_message(), message);
            break;
        default:
            reader.skip();
        }
    }
    return message;
}

namespace {

constexpr std::size_t blockBytes = 32 * 1024;
constexpr std::size_t chunkHeaderBytes = 7; ///< of a chunk: its checksum, u32; its length, u16; its type, u8
constexpr std::size_t fileHeaderBytes = 7; ///< ":W&B", u16, u8
constexpr std::string_view fileHeader(":W&B\xe1\xbe", 6);
constexpr std::size_t largestWandbRecord = std::size_t {16} << 20; ///< W&B itself sends no longer line of its history

} // namespace

WandbRecords::WandbRecords(platform::FileReader file, bool live)
    : m_file(std::move(file))
    , m_live(live)
{
    nextBlock();
    m_at = std::min(fileHeaderBytes, m_bytes.size());
}

bool WandbRecords::nextBlock()
{
    m_block += static_cast<std::int64_t>(m_bytes.size());
    m_at = 0;
    m_bytes.resize(static_cast<std::size_t>(std::min<std::int64_t>(blockBytes, size() - m_block)));
    if (m_bytes.empty()) {
        return false;
    }
    if (!m_file.readAt(static_cast<std::uint64_t>(m_block), std::as_writable_bytes(std::span(m_bytes)))) {
        damaged(m_block, size(), "cannot be read");
        m_bytes.clear();
        return false;
    }
    return true;
}

/// Damage that follows on damage is one.
void WandbRecords::damaged(std::int64_t begin, std::int64_t end, std::string_view what)
{
    if (!m_current) {
        m_current = Damage {m_open.value_or(begin), end, what};
    }
    m_current->end = end;
    m_lost = true;
    forgetRecord();
}

void WandbRecords::endDamage()
{
    m_doubtful = false;
    if (m_current) {
        m_damage.push_back(*m_current);
        m_current.reset();
    }
}

std::vector<WandbRecords::Damage> WandbRecords::takeDamage()
{
    return std::exchange(m_damage, {});
}

void WandbRecords::tornAt(std::int64_t begin)
{
    m_ended = true;
    if (m_doubtful) {
        damaged(begin, size(), "a wrong checksum");
    } else {
        m_torn = m_open.value_or(begin);
    }
}

void WandbRecords::forgetRecord()
{
    m_open.reset();
    m_parts.clear();
    m_tooLong = false;
}

/// None where it is damaged, which was noted, or the file ends in it.
std::optional<WandbRecords::Chunk> WandbRecords::chunkHere()
{
    const char* header = m_bytes.data() + m_at;
    const auto begin = place();
    const std::size_t length = loadLittle<std::uint16_t>(asBytes({header + 4, 2}).data());
    const auto end = m_at + chunkHeaderBytes + length;
    const bool lastBlock = blockEnd() == size();
    if (std::all_of(header, header + chunkHeaderBytes, [](char c) { return c == 0; })) {
        damaged(begin, blockEnd(), "zeros where records should be");
        skipBlock();
        return std::nullopt;
    }
    if (end > m_bytes.size()) {
        if (end <= blockBytes && lastBlock) {
            tornAt(begin);
        } else {
            damaged(begin, blockEnd(), "a length that does not fit");
            skipBlock();
        }
        return std::nullopt;
    }
    const auto type = static_cast<unsigned char>(header[6]);
    const auto crc = tensorfile::updateCrc32(0, std::as_bytes(std::span(header + 6, length + 1)));
    if (crc == loadLittle<std::uint32_t>(asBytes({header, 4}).data()) && type >= 1 && type <= 4) {
        m_at = end;
        endDamage();
        return Chunk {static_cast<Type>(type), {header + chunkHeaderBytes, length}, begin};
    }
    if (m_live && lastBlock && end == m_bytes.size()) {
        tornAt(begin);
        return std::nullopt;
    }
    // Its length may be right all the same: the next chunk tells, by its own checksum.
    const bool again = std::exchange(m_doubtful, true);
    m_at = again ? m_bytes.size() : end;
    damaged(begin, again ? blockEnd() : place(), "a wrong checksum");
    return std::nullopt;
}

std::optional<WandbRecords::Chunk> WandbRecords::nextChunk()
{
    while (!m_ended) {
        if (m_at + chunkHeaderBytes <= m_bytes.size()) {
            if (auto chunk = chunkHere()) {
                return chunk;
            }
            continue;
        }
        if (m_bytes.size() < blockBytes && m_at < m_bytes.size()) {
            tornAt(place());
        } else if (!nextBlock()) {
            m_ended = true;
            m_torn = m_open;
        } else {
            m_doubtful = false;
        }
    }
    return std::nullopt;
}

/// True when it is all there.
bool WandbRecords::append(const Chunk& chunk)
{
    m_tooLong = m_tooLong || m_parts.size() + chunk.data.size() > largestWandbRecord;
    if (!m_tooLong) {
        m_parts += chunk.data;
    }
    return chunk.type == Type::full || chunk.type == Type::last;
}

std::optional<WandbRecords::Record> WandbRecords::next()
{
    while (const auto chunk = nextChunk()) {
        const bool begins = chunk->type == Type::full || chunk->type == Type::first;
        if (begins) {
            if (m_open) {
                damaged(*m_open, chunk->begin, "a record without its end");
                endDamage();
            }
            forgetRecord();
            m_open = chunk->begin;
            m_lost = false;
        } else if (!m_open) {
            if (!m_lost) {
                damaged(chunk->begin, place(), "a record without its beginning");
                endDamage();
            }
            continue;
        }
        if (!append(*chunk)) {
            continue;
        }
        const auto begin = *m_open;
        m_open.reset();
        if (!m_tooLong) {
            return Record {m_parts, begin, place()};
        }
        damaged(begin, place(), "a record of more than 16 MiB");
        endDamage();
    }
    // While it is being written, what is wrong up to its end may only be unfinished.
    if (m_current && !(m_live && m_current->end == size())) {
        endDamage();
    }
    return std::nullopt;
}

Result<void> requireWandb(const platform::FileReader& file, const std::filesystem::path& path)
{
    const auto head = TRY(readHead(file, path));
    if (!head.starts_with(fileHeader.substr(0, head.size()))) {
        return failure(ErrorKind::format, "named like a file of W&B, and is none", path.string());
    }
    if (head.size() >= fileHeaderBytes && head[fileHeader.size()] != 0) {
        return failure(ErrorKind::unsupported,
            fmt::format("a file of W&B in version {} of its format; only version 0 can be read",
                static_cast<unsigned char>(head[fileHeader.size()])),
            path.string());
    }
    return {};
}

} // namespace nanscope::ingest
