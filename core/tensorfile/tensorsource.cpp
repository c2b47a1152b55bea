// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/tensorsource.h"

#include <algorithm>

#include "core/base/bytes.h"
#include "core/base/try.h"
#include "core/tensorfile/corrupt.h"

namespace nanscope::tensorfile {

namespace {

constexpr std::size_t largestRank = 64;

// Views made by expand() repeat what is stored; beyond this they only cost time.
constexpr std::int64_t repeatsAlwaysFine = std::int64_t {1} << 16;
constexpr std::int64_t largestRepeat = 4;

/// Index of the last element that is touched, -1 for none; false when a product or sum does not fit.
bool lastElement(const Shape& shape, const Shape& strides, std::int64_t offset, std::int64_t& last)
{
    last = offset;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        std::int64_t reach = 0;
        if (!multiplies(shape[i] - 1, strides[i], reach) || !adds(last, reach, last)) {
            return false;
        }
    }
    return true;
}

Result<std::int64_t> countElements(const Shape& shape)
{
    std::int64_t count = 1;
    for (const auto extent : shape) {
        if (extent < 0) {
            return corrupt("A tensor has a negative size; the file is damaged");
        }
        if (!multiplies(count, std::max<std::int64_t>(extent, 1), count)) {
            return corrupt("A tensor claims more elements than can be counted; the file is damaged");
        }
    }
    return std::find(shape.begin(), shape.end(), 0) == shape.end() ? count : 0;
}

Result<void> checkExtent(const Shape& shape, const Shape& strides, std::int64_t offset, std::int64_t stored)
{
    if (shape.size() != strides.size() || shape.size() > largestRank) {
        return corrupt("A tensor's shape and strides do not fit together; the file is damaged");
    }
    const auto count = TRY(countElements(shape));
    if (offset < 0 || std::any_of(strides.begin(), strides.end(), [](std::int64_t stride) { return stride < 0; })) {
        return corrupt("A tensor has a negative stride or offset, which torch never writes; the file is damaged");
    }
    if (count == 0) {
        return {};
    }
    std::int64_t last = 0;
    if (!lastElement(shape, strides, offset, last) || last >= stored) {
        return corrupt("A tensor reaches beyond the end of its storage; the file is damaged or cut off");
    }
    if (count > repeatsAlwaysFine && count / largestRepeat > stored) {
        return failure(ErrorKind::refused,
            "A tensor repeats its stored values more than 4 times over; save it with .contiguous() if it is meant");
    }
    return {};
}

} // namespace

const StoredBytes* Tensor::Source::find(const std::string& storageKey) const
{
    const auto found = storages.find(storageKey);
    return found == storages.end() ? nullptr : &found->second;
}

Result<platform::FileReader> Tensor::Source::reopen() const
{
    auto file = TRY(platform::FileReader::open(m_path));
    if (file.stamp() != m_stamp) {
        return failure(ErrorKind::io, "The file was changed after it was opened; open it again", m_path.string());
    }
    TRY(file.narrowTo(m_part));
    return file;
}

Result<std::uint64_t> Tensor::Source::locate(const platform::FileReader& file, const StoredBytes& stored) const
{
    if (!stored.entry) {
        return stored.offset;
    }
    return locateZipEntry(file, *stored.entry).map_error([this](Error error) {
        return withPath(std::move(error), m_path);
    });
}

Result<Tensor> makeTensor(std::shared_ptr<const Tensor::Source> source, std::string storageKey, DType dtype,
    Shape shape, Shape strides, std::int64_t storageOffset)
{
    const auto* stored = source->find(storageKey);
    if (stored == nullptr) {
        return corrupt("A tensor's contents are missing from the file; it is cut off or was repacked");
    }
    const auto room = static_cast<std::int64_t>(stored->size / sizeOf(dtype));
    TRY(checkExtent(shape, strides, storageOffset, room));
    return Tensor(std::move(source), std::move(storageKey), dtype, std::move(shape), std::move(strides), storageOffset);
}

Shape rowMajorStrides(const Shape& shape)
{
    Shape strides(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;) {
        // An overflow leaves a wrong stride here, and is refused where the elements are counted.
        multiplies(strides[i], std::max<std::int64_t>(shape[i], 1), strides[i - 1]);
    }
    return strides;
}

std::string pathOf(const Tensor& tensor)
{
    return tensor.source() == nullptr ? std::string() : tensor.source()->path().string();
}

} // namespace nanscope::tensorfile
