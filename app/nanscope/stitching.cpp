// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/stitching.h"

#include <algorithm>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/stitchedanswer.h"
#include "app/nanscope/words.h"
#include "core/base/text.h"
#include "core/ingest/ingest.h"
#include "core/ingest/readahead.h"
#include "core/report/report.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope {

namespace {

struct NamedFile
{
    std::filesystem::path path;
    bool given = false; ///< on the command line itself, not found in a folder
};

Result<std::vector<NamedFile>> filesUnder(const std::vector<std::string>& paths, Terminal& terminal)
{
    std::vector<NamedFile> files;
    for (const auto& path : paths) {
        auto found = ingest::findFiles(path, terminal.job());
        if (!found) {
            return tl::make_unexpected(found.error());
        }
        std::error_code error;
        const bool given = !std::filesystem::is_directory(path, error);
        for (const auto& file : found->files) {
            if (given || file.kind == ingest::FoundFile::Kind::tensor) {
                files.push_back({file.path, given});
            }
        }
    }
    return files;
}

Result<tensorfile::CaptureFile> readShards(const NamedFile& file)
{
    auto capture = tensorfile::openCapture(file.path);
    const bool shards = capture
        && (shards::shardOf(*capture, shards::ShardSide::input) != nullptr
            || shards::shardOf(*capture, shards::ShardSide::output) != nullptr);
    if (!shards) {
        return capture;
    }
    return tensorfile::scanCapture(*capture).map([&] { return std::move(*capture); });
}

/// What lies in the files, and whether some could not be used.
struct ReadCaptures
{
    std::vector<tensorfile::CaptureFile> captures;
    bool rejected = false;
};

Result<ReadCaptures> readAll(const std::vector<NamedFile>& files, Terminal& terminal)
{
    constexpr std::size_t ahead = 64;
    const auto threads = std::max(1U, std::thread::hardware_concurrency());
    ReadCaptures read;
    ingest::ReadAhead<Result<tensorfile::CaptureFile>> reader(
        files.size(), threads, ahead, [&](std::size_t i) { return readShards(files[i]); });
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (terminal.cancelToken().cancelled()) {
            return failure(ErrorKind::cancelled, "cancelled");
        }
        auto capture = reader.next();
        terminal.progress({"inspect", "captures", static_cast<std::int64_t>(i) + 1, std::ssize(files), "files",
            files[i].path.filename().string()});
        if (capture) {
            read.captures.push_back(std::move(*capture));
            continue;
        }
        // A checkpoint beside the dumps is nothing to complain about.
        const bool expected = !files[i].given && capture.error().kind == ErrorKind::unsupported;
        terminal.say(expected ? LogLevel::info : LogLevel::warning, sentence(capture.error()));
        read.rejected = read.rejected || !expected;
    }
    return read;
}

std::optional<std::int64_t> spreadOf(const std::vector<tensorfile::CaptureFile>& captures, const shards::ShardSet& set)
{
    std::vector<std::int64_t> times;
    for (const auto index : set.captures) {
        const auto& capture = captures[index].capture;
        if (capture.timestampFromName && capture.timestampMs) {
            times.push_back(*capture.timestampMs);
        }
    }
    if (times.size() < 2 || times.size() != set.captures.size()) {
        return std::nullopt;
    }
    const auto [first, last] = std::minmax_element(times.begin(), times.end());
    return *last - *first;
}

Result<std::vector<StitchedSide>> stitchSet(
    const std::vector<tensorfile::CaptureFile>& captures, const shards::ShardSet& set, Terminal& terminal)
{
    std::vector<StitchedSide> sides;
    for (const auto side : {shards::ShardSide::input, shards::ShardSide::output}) {
        auto shards = shards::shardsOf(captures, set, side);
        if (shards.empty()) {
            continue;
        }
        auto tensor = shards::stitch(std::move(shards), terminal.job());
        if (!tensor) {
            return tl::make_unexpected(tensor.error());
        }
        sides.push_back({side, set.how, spreadOf(captures, set), std::move(*tensor)});
    }
    return sides;
}

/// Shards of which nothing is claimed, each group with its reason.
void sayUnmatched(
    const std::vector<tensorfile::CaptureFile>& captures, const shards::ShardSets& matched, Terminal& terminal)
{
    for (const auto& group : matched.unmatched) {
        const auto& first = captures[group.captures.front()].capture;
        const auto more = std::ssize(group.captures) - 1;
        const auto who = more == 0 ? first.file : fmt::format("{} and {} more", first.file, more);
        terminal.say(LogLevel::warning, fmt::format("{} not stitched: {}", who, group.how));
    }
    for (const auto index : matched.copies) {
        terminal.say(LogLevel::info, "A copy of another dump is left out: " + captures[index].capture.path);
    }
}

