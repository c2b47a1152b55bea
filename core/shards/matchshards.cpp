// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/shards/shardlayout.h"
#include "core/shards/shards.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::shards {

namespace {

/// One capture that holds shards: where it belongs and what it may be matched by.
struct Candidate
{
    std::size_t capture = 0;
    Shape coordinate;
    std::string folder;
    std::string key; ///< equal for captures that could be parts of the same input and output
    std::string family; ///< the same without the shapes of the wholes
    std::string shape; ///< of the whole
    std::string problem; ///< why it is matched with nothing
};

using Candidates = std::vector<Candidate>;

std::optional<std::int64_t> rankOf(const tensorfile::CaptureFile& file)
{
    return file.capture.rank ? std::optional<std::int64_t>(*file.capture.rank) : std::nullopt;
}

/// "rank", "rank_" and so on.
bool endsWithWord(std::string_view text, std::string_view word)
{
    if (text.ends_with('_') || text.ends_with('-') || text.ends_with('=')) {
        text.remove_suffix(1);
    }
    return text.ends_with(word);
}

/// Digits behind the words rank and pid, and long ones, which are times, as '*': what differs from rank to rank.
std::string withoutNumbers(const std::string& name)
{
    constexpr std::size_t shortestTime = 10;
    std::string out;
    for (std::size_t i = 0; i < name.size();) {
        auto end = i;
        while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) {
            ++end;
        }
        const bool differs =
            end > i && (endsWithWord(out, "rank") || endsWithWord(out, "pid") || end - i >= shortestTime);
        out += differs ? "*" : name.substr(i, std::max<std::size_t>(end - i, 1));
        i = std::max(end, i + 1);
    }
    return out;
}

/// Names without a rank in them say nothing about which dumps belong together.
std::string namePattern(const std::string& file)
{
    auto pattern = withoutNumbers(file);
    for (auto at = pattern.find('*'); at != pattern.npos; at = pattern.find('*', at + 1)) {
        if (endsWithWord(std::string_view(pattern).substr(0, at), "rank")) {
            return pattern;
        }
    }
    return {};
}

void addTo(tensorfile::ContentHash& hash, const Shape& numbers)
{
    hash.add(std::uint64_t {numbers.size()});
    hash.add(std::as_bytes(std::span(numbers)));
}

void addSide(
    tensorfile::ContentHash& hash, const tensorfile::CaptureFile& file, const tensorfile::Tensor& tensor, bool shapes)
{
    const auto& sharding = *tensor.sharding();
    hash.add(torchName(tensor.dtype()));
    addTo(hash, shapes ? sharding.shape : Shape {});
    addTo(hash, sharding.order);
    addTo(hash, sharding.mesh.shape());
    hash.add(tensorfile::placementsText(sharding));
    addTo(hash, tensorfile::meshRanks(sharding.mesh, rankOf(file)).value_or(std::vector<std::int64_t> {}));
}

/// Everything of the two sides and of the name that is alike in dumps of one call.
std::string keyOf(const tensorfile::CaptureFile& file, bool shapes)
{
    tensorfile::ContentHash hash;
    for (const auto side : {ShardSide::input, ShardSide::output}) {
        const auto* tensor = shardOf(file, side);
        hash.add(std::uint64_t {tensor != nullptr});
        if (tensor != nullptr) {
            addSide(hash, file, *tensor, shapes);
        }
    }
    hash.add(std::string_view(namePattern(file.capture.file)));
    // Ranks that hold parts of one tensor make the same calls, in the same order.
    const auto& scene = file.capture.scene;
    addTo(hash, {scene.optimizerStep.value_or(-1), scene.callIndex.value_or(-1)});
    return hash.hex();
}

/// Each side has a mesh of its own.
std::string orderProblemOf(const tensorfile::CaptureFile& file)
{
    for (const auto side : {ShardSide::input, ShardSide::output}) {
        const auto* tensor = shardOf(file, side);
        const auto ranks = tensor != nullptr ? tensorfile::meshRanks(tensor->sharding()->mesh, rankOf(file))
                                             : Result<std::vector<std::int64_t>>();
        if (tensor == nullptr || !ranks) {
            continue;
        }
        if (auto problem = tensorfile::rankOrderProblem(*tensor->sharding(), *ranks); !problem.empty()) {
            return problem;
        }
    }
    return {};
}

std::string problemOf(const tensorfile::CaptureFile& file)
{
    for (const auto side : {ShardSide::input, ShardSide::output}) {
        const auto* tensor = shardOf(file, side);
        if (tensor != nullptr && !tensor->sharding()->problem.empty()) {
            return tensor->sharding()->problem;
        }
    }
    return {};
}

