// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>

#include <simdjson.h>

#include "core/base/bytes.h"
#include "core/base/try.h"
#include "core/tensorfile/corrupt.h"
#include "core/tensorfile/tensorsource.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::tensorfile {

namespace {

constexpr std::uint64_t largestSafetensorsHeader = 100'000'000; // the format's own limit

struct SafetensorsType
{
    std::string_view name;
    DType dtype;
};

constexpr std::array safetensorsTypes {
    SafetensorsType {"F64", DType::float64},
    SafetensorsType {"F32", DType::float32},
    SafetensorsType {"F16", DType::float16},
    SafetensorsType {"BF16", DType::bfloat16},
    SafetensorsType {"F8_E4M3", DType::float8_e4m3fn},
    SafetensorsType {"F8_E4M3FNUZ", DType::float8_e4m3fnuz},
    SafetensorsType {"F8_E5M2", DType::float8_e5m2},
    SafetensorsType {"F8_E5M2FNUZ", DType::float8_e5m2fnuz},
    SafetensorsType {"F8_E8M0", DType::float8_e8m0fnu},
    SafetensorsType {"C64", DType::complex64},
    SafetensorsType {"I64", DType::int64},
    SafetensorsType {"I32", DType::int32},
    SafetensorsType {"I16", DType::int16},
    SafetensorsType {"I8", DType::int8},
    SafetensorsType {"U64", DType::uint64},
    SafetensorsType {"U32", DType::uint32},
    SafetensorsType {"U16", DType::uint16},
    SafetensorsType {"U8", DType::uint8},
    SafetensorsType {"BOOL", DType::boolean},
};

std::optional<DType> typeNamed(std::string_view name)
{
    const auto* found = std::find_if(safetensorsTypes.begin(), safetensorsTypes.end(),
        [&](const SafetensorsType& type) { return type.name == name; });
    return found == safetensorsTypes.end() ? std::nullopt : std::optional(found->dtype);
}

std::optional<Shape> readIntegers(const simdjson::dom::element& element)
{
    simdjson::dom::array array;
    if (element.get(array) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    Shape values;
    for (const auto item : array) {
        std::int64_t value = 0;
        if (item.get(value) != simdjson::SUCCESS || value < 0) {
            return std::nullopt;
        }
        values.push_back(value);
    }
    return values;
}

/// Where the header says that one tensor lies.
struct Entry
{
    std::string_view dtype;
    Shape shape;
    Shape offsets;
};

std::optional<Entry> readEntry(const simdjson::dom::element& element)
{
    Entry entry;
    simdjson::dom::element shape;
    simdjson::dom::element offsets;
    if (element["dtype"].get(entry.dtype) != simdjson::SUCCESS || element["shape"].get(shape) != simdjson::SUCCESS
        || element["data_offsets"].get(offsets) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    auto extents = readIntegers(shape);
    auto range = readIntegers(offsets);
    if (!extents || !range || range->size() != 2 || (*range)[0] > (*range)[1]) {
        return std::nullopt;
    }
    entry.shape = std::move(*extents);
    entry.offsets = std::move(*range);
    return entry;
}

Result<PickleValue> makeValue(
    const std::shared_ptr<Tensor::Source>& source, std::string_view name, const Entry& entry, std::uint64_t dataBegin)
{
    const auto end = static_cast<std::uint64_t>(entry.offsets[1]);
    if (end > *source->part().size - dataBegin) {
        return failure(ErrorKind::truncated, "A tensor lies beyond the end of the file; it is cut off, copy it again");
    }
    const auto dtype = typeNamed(entry.dtype);
    if (!dtype) {
        return PickleValue {OpaqueObject {"safetensors " + std::string(entry.dtype.substr(0, 32))}};
    }
    StoredBytes stored;
    stored.offset = dataBegin + static_cast<std::uint64_t>(entry.offsets[0]);
    stored.size = static_cast<std::uint64_t>(entry.offsets[1] - entry.offsets[0]);
    const auto size = stored.size;
    if (!source->storages.emplace(name, std::move(stored)).second) {
        return corrupt("Two tensors have the same name, so it is not clear which one is meant; the file is damaged");
    }
    std::int64_t bytes = static_cast<std::int64_t>(sizeOf(*dtype));
    const bool fits = std::all_of(
        entry.shape.begin(), entry.shape.end(), [&](std::int64_t extent) { return multiplies(bytes, extent, bytes); });
    if (!fits || static_cast<std::uint64_t>(bytes) != size) {
        return corrupt("A tensor's shape does not fit the bytes it has; the file is damaged");
    }
    return makeTensor(source, std::string(name), *dtype, entry.shape, rowMajorStrides(entry.shape), 0)
        .map([](Tensor tensor) { return PickleValue {std::make_shared<const Tensor>(std::move(tensor))}; });
}

Result<PickleDict> readTensors(
    const std::shared_ptr<Tensor::Source>& source, const simdjson::dom::object& header, std::uint64_t dataBegin)
{
    PickleDict dict;
    for (const auto& [name, element] : header) {
        if (name == "__metadata__") {
            continue;
        }
        const auto entry = readEntry(element);
        if (!entry) {
            return corrupt("The header describes a tensor without a type, shape or place; the file is damaged");
        }
        auto value = TRY(makeValue(source, name, *entry, dataBegin));
        dict.push_back({PickleValue {std::string(name)}, std::move(value)});
    }
    return dict;
}

Result<std::uint64_t> headerSize(const platform::FileReader& file)
{
    std::array<std::byte, 8> length;
    TRY(file.readAt(0, length));
    const auto size = loadLittle<std::uint64_t>(length.data());
    if (size > file.size() - length.size()) {
        return failure(
            ErrorKind::truncated, "The header is longer than the file, which is cut off or no safetensors file");
    }
    if (size > largestSafetensorsHeader) {
        return failure(ErrorKind::refused, "The header is larger than the 100 MB that the format allows");
    }
    return size;
}

} // namespace

Result<TensorFile> openSafetensors(const std::filesystem::path& path, const platform::FileReader& file)
{
    constexpr std::uint64_t lengthSize = 8;
    const auto size = TRY(headerSize(file));
    simdjson::padded_string text(size);
    TRY(file.readAt(lengthSize, std::as_writable_bytes(std::span(text.data(), size))));
    simdjson::dom::parser parser;
    simdjson::dom::object header;
    if (parser.parse(text).get(header) != simdjson::SUCCESS) {
        return corrupt("The safetensors header is not JSON; the file is damaged or of another kind");
    }
    auto source = std::make_shared<Tensor::Source>(path, file);
    auto dict = TRY(readTensors(source, header, lengthSize + size));
    ContentHash hash;
    TRY(addContents(hash, file));
    return TensorFile {FileKind::safetensors, PickleValue {std::move(dict)}, "safetensors-" + hash.hex(), {}};
}

} // namespace nanscope::tensorfile
