// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/text/unpack.h"

#include <algorithm>
#include <limits>
#include <new>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

namespace nanscope::ingest {

namespace {

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

} // namespace

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

} // namespace nanscope::ingest