/// `tensor` is the side of `file` that tells its place, `index` its number.
Candidate candidateOf(const tensorfile::CaptureFile& file, const tensorfile::Tensor& tensor, std::size_t index)
{
    const auto& mesh = tensor.sharding()->mesh;
    Candidate candidate;
    candidate.capture = index;
    candidate.problem = problemOf(file);
    if (!candidate.problem.empty()) {
        return candidate;
    }
    const auto ranks = tensorfile::meshRanks(mesh, rankOf(file));
    const auto place = tensorfile::shardPlace(mesh, ranks, rankOf(file));
    if (!ranks || !place.coordinate) {
        candidate.problem = place.note;
        return candidate;
    }
    candidate.problem = orderProblemOf(file);
    candidate.coordinate = *place.coordinate;
    candidate.key = keyOf(file, true);
    candidate.family = keyOf(file, false);
    candidate.shape = shapeText(tensor.sharding()->shape);
    candidate.folder = withoutNumbers(std::filesystem::path(file.capture.path).parent_path().string());
    return candidate;
}

bool oneEach(const Candidates& candidates)
{
    std::set<Shape> seen;
    return std::all_of(
        candidates.begin(), candidates.end(), [&](const Candidate& one) { return seen.insert(one.coordinate).second; });
}

ShardSet setOf(const Candidates& candidates, std::string how)
{
    ShardSet set;
    set.how = std::move(how);
    for (const auto& one : candidates) {
        set.captures.push_back(one.capture);
    }
    return set;
}

template <class Key>
auto splitBy(const Candidates& candidates, Key key)
{
    std::map<decltype(key(candidates.front())), Candidates> groups;
    for (const auto& one : candidates) {
        groups[key(one)].push_back(one);
    }
    return groups;
}

/// Whether other ranks of the mesh claim another shape of the whole. DTensor.from_local guesses it from the part, so
/// that uneven parts disagree; two tensors of which different ranks made dumps look the same.
std::string doubtOf(const Candidates& candidates, const std::map<std::string, Candidates>& keys)
{
    std::set<Shape> own;
    for (const auto& one : candidates) {
        own.insert(one.coordinate);
    }
    for (const auto& [key, others] : keys) {
        const auto& first = candidates.front();
        const bool apart = std::none_of(
            others.begin(), others.end(), [&](const Candidate& other) { return own.contains(other.coordinate); });
        if (key != first.key && others.front().family == first.family && apart) {
            return "; other ranks have a whole of " + others.front().shape
                + ", which DTensor.from_local also claims of uneven parts unless it is told the shape";
        }
    }
    return {};
}

class Matching
{
public:
    Matching(std::span<const tensorfile::CaptureFile> captures, ShardSets& out)
        : m_captures(captures)
        , m_out(out)
    { }

    /// `doubt` is added to what says that they belong together.
    void match(Candidates candidates, const std::string& doubt)
    {
        dropCopies(candidates);
        const bool steps = std::all_of(candidates.begin(), candidates.end(),
            [this](const Candidate& one) { return capture(one).step.has_value(); });
        if (!steps && stepsDiffer(candidates)) {
            m_out.unmatched.push_back(setOf(candidates,
                "their sidecars name several steps, and one of them has none: which belong together is open"));
            return;
        }
        if (!steps) {
            return matchCall(candidates, "one dump of each rank; which call it was is not recorded" + doubt);
        }
        for (const auto& [step, group] : splitBy(candidates, [this](const auto& one) { return *capture(one).step; })) {
            matchCall(group, fmt::format("step {} of the sidecars{}", step, doubt));
        }
    }

private:
    const Capture& capture(const Candidate& candidate) const { return m_captures[candidate.capture].capture; }

    bool stepsDiffer(const Candidates& candidates) const
    {
        std::set<std::int64_t> steps;
        for (const auto& one : candidates) {
            if (const auto step = capture(one).step) {
                steps.insert(*step);
            }
        }
        return steps.size() > 1;
    }

    void dropCopies(Candidates& candidates)
    {
        std::set<std::pair<Shape, std::string>> seen;
        std::erase_if(candidates, [&](const Candidate& one) {
            const bool copy = !seen.emplace(one.coordinate, capture(one).identity).second;
            if (copy) {
                m_out.copies.push_back(one.capture);
            }
            return copy;
        });
    }

    void matchCall(const Candidates& candidates, const std::string& how)
    {
        if (oneEach(candidates)) {
            m_out.sets.push_back(setOf(candidates, how));
            return;
        }
        const auto folders = splitBy(candidates, [](const auto& one) { return one.folder; });
        if (folders.size() > 1) {
            for (const auto& [folder, group] : folders) {
                oneEach(group) ? m_out.sets.push_back(setOf(group, how + "; the folder tells them apart"))
                               : matchByOrder(group);
            }
            return;
        }
        matchByOrder(candidates);
    }

