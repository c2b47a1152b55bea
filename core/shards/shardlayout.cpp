// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/shards/shardlayout.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/try.h"

namespace nanscope::shards {

namespace {

using Runs = std::vector<IndexRun>;

constexpr std::size_t mostRuns = 65536;

std::int64_t lengthOf(const Runs& runs)
{
    return runs.empty() ? 0 : runs.back().at + runs.back().count;
}

/// Appends what stands at `begin` to `end` of `from`.
void appendPart(const Runs& from, std::int64_t begin, std::int64_t end, Runs& out)
{
    for (const auto& run : from) {
        const auto first = std::max(begin - run.at, std::int64_t {0});
        const auto last = std::min(end - run.at, run.count);
        if (first < last) {
            const bool touches = !out.empty() && out.back().begin + out.back().count == run.begin + first;
            if (touches) {
                out.back().count += last - first;
            } else {
                out.push_back({run.begin + first, last - first, lengthOf(out)});
            }
        }
    }
}

/// Of `length` cut into `pieces` as torch.chunk does: how long all but the last are.
std::int64_t pieceLength(std::int64_t length, std::int64_t pieces)
{
    return length / pieces + (length % pieces != 0 ? 1 : 0);
}

Runs shardOf(const Runs& runs, std::int64_t pieces, std::int64_t place)
{
    const auto length = lengthOf(runs);
    const auto piece = pieceLength(length, pieces);
    Runs out;
    if (piece > 0 && place <= length / piece) {
        appendPart(runs, place * piece, place * piece + std::min(piece, length - place * piece), out);
    }
    return out;
}

/// Cut into `factor` pieces first; each is then dealt out over the mesh, and a place holds its share of every piece.
Result<Runs> stridedShardOf(const Runs& runs, std::int64_t factor, std::int64_t pieces, std::int64_t place)
{
    const auto length = lengthOf(runs);
    const auto piece = std::max<std::int64_t>(pieceLength(length, factor), 1);
    const auto count = static_cast<std::size_t>(pieceLength(length, piece));
    if (count * std::max<std::size_t>(runs.size(), 1) > mostRuns) {
        return failure(ErrorKind::refused, "it is cut into more pieces than any tensor is");
    }
    Runs out;
    for (std::int64_t begin = 0; begin < length; begin += std::min(piece, length - begin)) {
        Runs whole;
        appendPart(runs, begin, begin + std::min(piece, length - begin), whole);
        for (const auto& run : shardOf(whole, pieces, place)) {
            appendPart({{run.begin, run.count, 0}}, 0, run.count, out);
        }
    }
    return out;
}

std::string runsText(const Runs& runs)
{
    constexpr std::size_t most = 4;
    std::string text;
    for (std::size_t i = 0; i < std::min(runs.size(), most); ++i) {
        const auto last = runs[i].begin + runs[i].count - 1;
        text += (i == 0 ? "" : ", ")
            + (runs[i].count == 1 ? std::to_string(last) : fmt::format("{} to {}", runs[i].begin, last));
    }
    return runs.size() > most ? fmt::format("{} and {} more ranges", text, runs.size() - most) : text;
}

/// "row" or "rows", and so on.
std::string dimName(std::size_t dim, std::size_t rank, bool one)
{
    const std::string_view end = one ? "" : "s";
    if (dim + 2 >= rank) {
        return fmt::format("{}{}", dim + 1 == rank ? "column" : "row", end);
    }
    return rank == 3 ? fmt::format("batch element{}", end)
                     : fmt::format("index{} of dimension {}", one ? "" : "es", dim);
}

} // namespace

Shape HeldPart::shape() const
{
    Shape shape;
    for (const auto& runs : dims) {
        shape.push_back(lengthOf(runs));
    }
    return shape;
}

const IndexRun& HeldPart::runAt(std::size_t dim, std::int64_t at) const
{
    const auto behind = std::upper_bound(
        dims[dim].begin(), dims[dim].end(), at, [](std::int64_t index, const IndexRun& run) { return index < run.at; });
    return *std::prev(behind);
}

std::int64_t HeldPart::globalIndex(std::size_t dim, std::int64_t at) const
{
    const auto& run = runAt(dim, at);
    return run.begin + at - run.at;
}

std::vector<std::int64_t> globalIndex(const HeldPart& part, std::int64_t flat)
{
    const auto shape = part.shape();
    std::vector<std::int64_t> index(shape.size());
    for (std::size_t i = shape.size(); i-- > 0;) {
        index[i] = part.globalIndex(i, flat % shape[i]);
        flat /= shape[i];
    }
    return index;
}

std::int64_t flatIndex(const Shape& shape, const std::vector<std::int64_t>& index)
{
    std::int64_t flat = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        flat = flat * shape[i] + index[i];
    }
    return flat;
}

Result<HeldPart> heldAt(const tensorfile::Sharding& sharding, const Shape& coordinate)
{
    HeldPart part;
    for (const auto extent : sharding.shape) {
        part.dims.push_back(extent > 0 ? Runs {{0, extent, 0}} : Runs {});
    }
    for (const auto place : sharding.order) {
        const auto at = static_cast<std::size_t>(place);
        const auto& placement = sharding.placements[at];
        if (!placement.shards()) {
            continue;
        }
        auto& runs = part.dims[static_cast<std::size_t>(placement.dim)];
        const auto pieces = sharding.mesh.dims[at].size;
        if (placement.kind == tensorfile::Placement::Kind::shard) {
            runs = shardOf(runs, pieces, coordinate[at]);
            continue;
        }
        runs = TRY(stridedShardOf(runs, placement.splitFactor, pieces, coordinate[at]));
    }
    return part;
}

std::string heldText(const HeldPart& part, const Shape& logical)
{
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < logical.size(); ++i) {
        if (part.dims[i].empty() && logical[i] > 0) {
            return "nothing";
        }
        const auto length = lengthOf(part.dims[i]);
        if (length != logical[i]) {
            texts.push_back(dimName(i, logical.size(), length == 1) + ' ' + runsText(part.dims[i]));
        }
    }
    return texts.empty() ? "all of it" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string coordinateText(const Shape& coordinate)
{
    return fmt::format("({})", fmt::join(coordinate, ", "));
}

std::string meshText(const tensorfile::DeviceMesh& mesh)
{
    std::vector<std::string> names;
    for (const auto& dim : mesh.dims) {
        names.push_back(dim.name.empty() ? "-" : dim.name);
    }
    const bool named =
        std::any_of(mesh.dims.begin(), mesh.dims.end(), [](const auto& dim) { return !dim.name.empty(); });
    return shapeText(mesh.shape()) + (named ? fmt::format(" ({})", fmt::join(names, ", ")) : "");
}

} // namespace nanscope::shards
