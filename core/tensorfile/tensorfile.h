// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Reads tensors from .pt (zip with a restricted pickle), .safetensors and .npy without ever executing anything:
// headers first, contents mapped when a tensor is asked for. Also writes .pt. Nothing here depends on what a capture
// means beyond the names of its keys; see capturefile.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/base/values.h"
#include "core/model/capture.h"
#include "core/model/dtype.h"

namespace nanscope::tensorfile {

struct Sharding; // sharding.h

/// A tensor in a file: shape, strides and offset in elements, contents not yet touched. Cheap to copy. A DTensor is
/// the part of it that its rank holds, with a Sharding that says of what.
class Tensor
{
public:
    class Source; ///< the open file behind it

    Tensor() = default;
    Tensor(std::shared_ptr<const Source> source, std::string storageKey, DType dtype, Shape shape, Shape strides,
        std::int64_t storageOffset);

    const Shape& shape() const { return m_shape; }
    const Shape& strides() const { return m_strides; }
    std::int64_t storageOffset() const { return m_storageOffset; }
    const std::string& storageKey() const { return m_storageKey; }
    DType dtype() const { return m_dtype; }
    const std::shared_ptr<const Source>& source() const { return m_source; }
    /// None for a tensor that is no part of a larger one.
    const Sharding* sharding() const { return m_sharding.get(); }
    Tensor withSharding(std::shared_ptr<const Sharding> sharding) const;
    MatrixShape matrices() const { return matrixShape(m_shape); }
    std::int64_t elements() const;
    bool contiguous() const;

    /// A rectangle of one matrix, which must have it; nothing is read.
    Tensor part(std::int64_t batch, std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols) const;

    /// One matrix of the batch, row-major and contiguous, converted exactly (fp64 to float rounds to nearest).
    /// `out` has rows*cols elements.
    Result<void> read(std::int64_t batch, std::span<float> out) const;
    Result<void> read(std::int64_t batch, std::span<double> out) const;

    /// `count` matrices from `first` on, one behind the other, each number as it is.
    Result<Values> values(std::int64_t first, std::int64_t count = 1) const;

    /// The bit patterns of one matrix, row-major, native byte order, sizeOf(dtype()) bytes each.
    Result<std::vector<std::byte>> readBits(std::int64_t batch) const;

private:
    std::shared_ptr<const Source> m_source;
    std::string m_storageKey;
    DType m_dtype = DType::float32;
    Shape m_shape;
    Shape m_strides;
    std::int64_t m_storageOffset = 0;
    std::shared_ptr<const Sharding> m_sharding;
};

struct PickleValue;
using PickleList = std::vector<PickleValue>;
struct PickleEntry;
using PickleDict = std::vector<PickleEntry>;

/// A Python object that is not on the allow-list: its name, never its behaviour.
struct OpaqueObject
{
    std::string name; ///< "module qualname"
};

/// What a file holds, as plain data. Tuples, lists and torch.Size are all PickleList.
struct PickleValue
{
    /// A tensor stands apart: most values are none, and every one of them would take its room.
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::shared_ptr<const Tensor>, PickleList,
        PickleDict, OpaqueObject>
        value;

    /// The entry of a dict by its string key, or nullptr.
    const PickleValue* find(std::string_view key) const;
    const Tensor* tensor() const
    {
        const auto* held = std::get_if<std::shared_ptr<const Tensor>>(&value);
        return held != nullptr ? held->get() : nullptr;
    }
};

/// A key and its value; named like a pair, which could not hold a type that is not complete yet.
struct PickleEntry
{
    PickleValue first;
    PickleValue second;
};

enum class FileKind { torchZip, safetensors, npy };

struct TensorFile
{
    FileKind kind = FileKind::torchZip;
    PickleValue root; ///< a dict name -> tensor for safetensors, a tensor for .npy
    /// XXH3 (128 bits) of size, names, sizes and CRCs of the directory and the bytes of data.pkl. Where no checksums
    /// are stated, which is so in .safetensors and .npy: of the contents, sampled beyond 64 MiB.
    std::string identity;
    std::vector<std::string> opaque; ///< names of objects that were not rebuilt
};

/// Reads the headers of any supported file. A sentence for: the old non-zip torch format, a cut-off file, a
/// checksum that does not match, names that repeat or leave the archive, a folder, no permission.
Result<TensorFile> openTensorFile(const std::filesystem::path& path);

/// True if the name is one this room would try: .pt .pth .bin .safetensors .npy (any case).
bool looksLikeTensorFile(const std::filesystem::path& path);

/// Contents to be written: a flat dict in this order. Bytes are row-major, native byte order.
struct TensorToWrite
{
    std::string name;
    DType dtype = DType::float32;
    Shape shape;
    std::vector<std::byte> bytes;
};
using ValueToWrite =
    std::variant<std::monostate, std::int64_t, double, std::string, Shape /* a tuple of ints */, TensorToWrite>;

/// Writes a .pt that torch.load(weights_only=True) reads: temporary name, fsync, rename.
Result<void> writePt(
    const std::filesystem::path& path, const std::vector<std::pair<std::string, ValueToWrite>>& entries);

/// What writePt() writes.
Result<std::vector<std::byte>> ptBytes(const std::vector<std::pair<std::string, ValueToWrite>>& entries);

} // namespace nanscope::tensorfile
