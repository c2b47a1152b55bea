// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/shardfacts.h"
#include "app/nanscope/shared/terminal.h"
#include "app/nanscope/shared/words.h"
#include "core/base/jsonanswer.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/base/utf8.h"
#include "core/ingest/ingest.h"
#include "core/ingest/readahead.h"
#include "core/json/jsonfields.h"
#include "core/json/records.h"
#include "core/model/words.h"
#include "core/platform/platform.h"
#include "core/report/report.h"
#include "core/shards/shardlayout.h"
#include "core/shards/shards.h"
#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/checkpoint/checkpoint.h"
#include "core/tensorfile/tensorfile.h"

namespace nanscope {

namespace {

/// One logical tensor, and which side of which call it is.
struct StitchedSide
{
    shards::ShardSide side = shards::ShardSide::input;
    std::string matchedBy;
    std::optional<std::int64_t> spreadMs; ///< between the first and the last dump, by the times in their names
    shards::Stitched tensor;
};

constexpr std::size_t mostLines = 20;

/// Of what holds no finite value there is none.
std::string magnitude(const Scan& scan, double value)
{
    return scan.count == scan.nonFinite() ? "-" : numberText(value);
}

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
        countText(scan.zero), countText(scan.subnormal), magnitude(scan, scan.absmax), magnitude(scan, scan.minNonzero),
        magnitude(scan, std::sqrt(scan.sumSquares)), first});
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

using jsonfields::Writer;
Json indexJson(const Shape& shape, std::int64_t flat)
{
    return flat < 0 ? Json(nullptr) : Json(indexIn(shape, flat));
}

Json shardsJson(const shards::Stitched& tensor)
{
    return jsonArray(tensor.shards, [](const shards::Shard& shard) -> Json {
        return {{"file", shard.file}, {"rank", Writer::written(shard.place.rank)},
            {"coordinate", Writer::written(shard.place.coordinate)}, {"shape", shard.tensor.shape()},
            {"nonfinite", shard.scan.nonFinite()}};
    });
}

Json missingJson(const shards::Stitched& tensor)
{
    return jsonArray(tensor.missing, [](const shards::MissingShard& missing) -> Json {
        return {{"rank", Writer::written(missing.rank)}, {"coordinate", missing.coordinate}, {"held", missing.held},
            {"replicated", missing.replicated}};
    });
}

Json driftJson(const shards::Stitched& tensor)
{
    return jsonArray(tensor.drift, [&](const shards::Drift& drift) -> Json {
        return {{"a", tensor.shards[drift.a].file}, {"b", tensor.shards[drift.b].file},
            {"rank_a", Writer::written(tensor.shards[drift.a].place.rank)},
            {"rank_b", Writer::written(tensor.shards[drift.b].place.rank)}, {"differing", drift.differing},
            {"class_changes", drift.classChanges}, {"nan_bits", drift.nanBits},
            {"first", indexJson(tensor.sharding.shape, drift.first)}};
    });
}

Json reducedJson(const shards::ReducedTotals& totals, DType type, const Shape& shape)
{
    auto json = toJson(totals.scan, shape);
    json["dtype"] = shortName(type);
    json["overflowed"] = totals.overflowed;
    json["first_overflow"] = indexJson(shape, totals.firstOverflow);
    return json;
}

Json partialJson(const shards::Stitched& tensor)
{
    if (!tensor.partial) {
        return nullptr;
    }
    const auto& partial = *tensor.partial;
    Json json {{"reduction", partial.operation}, {"parts", partial.parts},
        {"own", reducedJson(partial.own, tensor.dtype, tensor.sharding.shape)}, {"wide", nullptr}};
    if (partial.wide) {
        json["wide"] = reducedJson(*partial.wide, partial.wideType, tensor.sharding.shape);
        json["wide"]["overflowed_before_rounding"] = partial.wideOverflowed;
    }
    return json;
}

