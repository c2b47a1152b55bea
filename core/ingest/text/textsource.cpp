// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/text/textsource.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "core/base/try.h"
#include "core/platform/platform.h"

namespace nanscope::ingest {

namespace {

/// A decompressor that is fed piece by piece. Files may hold several streams one after the other, as logs do that are
/// appended to or written by parallel compressors.
class Unpacker
{
public:
    virtual ~Unpacker() = default;

    struct Progress
    {
        std::size_t taken = 0; ///< of the input
        std::size_t given = 0; ///< into the output
        bool betweenStreams = false; ///< the input may end here
        bool damaged = false;
    };
    virtual Progress step(std::span<const char> in, std::span<char> out) = 0;
};

class Gzip : public Unpacker
{
public:
    Gzip()
    {
        constexpr int gzipOnly = 16 + MAX_WBITS;
        if (inflateInit2(&m_stream, gzipOnly) != Z_OK) {
            throw std::bad_alloc();
        }
    }
    ~Gzip() override { inflateEnd(&m_stream); }
    Gzip(const Gzip&) = delete;
    Gzip& operator=(const Gzip&) = delete;

    Progress step(std::span<const char> in, std::span<char> out) override
    {
        if (m_between && !in.empty()) {
            inflateReset(&m_stream);
            m_between = false;
        }
        constexpr std::size_t most = std::numeric_limits<uInt>::max();
        // zlib takes its input as bytes that it may not change, and says so only in its documentation.
        m_stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
        m_stream.avail_in = static_cast<uInt>(std::min(in.size(), most));
        m_stream.next_out = reinterpret_cast<Bytef*>(out.data());
        m_stream.avail_out = static_cast<uInt>(std::min(out.size(), most));
        const int code = inflate(&m_stream, Z_NO_FLUSH);
        m_between = code == Z_STREAM_END;
        const bool bad = code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR;
        return {in.size() - m_stream.avail_in, out.size() - m_stream.avail_out, m_between, bad};
    }

private:
    z_stream m_stream {};
    bool m_between = false;
};

class Zstandard : public Unpacker
{
public:
    Zstandard()
        : m_stream(ZSTD_createDCtx())
    {
        if (!m_stream) {
            throw std::bad_alloc();
        }
    }

    Progress step(std::span<const char> in, std::span<char> out) override
    {
        ZSTD_inBuffer input {in.data(), in.size(), 0};
        ZSTD_outBuffer output {out.data(), out.size(), 0};
        const auto code = ZSTD_decompressStream(m_stream.get(), &output, &input);
        return {input.pos, output.pos, code == 0, ZSTD_isError(code) != 0};
    }

private:
    struct Free
    {
        void operator()(ZSTD_DCtx* stream) const { ZSTD_freeDCtx(stream); }
    };
    std::unique_ptr<ZSTD_DCtx, Free> m_stream;
};

class Xz : public Unpacker
{
public:
    Xz()
    {
        // A file may ask for a dictionary of 4 GiB; xz -9 takes 65 MiB.
        constexpr std::uint64_t mostMemory = 256U << 20U;
        if (lzma_stream_decoder(&m_stream, mostMemory, LZMA_CONCATENATED) != LZMA_OK) {
            throw std::bad_alloc();
        }
    }
    ~Xz() override { lzma_end(&m_stream); }
    Xz(const Xz&) = delete;
    Xz& operator=(const Xz&) = delete;