    /// The n-th dumps of all ranks are of one call, if each rank dumped equally often and the order is certain.
    void matchByOrder(const Candidates& candidates)
    {
        auto places = splitBy(candidates, [](const auto& one) { return one.coordinate; });
        const auto each = places.begin()->second.size();
        for (auto& [coordinate, dumps] : places) {
            std::sort(dumps.begin(), dumps.end(), [this](const Candidate& a, const Candidate& b) {
                return capture(a).timestampMs < capture(b).timestampMs;
            });
            if (auto why = unordered(coordinate, dumps, places.begin()->first, each); !why.empty()) {
                m_out.unmatched.push_back(setOf(candidates, std::move(why)));
                return;
            }
        }
        for (std::size_t i = 0; i < each; ++i) {
            Candidates call;
            for (const auto& [coordinate, dumps] : places) {
                call.push_back(dumps[i]);
            }
            m_out.sets.push_back(
                setOf(call, fmt::format("dump {} of {} of each rank, by the times in their names", i + 1, each)));
        }
    }

    std::string unordered(const Shape& coordinate, const Candidates& dumps, const Shape& first, std::size_t each) const
    {
        if (dumps.size() != each) {
            return fmt::format("the place {} of the mesh has {} dumps and {} has {}, and no step is recorded: which "
                               "belong together is open",
                coordinateText(first), each, coordinateText(coordinate), dumps.size());
        }
        for (std::size_t i = 0; i < dumps.size(); ++i) {
            const bool timed = capture(dumps[i]).timestampFromName;
            if (!timed || (i > 0 && capture(dumps[i - 1]).timestampMs == capture(dumps[i]).timestampMs)) {
                return fmt::format(
                    "the place {} of the mesh has {} dumps, and neither a step nor a time in their names "
                    "gives their order",
                    coordinateText(coordinate), dumps.size());
            }
        }
        return {};
    }

    std::span<const tensorfile::CaptureFile> m_captures;
    ShardSets& m_out;
};

} // namespace

const tensorfile::Tensor* shardOf(const tensorfile::CaptureFile& file, ShardSide side)
{
    const auto* tensor = side == ShardSide::input ? &file.input : file.output ? &*file.output : nullptr;
    return tensor != nullptr && tensor->sharding() != nullptr ? tensor : nullptr;
}

ShardSets matchShards(std::span<const tensorfile::CaptureFile> captures)
{
    ShardSets out;
    std::map<std::string, Candidates> keys;
    for (std::size_t i = 0; i < captures.size(); ++i) {
        const auto* input = shardOf(captures[i], ShardSide::input);
        const auto* tensor = input != nullptr ? input : shardOf(captures[i], ShardSide::output);
        // A rank outside of the mesh holds nothing of the tensor.
        if (tensor == nullptr || tensor->sharding()->mesh.outside) {
            out.others.push_back(i);
            continue;
        }
        auto candidate = candidateOf(captures[i], *tensor, i);
        if (!candidate.problem.empty()) {
            out.unmatched.push_back(setOf({candidate}, candidate.problem));
            continue;
        }
        auto& group = keys[candidate.key];
        group.push_back(std::move(candidate));
    }
    Matching matching(captures, out);
    for (const auto& [key, candidates] : keys) {
        matching.match(candidates, doubtOf(candidates, keys));
    }
    // Keys are hashes: the order of the dumps is the one that means something.
    const auto byFirst = [](const ShardSet& a, const ShardSet& b) { return a.captures < b.captures; };
    std::sort(out.sets.begin(), out.sets.end(), byFirst);
    std::sort(out.unmatched.begin(), out.unmatched.end(), byFirst);
    return out;
}

std::vector<Shard> shardsOf(std::span<const tensorfile::CaptureFile> captures, const ShardSet& set, ShardSide side)
{
    std::vector<Shard> shards;
    for (const auto index : set.captures) {
        const auto& file = captures[index];
        if (const auto* tensor = shardOf(file, side)) {
            const auto& mesh = tensor->sharding()->mesh;
            auto place = tensorfile::shardPlace(mesh, tensorfile::meshRanks(mesh, rankOf(file)), rankOf(file));
            const auto scan = side == ShardSide::input ? file.capture.input.total() : file.capture.output->total();
            shards.push_back({file.capture.file, *tensor, std::move(place), scan});
        }
    }
    return shards;
}

} // namespace nanscope::shards