Json unusedJson(const shards::Stitched& tensor)
{
    return jsonArray(tensor.unused, [](const shards::UnusedShard& unused) -> Json {
        return {{"file", unused.file}, {"reason", unused.why}};
    });
}

Json stitchedJson(const StitchedSide& side)
{
    const auto& tensor = side.tensor;
    const bool computed = tensor.problem.empty() && !tensor.shards.empty();
    const auto rank = tensor.shards.empty() ? std::nullopt : tensor.shards.front().place.rank;
    return {{"side", side.side == shards::ShardSide::input ? "input" : "output"}, {"shape", tensor.sharding.shape},
        {"dtype", shortName(tensor.dtype)}, {"placements", placementsJson(tensor.sharding)},
        {"mesh", meshJson(tensor.sharding, rank)}, {"matched_by", side.matchedBy},
        {"dumped_within_ms", Writer::written(side.spreadMs)}, {"shards", shardsJson(tensor)},
        {"missing_ranks", tensor.missingRanks}, {"missing", missingJson(tensor)}, {"unused", unusedJson(tensor)},
        {"drift", driftJson(tensor)}, {"unknown_elements", tensor.unknown},
        {"parts_nonfinite", tensor.partsNonFinite()}, {"logical_nonfinite", Writer::written(tensor.logicalNonFinite())},
        {"parts", toJson(tensor.parts, {})},
        {"logical", computed ? toJson(tensor.logical, tensor.sharding.shape) : Json(nullptr)},
        {"partial", partialJson(tensor)}, {"problem", tensor.problem.empty() ? Json(nullptr) : Json(tensor.problem)}};
}

struct NamedFile
{
    std::filesystem::path path;
    bool given = false; ///< on the command line itself, not found in a folder
    std::int64_t bytes = 0;
};

Result<std::vector<NamedFile>> filesUnder(const std::vector<std::string>& paths, Terminal& terminal)
{
    std::vector<NamedFile> files;
    for (const auto& path : paths) {
        auto found = TRY(ingest::findFiles(path, terminal.job()));
        std::error_code error;
        const bool given = !std::filesystem::is_directory(path, error);
        for (const auto& file : found.files) {
            if (given || file.kind == ingest::FoundFile::Kind::tensor) {
                files.push_back({file.path, given, static_cast<std::int64_t>(file.size)});
            }
        }
    }
    return files;
}

Result<tensorfile::CaptureFile> readShards(const NamedFile& file, const JobContext& job)
{
    auto capture = tensorfile::openCapture(file.path);
    const bool shards = capture
        && (shards::shardOf(*capture, shards::ShardSide::input) != nullptr
            || shards::shardOf(*capture, shards::ShardSide::output) != nullptr);
    if (!shards) {
        return capture;
    }
    return tensorfile::scanCapture(*capture, job).map([&] { return std::move(*capture); });
}

