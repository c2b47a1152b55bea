// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/shards/usableshards.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/shards/sharddrift.h"

namespace nanscope::shards {

namespace {

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
            if (auto added = addPlace(i, next); !added) {
                return tl::make_unexpected(added.error());
            }
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
            const auto drift = compareShards(
                first.shard.tensor, m_places[i].shard.tensor, first.held, first.shard.tensor.sharding()->shape, m_job);
            if (!drift) {
                return tl::make_unexpected(drift.error());
            }
            agree = !differs(*drift);
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

} // namespace

Result<UsableShards> usableShards(std::vector<Shard> shards, const JobContext& job)
{
    return Sorting(job).run(std::move(shards));
}

} // namespace nanscope::shards
