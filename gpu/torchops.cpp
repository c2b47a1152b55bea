// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/torchops.h"

#include <cmath>
#include <limits>
#include <span>

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>

#include "core/replay/program/formats.h"
#include "core/tensorfile/scan/scankernels.h"
#include "core/tensorfile/scan/scantensor.h"

namespace nanscope {

namespace {

static_assert(static_cast<int>(ValueClass::nan) == scan::classNan);
static_assert(static_cast<int>(ValueClass::posInf) == scan::classPosInf);
static_assert(static_cast<int>(ValueClass::negInf) == scan::classNegInf);
static_assert(static_cast<int>(classNormal) == scan::tileNormal);
static_assert(static_cast<int>(classZero) == scan::tileZero);
static_assert(static_cast<int>(classSubnormal) == scan::tileSubnormal);
static_assert(static_cast<int>(classNan) == scan::tileNan);
static_assert(static_cast<int>(classPosInf) == scan::tilePosInf);
static_assert(static_cast<int>(classNegInf) == scan::tileNegInf);

double smallestNormalOf(at::ScalarType type)
{
    switch (type) {
    case at::kDouble:
        return std::numeric_limits<double>::min();
    case at::kHalf:
        return 0x1p-14;
    default:
        return std::numeric_limits<float>::min();
    }
}

at::ScalarType integerOfSize(at::ScalarType type)
{
    switch (c10::elementSize(type)) {
    case 8:
        return at::kLong;
    case 4:
        return at::kInt;
    default:
        return at::kShort;
    }
}

// [batch, elements] in the order of the capture's own orientation.
at::Tensor flattened(const at::Tensor& matrices, bool transposed)
{
    return (transposed ? matrices.mT() : matrices).reshape({matrices.size(0), -1});
}

at::Tensor countOf(const at::Tensor& mask)
{
    return mask.sum(1, false, at::kLong);
}

at::Tensor bits(const at::Tensor& values)
{
    return values.to(at::kDouble).contiguous().view(at::kLong);
}

} // namespace

at::ScalarType storageType(Precision format, bool native)
{
    if (format == Precision::fp64) {
        return at::kDouble;
    }
    if (native && format == Precision::bf16) {
        return at::kBFloat16;
    }
    if (native && heldIn(format) == Precision::fp16) {
        return at::kHalf;
    }
    return at::kFloat;
}

void roundInPlace(at::Tensor& values, Precision format, at::Tensor& scratch)
{
    const auto type = storageType(format, true);
    if (type != at::kBFloat16 && type != at::kHalf) {
        return;
    }
    if (!scratch.defined() || scratch.scalar_type() != type || scratch.numel() < values.numel()) {
        scratch = at::empty({values.numel()}, values.options().dtype(type));
    }
    auto rounded = scratch.narrow(0, 0, values.numel()).view(values.sizes());
    rounded.copy_(values);
    values.copy_(rounded);
}

void roundToTf32(const at::Tensor& values, at::Tensor& out)
{
    if (!out.defined() || out.sizes() != values.sizes()) {
        out = at::empty(values.sizes(), values.options());
    }
    out.copy_(values);
    float* data = out.mutable_data_ptr<float>();
    constexpr std::int64_t grain = 1 << 16;
    at::parallel_for(0, out.numel(), grain, [data](std::int64_t begin, std::int64_t end) {
        replay::roundTo(Precision::tf32, std::span(data + begin, static_cast<std::size_t>(end - begin)));
    });
}

at::Tensor moveUlps(const at::Tensor& values, Precision format, int ulps)
{
    const auto type = storageType(format, true);
    const auto exact = values.to(type);
    const auto moved = (exact.view(integerOfSize(type)) + ulps).clamp_min(0).view(type).to(values.scalar_type());
    return at::where(at::isfinite(values).logical_and(values > 0), moved, values);
}

at::Tensor scanWithTorch(const at::Tensor& matrices, bool transposed)
{
    const auto values = flattened(matrices, transposed);
    const auto sizes = at::abs(values);
    const auto finite = at::isfinite(values);
    const auto zero = values == 0;
    const auto small = (sizes < smallestNormalOf(values.scalar_type())).logical_and(zero.logical_not());
    const auto infinite = sizes == std::numeric_limits<double>::infinity();

    const auto count = values.size(1);
    const auto positions = at::arange(count, values.options().dtype(at::kLong));
    const auto first = at::where(finite, positions.new_full({}, scan::noIndex), positions).amin(1);
    const auto held = values.gather(1, first.clamp_max(count - 1).unsqueeze(1)).squeeze(1);
    auto kind = at::where(held > 0, first.new_full({}, std::int64_t {scan::classPosInf}),
        first.new_full({}, std::int64_t {scan::classNegInf}));
    kind = at::where(at::isnan(held), first.new_full({}, std::int64_t {scan::classNan}), kind);
    kind = at::where(first == scan::noIndex, at::empty_like(first).fill_(std::int64_t {scan::classNormal}), kind);

    const auto wide = at::where(finite, sizes, sizes.new_zeros({})).to(at::kDouble);
    const auto infinity = wide.new_full({}, std::numeric_limits<double>::infinity());
    const auto diagonal = matrices.diagonal(0, 1, 2).to(at::kDouble);
    const auto trace = at::where(at::isfinite(diagonal), diagonal, diagonal.new_zeros({})).sum(1);
    return at::stack(
        {countOf(at::isnan(values)), countOf(infinite.logical_and(values > 0)),
            countOf(infinite.logical_and(values < 0)), countOf(zero), countOf(small), first, kind, bits(wide.amax(1)),
            bits(at::where(wide > 0, wide, infinity).amin(1)), bits((wide * wide).sum(1)), bits(trace)},
        1);
}

Scan scanFromTotals(const scan::Totals& totals, std::int64_t count)
{
    Scan result;
    result.count = count;
    result.nan = totals.nan;
    result.posInf = totals.posInf;
    result.negInf = totals.negInf;
    result.zero = totals.zero;
    result.subnormal = totals.subnormal;
    result.absmax = totals.absmax;
    result.minNonzero = std::isinf(totals.minNonzero) ? 0 : totals.minNonzero;
    result.sumSquares = totals.sumSquares;
    result.trace = totals.trace;
    if (totals.first != scan::noIndex) {
        result.firstNonFinite = totals.first;
        result.firstClass = static_cast<ValueClass>(totals.firstClass);
    }
    return result;
}

scan::TileGrid tileGridOf(std::int64_t rows, std::int64_t cols, bool transposed)
{
    const auto map = transposed ? tensorfile::cutIntoTiles(cols, rows) : tensorfile::cutIntoTiles(rows, cols);
    return {{rows, cols, transposed}, map.tileRows, map.tileCols, map.height, map.width};
}

TileMap tileMapFrom(const scan::TileGrid& grid, const scan::Tile* tiles)
{
    const auto& [rows, cols, transposed] = grid.layout;
    auto map = transposed ? tensorfile::cutIntoTiles(cols, rows) : tensorfile::cutIntoTiles(rows, cols);
    for (const auto* tile = tiles; tile != tiles + grid.height * grid.width; ++tile) {
        tensorfile::addTile(map, {tile->low, tile->high, tile->classes});
    }
    return map;
}

} // namespace nanscope