/// Adds what it reads to `done` as it goes; once finished, a file counts as a whole, however little of it was needed.
Result<tensorfile::CaptureFile> readCounted(
    const NamedFile& file, const CancelToken& cancel, std::atomic<std::int64_t>& done)
{
    std::int64_t counted = 0;
    const auto count = [&](std::int64_t bytes) { done += bytes - std::exchange(counted, bytes); };
    auto capture = readShards(file, {[&](const Progress& progress) { count(progress.done); }, cancel});
    count(file.bytes);
    return capture;
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
    const auto& cancel = terminal.cancelToken();
    const auto total = std::transform_reduce(
        files.begin(), files.end(), std::int64_t {0}, std::plus<>(), [](const NamedFile& file) { return file.bytes; });
    std::atomic<std::int64_t> done = 0;
    ReadCaptures read;
    ingest::ReadAhead<Result<tensorfile::CaptureFile>> reader(
        files.size(), threads, ahead, [&](std::size_t i) { return readCounted(files[i], cancel, done); });
    for (std::size_t i = 0; i < files.size(); ++i) {
        const auto tell = [&] {
            terminal.progress({"inspect", "captures", done, total, "bytes", files[i].path.filename().string()});
        };
        auto capture = reader.next(tell);
        tell();
        if (cancel.cancelled()) {
            return failure(ErrorKind::cancelled, "cancelled while reading captures");
        }
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
        auto tensor = TRY(shards::stitch(std::move(shards), terminal.job()));
        sides.push_back({side, set.how, spreadOf(captures, set), std::move(tensor)});
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

Json unmatchedJson(const std::vector<tensorfile::CaptureFile>& captures, const shards::ShardSets& matched)
{
    return jsonArray(matched.unmatched, [&](const shards::ShardSet& group) -> Json {
        const auto fileOf = [&](std::size_t index) { return captures[index].capture.file; };
        return {{"files", jsonArray(group.captures, fileOf)}, {"reason", group.how}};
    });
}

void print(const std::vector<StitchedSide>& sides, Json unmatched, Terminal& terminal)
{
    if (!terminal.json()) {
        for (const auto& side : sides) {
            terminal.print((&side == sides.data() ? "" : "\n") + stitchedText(side));
        }
        return;
    }
    terminal.printJson({{"schema", "nanscope.stitch/1"}, {"tensors", jsonArray(sides, stitchedJson)},
        {"unmatched", std::move(unmatched)}});
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
               "and the type it was added in";
    }
    return {};
}

/// The call in the words of a sidecar: what any part of it says against taking its function for known code.
void writeCall(Json& known, const std::vector<const Capture*>& parts)
{
    std::int64_t otherTensors = 0;
    for (const auto* part : parts) {
        const auto& scene = part->scene;
        otherTensors = std::max(otherTensors, scene.otherTensors);
        if (scene.state == OwnState::random) {
            known["call"]["random"] = true;
        } else if (scene.state != OwnState::none) {
            known["call"]["keeps"] = "not known";
        }
        if (!scene.namedLike.empty()) {
            known["named_like"] = scene.namedLike;
        }
        if (scene.inputOverwritten) {
            known["input"] = {{"checksum_before", "as it came in"}, {"checksum_after", "as it was left"}};
        }
        if (scene.onCpu) {
            known["environment"]["device"] = "cpu";
        }
        if (const auto colon = scene.function.find(':'); colon != std::string::npos) {
            known["function"] = {
                {"module", scene.function.substr(0, colon)}, {"qualname", scene.function.substr(colon + 1)}};
        }
    }
    known["call"]["other_tensors"] = otherTensors;
}

/// In a sidecar, as those of all parts say it: a word that one of them contradicts is none.
std::string whatRan(const std::vector<const Capture*>& parts, bool otherCode)
{
    const auto& first = *parts.front();
    const auto all = [&](auto member) {
        return std::ranges::all_of(parts, [&](const Capture* part) { return part->*member == first.*member; });
    };
    Json known = Json::object();
    writeCall(known, parts);
    if (first.variant && all(&Capture::variant) && !known.contains("named_like")) {
        known["variant"] = *first.variant;
    }
    if (first.step && all(&Capture::step)) {
        known["step"] = *first.step;
    }
    if (otherCode || (first.nothingElse && all(&Capture::nothingElse))) {
        known["nothing_else"] = !otherCode;
    }
    return known.dump(1);
}

bool holdsText(const std::filesystem::path& path, const std::string& text)
{
    const auto file = platform::FileReader::open(path);
    std::string words(text.size(), '\0');
    return file && file->size() == text.size() && file->readAt(0, std::as_writable_bytes(std::span(words)))
        && words == text;
}

/// A file that is there already is kept, unless it says the same: the user has named the output, not the file beside
/// it.
Result<void> writeSidecar(const std::string& text, const std::string& output)
{
    const auto path = std::filesystem::path(output).replace_extension(".json");
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored) && !holdsText(path, text)) {
        return failure(ErrorKind::refused,
            "what ran would be written here, in the place of a file that says something else; move that away, or "
            "give the whole another name with -o",
            path.string());
    }
    return platform::writeFileAtomically(path, std::as_bytes(std::span(text)));
}

