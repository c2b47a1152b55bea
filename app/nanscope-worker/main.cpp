// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/try.h"
#include "core/platform/platform.h"
#include "core/replay/variants/variantjson.h"
#include "core/rpc/deviceserver.h"
#include "core/rpc/server.h"
#include "core/scaleout/job.h"
#include "core/scaleout/launch.h"
#include "core/scaleout/member.h"
#include "core/scaleout/rankagreement.h"
#include "core/scaleout/reach.h"
#include "gpu/agreement.h"
#include "gpu/gpu.h"
#include "gpu/scaleout/c10dstore.h"
#include "gpu/scaleout/collective.h"

namespace nanscope {

namespace {

constexpr int exitDone = 0;
constexpr int exitInternal = 1;
constexpr int exitUsage = 2;
constexpr int exitPart = 3;
constexpr int exitNothing = 4;

/// Of a store that lives; a busy one may take a while.
constexpr std::chrono::seconds shortestAnswer {5};

constexpr std::string_view help =
    R"(nanscope-worker: replays on the torch it was built with, for nanscope and its window

  nanscope-worker serve      takes requests as JSON lines on standard input and answers on standard output
  nanscope-worker serve --device D
                             only runs programs of replays on this device, for a process that judges
  nanscope-worker env        prints torch, CUDA and the devices found as one JSON object
  nanscope-worker agree CAPTURE --variant V [--precision P] [--repeats N] [--variant-file F]
                             replays on every GPU here and says as one JSON object whether they give the same bits;
                             started by torchrun or srun: one device of each rank, and rank 0 says it. It waits for the
                             others for 60 s, or --patience SECONDS, and names those that are missing
  nanscope-worker reach [--patience SECONDS] [--mib N]
                             started by torchrun or srun: sums N MiB (64) over all ranks by NCCL, on CPUs one number in
                             their store, and rank 0 says as one JSON object whether all came through, and which rank
                             never came, stopped in it, or has a wrong sum. It waits for 60 s, or SECONDS
  nanscope-worker join JOB [--device D] [--silence SECONDS]
                             takes part in a job that nanscope sweep --job or diagnose --job has made, beside others that torchrun or srun
                             started, or alone; --device cuda is the GPU of its local rank. A process that is not heard
                             of for 60 s, or for SECONDS, is taken for dead, and its work is done by others
  nanscope-worker --version
)";

using Json = nlohmann::ordered_json;

void print(const Json& answer)
{
    fmt::print("{}\n", jsonText(answer));
}

int fail(const char* schema, const Error& error)
{
    const int status = error.kind == ErrorKind::internal || error.kind == ErrorKind::cancelled ? exitInternal
        : error.kind == ErrorKind::usage                                                       ? exitUsage
                                                                                               : exitNothing;
    print({{"schema", schema}, {"error", error.what}, {"path", error.path}, {"status", status}});
    return status;
}

Json deviceJson(const replay::DeviceHashes& device)
{
    auto hashes = Json::array();
    for (const auto& hash : device.hashes) {
        hashes.push_back(hash.hex());
    }
    return {{"name", device.name}, {"hardware", device.hardware}, {"uuid", orNull(device.uuid)},
        {"hashes", std::move(hashes)}};
}

Json answerJson(const GpuAgreement& answer)
{
    auto devices = Json::array();
    for (const auto& device : answer.agreement.devices) {
        devices.push_back(deviceJson(device));
    }
    Json nccl = nullptr;
    if (answer.range) {
        nccl = {{"version", ncclVersion()}, {"least", answer.range->least.hex()}, {"most", answer.range->most.hex()},
            {"equal", answer.range->equal()}};
    }
    auto notes = Json::array();
    for (const auto& device : answer.agreement.devices) {
        if (!device.problem.empty()) {
            notes.push_back(fmt::format("{}: {}", device.name, device.problem));
        }
    }
    for (const auto& note : answer.notes) {
        notes.push_back(note);
    }
    const auto& agree = answer.agreement.agree;
    return {{"schema", "nanscope.agreement/1"}, {"agree", orNull(agree)}, {"odd", answer.agreement.odd},
        {"text", answer.agreement.text}, {"devices", std::move(devices)}, {"nccl", nccl}, {"notes", std::move(notes)}};
}

/// What `nanscope-worker agree` was given.
struct AgreeOptions
{
    replay::AgreementRequest request;
    int patience = 60; ///< seconds that rank 0 waits for the others
};

Result<AgreeOptions> parse(int argc, char** argv)
{
    CLI::App app;
    AgreeOptions options;
    auto& request = options.request;
    std::string precision;
    std::vector<std::string> variantFiles;
    app.add_option("capture", request.capture.path)->required();
    app.add_option("--variant", request.variant)->required();
    app.add_option("--precision", precision);
    app.add_option("--repeats", request.repeats)->check(CLI::Range(1, 1000));
    app.add_option("--variant-file", variantFiles)->allow_extra_args(false);
    app.add_option("--patience", options.patience)->check(CLI::Range(1, 86400));
    try {
        app.parse(argc, argv);
    } catch (const CLI::Error& error) {
        return failure(ErrorKind::usage, error.what());
    }
    for (const auto& file : variantFiles) {
        TRY(replay::addVariantFile(request.catalogue, file));
    }
    if (!precision.empty()) {
        request.precision = parsePrecision(precision);
        if (!request.precision) {
            return failure(ErrorKind::usage, fmt::format("there is no precision '{}'", precision));
        }
    }
    return options;
}

CancelToken& interruptToken()
{
    static CancelToken token;
    return token;
}

extern "C" void onInterrupt(int)
{
    interruptToken().cancel();
}

/// torchrun and Slurm send SIGTERM before they kill.
void heedInterrupts()
{
    interruptToken(); // made before a handler needs it
    std::signal(SIGINT, onInterrupt);
    std::signal(SIGTERM, onInterrupt);
}

int gpuCount()
{
    return static_cast<int>(torchInfo().devices.size()) - 1;
}

/// "cuda" is the GPU of the local rank; srun may show each process one GPU only, which is then everybody's first.
std::string deviceOf(const std::string& wanted, const scaleout::Launch& launch)
{
    const int gpus = gpuCount();
    return wanted == "cuda" && gpus > 0 ? fmt::format("cuda:{}", launch.localRank % gpus) : wanted;
}

Json answerJson(const scaleout::RankAgreement& answer, int processes)
{
    auto json = answerJson(GpuAgreement {answer.agreement, {}, {}});
    json["processes"] = processes;
    json["missing"] = answer.missing;
    if (!answer.missing.empty()) {
        json["notes"].push_back(fmt::format("no word of rank {}", fmt::join(answer.missing, ", ")));
    }
    return json;
}

std::string uuidOf(const std::string& name)
{
    const auto info = torchInfo();
    const auto device = std::ranges::find(info.devices, name, &TorchDeviceInfo::name);
    return device == info.devices.end() ? std::string() : device->uuid;
}

/// Nothing that any device gave.
bool isEmpty(const replay::Agreement& agreement)
{
    return std::ranges::all_of(
        agreement.devices, [](const replay::DeviceHashes& device) { return device.hashes.empty(); });
}

/// What this rank's device gives, or why it gives nothing: a rank that ended with that would end the others, too, under
/// torchrun.
Result<replay::DeviceHashes> replaysHere(const AgreeOptions& options, const scaleout::Launch& launch)
{
    const auto device = deviceOf(gpuCount() > 0 ? "cuda" : "cpu", launch);
    auto mine = replay::replaysOn(device, options.request, torchDevices(), interruptToken());
    if (!mine && mine.error().kind != ErrorKind::cancelled) {
        const auto& [kind, what, path] = mine.error();
        mine = replay::DeviceHashes {device, {}, {}, {}, path.empty() ? what : what + ": " + path};
    }
    return std::move(mine).map([&](replay::DeviceHashes hashes) {
        hashes.uuid = uuidOf(device);
        return hashes;
    });
}

/// One of the ranks that torchrun or srun started: rank 0 prints the answer.
int agreeAsRank(const AgreeOptions& options, const scaleout::Launch& launch)
{
    heedInterrupts();
    const std::chrono::seconds patience(options.patience);
    auto store = connectStore(launch, {patience, patience}, interruptToken());
    const auto mine = store ? replaysHere(options, launch) : tl::make_unexpected(store.error());
    const auto answer = mine ? scaleout::agreeOverRanks(*mine, launch, **store, patience, interruptToken())
                             : tl::make_unexpected(mine.error());
    if (!answer) {
        return fail("nanscope.agreement/1", answer.error());
    }
    if (launch.rank == 0 || !answer->missing.empty()) {
        print(answerJson(*answer, launch.processes));
    }
    return launch.rank == 0 && isEmpty(answer->agreement) ? exitNothing : exitDone;
}

/// nanscope-worker agree CAPTURE --variant V [--precision P] [--repeats N] [--variant-file F]: prints one line of JSON,
/// also where it fails, and returns the exit status: 0 done, 2 wrong usage, 4 nothing to compare, 1 anything else.
int runAgree(int argc, char** argv)
{
    const auto options = parse(argc, argv);
    const auto launch =
        options ? scaleout::launchOf(platform::environmentVariable) : tl::make_unexpected(options.error());
    if (!launch) {
        return fail("nanscope.agreement/1", launch.error());
    }
    if (!launch->alone()) {
        return agreeAsRank(*options, *launch);
    }
    const auto& request = options->request;
    const auto answer = agreeOnGpus(request);
    if (!answer) {
        return fail("nanscope.agreement/1", answer.error());
    }
    print(answerJson(*answer));
    const int status = isEmpty(answer->agreement) ? exitNothing : exitDone;
    if (answer->hangs) {
        std::fflush(stdout);
        std::_Exit(status);
    }
    return status;
}

/// What `nanscope-worker reach` was given.
struct ReachOptions
{
    int patience = 60; ///< seconds
    int mebibytes = 64;
};

Json answerJson(const scaleout::Reach& reach, const std::string& library, int processes)
{
    auto failed = Json::array();
    for (const auto& [rank, why] : reach.failed) {
        failed.push_back({{"rank", rank}, {"why", why}});
    }
    const auto& slowest = reach.slowest;
    return {{"schema", "nanscope.reach/1"}, {"reached", reach.whole()}, {"text", reach.text}, {"library", library},
        {"processes", processes}, {"missing", reach.missing}, {"silent", reach.silent}, {"failed", std::move(failed)},
        {"wrong", reach.wrong}, {"seconds", slowest ? Json(slowest->seconds) : Json(nullptr)},
        {"bytes", slowest ? Json(slowest->bytes) : Json(nullptr)}};
}

int reachAsRank(const ReachOptions& options, const scaleout::Launch& launch)
{
    heedInterrupts();
    const std::chrono::seconds patience(options.patience);
    auto store = connectStore(launch, {patience, patience}, interruptToken());
    if (!store) {
        return fail("nanscope.reach/1", store.error());
    }
    const auto device = deviceOf(gpuCount() > 0 ? "cuda" : "cpu", launch);
    RankSum sum(launch, device, std::int64_t {options.mebibytes} << 20, patience, interruptToken());
    const auto reach = scaleout::reachAll(launch, **store, std::ref(sum), patience, interruptToken());
    const int status = !reach ? fail("nanscope.reach/1", reach.error()) : reach->whole() ? exitDone : exitPart;
    if (reach && !reach->text.empty()) {
        print(answerJson(*reach, sum.library(), launch.processes));
    }
    if (sum.hangs()) {
        std::fflush(stdout);
        std::_Exit(status);
    }
    return status;
}

/// Prints one line of JSON where it is rank 0 or fails, and returns the exit status as for agree; 3 where a rank was
/// not reached.
int runReach(int argc, char** argv)
{
    CLI::App app;
    ReachOptions options;
    app.add_option("--patience", options.patience)->check(CLI::Range(1, 86400));
    app.add_option("--mib", options.mebibytes)->check(CLI::Range(1, 16384));
    try {
        app.parse(argc, argv);
    } catch (const CLI::Error& error) {
        return fail("nanscope.reach/1", {ErrorKind::usage, error.what(), {}});
    }
    const auto launch = scaleout::launchOf(platform::environmentVariable);
    if (!launch) {
        return fail("nanscope.reach/1", launch.error());
    }
    if (launch->alone()) {
        return fail("nanscope.reach/1",
            {ErrorKind::usage, "there is one process only: start it by torchrun or srun, on each rank", {}});
    }
    return reachAsRank(options, *launch);
}

/// What `nanscope-worker join` was given.
struct JoinOptions
{
    std::string folder;
    std::string device; ///< empty: as the job has it
    std::int64_t silence = std::chrono::seconds(scaleout::LedgerOptions().silence).count();
};

scaleout::MemberOptions memberOptions(
    const JoinOptions& given, const scaleout::Job& job, const scaleout::Launch& launch)
{
    scaleout::MemberOptions options;
    options.folder = given.folder;
    options.rank = launch.rank;
    options.device = deviceOf(given.device.empty() ? job.device : given.device, launch);
    options.service = {platform::programFolder() / "nanscope-worker", {"serve"}, {{"OMP_WAIT_POLICY", "passive"}}};
    options.nanscope = platform::programFolder() / "nanscope";
    options.start = launch.start;
    options.keepsStore = launch.keepsStore && !launch.alone();
    options.silence = std::chrono::seconds(given.silence);
    options.beatEvery = std::min<std::chrono::milliseconds>(options.beatEvery, options.silence / 4);
    return options;
}

Result<scaleout::MemberReport> join(const JoinOptions& given)
{
    const auto job = TRY(scaleout::readJob(given.folder));
    const auto launch = TRY(scaleout::launchOf(platform::environmentVariable));
    StorePatience patience;
    patience.untilAnswer = std::max<std::chrono::seconds>(std::chrono::seconds(given.silence), shortestAnswer);
    auto store = TRY(connectStore(launch, patience, interruptToken()));
    JobContext context;
    context.cancel = interruptToken();
    return scaleout::work(job, *store, memberOptions(given, job, launch), context);
}

/// Prints one line of JSON when it ends, also where it fails, and returns the exit status as for agree.
int runJoin(int argc, char** argv)
{
    CLI::App app;
    JoinOptions options;
    app.add_option("job", options.folder)->required();
    app.add_option("--device", options.device);
    app.add_option("--silence", options.silence)->check(CLI::Range(1, 86400));
    try {
        app.parse(argc, argv);
    } catch (const CLI::Error& error) {
        return fail("nanscope.member/1", {ErrorKind::usage, error.what(), {}});
    }
    heedInterrupts();
    const auto report = join(options);
    if (!report) {
        return fail("nanscope.member/1", report.error());
    }
    print({{"schema", "nanscope.member/1"}, {"blocks", report->blocks}, {"cells", report->cells},
        {"failed", report->failed}});
    return exitDone;
}

/// What has started this process starts another one, or goes on without the GPU; the reason is in the last line.
void endWithoutGpu(const Error& error)
{
    fmt::print(stderr, "{}\n", sentence(error));
    std::fflush(stderr);
    // Destructors would call CUDA, and may hang in it.
    std::_Exit(exitInternal);
}

/// What has asked reads why there is no such device in place of a first answer.
int runDevice(const std::string& name)
{
    const auto device = makeTorchDevice(name, endWithoutGpu);
    if (!device) {
        print({{"error", sentence(device.error())}, {"kind", static_cast<int>(device.error().kind)}});
        return exitUsage;
    }
    platform::ignoreBrokenPipes();
    return rpc::serveDevice(std::cin, std::cout, **device);
}

Json environmentJson()
{
    const auto info = torchInfo();
    auto devices = Json::array();
    for (const auto& device : info.devices) {
        devices.push_back({{"name", device.name}, {"hardware", device.hardware}, {"capability", device.capability},
            {"memory_bytes", device.memoryBytes}, {"uuid", orNull(device.uuid)}});
    }
    return {{"schema", "nanscope.worker/1"}, {"nanscope", NANSCOPE_VERSION}, {"torch", info.torch},
        {"cuda_runtime", info.cudaRuntime}, {"cuda_driver", info.cudaDriver}, {"scan_kernel", info.scanKernel},
        {"threads", info.threads}, {"devices", devices}, {"notes", info.notes}};
}

bool asksForHelp(std::string_view word)
{
    return word == "--help" || word == "-h";
}

} // namespace

} // namespace nanscope

