// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "core/base/bytes.h"
#include "core/base/try.h"
#include "core/tensorfile/tensorsource.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::tensorfile {

namespace {

constexpr std::uint64_t largestNpyHeader = std::uint64_t {1} << 20;

struct NumpyType
{
    std::string_view code;
    DType dtype;
};

constexpr std::array npyTypes {
    NumpyType {"f8", DType::float64},
    NumpyType {"f4", DType::float32},
    NumpyType {"f2", DType::float16},
    NumpyType {"c8", DType::complex64},
    NumpyType {"c16", DType::complex128},
    NumpyType {"i8", DType::int64},
    NumpyType {"i4", DType::int32},
    NumpyType {"i2", DType::int16},
    NumpyType {"i1", DType::int8},
    NumpyType {"u8", DType::uint64},
    NumpyType {"u4", DType::uint32},
    NumpyType {"u2", DType::uint16},
    NumpyType {"u1", DType::uint8},
    NumpyType {"b1", DType::boolean},
};

struct Header
{
    DType dtype = DType::float32;
    bool bigEndian = false;
    bool fortran = false;
    Shape shape;
    std::uint64_t dataBegin = 0;
};

auto badHeader()
{
    return failure(ErrorKind::corrupt, "The NumPy header is not what numpy.save writes; the file is damaged");
}

/// The text after 'key': in the dict literal, with leading blanks removed.
std::optional<std::string_view> valueOf(std::string_view header, std::string_view key)
{
    const auto quoted = "'" + std::string(key) + "'";
    auto at = header.find(quoted);
    if (at == header.npos) {
        return std::nullopt;
    }
    at = header.find_first_not_of(' ', at + quoted.size());
    if (at == header.npos || header[at] != ':') {
        return std::nullopt;
    }
    at = header.find_first_not_of(' ', at + 1);
    return at == header.npos ? std::nullopt : std::optional(header.substr(at));
}

std::optional<Shape> parseShape(std::string_view text)
{
    const auto end = text.find(')');
    if (!text.starts_with('(') || end == text.npos) {
        return std::nullopt;
    }
    Shape shape;
    const char* at = text.data() + 1;
    const char* const last = text.data() + end;
    while (at != last) {
        if (*at == ' ' || *at == ',') {
            ++at;
            continue;
        }
        std::int64_t extent = 0;
        const auto parsed = std::from_chars(at, last, extent);
        if (parsed.ec != std::errc() || extent < 0) {
            return std::nullopt;
        }
        shape.push_back(extent);
        at = parsed.ptr;
    }
    return shape;
}

Result<void> parseType(std::string_view text, Header& header)
{
    if (!text.starts_with('\'') || text.find('\'', 1) == text.npos) {
        return failure(ErrorKind::unsupported, "The NumPy array has fields; save one field as an array of its own");
    }
    const auto code = text.substr(1, text.find('\'', 1) - 1);
    const auto* found = std::find_if(npyTypes.begin(), npyTypes.end(),
        [&](const NumpyType& type) { return !code.empty() && code.substr(1) == type.code; });
    if (found == npyTypes.end() || std::string_view("<>|=").find(code.front()) == std::string_view::npos) {
        return failure(ErrorKind::unsupported,
            "The NumPy array's type is neither a number nor a boolean; save it as float32 or a plain integer");
    }
    header.dtype = found->dtype;
    header.bigEndian = code.front() == '>';
    return {};
}

Result<Header> parseHeader(std::string_view text)
{
    Header header;
    const auto type = valueOf(text, "descr");
    const auto order = valueOf(text, "fortran_order");
    const auto extents = valueOf(text, "shape");
    const auto shape = extents ? parseShape(*extents) : std::nullopt;
    if (!type || !order || !shape || !(order->starts_with("True") || order->starts_with("False"))) {
        return badHeader();
    }
    TRY(parseType(*type, header));
    header.fortran = order->starts_with("True");
    header.shape = *shape;
    return header;
}

Result<Header> readHeader(const platform::FileReader& file)
{
    std::array<std::byte, 12> start {};
    const auto prefix = std::span(start).first(std::min<std::uint64_t>(start.size(), file.size()));
    TRY(file.readAt(0, prefix));
    const auto version = static_cast<int>(start[6]);
    if (version < 1 || version > 3) {
        return failure(ErrorKind::unsupported, "The NumPy format's version is not 1, 2 or 3; use a newer nanscope");
    }
    const std::uint64_t begin = version == 1 ? 10 : 12;
    const std::uint64_t size =
        version == 1 ? loadLittle<std::uint16_t>(start.data() + 8) : loadLittle<std::uint32_t>(start.data() + 8);
    if (begin > file.size() || size > file.size() - begin) {
        return failure(
            ErrorKind::truncated, "The NumPy header is longer than the file, which is cut off; copy it again");
    }
    if (size > largestNpyHeader) {
        return failure(ErrorKind::refused, "The NumPy header is larger than 1 MiB; it describes no array we know");
    }
    std::vector<std::byte> text(size);
    TRY(file.readAt(begin, text));
    return parseHeader(asText(text)).map([&](Header header) {
        header.dataBegin = begin + size;
        return header;
    });
}

Shape columnMajorStrides(const Shape& shape)
{
    Shape strides(shape.size(), 1);
    for (std::size_t i = 1; i < shape.size(); ++i) {
        strides[i] = strides[i - 1] * std::max<std::int64_t>(shape[i - 1], 1);
    }
    return strides;
}

Result<Tensor> makeArray(const std::filesystem::path& path, const platform::FileReader& file, const Header& header)
{
    std::int64_t bytes = static_cast<std::int64_t>(sizeOf(header.dtype));
    for (const auto extent : header.shape) {
        if (!multiplies(bytes, std::max<std::int64_t>(extent, 1), bytes)) {
            return failure(
                ErrorKind::corrupt, "The array claims more elements than can be counted; the file is damaged");
        }
    }
    const bool empty = std::find(header.shape.begin(), header.shape.end(), 0) != header.shape.end();
    const auto room = file.size() - header.dataBegin;
    if (!empty && static_cast<std::uint64_t>(bytes) > room) {
        return failure(ErrorKind::truncated, "The array is longer than the file, which is cut off; copy it again");
    }
    auto source = std::make_shared<Tensor::Source>(path, file);
    source->bigEndian = header.bigEndian;
    StoredBytes stored;
    stored.offset = header.dataBegin;
    stored.size = empty ? 0 : static_cast<std::uint64_t>(bytes);
    source->storages.emplace("0", std::move(stored));
    const auto strides = header.fortran ? columnMajorStrides(header.shape) : rowMajorStrides(header.shape);
    return makeTensor(std::move(source), "0", header.dtype, header.shape, strides, 0);
}

} // namespace

Result<TensorFile> openNpy(const std::filesystem::path& path, const platform::FileReader& file)
{
    auto tensor = TRY(readHeader(file).and_then([&](const Header& header) { return makeArray(path, file, header); }));
    ContentHash hash;
    TRY(addContents(hash, file));
    return TensorFile {
        FileKind::npy, PickleValue {std::make_shared<const Tensor>(std::move(tensor))}, "npy-" + hash.hex(), {}};
}

} // namespace nanscope::tensorfile