/// A capture of the logical tensors, as if one rank had made it.
Result<void> writeWhole(const std::vector<StitchedSide>& sides, const std::vector<const Capture*>& parts,
    bool otherCode, const std::string& output)
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
    if (const auto epsilon = parts.front()->epsilon) {
        entries.emplace_back("epsilon", *epsilon);
    }
    TRY(writeSidecar(whatRan(parts, otherCode), output));
    return tensorfile::writePt(output, entries);
}

/// A part must not make room for the whole.
Result<void> checkOutput(const std::vector<NamedFile>& files, const std::string& output)
{
    if (std::filesystem::path(output).extension() == ".json") {
        return failure(
            ErrorKind::usage, "the whole is a .pt, and its .json lies beside it; give -o the name of the .pt", output);
    }
    const auto isOutput = [&](const NamedFile& file) {
        std::error_code none; // what is not there yet is no part
        return std::filesystem::equivalent(file.path, output, none);
    };
    return output.empty() || std::ranges::none_of(files, isOutput)
        ? Result<void>()
        : failure(ErrorKind::usage, "this is one of the dumps that are stitched; give -o another name", output);
}

/// `inspect --stitch`: puts the shards in these files and folders together and tells what they come to; with `output`
/// the one call that was found is written there as a capture. The exit status.
Result<int> stitchCaptures(const std::vector<std::string>& paths, const std::string& output, Terminal& terminal)
{
    const auto files = TRY(filesUnder(paths, terminal));
    TRY(checkOutput(files, output));
    const auto read = TRY(readAll(files, terminal));
    const auto matched = shards::matchShards(read.captures);
    sayUnmatched(read.captures, matched, terminal);
    if (matched.sets.empty()) {
        return failure(ErrorKind::unsupported,
            matched.unmatched.empty() ? "no dump here is a part of a DTensor, so there is nothing to stitch"
                                      : "no parts of one tensor could be told to belong together",
            paths.front());
    }
    std::vector<StitchedSide> sides;
    for (const auto& set : matched.sets) {
        auto stitched = TRY(stitchSet(read.captures, set, terminal));
        std::move(stitched.begin(), stitched.end(), std::back_inserter(sides));
    }
    print(sides, unmatchedJson(read.captures, matched), terminal);
    if (!output.empty() && matched.sets.size() > 1) {
        return failure(ErrorKind::usage,
            fmt::format("{} were found, and one file holds one; name the dumps of one",
                counted(std::ssize(matched.sets), "call")));
    }
    if (!output.empty()) {
        std::vector<const Capture*> parts;
        bool otherCode = false;
        for (const auto index : matched.sets.front().captures) {
            parts.push_back(&read.captures[index].capture);
            otherCode = otherCode || read.captures[index].otherCode;
        }
        TRY(writeWhole(sides, parts, otherCode, output));
    }
    const bool unused = std::any_of(sides.begin(), sides.end(),
        [](const StitchedSide& side) { return !side.tensor.unused.empty() || !side.tensor.drift.empty(); });
    return read.rejected || unused || !matched.unmatched.empty() ? exitRejected : exitDone;
}

using tensorfile::CheckpointScan;
using tensorfile::Parameter;
using tensorfile::ParameterState;

std::int64_t howMany(const CheckpointScan& scan, ParameterState state, std::optional<bool> optimizer = std::nullopt)
{
    return std::ranges::count_if(scan.parameters, [&](const Parameter& parameter) {
        return parameter.state() == state && optimizer.value_or(parameter.optimizerState) == parameter.optimizerState;
    });
}

