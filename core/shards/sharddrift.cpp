// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/shards/sharddrift.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/shards/blocks.h"
#include "core/tensorfile/convert.h"

namespace nanscope::shards {

namespace {

int classOf(double value)
{
    return std::isnan(value) ? 1 : std::isinf(value) ? (value > 0 ? 2 : 3) : 0;
}

double valueAt(DType dtype, const std::byte* bits)
{
    double value = 0;
    tensorfile::convert(dtype, bits, 1, &value);
    return value;
}

void compareElement(Drift& drift, double a, double b)
{
    const bool bothNan = classOf(a) == 1 && classOf(b) == 1;
    ++(bothNan ? drift.nanBits : drift.differing);
    drift.classChanges += classOf(a) != classOf(b) ? 1 : 0;
}

} // namespace

Result<Drift> compareShards(const tensorfile::Tensor& a, const tensorfile::Tensor& b, const HeldPart& held,
    const Shape& logical, const JobContext& job)
{
    const auto width = sizeOf(a.dtype());
    const auto shape = a.matrices();
    Drift drift;
    auto compare = [&](const Block& block) -> Result<void> {
        if (job.cancel.cancelled()) {
            return failure(ErrorKind::cancelled, "cancelled");
        }
        const auto left = a.part(block.batch, block.row, block.rows, block.col, block.cols).readBits(0);
        const auto right = b.part(block.batch, block.row, block.rows, block.col, block.cols).readBits(0);
        if (!left || !right) {
            return tl::make_unexpected(left ? right.error() : left.error());
        }
        if (*left == *right) {
            return {};
        }
        for (std::int64_t i = 0; i < block.elements(); ++i) {
            const auto at = static_cast<std::size_t>(i) * width;
            if (std::memcmp(left->data() + at, right->data() + at, width) == 0) {
                continue;
            }
            if (drift.first < 0) {
                const auto row = block.batch * shape.rows + block.row + i / block.cols;
                const auto at = row * shape.cols + block.col + i % block.cols;
                drift.first = flatIndex(logical, globalIndex(held, at));
            }
            compareElement(drift, valueAt(a.dtype(), left->data() + at), valueAt(a.dtype(), right->data() + at));
        }
        return {};
    };
    return eachBlock(shape, compare).map([&] { return drift; });
}

} // namespace nanscope::shards