nlohmann::ordered_json unmatchedJson(
    const std::vector<tensorfile::CaptureFile>& captures, const shards::ShardSets& matched)
{
    auto list = nlohmann::ordered_json::array();
    for (const auto& group : matched.unmatched) {
        auto files = nlohmann::ordered_json::array();
        for (const auto index : group.captures) {
            files.push_back(captures[index].capture.file);
        }
        list.push_back({{"files", std::move(files)}, {"reason", group.how}});
    }
    return list;
}

void print(const std::vector<StitchedSide>& sides, nlohmann::ordered_json unmatched, Terminal& terminal)
{
    if (!terminal.json()) {
        for (const auto& side : sides) {
            terminal.print((&side == sides.data() ? "" : "\n") + stitchedText(side));
        }
        return;
    }
    auto tensors = nlohmann::ordered_json::array();
    for (const auto& side : sides) {
        tensors.push_back(stitchedJson(side));
    }
    terminal.printJson(
        {{"schema", "nanscope.stitch/1"}, {"tensors", std::move(tensors)}, {"unmatched", std::move(unmatched)}});
}

/// A whole that is judged must hold what ran, not what stitching made of it.
std::string notTheWhole(const shards::Stitched& tensor)
{
    const auto parts = [](const shards::Drift& drift) { return drift.classChanges > 0; };
    if (std::any_of(tensor.drift.begin(), tensor.drift.end(), parts)) {
        return "replicas disagree on which elements are finite, and nothing says which were used";
    }
    if (tensor.partial && tensor.partial->own.overflowed > 0) {
        return "a Partial overflows here where every part is finite; whether it did in the run depends on the order "
               "and "
               "the type it was added in";
    }
    return {};
}

/// A capture of the logical tensors, as if one rank had made it.
Result<void> writeWhole(
    const std::vector<StitchedSide>& sides, const tensorfile::CaptureFile& first, const std::string& output)
{
    std::vector<std::pair<std::string, tensorfile::ValueToWrite>> entries;
    for (const auto& side : sides) {
        if (const auto why = notTheWhole(side.tensor); !why.empty()) {
            return failure(ErrorKind::unsupported, "the whole was not written: " + why, output);
        }
        auto bytes = shards::logicalBytes(side.tensor);
        if (!bytes) {
            return failure(bytes.error().kind, bytes.error().what, output);
        }
        const std::string name = side.side == shards::ShardSide::input ? "input" : "output";
        entries.emplace_back(
            name, tensorfile::TensorToWrite {name, side.tensor.dtype, side.tensor.sharding.shape, std::move(*bytes)});
    }
    entries.emplace_back("shape", sides.front().tensor.sharding.shape);
    entries.emplace_back("dtype", "torch." + std::string(torchName(sides.front().tensor.dtype)));
    if (first.capture.epsilon) {
        entries.emplace_back("epsilon", *first.capture.epsilon);
    }
    return tensorfile::writePt(output, entries);
}

} // namespace

Result<int> stitchCaptures(const std::vector<std::string>& paths, const std::string& output, Terminal& terminal)
{
    const auto files = filesUnder(paths, terminal);
    if (!files) {
        return tl::make_unexpected(files.error());
    }
    const auto read = readAll(*files, terminal);
    if (!read) {
        return tl::make_unexpected(read.error());
    }
    const auto matched = shards::matchShards(read->captures);
    sayUnmatched(read->captures, matched, terminal);
    if (matched.sets.empty()) {
        return failure(ErrorKind::unsupported,
            matched.unmatched.empty() ? "no dump here is a part of a DTensor, so there is nothing to stitch"
                                      : "no parts of one tensor could be told to belong together",
            paths.front());
    }
    std::vector<StitchedSide> sides;
    for (const auto& set : matched.sets) {
        auto stitched = stitchSet(read->captures, set, terminal);
        if (!stitched) {
            return tl::make_unexpected(stitched.error());
        }
        std::move(stitched->begin(), stitched->end(), std::back_inserter(sides));
    }
    print(sides, unmatchedJson(read->captures, matched), terminal);
    if (!output.empty() && matched.sets.size() > 1) {
        return failure(ErrorKind::usage,
            fmt::format("{} were found, and one file holds one; name the dumps of one",
                counted(std::ssize(matched.sets), "call")));
    }
    if (!output.empty()) {
        const auto& first = read->captures[matched.sets.front().captures.front()];
        if (auto written = writeWhole(sides, first, output); !written) {
            return tl::make_unexpected(written.error());
        }
    }
    const bool unused = std::any_of(sides.begin(), sides.end(),
        [](const StitchedSide& side) { return !side.tensor.unused.empty() || !side.tensor.drift.empty(); });
    return read->rejected || unused || !matched.unmatched.empty() ? exitRejected : exitDone;
}

} // namespace nanscope