/// What the checkpoint means for who wants to go on from it.
std::string checkpointResult(const CheckpointScan& scan)
{
    const auto weights = howMany(scan, ParameterState::nonFinite, false);
    const auto moments = howMany(scan, ParameterState::nonFinite, true);
    const auto unread = howMany(scan, ParameterState::notRead) + std::ssize(scan.rejected);
    const auto sentinels = howMany(scan, ParameterState::sentinel);
    const auto looked = std::ssize(scan.parameters) - sentinels;
    const auto open = sentinels == 0 ? std::string()
                                     : fmt::format("Open: {} infinities that may be meant.",
                                         sentinels == 1 ? "1 more holds" : countText(sentinels) + " more hold");
    if (weights > 0) {
        const auto all = std::ranges::count(scan.parameters, false, &Parameter::optimizerState);
        return fmt::format("Not finite: {} of {} outside the optimizer state. A run that resumes from this checkpoint "
                           "starts with NaN or infinity.",
            countText(weights), counted(all, "tensor"));
    }
    const auto missing =
        (unread == 1 ? "1 tensor or file" : countText(unread) + " tensors or files") + " could not be read";
    if (moments > 0) {
        const bool anyWeight = std::ranges::count(scan.parameters, false, &Parameter::optimizerState) > 0;
        return fmt::format("Not finite: {} of the optimizer state. {}", counted(moments, "tensor"),
            unread > 0         ? missing + ", so whether the weights are finite is open."
                : !anyWeight   ? "No weights lie here, so whether they are finite is open."
                : open.empty() ? "The weights are finite: load them alone and start with a fresh optimizer state."
                               : open);
    }
    if (unread > 0) {
        return looked == 0 ? "Not settled: " + missing + ", and nothing was."
                           : "Not settled: what was read is finite, but " + missing + ".";
    }
    return looked == 0 ? "No floating-point tensor to check."
                       : "Finite: " + counted(looked, "floating-point tensor") + '.' + (open.empty() ? "" : ' ' + open);
}

std::string checkpointNotes(const CheckpointScan& scan)
{
    std::string text;
    if (const auto sentinels = howMany(scan, ParameterState::sentinel); sentinels > 0) {
        text += counted(sentinels, "tensor")
            + " of 0 and -Inf alone, as a mask is, or of infinities alone, as a minimum or maximum that was never "
              "updated; a weight must not be.\n";
    }
    if (scan.others > 0) {
        text += counted(scan.others, "tensor") + " of integers, complex numbers or no elements: not read.\n";
    }
    for (std::size_t i = 0; i < std::min(scan.rejected.size(), mostLines); ++i) {
        text += printable(scan.rejected[i].path) + ": " + printable(scan.rejected[i].reason) + '\n';
    }
    if (scan.rejected.size() > mostLines) {
        text += "and " + counted(std::ssize(scan.rejected) - static_cast<std::int64_t>(mostLines), "more file") + '\n';
    }
    return text;
}

/// What is not finite first, then what was not read, then the largest magnitudes.
std::vector<const Parameter*> inOrderOfInterest(const CheckpointScan& scan)
{
    std::vector<const Parameter*> order;
    for (const auto& parameter : scan.parameters) {
        order.push_back(&parameter);
    }
    const auto rank = [](const Parameter& parameter) {
        const auto state = parameter.state();
        return state == ParameterState::nonFinite ? 0
            : state == ParameterState::notRead    ? 1
            : state == ParameterState::sentinel   ? 2
                                                  : 3;
    };
    std::ranges::stable_sort(order, [&](const Parameter* a, const Parameter* b) {
        return std::pair(rank(*a), -a->scan.absmax) < std::pair(rank(*b), -b->scan.absmax);
    });
    return order;
}

