// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/nanscope/stitchedanswer.h"
#include "app/nanscope/words.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/model/words.h"
#include "core/shards/shardlayout.h"

namespace nanscope {

namespace {

constexpr std::size_t mostLines = 20;

std::string header(const StitchedSide& side)
{
    const auto& tensor = side.tensor;
    const auto spread = side.spreadMs ? fmt::format("; dumped within {} ms", countText(*side.spreadMs)) : "";
    return fmt::format("{} {} {} on mesh {}, {}\n{} of {} shards; matched by: {}{}\n\n",
        side.side == shards::ShardSide::input ? "input" : "output", shapeText(tensor.sharding.shape),
        shortName(tensor.dtype), printable(shards::meshText(tensor.sharding.mesh)),
        printable(tensorfile::placementsText(tensor.sharding)), countText(std::ssize(tensor.shards)),
        countText(tensor.sharding.mesh.ranks()), printable(side.matchedBy), spread);
}

void addScan(Table& table, const std::string& what, const Scan& scan, const Shape& shape)
{
    const auto first = scan.firstNonFinite < 0 ? "-" : indexText(indexIn(shape, scan.firstNonFinite));
    table.add({what, countText(scan.count), countText(scan.nan), countText(scan.posInf), countText(scan.negInf),
        countText(scan.zero), countText(scan.subnormal), numberText(scan.absmax), numberText(scan.minNonzero),
        numberText(std::sqrt(scan.sumSquares)), first});
}

std::string scansText(const shards::Stitched& tensor)
{
    constexpr auto right = Table::Align::right;
    Table table({{""}, {"elements", right}, {"NaN", right}, {"Inf", right}, {"-Inf", right}, {"zero", right},
        {"subnormal", right}, {"absmax", right}, {"min non-zero", right}, {"Frobenius", right}, {"first non-finite"}});
    addScan(table, "shards", tensor.parts, {});
    if (tensor.problem.empty() && !tensor.shards.empty()) {
        const auto& partial = tensor.partial;
        const auto type = std::string(shortName(tensor.dtype));
        addScan(table, partial ? partial->operation + " in " + type : "logical", tensor.logical, tensor.sharding.shape);
        if (partial && partial->wide) {
            addScan(table, fmt::format("{} in {}, rounded once", partial->operation, shortName(partial->wideType)),
                partial->wide->scan, tensor.sharding.shape);
        }
    }
    return table.text() + '\n';
}

std::string yesOrNo(std::optional<bool> value)
{
    return value ? *value ? "yes" : "no" : "not known";
}

std::string nonFiniteText(const shards::Stitched& tensor)
{
    auto text = fmt::format("Non-finite in a shard: {}; in the logical tensor: {}\n", yesOrNo(tensor.partsNonFinite()),
        yesOrNo(tensor.logicalNonFinite()));
    if (!tensor.problem.empty()) {
        text += "The logical tensor is not computed: " + printable(tensor.problem) + '\n';
    } else if (tensor.unknown > 0) {
        text += fmt::format("{} of its {} are in no dump, or not all of their parts are\n", countText(tensor.unknown),
            counted(tensor.unknown + tensor.logical.count, "element"));
    }
    return text;
}

std::string missingText(const shards::Stitched& tensor)
{
    std::string text;
    const auto named = std::min(tensor.missing.size(), mostLines);
    for (std::size_t i = 0; i < named; ++i) {
        const auto& missing = tensor.missing[i];
        text += fmt::format("Missing: {} at {}, {}{}\n",
            missing.rank ? fmt::format("rank {}", *missing.rank) : "a rank", shards::coordinateText(missing.coordinate),
            missing.held, missing.replicated ? ", which another dump holds too" : "");
    }
    const auto left = tensor.missingRanks - static_cast<std::int64_t>(named);
    return left > 0 ? text + fmt::format("Missing: {} more\n", counted(left, "rank")) : text;
}

std::string nameOf(const shards::Shard& shard)
{
    return shard.place.rank ? fmt::format("rank {}", *shard.place.rank) : printable(shard.file);
}

std::string driftLine(const shards::Stitched& tensor, const shards::Drift& drift)
{
    auto text = fmt::format("Replicas differ: {} and {} in {}, first {}", nameOf(tensor.shards[drift.a]),
        nameOf(tensor.shards[drift.b]), counted(drift.differing, "element"),
        indexText(indexIn(tensor.sharding.shape, drift.first)));
    if (drift.classChanges > 0) {
        text += fmt::format("; {} not alike in what is finite", countText(drift.classChanges));
    }
    if (drift.nanBits > 0) {
        text += fmt::format("; {} NaN in both with different bits", countText(drift.nanBits));
    }
    return text + '\n';
}

std::string driftText(const shards::Stitched& tensor)
{
    std::string text;
    const auto named = std::min(tensor.drift.size(), mostLines);
    for (std::size_t i = 0; i < named; ++i) {
        text += driftLine(tensor, tensor.drift[i]);
    }
    const auto left = static_cast<std::int64_t>(tensor.drift.size() - named);
    return left > 0 ? text + fmt::format("Replicas differ: {} more\n", counted(left, "pair")) : text;
}

std::string overflowText(const shards::Stitched& tensor)
{
    const auto& partial = tensor.partial;
    const auto* wide = partial && partial->wide ? &*partial->wide : nullptr;
    if (!partial || (partial->own.overflowed == 0 && (wide == nullptr || wide->overflowed == 0))) {
        return {};
    }
    const auto first = partial->own.overflowed > 0 ? partial->own.firstOverflow : wide->firstOverflow;
    auto text = fmt::format("Overflow: {} finite in every shard, but not in the {} of {} parts in {}, first {}",
        counted(partial->own.overflowed, "element"), partial->operation, partial->parts, shortName(tensor.dtype),
        indexText(indexIn(tensor.sharding.shape, first)));
    if (wide != nullptr) {
        text += fmt::format("; added in {} and rounded once {} not finite, before that rounding {}",
            shortName(partial->wideType), countText(wide->overflowed), countText(partial->wideOverflowed));
    }
    return text + '\n';
}

} // namespace

std::string stitchedText(const StitchedSide& side)
{
    const auto& tensor = side.tensor;
    auto text = header(side) + scansText(tensor) + nonFiniteText(tensor) + overflowText(tensor) + missingText(tensor)
        + driftText(tensor);
    for (const auto& unused : tensor.unused) {
        text += "Left out: " + printable(unused.file) + ", " + printable(unused.why) + '\n';
    }
    return text;
}

} // namespace nanscope
