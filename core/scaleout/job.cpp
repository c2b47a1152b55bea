// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/job.h"

#include <algorithm>
#include <span>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/try.h"
#include "core/platform/platform.h"
#include "core/replay/variants/sessionvariants.h"
#include "core/rpc/requests.h"

namespace nanscope::scaleout {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema = "nanscope.job/1";
constexpr std::uint64_t maxJobBytes = std::uint64_t {1} << 30;
constexpr int deepestJobLine = 6;
constexpr std::size_t mostJobValues = 1 << 20; ///< of one line
constexpr std::int64_t blocksOfProcess = 64;

fs::path jobPath(const fs::path& folder)
{
    return folder / "job.jsonl";
}

Json headOf(const Job& job)
{
    Json head {{"schema", schema}, {"captures", job.captures.size()}, {"device", job.device},
        {"variants_per_block", job.variantsPerBlock}};
    if (job.judges()) {
        head["judging"] = job.judging;
    } else if (job.measures()) {
        head["measuring"] = job.measuring;
    } else if (!job.captures.empty()) {
        const auto request = rpc::sweepToJson({job.captures.front().request, {}});
        head["definitions"] = request.value("definitions", Json::array());
    }
    return head;
}

Json lineOf(const JobCapture& capture)
{
    auto json = rpc::sweepToJson({capture.request, {}});
    json.erase("definitions");
    json["name"] = capture.name;
    json["elements"] = capture.elements;
    if (!capture.leftOut.empty()) {
        json["left_out"] = capture.leftOut;
    }
    return json;
}

std::string textOf(const Job& job)
{
    auto text = jsonText(headOf(job)) + '\n';
    for (const auto& capture : job.captures) {
        text += jsonText(lineOf(capture)) + '\n';
    }
    return text;
}

Result<std::string> readText(const fs::path& path)
{
    const auto file = TRY(platform::FileReader::open(path));
    if (file.size() > maxJobBytes) {
        return failure(ErrorKind::refused, "a job of more than 1 GiB is not read", path.string());
    }
    std::string text(static_cast<std::size_t>(file.size()), '\0');
    return file.readAt(0, std::as_writable_bytes(std::span(text))).map([&] { return std::move(text); });
}

tl::unexpected<Error> noJob(const fs::path& folder, const std::string& why)
{
    return failure(ErrorKind::format, "this is no job of this version of Nanscope: " + why, jobPath(folder).string());
}

/// False where something else than words stands there.
bool readWords(const Json& head, const char* key, std::vector<std::string>& words)
{
    for (const auto& word : head.value(key, Json::array())) {
        if (!word.is_string()) {
            return false;
        }
        words.push_back(word.get<std::string>());
    }
    return true;
}

/// One capture's line, with variants of this catalogue.
Result<JobCapture> captureOf(const std::string& line, const replay::Catalogue& catalogue)
{
    const auto json = parseBounded(line, deepestJobLine, mostJobValues);
    if (!json.is_object() || !json.value("name", Json()).is_string()) {
        return failure(ErrorKind::format, "a line names no capture");
    }
    auto order = TRY(rpc::sweepFromJson(json, catalogue));
    if (order.request.captures.size() != 1) {
        return failure(ErrorKind::format, "a line does not name one capture");
    }
    std::vector<std::string> leftOut;
    if (!readWords(json, "left_out", leftOut)) {
        return failure(ErrorKind::format, "a line does not say what was left out");
    }
    const auto elements = json.value("elements", Json());
    return JobCapture {json["name"].get<std::string>(), elements.is_number_integer() ? elements.get<std::int64_t>() : 0,
        std::move(order.request), std::move(leftOut)};
}

Result<Job> parse(const std::string& text)
{
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    const auto head = parseBounded(line, deepestJobLine, mostJobValues);
    const auto perBlock = head.is_object() ? head.value("variants_per_block", Json()) : Json();
    if (!perBlock.is_number_integer() || perBlock.get<std::int64_t>() < 1 || head.value("schema", Json()) != schema
        || !head.value("device", Json()).is_string()) {
        return failure(ErrorKind::format, "its first line does not say so");
    }
    replay::Catalogue catalogue;
    TRY(rpc::putDefinitions(head, catalogue));
    Job job {session::hashText(text), {}, head["device"].get<std::string>(), perBlock.get<std::int64_t>()};
    if (!readWords(head, "judging", job.judging) || !readWords(head, "measuring", job.measuring)) {
        return failure(ErrorKind::format, "it does not say how captures are judged or measured");
    }
    while (std::getline(lines, line)) {
        job.captures.push_back(TRY(captureOf(line, catalogue)));
    }
    if (head.value("captures", Json()) != job.captures.size()) {
        return failure(ErrorKind::truncated, "some of its lines are missing");
    }
    return job;
}

Result<void> writeCaptures(const fs::path& path, const Job& job, const RunData& run)
{
    auto session = TRY(session::Session::open(path, session::OpenMode::create));
    auto captures = run.captures;
    std::vector<std::string> names;
    for (const auto& capture : job.captures) {
        names.insert(names.end(), capture.request.variants.begin(), capture.request.variants.end());
    }
    const auto catalogue = job.captures.empty() ? replay::Catalogue() : job.captures.front().request.catalogue;
    return session.setRun(run.name, run.root)
        .and_then([&] { return session.addCaptures(captures); })
        .and_then([&] { return replay::keepVariants(session, catalogue, names); })
        .map([](const auto&) {});
}

} // namespace