std::string checkpointTable(const CheckpointScan& scan)
{
    constexpr auto right = Table::Align::right;
    std::vector<Table::Column> columns {{"tensor"}, {"shape"}, {"dtype"}, {"NaN", right}, {"Inf", right},
        {"-Inf", right}, {"absmax", right}, {"first non-finite"}};
    if (scan.files > 1 || std::ranges::any_of(scan.parameters, [](const Parameter& p) { return !p.file.empty(); })) {
        columns.push_back({"file"});
    }
    const auto named = columns.size();
    Table table(std::move(columns));
    const auto order = inOrderOfInterest(scan);
    for (std::size_t i = 0; i < std::min(order.size(), mostLines); ++i) {
        const auto& parameter = *order[i];
        const auto& values = parameter.scan;
        const auto first = values.firstNonFinite < 0 ? "-" : indexText(parameter.firstNonFinite());
        std::vector<std::string> row {parameter.name, shapeText(parameter.shape),
            parameter.dtype ? std::string(shortName(*parameter.dtype)) : "-", countText(values.nan),
            countText(values.posInf), countText(values.negInf), magnitude(values, values.absmax),
            parameter.problem.empty() ? first : parameter.problem, parameter.file};
        row.resize(named);
        table.add(std::move(row));
    }
    auto text = table.text();
    if (order.size() > mostLines) {
        text += "and " + counted(std::ssize(order) - static_cast<std::int64_t>(mostLines), "more tensor")
            + "; --json lists them all\n";
    }
    return text;
}

Json checkpointJson(const CheckpointScan& scan)
{
    constexpr std::array states {"finite", "non_finite", "sentinel", "not_read"}; // as ParameterState
    auto parameters = Json::array();
    for (const auto& parameter : scan.parameters) {
        const auto& values = parameter.scan;
        parameters.push_back({{"name", parameter.name}, {"file", parameter.file}, {"shape", parameter.shape},
            {"dtype", parameter.dtype ? Json(shortName(*parameter.dtype)) : nullptr},
            {"optimizer_state", parameter.optimizerState},
            {"state", states[static_cast<std::size_t>(parameter.state())]}, {"count", values.count},
            {"nan", values.nan}, {"pos_inf", values.posInf}, {"neg_inf", values.negInf},
            {"absmax", jsonNumber(values.absmax)},
            {"first_nonfinite", values.firstNonFinite < 0 ? Json(nullptr) : Json(parameter.firstNonFinite())},
            {"problem", parameter.problem}});
    }
    auto rejected = Json::array();
    for (const auto& rejection : scan.rejected) {
        rejected.push_back(toJson(rejection));
    }
    return {{"schema", "nanscope.checkpoint/1"}, {"result", checkpointResult(scan)},
        {"non_finite", howMany(scan, ParameterState::nonFinite)},
        {"non_finite_weights", howMany(scan, ParameterState::nonFinite, false)},
        {"not_read", howMany(scan, ParameterState::notRead)}, {"files", scan.files}, {"others", scan.others},
        {"opaque", scan.opaque}, {"rejected", std::move(rejected)}, {"parameters", std::move(parameters)}};
}

/// Of the checkpoints in a folder the one that its trainer goes on from.
struct Latest
{
    std::string folder; ///< within the folder
    std::string namedBy; ///< the file of the trainer that names it
};

/// DeepSpeed names the folder in "latest", Megatron-LM the iteration in "latest_checkpointed_iteration.txt".
std::optional<Latest> latestNamedIn(const std::filesystem::path& path)
{
    constexpr std::size_t longest = 255; // of a name
    constexpr std::string_view iterationFile = "latest_checkpointed_iteration.txt";
    for (const std::string_view file : {std::string_view("latest"), iterationFile}) {
        const auto opened = platform::FileReader::open(path / file);
        if (!opened || opened->size() > longest) {
            continue;
        }
        std::string words(static_cast<std::size_t>(opened->size()), '\0');
        if (!opened->readAt(0, std::as_writable_bytes(std::span(words)))) {
            continue;
        }
        const auto word = std::string(trimmed(words.substr(0, words.find_first_of("\r\n"))));
        const auto iteration = file == iterationFile ? numberIn<std::int64_t>(word) : std::nullopt;
        const auto folder = iteration && *iteration >= 0 ? fmt::format("iter_{:07}", *iteration) : word;
        if (!folder.empty() && std::filesystem::path(folder).filename() == folder && folder != "." && folder != "..") {
            return Latest {folder, std::string(file)};
        }
    }
    return std::nullopt;
}