    Progress step(std::span<const char> in, std::span<char> out) override
    {
        m_stream.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
        m_stream.avail_in = in.size();
        m_stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
        m_stream.avail_out = out.size();
        // Only at the end of the file is it known that no further stream follows.
        const auto code = lzma_code(&m_stream, in.empty() ? LZMA_FINISH : LZMA_RUN);
        const bool bad = code != LZMA_OK && code != LZMA_STREAM_END && code != LZMA_BUF_ERROR;
        return {in.size() - m_stream.avail_in, out.size() - m_stream.avail_out, code == LZMA_STREAM_END, bad};
    }

private:
    lzma_stream m_stream = LZMA_STREAM_INIT;
};

/// By the first bytes of a file: "\x1f\x8b" gzip, "\x28\xb5\x2f\xfd" Zstandard, "\xfd7zXZ" xz. Null for anything else.
std::unique_ptr<Unpacker> unpackerFor(std::string_view head)
{
    if (head.starts_with("\x1f\x8b")) {
        return std::make_unique<Gzip>();
    }
    if (head.starts_with("\x28\xb5\x2f\xfd")) {
        return std::make_unique<Zstandard>();
    }
    if (head.starts_with("\xfd"
                         "7zXZ")) {
        return std::make_unique<Xz>();
    }
    return nullptr;
}

/// The file's size is taken once: what is appended meanwhile belongs to the next import.
class PlainText : public TextSource
{
public:
    PlainText(platform::FileReader file, std::int64_t offset)
        : m_file(std::move(file))
        , m_begin(offset)
        , m_next(offset)
        , m_size(static_cast<std::int64_t>(m_file.size()))
    {
        char before = '\n';
        if (offset > 0 && offset <= m_size) {
            const auto read =
                m_file.readAt(static_cast<std::uint64_t>(offset - 1), std::as_writable_bytes(std::span(&before, 1)));
            m_insideLine = read && before != '\n' && before != '\r';
        }
    }

    std::size_t read(std::span<char> out) override
    {
        if (skipHole()) {
            out.front() = '\0'; // as the hole would begin
            ++m_given;
            return 1;
        }
        const auto size = std::min(out.size(), static_cast<std::size_t>(left()));
        if (size == 0 || !m_file.readAt(static_cast<std::uint64_t>(m_next), std::as_writable_bytes(out.first(size)))) {
            m_size = m_next;
            return 0;
        }
        m_next += static_cast<std::int64_t>(size);
        m_given += static_cast<std::int64_t>(size);
        return size;
    }

    std::int64_t placeOf(std::int64_t position) const override
    {
        const auto behind = std::upper_bound(m_holes.begin(), m_holes.end(), position,
            [](std::int64_t at, const Hole& hole) { return at < hole.behind; });
        return m_begin + position + (behind == m_holes.begin() ? 0 : std::prev(behind)->skipped);
    }
    std::string remark() const override
    {
        return m_holes.empty() ? std::string()
                               : fmt::format("{} bytes of this log are a hole in the file, which holds no text: it was "
                                             "cut off while its writer went on, or never written",
                                   m_holes.back().skipped + std::ssize(m_holes));
    }
    bool beganInsideLine() const override { return m_insideLine; }
    std::int64_t left() const override { return std::max<std::int64_t>(0, m_size - m_next); }

private:
    static constexpr std::int64_t worthSkipping = 1 << 20;

    struct Hole
    {
        std::int64_t behind = 0; ///< the position in the text
        std::int64_t skipped = 0; ///< of this one and all before, but for a zero each
    };

    bool skipHole()
    {
        const auto data = static_cast<std::int64_t>(m_file.dataFrom(static_cast<std::uint64_t>(m_next)));
        const auto length = std::min(data, m_size) - m_next;
        if (length < worthSkipping) {
            return false;
        }
        m_next += length;
        const auto before = m_holes.empty() ? 0 : m_holes.back().skipped;
        m_holes.push_back({m_given + 1, before + length - 1});
        return true;
    }

    platform::FileReader m_file;
    std::int64_t m_begin;
    std::int64_t m_next; ///< in the file
    std::int64_t m_given = 0; ///< of the text
    std::vector<Hole> m_holes;
    std::int64_t m_size;
    bool m_insideLine = false;
};

class PackedText : public TextSource
{
public:
    PackedText(platform::FileReader file, std::unique_ptr<Unpacker> unpacker)
        : m_file(std::move(file))
        , m_unpacker(std::move(unpacker))
        , m_size(static_cast<std::int64_t>(m_file.size()))
        , m_packed(packedSize)
    { }

