// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/stores/tensorboard.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>

#include "core/base/try.h"
#include "core/ingest/log/logbuilder.h"
#include "core/platform/platform.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::ingest {

namespace {

constexpr std::size_t recordHeaderBytes = 12; ///< length, u64; its checksum, u32
constexpr std::string_view mark = ".tfevents.";

/// When its writer began: in its first record, "wall_time", else in its name.
double startOf(const std::filesystem::path& path)
{
    constexpr char wallTime = 0x09; // field 1, a double
    std::array<char, recordHeaderBytes + 1 + sizeof(double)> head {};
    auto file = platform::FileReader::open(path);
    if (file && file->readAt(0, std::as_writable_bytes(std::span(head))) && head[recordHeaderBytes] == wallTime) {
        double time = 0;
        std::memcpy(&time, head.data() + recordHeaderBytes + 1, sizeof time);
        return time;
    }
    const auto name = path.filename().string();
    return std::strtod(name.c_str() + name.find(mark) + mark.size(), nullptr);
}

/// A restart begins an event file of its own beside those before it: how many there are.
int placeAmongOthers(const std::filesystem::path& path)
{
    constexpr int most = 1000;
    const auto own = std::pair(startOf(path), path.filename().string());
    std::error_code error;
    int before = 0;
    for (std::filesystem::directory_iterator entry(path.parent_path(), error), end;
         !error && entry != end && before < most; entry.increment(error)) {
        const auto name = entry->path().filename().string();
        if (isEventFileName(name) && name != own.second && std::pair(startOf(entry->path()), name) < own) {
            ++before;
        }
    }
    return before;
}

constexpr std::size_t checksumBytes = 4;
constexpr std::uint64_t largestEventRecord = 64 << 20; ///< pictures and graphs may be larger; no scalar is
constexpr std::size_t bufferBytes = 1 << 20;

template <class T>
T littleEndian(const char* bytes)
{
    static_assert(std::endian::native == std::endian::little);
    T value {};
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

/// TFRecord has the CRC-32C rotated by 15 bits and offset. True where it cannot be told.
bool checksumHolds(const char* data, std::size_t size, std::uint32_t expected)
{
    const auto crc = tensorfile::crc32c(std::as_bytes(std::span(data, size)));
    return !crc || std::rotr(*crc, 15) + 0xa282ead8U == expected;
}

/// A window on the file that moves forward.
class Window
{
public:
    Window(platform::FileReader file, std::int64_t offset)
        : m_file(std::move(file))
        , m_base(static_cast<std::uint64_t>(offset))
    { }

    std::uint64_t left() const { return m_file.size() - std::min(m_file.size(), m_base + m_at); }
    std::uint64_t position() const { return m_base + m_at; }
    void skip(std::uint64_t count) { m_at += count; }

    /// The next bytes, or nothing where they cannot be read; at most left().
    const char* peek(std::size_t count)
    {
        if (m_at + count > m_bytes.size()) {
            m_base += m_at;
            m_at = 0;
            m_bytes.resize(std::min<std::uint64_t>(std::max(count, bufferBytes), m_file.size() - m_base));
            if (!m_file.readAt(m_base, std::as_writable_bytes(std::span(m_bytes)))) {
                m_bytes.clear();
                return nullptr;
            }
        }
        return m_bytes.data() + m_at;
    }

private:
    platform::FileReader m_file;
    std::uint64_t m_base;
    std::uint64_t m_at = 0;
    std::vector<char> m_bytes;
};

using Wire = protozero::pbf_wire_type;

/// A field of this number, in this form and no other.
constexpr std::uint32_t field(std::uint32_t number, Wire type)
{
    return protozero::tag_and_type(number, type);
}

struct Scalar
{
    std::string_view tag;
    std::optional<double> value;
};

enum class TensorType { f32 = 1, f64 = 2 };

template <class Range>
std::optional<double> onlyOne(const Range& range)
{
    return range.size() == 1 ? std::optional<double>(*range.begin()) : std::nullopt;
}

/// The one number of a tensor, if it is that.
std::optional<double> numberIn(protozero::pbf_reader tensor)
{
    auto type = TensorType::f32;
    protozero::data_view content;
    std::optional<double> listed;
    while (tensor.next()) {
        switch (tensor.tag_and_type()) {
        case field(1, Wire::varint):
            type = static_cast<TensorType>(tensor.get_enum());
            break;
        case field(4, Wire::length_delimited):
            content = tensor.get_view();
            break;
        case field(5, Wire::length_delimited):
            listed = onlyOne(tensor.get_packed_float());
            break;
        case field(6, Wire::length_delimited):
            listed = onlyOne(tensor.get_packed_double());
            break;
        default:
            tensor.skip();
        }
    }
    if (type == TensorType::f32 && content.size() == sizeof(float)) {
        return littleEndian<float>(content.data());
    }
    if (type == TensorType::f64 && content.size() == sizeof(double)) {
        return littleEndian<double>(content.data());
    }
    const bool number = type == TensorType::f32 || type == TensorType::f64;
    return number ? listed : std::nullopt;
}

Scalar scalarIn(protozero::pbf_reader value)
{
    Scalar scalar;
    while (value.next()) {
        switch (value.tag_and_type()) {
        case field(1, Wire::length_delimited): {
            const auto tag = value.get_view();
            scalar.tag = {tag.data(), tag.size()};
            break;
        }
        case field(2, Wire::fixed32):
            scalar.value = value.get_float();
            break;
        case field(8, Wire::length_delimited):
            scalar.value = numberIn(value.get_message());
            break;
        default:
            value.skip();
        }
    }
    return scalar;
}

struct Record
{
    std::int64_t step = 0;
    bool begins = false; ///< a writer started here, and what others wrote of this step and later is void
    std::vector<Scalar> scalars;
};

bool startsSession(protozero::pbf_reader log)
{
    constexpr std::int32_t started = 1;
    while (log.next(1, Wire::varint)) {
        if (log.get_enum() == started) {
            return true;
        }
    }
    return false;
}

/// Throws protozero's exceptions on bytes that are no such message.
Record recordIn(std::string_view bytes)
{
    Record record;
    protozero::pbf_reader event(bytes.data(), bytes.size());
    while (event.next()) {
        if (event.tag_and_type() == field(2, Wire::varint)) {
            record.step = event.get_int64();
        } else if (event.tag_and_type() == field(5, Wire::length_delimited)) {
            for (auto summary = event.get_message(); summary.next(1, Wire::length_delimited);) {
                if (const auto scalar = scalarIn(summary.get_message()); scalar.value && !scalar.tag.empty()) {
                    record.scalars.push_back(scalar);
                }
            }
        } else if (event.tag_and_type() == field(7, Wire::length_delimited)) {
            record.begins = startsSession(event.get_message());
        } else {
            event.skip();
        }
    }
    return record;
}

class EventFile : public LogSource
{
public:
    EventFile(platform::FileReader file, LogBuilder builder, std::int64_t offset, std::int64_t records)
        : m_window(std::move(file), offset)
        , m_builder(std::move(builder))
        , m_offset(offset)
        , m_records(records)
    {
        m_builder.expectNothing();
    }

    void resume(const Series& stored) { m_builder.resume(stored); }
    bool finished() const override { return m_finished; }
    void leaveTail() override { m_live = true; }

    LogContents next(std::size_t most, const CancelToken& cancel) override
    {
        while (!m_finished && m_builder.size() < most && !cancel.cancelled()) {
            if (!takeRecord()) {
                m_builder.finish();
                m_finished = true;
            }
        }
        LogContents contents;
        m_builder.take(contents);
        contents.format = "tensorboard";
        contents.bytes = m_offset;
        contents.lines = m_records;
        contents.columns = m_builder.rawNames();
        return contents;
    }

private:
    /// False at the end, and before a record that is not all there yet.
    bool takeRecord()
    {
        if (m_window.left() < recordHeaderBytes) {
            return false;
        }
        const char* header = m_window.peek(recordHeaderBytes);
        if (header == nullptr) {
            return false;
        }
        const auto length = littleEndian<std::uint64_t>(header);
        if (!checksumHolds(header, sizeof length, littleEndian<std::uint32_t>(header + sizeof length))) {
            // A file that is being written may have room that nothing was put into yet.
            if (!m_live) {
                say("the length of a record is damaged; what follows it cannot be read");
                m_offset = static_cast<std::int64_t>(m_window.position() + m_window.left());
            }
            return false;
        }
        const auto left = m_window.left() - recordHeaderBytes;
        if (left < checksumBytes || length > left - checksumBytes) {
            return false;
        }
        m_window.skip(recordHeaderBytes);
        if (length <= largestEventRecord) {
            const bool unfinished = m_live && left == length + checksumBytes;
            const char* problem = takeMessage(static_cast<std::size_t>(length));
            if (problem != nullptr && unfinished) {
                return false;
            }
            if (problem != nullptr) {
                say(problem);
            }
        } else {
            say(fmt::format("a record of {} bytes was left out; none of a training is so large", length));
        }
        ++m_records;
        m_window.skip(length + checksumBytes);
        m_offset = static_cast<std::int64_t>(m_window.position());
        return true;
    }

    /// What is wrong with it, or null.
    const char* takeMessage(std::size_t length)
    {
        const char* data = m_window.peek(length + checksumBytes);
        if (data == nullptr) {
            return "a record that cannot be read was left out";
        }
        if (!checksumHolds(data, length, littleEndian<std::uint32_t>(data + length))) {
            return "a damaged record was left out";
        }
        try {
            const auto record = recordIn({data, length});
            if (record.begins && record.step > 0) {
                sayBegin(record.step);
            }
            for (const auto& scalar : record.scalars) {
                m_builder.startRow({}, record.step, m_records + 1);
                m_builder.value(scalar.tag, *scalar.value);
            }
        } catch (const protozero::exception&) {
            return "a record that is no event was left out";
        }
        return nullptr;
    }

    void sayBegin(std::int64_t step)
    {
        Event event;
        event.kind = EventKind::resumed;
        event.step = step;
        event.text = "a writer began at this step and voided what was logged of it and later ones";
        event.line = m_records + 1;
        m_builder.event(std::move(event));
    }

    void say(std::string text)
    {
        Event event;
        event.kind = EventKind::damaged;
        event.text = std::move(text);
        event.line = m_records + 1;
        m_builder.event(std::move(event));
    }

    Window m_window;
    LogBuilder m_builder;
    std::int64_t m_offset;
    std::int64_t m_records;
    bool m_finished = false;
    bool m_live = false; ///< somebody may still be writing
};

/// Its first record names the format; a Git LFS pointer and a file of another kind do not.
Result<void> requireEvents(const platform::FileReader& file, const std::filesystem::path& path)
{
    constexpr std::string_view version = "brain.Event:";
    const auto head = TRY(readHead(file, path));
    if (head.size() >= recordHeaderBytes && head.find(version) == std::string::npos) {
        return failure(ErrorKind::format, "named like an event file of TensorBoard, and is none", path.string());
    }
    return {};
}

} // namespace

bool isEventFileName(const std::string& name)
{
    return name.find(mark) != std::string::npos;
}

Result<std::unique_ptr<LogSource>> openEventFile(const std::filesystem::path& path, const std::string& relative,
    std::int64_t offset, std::int64_t firstRecord, const std::vector<Series>& stored, const ColumnMap& columns)
{
    auto file = TRY(platform::FileReader::open(path));
    TRY(requireEvents(file, path));
    const int attempt = placeAmongOthers(path);
    const auto place = placeOf(relative);
    LogBuilder builder(relative, place.rank, attempt);
    builder.useColumns(columns);
    auto opened = std::make_unique<EventFile>(std::move(file), std::move(builder), offset, firstRecord);
    for (const auto& series : stored) {
        opened->resume(series);
    }
    return opened;
}

} // namespace nanscope::ingest