int main(int argc, char** argv)
{
    nanscope::platform::failAtFileSizeLimit();
    if (std::any_of(argv + 1, argv + argc, nanscope::asksForHelp)) {
        fmt::print("{}", nanscope::help);
        return nanscope::exitDone;
    }
    if (argc > 1 && std::string_view(argv[1]) == "agree") {
        return nanscope::runAgree(argc - 1, argv + 1);
    }
    if (argc > 1 && std::string_view(argv[1]) == "reach") {
        return nanscope::runReach(argc - 1, argv + 1);
    }
    if (argc > 1 && std::string_view(argv[1]) == "join") {
        return nanscope::runJoin(argc - 1, argv + 1);
    }
    if (argc == 4 && std::string_view(argv[1]) == "serve" && std::string_view(argv[2]) == "--device") {
        return nanscope::runDevice(argv[3]);
    }
    const std::string_view command = argc == 2 ? argv[1] : "";
    if (command == "serve") {
        return nanscope::rpc::serveStandardStreams(
            nanscope::torchServiceInfo(), nanscope::torchDevices(nanscope::endWithoutGpu));
    }
    if (command == "env") {
        fmt::print("{}\n", nanscope::jsonText(nanscope::environmentJson(), 2));
        return 0;
    }
    if (command == "--version") {
        fmt::print("nanscope-worker {} with torch {}\n", NANSCOPE_VERSION, nanscope::torchInfo().torch);
        return 0;
    }
    fmt::print(stderr, "{}", nanscope::help);
    return nanscope::exitUsage;
}
