// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/shards/candidate.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/shards/shardlayout.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::shards {

namespace {

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

} // namespace

std::optional<std::int64_t> rankOf(const tensorfile::CaptureFile& file)
{
    return file.capture.rank ? std::optional<std::int64_t>(*file.capture.rank) : std::nullopt;
}

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

} // namespace nanscope::shards
