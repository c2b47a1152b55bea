// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/platform/platform.h"
#include "core/replay/program/formats.h"
#include "core/shards/partial.h"
#include "core/shards/shardlayout.h"
#include "core/shards/shards.h"
#include "core/tensorfile/convert.h"
#include "core/tensorfile/scan/scantensor.h"

namespace nanscope::shards {

namespace {

/// The shards that hold one region of the logical tensor: of every part of a Partial (of one part where there is none)
/// its replicas, in the order of the mesh.
struct ShardCell
{
    HeldPart held;
    std::map<std::int64_t, std::vector<std::size_t>> parts;
};

struct ShardCells
{
    std::map<std::int64_t, ShardCell> cells;
    std::int64_t partsPerCell = 1;

    bool complete(const ShardCell& cell) const { return static_cast<std::int64_t>(cell.parts.size()) == partsPerCell; }
    /// True if some shard holds what this place does.
    bool holds(const tensorfile::Sharding& sharding, const Shape& coordinate) const;
};

/// The number of the place whose coordinates are 0 but along dimensions of these kinds.
template <class Wanted>
std::int64_t numberAlong(const tensorfile::Sharding& sharding, Shape coordinate, Wanted wanted)
{
    for (std::size_t i = 0; i < coordinate.size(); ++i) {
        coordinate[i] = wanted(sharding.placements[i]) ? coordinate[i] : 0;
    }
    return tensorfile::numberOf(sharding.mesh, coordinate);
}

std::int64_t cellNumber(const tensorfile::Sharding& sharding, const Shape& coordinate)
{
    return numberAlong(sharding, coordinate, [](const tensorfile::Placement& placement) { return placement.shards(); });
}

bool isPartial(const tensorfile::Placement& placement)
{
    return placement.kind == tensorfile::Placement::Kind::partial;
}

bool ShardCells::holds(const tensorfile::Sharding& sharding, const Shape& coordinate) const
{
    const auto found = cells.find(cellNumber(sharding, coordinate));
    return found != cells.end() && found->second.parts.contains(numberAlong(sharding, coordinate, isPartial));
}

/// `held` are the regions of the shards, in their order.
ShardCells arrangeShards(std::span<const Shard> shards, const std::vector<HeldPart>& held)
{
    ShardCells result;
    for (std::size_t i = 0; i < shards.size(); ++i) {
        const auto& sharding = *shards[i].tensor.sharding();
        const auto& coordinate = *shards[i].place.coordinate;
        auto& cell = result.cells[cellNumber(sharding, coordinate)];
        cell.held = held[i];
        cell.parts[numberAlong(sharding, coordinate, isPartial)].push_back(i);
    }
    if (!shards.empty()) {
        const auto& sharding = *shards.front().tensor.sharding();
        for (std::size_t i = 0; i < sharding.placements.size(); ++i) {
            result.partsPerCell *= isPartial(sharding.placements[i]) ? sharding.mesh.dims[i].size : 1;
        }
    }
    return result;
}

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

/// Of a part that is larger than one block, how much of it is done; fails where nobody waits for the rest.
Result<void> goesOn(const JobContext& job, const char* phase, std::int64_t done, const MatrixShape& shape)
{
    if (job.cancel.cancelled()) {
        return failure(ErrorKind::cancelled, "cancelled while stitching");
    }
    if (done > 0) {
        job.progress({"inspect", phase, done, shape.batch * shape.elements(), "elements", {}});
    }
    return {};
}

/// Where two dumps of the same region differ; `a` and `b` of the result are left at 0.
Result<Drift> compareShards(const tensorfile::Tensor& a, const tensorfile::Tensor& b, const HeldPart& held,
    const Shape& logical, const JobContext& job)
{
    const auto width = sizeOf(a.dtype());
    const auto shape = a.matrices();
    Drift drift;
    std::int64_t done = 0;
    auto compare = [&](const Block& block) -> Result<void> {
        TRY(goesOn(job, "compare", done, shape));
        done += block.elements();
        const auto left = TRY(a.part(block.batch, block.row, block.rows, block.col, block.cols).readBits(0));
        const auto right = TRY(b.part(block.batch, block.row, block.rows, block.col, block.cols).readBits(0));
        if (left == right) {
            return {};
        }
        for (std::int64_t i = 0; i < block.elements(); ++i) {
            const auto at = static_cast<std::size_t>(i) * width;
            if (std::memcmp(left.data() + at, right.data() + at, width) == 0) {
                continue;
            }
            if (drift.first < 0) {
                const auto row = block.batch * shape.rows + block.row + i / block.cols;
                const auto at = row * shape.cols + block.col + i % block.cols;
                drift.first = flatIndex(logical, globalIndex(held, at));
            }
            compareElement(drift, valueAt(a.dtype(), left.data() + at), valueAt(a.dtype(), right.data() + at));
        }
        return {};
    };
    return eachBlock(shape, compare).map([&] { return drift; });
}

/// Shards in the order of the mesh, at most one per place, each of the shape that its place has.
struct UsableShards
{
    std::vector<Shard> shards;
    std::vector<HeldPart> held;
    std::vector<UnusedShard> unused;
};

bool sameTensor(const tensorfile::Tensor& a, const tensorfile::Tensor& b)
{
    const auto& first = *a.sharding();
    const auto& second = *b.sharding();
    return a.dtype() == b.dtype() && first.shape == second.shape && first.placements == second.placements
        && first.order == second.order && first.mesh.dims == second.mesh.dims;
}

/// Why a shard cannot be used whatever the others are, or nothing.
std::string unusable(const Shard& shard, const Shard& first, const Result<HeldPart>& held)
{
    if (!sameTensor(shard.tensor, first.tensor)) {
        return "it is a part of another tensor than " + first.file;
    }
    if (!shard.place.coordinate) {
        return shard.place.note.empty() ? "its place in the mesh is not known" : shard.place.note;
    }
    if (!held) {
        return held.error().what;
    }
    if (held->shape() != shard.tensor.shape()) {
        return fmt::format("it holds {} where its place in the mesh has {}", shapeText(shard.tensor.shape()),
            shapeText(held->shape()));
    }
    return {};
}

bool differs(const Drift& drift)
{
    return drift.differing > 0 || drift.nanBits > 0;
}

class Sorting
{
public:
    explicit Sorting(const JobContext& job)
        : m_job(job)
    { }