std::vector<Block> blocksOf(const Job& job)
{
    std::vector<Block> blocks;
    const auto most = static_cast<std::size_t>(job.variantsPerBlock);
    for (std::size_t i = 0; i < job.captures.size(); ++i) {
        if (job.judges()) {
            blocks.push_back({i, 0, 0});
            continue;
        }
        const auto variants = job.captures[i].request.variants.size();
        for (std::size_t first = 0; first < variants; first += most) {
            blocks.push_back({i, first, std::min(most, variants - first)});
        }
    }
    std::stable_sort(blocks.begin(), blocks.end(), [&](const Block& a, const Block& b) {
        return job.captures[a.capture].elements > job.captures[b.capture].elements;
    });
    return blocks;
}

replay::SweepRequest requestOf(const Job& job, const Block& block, const std::string& device)
{
    auto request = job.captures[block.capture].request;
    const auto first = request.variants.begin() + static_cast<std::ptrdiff_t>(block.firstVariant);
    request.variants = {first, first + static_cast<std::ptrdiff_t>(block.variants)};
    request.devices = {device};
    return request;
}

std::int64_t cellCount(const Job& job)
{
    std::int64_t count = 0;
    for (const auto& capture : job.captures) {
        count += job.judges() ? 1 : replay::cellCount(capture.request);
    }
    return count;
}

std::int64_t variantsPerBlock(const std::vector<JobCapture>& captures, std::int64_t processes)
{
    std::int64_t variants = 0;
    std::int64_t most = 1;
    for (const auto& capture : captures) {
        const auto count = static_cast<std::int64_t>(capture.request.variants.size());
        variants += count;
        most = std::max(most, count);
    }
    return std::clamp<std::int64_t>(variants / (blocksOfProcess * std::max<std::int64_t>(1, processes)), 1, most);
}

Result<Job> makeJob(const fs::path& folder, Job job, const RunData& run)
{
    const auto text = textOf(job);
    job.id = session::hashText(text);
    std::error_code error;
    if (fs::exists(jobPath(folder), error)) {
        auto there = readJob(folder);
        if (there && there->id != job.id) {
            return failure(ErrorKind::usage,
                "the folder holds a job of other captures, variants, formats or options; name another folder",
                folder.string());
        }
        return there;
    }
    if (fs::create_directories(folder, error); error) {
        return platform::systemFailure("The folder of the job cannot be made", error.value(), folder);
    }
    // Last of all, since the job is there once its file is.
    return (job.judges() || job.measures() ? Result<void>() : writeCaptures(capturesPath(folder), job, run))
        .and_then([&] { return platform::writeFileAtomically(jobPath(folder), std::as_bytes(std::span(text))); })
        .map([&] { return std::move(job); });
}

Result<Job> readJob(const fs::path& folder)
{
    auto job = parse(TRY(readText(jobPath(folder))));
    return job ? std::move(job) : noJob(folder, job.error().what);
}

fs::path capturesPath(const fs::path& folder)
{
    return folder / "captures.nanscope";
}

fs::path partPath(const fs::path& folder, int rank)
{
    return folder / fmt::format("part-{:05}.nanscope", rank);
}

} // namespace nanscope::scaleout
