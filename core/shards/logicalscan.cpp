// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/shards/logicalscan.h"

#include <algorithm>
#include <cmath>

#include "core/shards/blocks.h"
#include "core/tensorfile/convert.h"
#include "core/tensorfile/scan/scantensor.h"

namespace nanscope::shards {

LogicalScan::LogicalScan(const tensorfile::Sharding& sharding, DType dtype, std::string operation, std::int64_t parts)
    : m_sharding(sharding)
    , m_dtype(dtype)
    , m_operation(std::move(operation))
    , m_parts(parts)
{ }

Result<void> LogicalScan::add(std::span<const Shard> shards, const ShardCell& cell, const JobContext& job)
{
    std::vector<tensorfile::Tensor> parts;
    for (const auto& [number, replicas] : cell.parts) {
        parts.push_back(shards[replicas.front()].tensor);
    }
    m_known += parts.front().elements();
    if (!m_operation.empty()) {
        return reduce(parts, cell.held, job);
    }
    const auto& scan = shards[cell.parts.begin()->second.front()].scan;
    const bool any = scan.firstNonFinite >= 0;
    addScan(m_own.scan, scan, any ? flatIndex(m_sharding.shape, globalIndex(cell.held, scan.firstNonFinite)) : -1);
    return {};
}

std::int64_t LogicalScan::logicalIndex(const HeldPart& held, const Block& block, std::int64_t at) const
{
    const auto shape = matrixShape(held.shape());
    const auto row = block.batch * shape.rows + block.row + at / block.cols;
    return flatIndex(m_sharding.shape, globalIndex(held, row * shape.cols + block.col + at % block.cols));
}

void LogicalScan::count(ReducedTotals& totals, const std::vector<double>& values, const ReducedBlock& reduced,
    const Block& block, const HeldPart& held) const
{
    const auto scan =
        tensorfile::scanMatrix(values, block.rows, block.cols, false, tensorfile::smallestNormalOf(m_dtype));
    addScan(totals.scan, scan, scan.finite() ? -1 : logicalIndex(held, block, scan.firstNonFinite));
    if (scan.finite()) {
        return;
    }
    const auto before = totals.overflowed;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (reduced.finite[i] == 0 || std::isfinite(values[i])) {
            continue;
        }
        // A part keeps the order of the whole, so the first of a block is its smallest index.
        if (totals.overflowed++ == before) {
            const auto at = logicalIndex(held, block, static_cast<std::int64_t>(i));
            totals.firstOverflow = totals.firstOverflow < 0 ? at : std::min(totals.firstOverflow, at);
        }
    }
}

Result<void> LogicalScan::reduce(
    const std::vector<tensorfile::Tensor>& parts, const HeldPart& held, const JobContext& job)
{
    const auto reduction = *parseReduction(m_operation);
    return eachBlock(parts.front().matrices(), [&](const Block& block) -> Result<void> {
        if (job.cancel.cancelled()) {
            return failure(ErrorKind::cancelled, "cancelled");
        }
        auto reduced = reduceBlock(parts, reduction, block);
        if (!reduced) {
            return tl::make_unexpected(reduced.error());
        }
        count(m_own, reduced->own, *reduced, block, held);
        for (std::size_t i = 0; i < reduced->wide.size(); ++i) {
            m_wideOverflowed += reduced->finite[i] != 0 && !std::isfinite(reduced->wide[i]) ? 1 : 0;
            reduced->wide[i] = roundTo(m_dtype, reduced->wide[i]);
        }
        if (!reduced->wide.empty()) {
            count(m_wide, reduced->wide, *reduced, block, held);
        }
        return {};
    });
}

void LogicalScan::finish(Stitched& tensor) const
{
    tensor.logical = m_own.scan;
    tensor.unknown -= m_known;
    if (m_operation.empty()) {
        return;
    }
    ReducedPartial partial;
    partial.operation = m_operation;
    partial.parts = m_parts;
    partial.own = m_own;
    const auto wider = widerType(m_dtype);
    if (wider && (m_operation == "sum" || m_operation == "avg")) {
        partial.wide = m_wide;
        partial.wideType = *wider;
        partial.wideOverflowed = m_wideOverflowed;
    }
    tensor.partial = std::move(partial);
}

} // namespace nanscope::shards
