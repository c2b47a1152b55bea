// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "core/platform/platform.h"
#include "core/shards/blocks.h"
#include "core/shards/partial.h"
#include "core/shards/shardcells.h"

namespace nanscope::shards {

namespace {

/// Copies a block of a part, which lies row-major in `bits`, to where it belongs, run by run of the last dimension.
void scatter(const std::vector<std::byte>& bits, const Block& block, const HeldPart& held, const Shape& logical,
    std::size_t width, std::vector<std::byte>& out)
{
    const auto shape = matrixShape(held.shape());
    for (std::int64_t i = 0; i < block.elements();) {
        const auto col = block.col + i % block.cols;
        const auto row = block.batch * shape.rows + block.row + i / block.cols;
        const auto index = globalIndex(held, row * shape.cols + col);
        auto count = std::int64_t {1};
        if (!held.dims.empty()) {
            const auto& run = held.runAt(held.dims.size() - 1, col);
            count = std::min(run.at + run.count, block.col + block.cols) - col;
        }
        const auto to = static_cast<std::size_t>(flatIndex(logical, index)) * width;
        std::memcpy(out.data() + to, bits.data() + static_cast<std::size_t>(i) * width,
            static_cast<std::size_t>(count) * width);
        i += count;
    }
}

Result<std::vector<std::byte>> blockBits(
    const std::vector<tensorfile::Tensor>& parts, std::optional<Reduction> reduction, const Block& block)
{
    if (!reduction) {
        return parts.front().part(block.batch, block.row, block.rows, block.col, block.cols).readBits(0);
    }
    return reduceBlock(parts, *reduction, block).map([&](const ReducedBlock& reduced) {
        std::vector<std::byte> bits(reduced.own.size() * sizeOf(parts.front().dtype()));
        encode(parts.front().dtype(), reduced.own, bits.data());
        return bits;
    });
}

Result<void> copyCell(const Stitched& tensor, const ShardCell& cell, std::vector<std::byte>& out)
{
    const auto reduction = tensor.partial ? parseReduction(tensor.partial->operation) : std::nullopt;
    std::vector<tensorfile::Tensor> parts;
    for (const auto& [place, replicas] : cell.parts) {
        parts.push_back(tensor.shards[replicas.front()].tensor);
    }
    return eachBlock(parts.front().matrices(), [&](const Block& block) {
        return blockBits(parts, reduction, block).map([&](const std::vector<std::byte>& bits) {
            scatter(bits, block, cell.held, tensor.sharding.shape, sizeOf(tensor.dtype), out);
        });
    });
}

} // namespace

Result<std::vector<std::byte>> logicalBytes(const Stitched& tensor)
{
    if (!tensor.complete()) {
        return failure(ErrorKind::unsupported,
            tensor.problem.empty() ? "parts of the tensor are missing, so it cannot be written" : tensor.problem);
    }
    const auto width = sizeOf(tensor.dtype);
    const auto size = static_cast<std::uint64_t>(tensor.logical.count) * width;
    if (size > static_cast<std::uint64_t>(platform::physicalMemory()) / 2) {
        return failure(ErrorKind::refused, "the tensor takes more than half of the memory of this machine");
    }
    std::vector<HeldPart> held;
    for (const auto& shard : tensor.shards) {
        auto part = heldAt(tensor.sharding, *shard.place.coordinate);
        if (!part) {
            return tl::make_unexpected(part.error());
        }
        held.push_back(std::move(*part));
    }
    std::vector<std::byte> out(size);
    const auto arranged = arrangeShards(tensor.shards, held);
    for (const auto& entry : arranged.cells) {
        if (auto copied = copyCell(tensor, entry.second, out); !copied) {
            return tl::make_unexpected(copied.error());
        }
    }
    return out;
}

} // namespace nanscope::shards