/// A trainer's own checkpoint may hold that of a library: "checkpoint-500/global_step500" of transformers. One that
/// holds several is a folder of them.
void dropNested(std::vector<Checkpoint>& found)
{
    const auto all = found;
    const auto isWithin = [](const Checkpoint& inner, const Checkpoint& outer) {
        return inner.place.starts_with(outer.place + '/');
    };
    const auto holdsOne = [&](const Checkpoint& outer, std::int64_t step) {
        return std::ranges::none_of(
            all, [&](const Checkpoint& other) { return isWithin(other, outer) && other.step != step; });
    };
    std::erase_if(found, [&](const Checkpoint& inner) {
        return std::ranges::any_of(
            all, [&](const Checkpoint& outer) { return isWithin(inner, outer) && holdsOne(outer, inner.step); });
    });
}

/// The one to read of a folder that holds several: of several steps the tensors would be counted as those of one. None
/// where it is the folder itself.
Result<std::optional<Latest>> chosenCheckpoint(const std::string& path, Terminal& terminal)
{
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
        return std::nullopt;
    }
    auto found = TRY(ingest::findFiles(path, terminal.job())).checkpoints;
    dropNested(found);
    if (found.empty() || found.front().step == found.back().step) {
        return std::nullopt;
    }
    const auto latest = latestNamedIn(path);
    if (latest && std::filesystem::is_directory(std::filesystem::path(path) / latest->folder, ignored)) {
        return latest;
    }
    return failure(ErrorKind::usage,
        fmt::format("the folder holds checkpoints of several steps, from {} to {}; name one of them{}",
            found.front().path, found.back().path,
            latest ? fmt::format(" ({} names {}, which is not there)", latest->namedBy, latest->folder) : ""),
        path);
}

Result<int> inspectCheckpoint(const std::string& path, Terminal& terminal)
{
    const auto latest = TRY(chosenCheckpoint(path, terminal));
    const auto place = latest ? std::filesystem::path(path) / latest->folder : std::filesystem::path(path);
    const auto scan = TRY(tensorfile::scanCheckpoint(place, terminal.job()));
    if (terminal.json()) {
        auto answer = checkpointJson(scan);
        answer["latest"] = latest ? Json(latest->folder) : Json(nullptr);
        terminal.printJson(answer);
    } else {
        const auto which = latest
            ? fmt::format("Of several checkpoints the one that {} names, {}; to read another one, "
                          "name its folder.\n",
                latest->namedBy, printable(latest->folder))
            : "";
        terminal.print(which + checkpointResult(scan) + '\n' + checkpointNotes(scan) + '\n' + checkpointTable(scan));
    }
    return scan.rejected.empty() && howMany(scan, ParameterState::notRead) == 0 ? exitDone : exitRejected;
}

/// A folder, the index of a distributed checkpoint, or a file of tensors that is no capture.
bool isCheckpoint(const std::filesystem::path& path)
{
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored) || path.filename() == ".metadata") {
        return true;
    }
    const auto capture = tensorfile::openCapture(path);
    return !capture && capture.error().kind == ErrorKind::unsupported && tensorfile::openTensorFile(path);
}