    Result<UsableShards> run(std::vector<Shard> shards)
    {
        const auto first = shards.front();
        for (auto& shard : shards) {
            auto held = shard.place.coordinate ? heldAt(*shard.tensor.sharding(), *shard.place.coordinate)
                                               : Result<HeldPart> {};
            if (auto why = unusable(shard, first, held); !why.empty()) {
                m_result.unused.push_back({shard.file, std::move(why)});
                continue;
            }
            m_places.push_back({std::move(shard), std::move(*held)});
        }
        std::stable_sort(m_places.begin(), m_places.end(),
            [](const Placed& a, const Placed& b) { return a.shard.place.coordinate < b.shard.place.coordinate; });
        for (std::size_t i = 0; i < m_places.size();) {
            const auto next = endOfPlace(i);
            TRY(addPlace(i, next));
            i = next;
        }
        return std::move(m_result);
    }

private:
    struct Placed
    {
        Shard shard;
        HeldPart held;
    };

    std::size_t endOfPlace(std::size_t begin) const
    {
        auto end = begin;
        while (
            end < m_places.size() && m_places[end].shard.place.coordinate == m_places[begin].shard.place.coordinate) {
            ++end;
        }
        return end;
    }

    Result<void> addPlace(std::size_t begin, std::size_t end)
    {
        auto& first = m_places[begin];
        bool agree = true;
        for (auto i = begin + 1; i < end && agree; ++i) {
            const auto drift = TRY(compareShards(
                first.shard.tensor, m_places[i].shard.tensor, first.held, first.shard.tensor.sharding()->shape, m_job));
            agree = !differs(drift);
        }
        for (auto i = begin + (agree ? 1 : 0); i < end; ++i) {
            const auto& other = m_places[i == begin ? begin + 1 : begin].shard.file;
            m_result.unused.push_back({m_places[i].shard.file,
                agree ? "it holds the same as " + other : "it claims the place of " + other + " with other values"});
        }
        if (agree) {
            m_result.shards.push_back(std::move(first.shard));
            m_result.held.push_back(std::move(first.held));
        }
        return {};
    }

