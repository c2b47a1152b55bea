// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/try.h"
#include "core/platform/platform.h"
#include "core/tensorfile/tensorfile.h"
#include "core/tensorfile/tensorsource.h"
#include "core/tensorfile/zip/zipwriter.h"

namespace nanscope::tensorfile {

namespace {

/// The typed storage class of torch; empty for the newer types, which only have UntypedStorage.
std::string_view storageClass(DType dtype)
{
    switch (dtype) {
    case DType::float64:
        return "DoubleStorage";
    case DType::float32:
        return "FloatStorage";
    case DType::float16:
        return "HalfStorage";
    case DType::bfloat16:
        return "BFloat16Storage";
    case DType::int64:
        return "LongStorage";
    case DType::int32:
        return "IntStorage";
    case DType::int16:
        return "ShortStorage";
    case DType::int8:
        return "CharStorage";
    case DType::uint8:
        return "ByteStorage";
    case DType::boolean:
        return "BoolStorage";
    case DType::complex64:
        return "ComplexFloatStorage";
    case DType::complex128:
        return "ComplexDoubleStorage";
    default:
        return {};
    }
}

class PickleWriter
{
public:
    void put(char code) { m_bytes.push_back(static_cast<std::byte>(code)); }

    void putRaw(std::string_view text)
    {
        const auto bytes = asBytes(text);
        m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
    }

    void putLittle(std::uint64_t value, int width)
    {
        for (int i = 0; i < width; ++i) {
            m_bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
        }
    }

    void text(std::string_view text)
    {
        put('X');
        putLittle(text.size(), 4);
        putRaw(text);
    }

    void integer(std::int64_t value)
    {
        if (value == static_cast<std::int32_t>(value)) {
            put('J');
            putLittle(static_cast<std::uint64_t>(value), 4);
            return;
        }
        putRaw("\x8a\x08");
        putLittle(static_cast<std::uint64_t>(value), 8);
    }

    void real(double value)
    {
        put('G');
        putLittle(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)), 8);
    }

    void global(std::string_view module, std::string_view name)
    {
        put('c');
        putRaw(module);
        put('\n');
        putRaw(name);
        put('\n');
    }

    void tuple(const Shape& shape)
    {
        put('(');
        for (const auto extent : shape) {
            integer(extent);
        }
        put('t');
    }

    void tensor(const TensorToWrite& tensor, std::size_t storage);

    std::vector<std::byte> take() { return std::move(m_bytes); }

private:
    std::vector<std::byte> m_bytes;
};

