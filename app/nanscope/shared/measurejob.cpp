// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/measurejob.h"

#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "app/nanscope/shared/words.h"
#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/base/utf8.h"
#include "core/platform/platform.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;
using scaleout::RankMeasure;

constexpr const char* visibleGpus = "CUDA_VISIBLE_DEVICES";

std::string nodeName()
{
    std::array<char, 256> name {};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string("?");
}

/// Of the GPUs that this process may see that of its local rank. srun may show each process one only, which is then
/// everybody's first.
std::string gpuOf(const scaleout::Launch& launch)
{
    const auto visible = listOf(platform::environmentVariable(visibleGpus).value_or(std::string()));
    return visible.empty() ? std::to_string(launch.localRank)
                           : visible[static_cast<std::size_t>(launch.localRank) % visible.size()];
}

Result<scaleout::Job> makeJob(const JobOptions& options, const MeasureTask& task)
{
    TRY(options.check());
    const auto file = TRY(tensorfile::openCapture({task.capture}));
    scaleout::JobCapture capture {file.capture.file, 0, {}};
    capture.request.captures = {CaptureRef(task.capture, file.capture.identity)};
    scaleout::Job job {{}, {std::move(capture)}, task.device};
    job.measuring = task.words;
    return scaleout::makeJob(options.folder, std::move(job), {});
}

/// The line that makes this process one of its ranks.
std::string rankCommand(const JobOptions& options, const MeasureTask& task)
{
    std::error_code ignored;
    std::vector<std::string> words {(platform::programFolder() / "nanscope").string(), "measure"};
    words.insert(words.end(), task.words.begin(), task.words.end());
    words.insert(words.end(), {"--job", fs::absolute(options.folder, ignored).string(), "--as-rank"});
    for (auto& word : words) {
        word = platform::shellQuoted(word);
    }
    return fmt::format("{}", fmt::join(words, " "));
}

/// Where it is not said how many GPUs a node has, the ranks know.
std::optional<std::int64_t> askedRanks(const JobOptions& options, const std::string& device)
{
    return options.processes || device == "cpu" ? std::optional(options.processesOn(device)) : std::nullopt;
}

std::string firstText(const RankMeasure& rank)
{
    return !rank.firstBad  ? "-"
        : rank.leg.empty() ? countText(*rank.firstBad)
                           : fmt::format("{} of {}", countText(*rank.firstBad), rank.leg);
}

std::string hardwareText(const RankMeasure& rank)
{
    return rank.uuid.empty() ? rank.hardware : fmt::format("{} ({})", rank.hardware, rank.uuid);
}

std::string rankTable(const std::vector<RankMeasure>& ranks)
{
    constexpr std::size_t shownOfHash = 8;
    constexpr auto right = Table::Align::right;
    Table table({{"rank", right}, {"node"}, {"device"}, {"calls", right}, {"differ", right}, {"not finite", right},
        {"no output", right}, {"first bad", right}, {"output"}, {"hardware"}});
    for (const auto& rank : ranks) {
        table.add({std::to_string(rank.rank), printable(rank.node), printable(rank.device), countText(rank.calls),
            countText(rank.differ), countText(rank.nonFinite), countText(rank.failed), printable(firstText(rank)),
            printable(rank.output.substr(0, shownOfHash)), printable(hardwareText(rank))});
    }
    return table.text(0);
}

Json rankJson(const RankMeasure& rank)
{
    return {{"rank", rank.rank}, {"node", rank.node}, {"device", rank.device}, {"engine", rank.engine},
        {"hardware", rank.hardware}, {"uuid", orNull(rank.uuid)}, {"calls", rank.calls}, {"failed", rank.failed},
        {"differ", rank.differ}, {"non_finite", rank.nonFinite}, {"first", orNull(rank.firstBad)},
        {"leg", orNull(rank.leg)}, {"output", rank.output}, {"answer", Json::parse(rank.answer, nullptr, false)}};
}

std::set<std::string> sentencesOf(const std::vector<Error>& problems)
{
    std::set<std::string> all;
    for (const auto& problem : problems) {
        all.insert(sentence(problem));
    }
    return all;
}

} // namespace

