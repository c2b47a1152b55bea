// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/sharding.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "core/base/try.h"
#include "core/tensorfile/corrupt.h"

namespace nanscope::tensorfile {

namespace {

/// Where each coordinate's rank stands in the table, row-major over the coordinates and counted from the first.
std::vector<std::int64_t> placesInTable(const DeviceMesh& mesh)
{
    std::vector<std::int64_t> places {0};
    for (const auto& dim : mesh.dims) {
        for (const auto& step : dim.steps) {
            std::vector<std::int64_t> next;
            next.reserve(places.size() * static_cast<std::size_t>(step.size));
            for (const auto place : places) {
                for (std::int64_t i = 0; i < step.size; ++i) {
                    next.push_back(place + i * step.stride);
                }
            }
            places = std::move(next);
        }
    }
    return places;
}

Result<std::vector<std::int64_t>> readTable(const Tensor& table)
{
    if (isFloating(table.dtype()) || table.elements() > mostRanks || table.matrices().batch > mostRanks) {
        return corrupt("its mesh has a table that is none of ranks");
    }
    std::vector<double> values(static_cast<std::size_t>(table.matrices().elements()));
    std::vector<std::int64_t> ranks;
    for (std::int64_t batch = 0; batch < table.matrices().batch; ++batch) {
        TRY(table.read(batch, std::span<double>(values)));
        for (const auto value : values) {
            if (value < 0 || value > std::numeric_limits<std::int32_t>::max()) {
                return corrupt("its mesh holds a number that is no rank");
            }
            ranks.push_back(static_cast<std::int64_t>(value));
        }
    }
    return ranks;
}

bool repeats(std::vector<std::int64_t> ranks)
{
    std::sort(ranks.begin(), ranks.end());
    return std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end();
}

/// Where in the table the mesh begins that `rank` is in, among those that were sliced from one.
Result<std::int64_t> beginOf(const DeviceMesh& mesh, const std::vector<std::int64_t>& table,
    const std::vector<std::int64_t>& places, std::optional<std::int64_t> rank)
{
    if (places.size() == table.size()) {
        return 0;
    }
    const auto own = mesh.rank ? mesh.rank : rank;
    const auto found = own ? std::find(table.begin(), table.end(), *own) : table.end();
    if (found == table.end() || !mesh.coordinate) {
        return corrupt("its mesh is a part of a larger one, and which part is not recorded");
    }
    const auto begin = found - table.begin() - places[static_cast<std::size_t>(numberOf(mesh, *mesh.coordinate))];
    if (begin < 0
        || begin + *std::max_element(places.begin(), places.end()) >= static_cast<std::int64_t>(table.size())) {
        return corrupt("its mesh contradicts the table of ranks it was sliced from");
    }
    return begin;
}

} // namespace

std::string placementText(const Placement& placement)
{
    const auto dim = std::to_string(placement.dim);
    switch (placement.kind) {
    case Placement::Kind::shard:
        return "Shard(" + dim + ")";
    case Placement::Kind::stridedShard:
        return "StridedShard(" + dim + ", " + std::to_string(placement.splitFactor) + ")";
    case Placement::Kind::partial:
        return "Partial(" + placement.reduction + ")";
    case Placement::Kind::replicate:
        break;
    }
    return "Replicate";
}

std::optional<Placement> parsePlacement(std::string_view text)
{
    using enum Placement::Kind;
    constexpr std::size_t longest = 64; // of a placement in torch
    const auto open = text.find('(');
    if (text == "Replicate" || open == std::string_view::npos || !text.ends_with(')') || text.size() > longest) {
        return text == "Replicate" ? std::optional(Placement {}) : std::nullopt;
    }
    const auto name = text.substr(0, open);
    const auto inside = text.substr(open + 1, text.size() - open - 2);
    Placement placement;
    if (name == "Partial") {
        placement.kind = partial;
        placement.reduction = inside;
    } else if (name == "Shard" || name == "StridedShard") {
        placement.kind = name == "Shard" ? shard : stridedShard;
        const auto* end = inside.data() + inside.size();
        auto read = std::from_chars(inside.data(), end, placement.dim);
        if (read.ec == std::errc() && placement.kind == stridedShard && read.ptr + 2 < end && *read.ptr == ',') {
            read = std::from_chars(read.ptr + 2, end, placement.splitFactor);
        }
        if (read.ec != std::errc() || read.ptr != end) {
            return std::nullopt;
        }
    }
    return placementText(placement) == text ? std::optional(placement) : std::nullopt;
}

void checkPlacements(Sharding& sharding)
{
    const auto note = [&sharding](std::string_view problem) {
        if (sharding.problem.empty()) {
            sharding.problem = problem;
        }
    };
    if (sharding.placements.size() != sharding.mesh.dims.size()) {
        note("it has not one placement for each dimension of its mesh");
    }
    const auto rank = static_cast<std::int64_t>(sharding.shape.size());
    for (const auto& placement : sharding.placements) {
        if (placement.shards() && (placement.dim < 0 || placement.dim >= rank)) {
            note("it is cut along a dimension that it does not have");
        }
        if (placement.kind == Placement::Kind::stridedShard && placement.splitFactor < 1) {
            note("it is cut into fewer pieces than one");
        }
    }
}

bool countable(const Shape& shape)
{
    std::int64_t count = 1;
    return std::all_of(shape.begin(), shape.end(), [&](std::int64_t extent) {
        return extent >= 0 && !__builtin_mul_overflow(count, std::max<std::int64_t>(extent, 1), &count);
    });
}

std::string placementsText(const Sharding& sharding)
{
    std::string text;
    for (std::size_t i = 0; i < sharding.placements.size(); ++i) {
        const auto& name = i < sharding.mesh.dims.size() ? sharding.mesh.dims[i].name : std::string();
        text += (i == 0 ? "" : ", ") + placementText(sharding.placements[i]) + " over "
            + (name.empty() ? "mesh dimension " + std::to_string(i) : name);
    }
    return text;
}

std::string partText(const Sharding& sharding)
{
    const auto text = "a part of a DTensor " + shapeText(sharding.shape);
    if (!sharding.problem.empty()) {
        return text + ", of which " + sharding.problem;
    }
    for (std::size_t i = 0; i < sharding.placements.size(); ++i) {
        if (sharding.placements[i].kind != Placement::Kind::replicate && sharding.mesh.dims[i].size > 1) {
            return text + ", " + placementsText(sharding);
        }
    }
    return {};
}

Shape DeviceMesh::shape() const
{
    Shape shape;
    for (const auto& dim : dims) {
        shape.push_back(dim.size);
    }
    return shape;
}

std::int64_t DeviceMesh::ranks() const
{
    std::int64_t count = 1;
    for (const auto& dim : dims) {
        count *= dim.size;
    }
    return count;
}

Shape coordinateOf(const DeviceMesh& mesh, std::int64_t number)
{
    Shape coordinate(mesh.dims.size());
    for (std::size_t i = coordinate.size(); i-- > 0;) {
        coordinate[i] = number % mesh.dims[i].size;
        number /= mesh.dims[i].size;
    }
    return coordinate;
}

std::int64_t numberOf(const DeviceMesh& mesh, const Shape& coordinate)
{
    std::int64_t number = 0;
    for (std::size_t i = 0; i < coordinate.size(); ++i) {
        number = number * mesh.dims[i].size + coordinate[i];
    }
    return number;
}

Result<std::vector<std::int64_t>> meshRanks(const DeviceMesh& mesh, std::optional<std::int64_t> rank)
{
    if (mesh.dims.empty()) {
        return corrupt("its mesh is not known");
    }
    auto table = mesh.listed;
    if (table.empty()) {
        table = TRY(readTable(mesh.table));
    }
    if (repeats(table)) {
        return corrupt("its mesh names a rank twice");
    }
    auto places = placesInTable(mesh);
    const auto begin = TRY(beginOf(mesh, table, places, rank));
    for (auto& place : places) {
        place = table[static_cast<std::size_t>(place + begin)];
    }
    return places;
}

std::string rankOrderProblem(const Sharding& sharding, const std::vector<std::int64_t>& ranks)
{
    const auto& mesh = sharding.mesh;
    for (std::int64_t number = 0; number < mesh.ranks() && !mesh.keepsOrder; ++number) {
        std::int64_t neighbour = 1; // how far on the next rank along the dimension is
        for (std::size_t i = mesh.dims.size(); i-- > 0;) {
            const bool last = number / neighbour % mesh.dims[i].size == mesh.dims[i].size - 1;
            const auto at = static_cast<std::size_t>(number);
            if (sharding.placements[i].shards() && !last
                && ranks[at] > ranks[at + static_cast<std::size_t>(neighbour)]) {
                return "its mesh is cut along a dimension whose ranks do not ascend, so which part is where is open";
            }
            neighbour *= mesh.dims[i].size;
        }
    }
    return {};
}

ShardPlace shardPlace(
    const DeviceMesh& mesh, const Result<std::vector<std::int64_t>>& ranks, std::optional<std::int64_t> captureRank)
{
    ShardPlace place;
    place.rank = mesh.rank;
    if (mesh.outside) {
        place.note = "the rank that wrote it is not in its mesh";
        return place;
    }
    if (!ranks) {
        place.coordinate = mesh.coordinate;
        place.how = mesh.coordinate ? ShardPlace::How::recorded : ShardPlace::How::unknown;
        place.note = ranks.error().what;
        return place;
    }
    if (mesh.coordinate) {
        const auto there = (*ranks)[static_cast<std::size_t>(numberOf(mesh, *mesh.coordinate))];
        if (mesh.rank && *mesh.rank != there) {
            place.note = "the mesh has another rank at the place that the file names";
            return place;
        }
        place.rank = there;
        place.coordinate = mesh.coordinate;
        place.how = ShardPlace::How::recorded;
        return place;
    }
    const auto own = mesh.rank ? mesh.rank : captureRank;
    const auto found = own ? std::find(ranks->begin(), ranks->end(), *own) : ranks->end();
    if (found == ranks->end()) {
        place.note = own ? "its rank is not in its mesh" : "neither a place in the mesh nor a rank is recorded";
        return place;
    }
    place.rank = own;
    place.coordinate = coordinateOf(mesh, found - ranks->begin());
    place.how = ShardPlace::How::fromRank;
    return place;
}

} // namespace nanscope::tensorfile