void PickleWriter::tensor(const TensorToWrite& tensor, std::size_t storage)
{
    const auto typed = storageClass(tensor.dtype);
    const auto size = static_cast<std::int64_t>(tensor.bytes.size());
    global("torch._utils", typed.empty() ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
    putRaw("((");
    text("storage");
    if (typed.empty()) {
        global("torch.storage", "UntypedStorage");
    } else {
        global("torch", typed);
    }
    text(std::to_string(storage));
    text("cpu");
    integer(typed.empty() ? size : size / static_cast<std::int64_t>(sizeOf(tensor.dtype)));
    putRaw("tQ");
    integer(0);
    tuple(tensor.shape);
    tuple(rowMajorStrides(tensor.shape));
    put('\x89'); // no gradient wanted
    global("collections", "OrderedDict");
    putRaw(")R");
    if (typed.empty()) {
        global("torch", torchName(tensor.dtype));
    }
    putRaw("tR");
}

/// The data.pkl of a flat dict, protocol 2, in the form torch.load(weights_only=True) accepts. Tensors refer to
/// the storages "0", "1", .. in order.
std::vector<std::byte> writePickle(const std::vector<std::pair<std::string, ValueToWrite>>& entries)
{
    PickleWriter writer;
    std::size_t storage = 0;
    writer.putRaw("\x80\x02}(");
    for (const auto& [name, value] : entries) {
        writer.text(name);
        if (const auto* whole = std::get_if<std::int64_t>(&value)) {
            writer.integer(*whole);
        } else if (const auto* real = std::get_if<double>(&value)) {
            writer.real(*real);
        } else if (const auto* text = std::get_if<std::string>(&value)) {
            writer.text(*text);
        } else if (const auto* shape = std::get_if<Shape>(&value)) {
            writer.tuple(*shape);
        } else if (const auto* tensor = std::get_if<TensorToWrite>(&value)) {
            writer.tensor(*tensor, storage++);
        } else {
            writer.put('N');
        }
    }
    writer.putRaw("u.");
    return writer.take();
}

constexpr std::uint64_t largestFile = 0xffffffff;

struct Part
{
    std::string name;
    std::span<const std::byte> bytes;
};

Result<void> checkTensor(const TensorToWrite& tensor)
{
    std::int64_t bytes = static_cast<std::int64_t>(sizeOf(tensor.dtype));
    const bool fits = std::all_of(tensor.shape.begin(), tensor.shape.end(),
        [&](std::int64_t extent) { return extent >= 0 && multiplies(bytes, extent, bytes); });
    if (!fits || static_cast<std::uint64_t>(bytes) != tensor.bytes.size()) {
        return failure(ErrorKind::internal, "The tensor " + tensor.name + " does not have the bytes its shape needs");
    }
    return {};
}

std::vector<Part> partsOf(const std::vector<std::pair<std::string, ValueToWrite>>& entries,
    std::span<const std::byte> pickle, const std::string& folder)
{
    const std::string_view order = std::endian::native == std::endian::big ? "big" : "little";
    std::vector<Part> parts {{folder + "data.pkl", pickle}, {folder + "byteorder", asBytes(order)}};
    std::size_t storage = 0;
    for (const auto& entry : entries) {
        if (const auto* tensor = std::get_if<TensorToWrite>(&entry.second)) {
            parts.push_back({folder + "data/" + std::to_string(storage++), tensor->bytes});
        }
    }
    parts.push_back({folder + "version", asBytes("3\n")});
    return parts;
}

Result<void> checkSizes(const std::vector<Part>& parts)
{
    constexpr std::uint64_t overhead = 512;
    std::uint64_t total = 0;
    for (const auto& part : parts) {
        total += part.bytes.size() + overhead;
    }
    if (total > largestFile || parts.size() > 0xffff) {
        return failure(
            ErrorKind::unsupported, "More than 4 GiB, or 65,535 tensors, cannot be written into one .pt file");
    }
    return {};
}

Result<void> writeParts(const std::filesystem::path& path, const std::vector<Part>& parts)
{
    ZipWriter writer(TRY(platform::AtomicFile::create(path)));
    for (const auto& part : parts) {
        TRY(writer.add(part.name, part.bytes));
    }
    return writer.finish();
}

/// Gone with its object, whatever happens.
struct TemporaryFile
{
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / fmt::format("nanscope-{:08x}{:08x}.pt", draw(), draw());
    static unsigned draw() { return std::random_device()(); }
    TemporaryFile() = default;
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile()
    {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
};

Result<std::vector<std::byte>> contentsOf(const std::filesystem::path& path)
{
    auto file = TRY(platform::FileReader::open(path));
    std::vector<std::byte> bytes(file.size());
    return file.readAt(0, bytes).map([&bytes] { return std::move(bytes); });
}

} // namespace

Result<void> writePt(
    const std::filesystem::path& path, const std::vector<std::pair<std::string, ValueToWrite>>& entries)
{
    for (const auto& entry : entries) {
        if (const auto* tensor = std::get_if<TensorToWrite>(&entry.second)) {
            TRY(checkTensor(*tensor));
        }
    }
    const auto pickle = writePickle(entries);
    const auto parts = partsOf(entries, pickle, "archive/");
    return checkSizes(parts).and_then([&] { return writeParts(path, parts); }).map_error([&](Error error) {
        return withPath(std::move(error), path);
    });
}

Result<std::vector<std::byte>> ptBytes(const std::vector<std::pair<std::string, ValueToWrite>>& entries)
{
    const TemporaryFile file;
    return writePt(file.path, entries).and_then([&file] { return contentsOf(file.path); });
}

} // namespace nanscope::tensorfile