Result<MeasureJob> openMeasureJob(const JobOptions& options, const MeasureTask& task)
{
    auto job = TRY(makeJob(options, task));
    auto gathered = scaleout::gatherMeasures(job, options.folder, askedRanks(options, task.device));
    auto commands = commandsOf(options, job, rankCommand(options, task));
    return MeasureJob {std::move(job), std::move(gathered), std::move(commands)};
}

std::string measureJobText(const MeasureJob& job)
{
    const auto& gathered = job.gathered;
    std::string text;
    if (gathered.begun) {
        text += fmt::format("{} of {} of the job measured\n",
            countText(static_cast<std::int64_t>(gathered.ranks.size())), counted(gathered.expected, "rank"));
    }
    if (!gathered.ranks.empty()) {
        text += fmt::format("\n{}\n{}\n", rankTable(gathered.ranks), printable(asSentence(gathered.comparison.text)));
    }
    for (const auto& problem : sentencesOf(gathered.problems)) {
        text += printable(asSentence(problem)) + "\n";
    }
    if (!gathered.begun || !gathered.missing.empty()) {
        const auto who = gathered.begun ? fmt::format("Missing: rank{} {}. Start the ranks again",
                             gathered.missing.size() == 1 ? "" : "s", fmt::join(gathered.missing, ", "))
                                        : std::string("Start the ranks");
        text += fmt::format("{}{} with torchrun, on each node, or with Slurm; the nodes need the same folders, and "
                            "ranks that have their answer do nothing. Then run this command again.\n  {}\n  {}\n",
            text.empty() ? "" : "\n", who, printable(job.commands.torchrun), printable(job.commands.srun));
    }
    return text;
}

Json measureJobJson(const MeasureJob& job, const MeasureTask& task)
{
    const auto& gathered = job.gathered;
    const auto oddJson = [](const scaleout::OddRank& odd) { return Json {{"rank", odd.rank}, {"why", odd.why}}; };
    return {{"schema", "nanscope.measures/1"}, {"instrument", task.instrument},
        {"capture", job.job.captures.front().name}, {"ranks", jsonArray(gathered.ranks, rankJson)},
        {"odd", jsonArray(gathered.comparison.odd, oddJson)}, {"text", gathered.comparison.text},
        {"job",
            {{"id", job.job.id}, {"ranks", gathered.expected}, {"missing", gathered.missing.size()},
                {"missing_ranks", gathered.missing}, {"torchrun", job.commands.torchrun}, {"srun", job.commands.srun},
                {"problems", sentencesOf(gathered.problems)}}}};
}

Result<MeasuringRank> MeasuringRank::join(const JobOptions& options, const MeasureTask& task)
{
    auto launch = TRY(scaleout::launchOf(platform::environmentVariable));
    const auto job = TRY(makeJob(options, task));
    MeasuringRank rank;
    rank.m_folder = options.folder;
    rank.m_job = job.id;
    rank.m_launch = std::move(launch);
    rank.m_node = nodeName();
    if (task.device == "cuda") {
        const auto gpu = gpuOf(rank.m_launch);
        ::setenv(visibleGpus, gpu.c_str(), 1);
        rank.m_device = "cuda:0";
        rank.m_place = "GPU " + gpu;
    }
    const auto part = scaleout::partPath(rank.m_folder, rank.m_launch.rank);
    rank.m_hasAnswer = !scaleout::readPartLog(part, rank.m_job).verdicts.empty();
    return rank;
}

std::string MeasuringRank::name() const
{
    return fmt::format("rank {}, {}, {}", m_launch.rank, m_node, m_place);
}

scaleout::PartStart MeasuringRank::startOn(const Environment& environment) const
{
    return {m_job, m_launch.rank, m_place, environment.engine, environment.hardware};
}

void MeasuringRank::failed(const Error& error) const
{
    auto log = scaleout::PartLog::open(scaleout::partPath(m_folder, m_launch.rank), startOn({}));
    if (log) {
        std::ignore = log->failed(0, sentence(error));
    }
}

Result<void> MeasuringRank::keep(const Environment& environment, double seconds, const Json& answer) const
{
    const auto calls = answer.value("calls", std::int64_t {0});
    return scaleout::PartLog::open(scaleout::partPath(m_folder, m_launch.rank), startOn(environment))
        .and_then([&](scaleout::PartLog log) {
            return log.done(0, calls, seconds, scaleout::keptAnswer(m_node, m_launch.processes, jsonText(answer)));
        });
}

} // namespace nanscope