class Inspect : public Command
{
public:
    explicit Inspect(CLI::App& root)
        : Command(root, "inspect", "Every fact of one capture, of a checkpoint, or of the tensor that shards make up")
    {
        options()
            .add("capture", m_paths,
                "A capture (.pt, .safetensors, .npy) or a checkpoint (a file, or a folder that DCP, Hugging Face, "
                "DeepSpeed or Megatron wrote); several or folders of captures with --stitch")
            .required();
        options().addFlag("--stitch", m_stitch, "Put the shards of a DTensor that the ranks dumped together");
        options().add("-o,--output", m_output, "With --stitch: write the whole as one capture, whole.pt");
    }

    Result<int> run(Terminal& terminal) override;

private:
    Result<int> inspectOne(Terminal& terminal) const;

    std::vector<std::string> m_paths;
    bool m_stitch = false;
    std::string m_output;
};

template <class T>
std::string orUnknown(const std::optional<T>& value)
{
    return value ? fmt::format("{}", *value) : "not recorded";
}

std::string header(const Capture& capture)
{
    const auto time = capture.timestampMs ? fmt::format("{} ({})", timeText(*capture.timestampMs),
                          capture.timestampFromName ? "from its name" : "the file's time")
                                          : std::string("not recorded");
    return fmt::format("{}\nrank {}, pid {}, epsilon {}, {}\nvariant {}, step {}\n\n", printable(capture.file),
        orUnknown(capture.rank), orUnknown(capture.pid), orUnknown(capture.epsilon), time,
        printable(capture.variant.value_or("not recorded")), orUnknown(capture.step));
}

void addSide(Table& table, const char* side, const CaptureTensor& tensor)
{
    const auto matrices = matrixShape(tensor.shape);
    for (std::size_t i = 0; i < tensor.batches.size(); ++i) {
        const auto& scan = tensor.batches[i];
        const auto first = scan.firstNonFinite < 0
            ? std::string("-")
            : indexText(indexIn({matrices.rows, matrices.cols}, scan.firstNonFinite));
        table.add({side, std::to_string(i), shapeText(tensor.shape), std::string(shortName(tensor.dtype)),
            countText(scan.nan), countText(scan.posInf), countText(scan.negInf), countText(scan.zero),
            countText(scan.subnormal), magnitude(scan, scan.absmax), magnitude(scan, scan.minNonzero),
            magnitude(scan, std::sqrt(scan.sumSquares)), first});
    }
}

std::string bodyText(const Capture& capture)
{
    constexpr auto right = Table::Align::right;
    Table table({{"side"}, {"batch", right}, {"shape"}, {"dtype"}, {"NaN", right}, {"Inf", right}, {"-Inf", right},
        {"zero", right}, {"subnormal", right}, {"absmax", right}, {"min non-zero", right}, {"Frobenius", right},
        {"first non-finite"}});
    addSide(table, "input", capture.input);
    if (capture.output) {
        addSide(table, "output", *capture.output);
    }
    return table.text();
}

Result<int> Inspect::run(Terminal& terminal)
{
    if (m_stitch) {
        return stitchCaptures(m_paths, m_output, terminal);
    }
    if (m_paths.size() > 1 || !m_output.empty()) {
        return failure(ErrorKind::usage,
            m_paths.size() > 1 ? "several captures are only looked at together with --stitch"
                               : "only --stitch writes a file, so -o needs it");
    }
    return isCheckpoint(m_paths.front()) ? inspectCheckpoint(m_paths.front(), terminal) : inspectOne(terminal);
}

Result<int> Inspect::inspectOne(Terminal& terminal) const
{
    const auto file = TRY(tensorfile::readCaptureOrCounts(m_paths.front(), {}, terminal.job()));
    if (terminal.json()) {
        auto answer = toJson(file.capture);
        addShardJson(answer, file);
        terminal.printJson(answer);
    } else {
        terminal.print(header(file.capture) + shardText(file) + bodyText(file.capture));
    }
    return exitDone;
}

} // namespace

std::unique_ptr<Command> makeInspect(CLI::App& root)
{
    return std::make_unique<Inspect>(root);
}

} // namespace nanscope