    std::size_t read(std::span<char> out) override
    {
        std::size_t given = 0;
        while (given < out.size() && !m_ended) {
            given += unpack(out.subspan(given));
        }
        m_given += static_cast<std::int64_t>(given);
        if (m_given > mostOfABomb && m_given / mostTimes > m_next) {
            end("it unpacks to more than 1,000 times its size; unpack it yourself to have the rest of it read");
        }
        return given;
    }

    // The end of the file only when all of its text was taken, so that an import that was broken off shows.
    std::int64_t placeOf(std::int64_t position) const override
    {
        const auto taken = m_next - static_cast<std::int64_t>(m_end - m_begin);
        return m_ended && position == m_given ? m_size : std::min(taken, m_size - 1);
    }

    bool seekable() const override { return false; }
    std::int64_t left() const override { return std::numeric_limits<std::int64_t>::max(); }
    std::string problem() const override { return m_problem; }

private:
    static constexpr std::size_t packedSize = 256 * 1024;
    static constexpr std::int64_t mostOfABomb = std::int64_t {64} << 20;
    static constexpr std::int64_t mostTimes = 1000;

    std::size_t unpack(std::span<char> out)
    {
        if (m_begin == m_end && !refill() && m_betweenStreams) {
            m_ended = true;
            return 0;
        }
        const bool atEnd = m_begin == m_end;
        const auto done = m_unpacker->step(std::span<const char>(m_packed).subspan(m_begin, m_end - m_begin), out);
        m_begin += done.taken;
        m_betweenStreams = done.betweenStreams;
        if (done.damaged) {
            end(m_everWhole ? "what follows the compressed text is none"
                            : "the compressed file is damaged, or takes more than 256 MiB to unpack");
        } else if (done.taken == 0 && done.given == 0 && !atEnd) {
            end("the compressed file is damaged");
        } else if (atEnd && done.given == 0) {
            end(done.betweenStreams ? "" : "the compressed file is cut off");
        }
        m_everWhole = m_everWhole || done.betweenStreams;
        return done.given;
    }

    void end(const char* problem)
    {
        m_ended = true;
        m_problem = problem;
    }

    bool refill()
    {
        const auto size = std::min(packedSize, static_cast<std::size_t>(m_size - m_next));
        if (size == 0
            || !m_file.readAt(
                static_cast<std::uint64_t>(m_next), std::as_writable_bytes(std::span(m_packed).first(size)))) {
            return false;
        }
        m_next += static_cast<std::int64_t>(size);
        m_begin = 0;
        m_end = size;
        return true;
    }

    platform::FileReader m_file;
    std::unique_ptr<Unpacker> m_unpacker;
    std::int64_t m_size;
    std::int64_t m_next = 0; ///< of the file
    std::int64_t m_given = 0; ///< of the text
    std::vector<char> m_packed;
    std::size_t m_begin = 0;
    std::size_t m_end = 0;
    bool m_betweenStreams = false;
    bool m_everWhole = false;
    bool m_ended = false;
    std::string m_problem;
};

} // namespace

Result<std::unique_ptr<TextSource>> openText(const std::filesystem::path& path, std::int64_t offset)
{
    auto file = TRY(platform::FileReader::open(path));
    std::array<char, 8> head {};
    const auto size = std::min<std::uint64_t>(head.size(), file.size());
    TRY(file.readAt(0, std::as_writable_bytes(std::span(head).first(size))));
    std::unique_ptr<TextSource> source;
    if (auto unpacker = unpackerFor({head.data(), size})) {
        source = std::make_unique<PackedText>(std::move(file), std::move(unpacker));
    } else {
        source = std::make_unique<PlainText>(std::move(file), offset);
    }
    return source;
}

bool holdsMoreThan(const std::filesystem::path& path, std::int64_t bytes, const CancelToken& cancel)
{
    constexpr std::size_t piece = 64 * 1024;
    const auto text = openText(path);
    if (!text || (*text)->seekable()) {
        return text && (*text)->left() > bytes;
    }
    std::vector<char> scratch(piece);
    std::int64_t held = 0;
    for (std::size_t got = piece; got == piece && held <= bytes && !cancel.cancelled(); held += std::int64_t(got)) {
        got = (*text)->read(scratch);
    }
    return held > bytes;
}

} // namespace nanscope::ingest
