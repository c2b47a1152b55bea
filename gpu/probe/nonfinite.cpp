// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/nonfinite.h"

#include <exception>
#include <optional>
#include <tuple>
#include <utility>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "core/base/try.h"
#include "gpu/torchguard.h"

namespace nanscope {

namespace {

at::Tensor valuesOf(const at::Tensor& tensor)
{
    if (tensor.layout() == at::kStrided) {
        return tensor;
    }
    return tensor.layout() == at::kSparse ? tensor.coalesce().values() : tensor.values();
}

bool isPartial(Placement placement)
{
    return placement != Placement::shard && placement != Placement::replicate;
}

/// NCCL takes averages itself, as it does for a DTensor; gloo adds, and what it gives is divided.
bool isAverageOfNccl(const MeshDimension& dimension)
{
    return dimension.placement == Placement::partialAverage && dimension.ranks->device().is_cuda();
}

c10d::ReduceOp::RedOpType operationOf(const MeshDimension& dimension)
{
    switch (dimension.placement) {
    case Placement::partialAverage:
        return isAverageOfNccl(dimension) ? c10d::ReduceOp::AVG : c10d::ReduceOp::SUM;
    case Placement::partialMinimum:
        return c10d::ReduceOp::MIN;
    case Placement::partialMaximum:
        return c10d::ReduceOp::MAX;
    case Placement::partialProduct:
        return c10d::ReduceOp::PRODUCT;
    default:
        return c10d::ReduceOp::SUM;
    }
}

Error torchError(const std::exception& error)
{
    return {ErrorKind::internal, fmt::format("torch: {}", firstLine(error.what())), {}};
}

Result<at::Tensor> wholeAlong(const MeshDimension& dimension, const at::Tensor& part)
{
    auto whole = at::empty(part.sizes(), part.options().device(dimension.ranks->device()));
    whole.copy_(part);
    return dimension.ranks->reduce(whole, operationOf(dimension)).map([&] {
        const bool done = dimension.placement != Placement::partialAverage || isAverageOfNccl(dimension);
        return done ? whole : whole / dimension.ranks->size();
    });
}

Result<at::Tensor> whole(at::Tensor part, std::span<const MeshDimension> mesh)
try {
    for (const auto& dimension : mesh) {
        if (!isPartial(dimension.placement)) {
            continue;
        }
        part = TRY(wholeAlong(dimension, part));
    }
    return part;
} catch (const std::exception& error) {
    return tl::make_unexpected(torchError(error));
}

/// Answers that differ from rank to rank would be worse than none: a rank where torch fails takes part all the same.
struct OwnFlag
{
    std::uint8_t bad = 1;
    std::optional<Error> error {};
};

OwnFlag flagOf(const at::Tensor& tensor)
{
    try {
        return {nonFiniteFlag(tensor).item<std::uint8_t>()};
    } catch (const std::exception& error) {
        return {1, torchError(error)};
    }
}

Result<std::uint8_t> anywhere(std::uint8_t mine, std::span<const MeshDimension> mesh)
{
    Result<std::uint8_t> most = mine;
    for (const auto& dimension : mesh) {
        most = most.and_then([&](std::uint8_t flag) { return dimension.ranks->maximum(flag); });
    }
    return most;
}

} // namespace

at::Tensor nonFiniteFlag(const at::Tensor& tensor)
{
    const at::NoGradGuard noGradients;
    auto values = valuesOf(tensor.detach());
    if (values.is_complex()) {
        values = at::view_as_real(values.resolve_conj());
    }
    if (values.numel() == 0 || !values.is_floating_point()) {
        return at::zeros({}, values.options().dtype(at::kByte));
    }
    if (values.element_size() == 1) {
        values = values.to(at::kFloat); // no float8 has reductions
    }
    // Both carry a NaN on, and allocate nothing of the tensor's size.
    const auto [low, high] = at::aminmax(values);
    return at::logical_not(at::logical_and(at::isfinite(low), at::isfinite(high))).to(at::kByte);
}

Result<bool> anyNonFinite(const at::Tensor& local, std::span<const MeshDimension> mesh)
{
    const at::NoGradGuard noGradients;
    const auto own = flagOf(TRY(whole(local, mesh)));
    const auto most = anywhere(own.bad, mesh);
    if (own.error || !most) {
        return tl::make_unexpected(own.error ? *own.error : most.error());
    }
    return *most != 0;
}

} // namespace nanscope