    const JobContext& m_job;
    std::vector<Placed> m_places;
    UsableShards m_result;
};

/// Leaves out what has no place, belongs to another tensor or has another shape than its place; of two dumps of one
/// place one if they are equal, and neither if they are not: nothing says which is right.
Result<UsableShards> usableShards(std::vector<Shard> shards, const JobContext& job)
{
    return Sorting(job).run(std::move(shards));
}

/// Gathers the scan of a logical tensor from its complete cells, in any order.
class LogicalScan
{
public:
    LogicalScan(const tensorfile::Sharding& sharding, DType dtype, std::string operation, std::int64_t parts);

    Result<void> add(std::span<const Shard> shards, const ShardCell& cell, const JobContext& job);
    void finish(Stitched& tensor) const;

private:
    Result<void> reduce(const std::vector<tensorfile::Tensor>& parts, const HeldPart& held, const JobContext& job);
    void count(ReducedTotals& totals, const std::vector<double>& values, const ReducedBlock& reduced,
        const Block& block, const HeldPart& held) const;
    std::int64_t logicalIndex(const HeldPart& held, const Block& block, std::int64_t at) const;

    const tensorfile::Sharding& m_sharding;
    DType m_dtype;
    std::string m_operation;
    std::int64_t m_parts;
    std::int64_t m_known = 0;
    ReducedTotals m_own;
    ReducedTotals m_wide;
    std::int64_t m_wideOverflowed = 0;
};

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
    const auto shape = parts.front().matrices();
    std::int64_t done = 0;
    return eachBlock(shape, [&](const Block& block) -> Result<void> {
        TRY(goesOn(job, "reduce", done, shape));
        done += block.elements();
        auto reduced = TRY(reduceBlock(parts, reduction, block));
        count(m_own, reduced.own, reduced, block, held);
        for (std::size_t i = 0; i < reduced.wide.size(); ++i) {
            m_wideOverflowed += reduced.finite[i] != 0 && !std::isfinite(reduced.wide[i]) ? 1 : 0;
            reduced.wide[i] = roundTo(m_dtype, reduced.wide[i]);
        }
        if (!reduced.wide.empty()) {
            count(m_wide, reduced.wide, reduced, block, held);
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

constexpr std::size_t mostNamed = 100;

/// Why a Partial of this tensor is not reduced here, or nothing.
std::string reductionProblem(const tensorfile::Sharding& sharding, DType dtype)
{
    const std::string* operation = nullptr;
    for (const auto& placement : sharding.placements) {
        if (placement.kind != tensorfile::Placement::Kind::partial) {
            continue;
        }
        if (!parseReduction(placement.reduction)) {
            return tensorfile::placementText(placement) + " is not computed here";
        }
        if (operation != nullptr && *operation != placement.reduction) {
            return "it mixes two kinds of Partial, whose result depends on their order";
        }
        operation = &placement.reduction;
    }
    return operation != nullptr && !canReduce(dtype) ? "a Partial of its type is not computed here" : std::string();
}

std::string operationOf(const tensorfile::Sharding& sharding)
{
    for (const auto& placement : sharding.placements) {
        if (placement.kind == tensorfile::Placement::Kind::partial) {
            return placement.reduction;
        }
    }
    return {};
}

Result<void> addDrift(Stitched& tensor, const ShardCell& cell, const JobContext& job)
{
    for (const auto& [part, replicas] : cell.parts) {
        for (std::size_t i = 1; i < replicas.size(); ++i) {
            const auto& a = tensor.shards[replicas.front()];
            const auto& b = tensor.shards[replicas[i]];
            auto drift = TRY(compareShards(a.tensor, b.tensor, cell.held, tensor.sharding.shape, job));
            if (drift.differing > 0 || drift.nanBits > 0) {
                drift.a = replicas.front();
                drift.b = replicas[i];
                tensor.drift.push_back(drift);
            }
        }
    }
    return {};
}

void addMissing(Stitched& tensor, const ShardCells& cells)
{
    const auto& mesh = tensor.sharding.mesh;
    const auto ranks = tensorfile::meshRanks(mesh, tensor.shards.front().place.rank);
    std::size_t next = 0;
    for (std::int64_t number = 0; number < mesh.ranks(); ++number) {
        if (next < tensor.shards.size()
            && tensorfile::numberOf(mesh, *tensor.shards[next].place.coordinate) == number) {
            ++next;
            continue;
        }
        if (tensor.missingRanks++ >= static_cast<std::int64_t>(mostNamed)) {
            continue;
        }
        MissingShard missing;
        missing.coordinate = tensorfile::coordinateOf(mesh, number);
        if (ranks) {
            missing.rank = (*ranks)[static_cast<std::size_t>(number)];
        }
        if (const auto held = heldAt(tensor.sharding, missing.coordinate)) {
            missing.held = heldText(*held, tensor.sharding.shape);
        }
        missing.replicated = cells.holds(tensor.sharding, missing.coordinate);
        tensor.missing.push_back(std::move(missing));
    }
}

Result<void> addLogical(Stitched& tensor, const ShardCells& cells, const JobContext& job)
{
    LogicalScan logical(tensor.sharding, tensor.dtype, operationOf(tensor.sharding), cells.partsPerCell);
    for (const auto& [number, cell] : cells.cells) {
        if (!cells.complete(cell)) {
            continue;
        }
        TRY(logical.add(tensor.shards, cell, job));
    }
    logical.finish(tensor);
    return {};
}

std::int64_t elementsOf(const Shape& shape)
{
    std::int64_t count = 1;
    for (const auto extent : shape) {
        count *= extent;
    }
    return count;
}

} // namespace

std::optional<bool> Stitched::logicalNonFinite() const
{
    const bool disagree =
        std::any_of(drift.begin(), drift.end(), [](const Drift& one) { return one.classChanges > 0; });
    if (disagree || !problem.empty()) {
        return std::nullopt;
    }
    // Whether a sum overflows may hang on the order in which it was added, and that is not recorded.
    if (partial && partial->wide && (partial->own.scan.nonFinite() > 0) != (partial->wide->scan.nonFinite() > 0)) {
        return std::nullopt;
    }
    if (logical.nonFinite() > 0) {
        return true;
    }
    return unknown > 0 ? std::nullopt : std::optional(false);
}

bool Stitched::complete() const
{
    return problem.empty() && unknown == 0;
}

Result<Stitched> stitch(std::vector<Shard> shards, const JobContext& job)
{
    if (shards.empty() || shards.front().tensor.sharding() == nullptr) {
        return failure(ErrorKind::usage, "there are no shards to stitch");
    }
    Stitched tensor;
    tensor.sharding = *shards.front().tensor.sharding();
    tensor.dtype = shards.front().tensor.dtype();
    if (!tensor.sharding.problem.empty()) {
        return failure(ErrorKind::unsupported, "the tensor cannot be stitched: " + tensor.sharding.problem);
    }
    auto usable = TRY(usableShards(std::move(shards), job));
    tensor.shards = std::move(usable.shards);
    tensor.unused = std::move(usable.unused);
    tensor.unknown = elementsOf(tensor.sharding.shape);
    tensor.problem = reductionProblem(tensor.sharding, tensor.dtype);
    for (const auto& shard : tensor.shards) {
        addScan(tensor.parts, shard.scan, -1);
    }
    if (tensor.shards.empty()) {
        return tensor;
    }
    const auto cells = arrangeShards(tensor.shards, usable.held);
    for (const auto& [number, cell] : cells.cells) {
        TRY(addDrift(tensor, cell, job));
    }
    addMissing(tensor, cells);
    auto added = tensor.problem.empty() ? addLogical(tensor, cells, job) : Result<void> {};
    return added.map([&] { return std::move(tensor); });
}

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
        replay::encode(parts.front().dtype(), reduced.own, bits.data());
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
        held.push_back(TRY(heldAt(tensor.sharding, *shard.place.coordinate)));
    }
    std::vector<std::byte> out(size);
    const auto arranged = arrangeShards(tensor.shards, held);
    for (const auto& entry : arranged.cells) {
        TRY(copyCell(tensor, entry.second, out));
    }
    return out;
}

} // namespace nanscope::shards
