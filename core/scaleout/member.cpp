// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/member.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/try.h"
#include "core/platform/childprocess.h"
#include "core/rpc/client.h"
#include "core/scaleout/partlog.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::scaleout {

namespace fs = std::filesystem;

namespace {

using Clock = Ledger::Clock;
using namespace std::chrono_literals;

constexpr auto longestOpening = 120s; ///< for reading what earlier starts have done
constexpr auto betweenLedgerLooks = 100ms;

/// Blocks that the parts in the folder hold, whoever wrote them.
std::vector<std::int64_t> doneBefore(const Job& job, const fs::path& folder)
{
    std::vector<std::int64_t> blocks;
    for (const auto& part : partsIn(folder)) {
        const auto done = readPartLog(part, job.id).blocks;
        blocks.insert(blocks.end(), done.begin(), done.end());
    }
    return blocks;
}

/// A part begins as a copy of the session with the captures, made under another name: what has the part's name is
/// whole.
Result<void> makePart(const fs::path& folder, const fs::path& part)
{
    std::error_code error;
    if (fs::exists(part, error)) {
        return {};
    }
    auto unfinished = part;
    unfinished += ".new";
    fs::copy_file(capturesPath(folder), unfinished, fs::copy_options::overwrite_existing, error);
    if (!error) {
        fs::rename(unfinished, part, error);
    }
    return error ? Result<void>(failure(ErrorKind::io, "the part cannot be begun: " + error.message(), part.string()))
                 : Result<void>();
}

/// Says that the process lives, and cancels the block at hand once the job is cancelled, the store is gone, or another
/// process has done a block that is held for too long here.
class Watch
{
public:
    Watch(Ledger& ledger, std::mutex& ledgerMutex, const MemberOptions& options, const CancelToken& job);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    CancelToken begin(std::int64_t block);
    void end();

    /// Why the store does not answer.
    std::optional<Error> problem();

private:
    void run();
    void beat();
    void look(Clock::time_point now);

    Ledger& m_ledger;
    std::mutex& m_ledgerMutex;
    const MemberOptions& m_options;
    CancelToken m_job;
    std::mutex m_mutex;
    std::condition_variable m_wake;
    bool m_over = false;
    std::int64_t m_block = -1;
    Clock::time_point m_since;
    CancelToken m_cancel;
    std::optional<Error> m_problem;
    std::thread m_thread; ///< last: it uses everything above
};

Watch::Watch(Ledger& ledger, std::mutex& ledgerMutex, const MemberOptions& options, const CancelToken& job)
    : m_ledger(ledger)
    , m_ledgerMutex(ledgerMutex)
    , m_options(options)
    , m_job(job)
    , m_thread([this] { run(); })
{ }

Watch::~Watch()
{
    {
        const std::lock_guard lock(m_mutex);
        m_over = true;
    }
    m_wake.notify_one();
    m_thread.join();
}

CancelToken Watch::begin(std::int64_t block)
{
    const std::lock_guard lock(m_mutex);
    m_block = block;
    m_since = Clock::now();
    m_cancel = CancelToken();
    return m_cancel;
}

void Watch::end()
{
    const std::lock_guard lock(m_mutex);
    m_block = -1;
}

std::optional<Error> Watch::problem()
{
    const std::lock_guard lock(m_mutex);
    return m_problem;
}

void Watch::run()
{
    auto beaten = Clock::now();
    std::unique_lock lock(m_mutex);
    while (!m_wake.wait_for(lock, betweenLedgerLooks, [this] { return m_over; })) {
        if (m_job.cancelled() || m_problem) {
            m_cancel.cancel();
        }
        if (const auto now = Clock::now(); now - beaten >= m_options.beatEvery && !m_problem) {
            beaten = now;
            lock.unlock();
            beat();
            look(now);
            lock.lock();
        }
    }
}

void Watch::beat()
{
    const auto said = m_ledger.beat();
    if (!said) {
        const std::lock_guard lock(m_mutex);
        m_problem = said.error();
    }
}

void Watch::look(Clock::time_point now)
{
    std::unique_lock lock(m_mutex);
    const auto block = m_block;
    const bool late = block >= 0 && now - m_since > m_options.patience;
    lock.unlock();
    if (!late) {
        return;
    }
    const std::lock_guard ledgerLock(m_ledgerMutex);
    const auto done = m_ledger.isDone(block, now);
    lock.lock();
    if (done && *done && block == m_block) {
        m_cancel.cancel();
    }
}

/// What a block came to.
struct Done
{
    std::int64_t cells = 0;
    std::string verdict; ///< of a diagnosis
};

/// The process that does the blocks, started again where it was lost.
class Helper
{
public:
    virtual ~Helper() = default;

    /// Starts it, and says what it computes with.
    virtual Result<PartStart> begin(const CancelToken& cancel) = 0;
    virtual Result<Done> run(const Block& block, const JobContext& context) = 0;
};

/// Replays what a sweep asks for.
class ReplayService : public Helper
{
public:
    ReplayService(const Job& job, const MemberOptions& options)
        : m_job(job)
        , m_options(options)
    { }

    Result<PartStart> begin(const CancelToken& cancel) override;
    Result<Done> run(const Block& block, const JobContext& context) override;

private:
    Result<void> start(const CancelToken& cancel);

    const Job& m_job;
    const MemberOptions& m_options;
    std::optional<rpc::ServiceClient> m_client;
};

Result<void> ReplayService::start(const CancelToken& cancel)
{
    if (m_client) {
        return {};
    }
    return rpc::ServiceClient::start(m_options.service, cancel).map([this](rpc::ServiceClient client) {
        m_client = std::move(client);
    });
}

Result<PartStart> ReplayService::begin(const CancelToken& cancel)
{
    TRY(makePart(m_options.folder, partPath(m_options.folder, m_options.rank)));
    TRY(start(cancel));
    const auto& info = m_client->info();
    const auto device = std::find_if(
        info.devices.begin(), info.devices.end(), [&](const auto& known) { return known.first == m_options.device; });
    if (device == info.devices.end()) {
        return failure(ErrorKind::usage, fmt::format("this machine has no device {}", m_options.device));
    }
    return PartStart {m_job.id, m_options.rank, m_options.device, info.engine, device->second};
}

Result<Done> ReplayService::run(const Block& block, const JobContext& context)
{
    TRY(start(context.cancel));
    Done result;
    const auto session = partPath(m_options.folder, m_options.rank).string();
    auto done = m_client->sweep(
        requestOf(m_job, block, m_options.device), session, context, [&](const Cell&) { ++result.cells; });
    if (!done) {
        m_client.reset();
    }
    return done.map([&] { return result; });
}

/// Judges the captures of a diagnosis: `nanscope`, which is told names of captures as lines and answers with a line
/// each.
class JudgingProgram : public Helper
{
public:
    JudgingProgram(const Job& job, const MemberOptions& options)
        : m_job(job)
        , m_options(options)
    { }

    Result<PartStart> begin(const CancelToken& cancel) override;
    Result<Done> run(const Block& block, const JobContext& context) override;

private:
    using Json = nlohmann::ordered_json;

    Result<void> start(const CancelToken& cancel);
    Result<Json> answer(const CancelToken& cancel);

    const Job& m_job;
    const MemberOptions& m_options;
    std::optional<platform::ChildProcess> m_process;
    PartStart m_start;
};

Result<void> JudgingProgram::start(const CancelToken& cancel)
{
    if (m_process) {
        return {};
    }
    // Its words come from a file: none of the options of `diagnose` names a program to be started.
    std::vector<std::string> arguments {"diagnose"};
    arguments.insert(arguments.end(), m_job.judging.begin(), m_job.judging.end());
    arguments.insert(arguments.end(), {"--device", m_options.device, "--as-told"});
    m_process = TRY(platform::ChildProcess::start({m_options.nanscope, std::move(arguments), {}}));
    return answer(cancel).map([this](const Json& hello) {
        m_start = {m_job.id, m_options.rank, m_options.device, hello.value("engine", std::string()),
            hello.value("hardware", std::string())};
    });
}

Result<PartStart> JudgingProgram::begin(const CancelToken& cancel)
{
    return start(cancel).map([this] { return m_start; });
}

Result<nlohmann::ordered_json> JudgingProgram::answer(const CancelToken& cancel)
{
    using Got = platform::ChildProcess::Got;
    std::string line;
    while (!cancel.cancelled()) {
        const auto got = m_process->readLine(line, Clock::now() + betweenLedgerLooks);
        if (!got || *got == Got::end) {
            break;
        }
        auto json = *got == Got::line ? parseBounded(line, 2, 64) : Json();
        if (json.is_object() && json.contains("error")) {
            m_process.reset(); // its device may be lost: the next one begins anew
            return failure(ErrorKind::io, json.value("error", std::string()), json.value("path", std::string()));
        }
        if (json.is_object()) {
            return json;
        }
    }
    const auto ending = cancel.cancelled() ? m_process->kill() : m_process->end(Clock::now() + 2s);
    const auto why = m_process->errors();
    m_process.reset();
    return failure(cancel.cancelled() ? ErrorKind::cancelled : ErrorKind::io,
        fmt::format("the program that judges {}{}{}", ending, why.empty() ? "" : ": ", why),
        m_options.nanscope.string());
}

Result<Done> JudgingProgram::run(const Block& block, const JobContext& context)
{
    TRY(start(context.cancel));
    constexpr auto takesLineWithin = 10s;
    // A program that is gone says why where its answer is waited for.
    std::ignore = m_process->writeLine(m_job.captures[block.capture].name, Clock::now() + takesLineWithin);
    return answer(context.cancel).map([](const Json& json) { return Done {1, json.value("verdict", std::string())}; });
}

class Member
{
public:
    Member(const Job& job, Ledger ledger, PartLog log, const MemberOptions& options, const JobContext& context);

    Result<MemberReport> run(Helper& helper);

private:
    Result<void> runBlock(Helper& helper, std::int64_t block);
    Result<Done> tried(Helper& helper, const Block& block, const CancelToken& cancel);
    Result<void> keep(std::int64_t block, const Result<Done>& result, double seconds);
    Result<Ledger::Next> next();
    Result<void> stopped();
    void pause(std::chrono::milliseconds length) const;
    void waitForOthers();
    void report(const std::string& message) const;

    template <class Work>
    auto locked(Work work)
    {
        const std::lock_guard lock(m_mutex);
        return work(m_ledger);
    }

    const Job& m_job;
    std::vector<Block> m_blocks;
    Ledger m_ledger;
    std::mutex m_mutex; ///< of the ledger
    PartLog m_log;
    const MemberOptions& m_options;
    const JobContext& m_context;
    MemberReport m_report;
    int m_failedInARow = 0;
    Watch m_watch; ///< last: its thread uses what is above
};

Member::Member(const Job& job, Ledger ledger, PartLog log, const MemberOptions& options, const JobContext& context)
    : m_job(job)
    , m_blocks(blocksOf(job))
    , m_ledger(std::move(ledger))
    , m_log(std::move(log))
    , m_options(options)
    , m_context(context)
    , m_watch(m_ledger, m_mutex, options, context.cancel)
{ }

Result<MemberReport> Member::run(Helper& helper)
{
    for (;;) {
        const auto next = TRY(stopped().and_then([this] { return this->next(); }));
        if (next.turn == Ledger::Turn::over) {
            break;
        }
        if (next.turn == Ledger::Turn::wait) {
            pause(m_options.lookEvery);
            continue;
        }
        if (auto done = runBlock(helper, next.block); !done) {
            // What it cannot do, others may. Where they are not told, they find out by its silence.
            locked([](Ledger& ledger) { return ledger.leave(); });
            return tl::make_unexpected(done.error());
        }
    }
    return locked([](Ledger& ledger) { return ledger.leave(); }).map([this] {
        waitForOthers();
        return m_report;
    });
}

Result<Ledger::Next> Member::next()
{
    return locked([](Ledger& ledger) { return ledger.next(Clock::now()); });
}

Result<void> Member::stopped()
{
    if (m_context.cancel.cancelled()) {
        return failure(ErrorKind::cancelled, "the process was stopped; start the job again, and it goes on");
    }
    if (const auto problem = m_watch.problem()) {
        return tl::make_unexpected(*problem);
    }
    return {};
}

Result<void> Member::runBlock(Helper& helper, std::int64_t number)
{
    const auto& block = m_blocks[static_cast<std::size_t>(number)];
    const auto& capture = m_job.captures[block.capture];
    report(m_job.judges() ? capture.name
                          : fmt::format("{}, {}", capture.name, capture.request.variants[block.firstVariant]));
    const auto begun = Clock::now();
    const auto cancel = m_watch.begin(number);
    const auto result = tried(helper, block, cancel);
    m_watch.end();
    TRY(stopped());
    if (cancel.cancelled()) {
        return {}; // another process has done it meanwhile
    }
    return keep(number, result, std::chrono::duration<double>(Clock::now() - begun).count());
}

/// What a helper died of once may have been another's doing; what it died of twice is the block's.
Result<Done> Member::tried(Helper& helper, const Block& block, const CancelToken& cancel)
{
    const auto& capture = m_job.captures[block.capture].request.captures.front();
    if (!tensorfile::isThere(capture)) {
        return failure(ErrorKind::io, "the capture does not lie there as this machine sees it", capture.path);
    }
    JobContext context;
    context.cancel = cancel;
    auto done = helper.run(block, context);
    return done || cancel.cancelled() ? done : helper.run(block, context);
}

Result<void> Member::keep(std::int64_t block, const Result<Done>& result, double seconds)
{
    if (result) {
        m_failedInARow = 0;
        ++m_report.blocks;
        m_report.cells += result->cells;
        return m_log.done(block, result->cells, seconds, result->verdict).and_then([&] {
            return locked([&](Ledger& ledger) { return ledger.finish(block); });
        });
    }
    ++m_report.failed;
    auto said = m_log.failed(block, sentence(result.error())).and_then([&] {
        return locked([&](Ledger& ledger) { return ledger.fail(block); });
    });
    if (said && ++m_failedInARow == mostInARow) {
        auto error = result.error();
        error.what =
            fmt::format("{} blocks failed one after the other, so this process ends: {}", mostInARow, error.what);
        return tl::make_unexpected(std::move(error));
    }
    return said;
}

void Member::pause(std::chrono::milliseconds length) const
{
    const auto until = Clock::now() + length;
    while (Clock::now() < until && !m_context.cancel.cancelled()) {
        std::this_thread::sleep_for(std::min<std::chrono::milliseconds>(length, betweenLedgerLooks));
    }
}

/// The store ends with the process that keeps it.
void Member::waitForOthers()
{
    while (m_options.keepsStore && stopped()) {
        const auto gone = locked([](Ledger& ledger) { return ledger.othersAreGone(Clock::now()); });
        if (!gone || *gone) {
            return;
        }
        pause(m_options.lookEvery);
    }
}

void Member::report(const std::string& message) const
{
    m_context.progress({m_job.judges() ? "diagnose" : "sweep", m_job.judges() ? "judging" : "replaying",
        m_report.blocks, static_cast<std::int64_t>(m_blocks.size()), "blocks", message});
}

Result<Ledger> joinLedger(const Job& job, KeyValueStore& store, const MemberOptions& options, const CancelToken& cancel)
{
    LedgerOptions ledger {fmt::format("nanscope/{}/{}/", job.id, options.start),
        static_cast<std::int64_t>(blocksOf(job).size()), options.silence, options.patience};
    const auto until = Clock::now() + longestOpening;
    const auto pause = [&] {
        std::this_thread::sleep_for(betweenLedgerLooks);
        return Clock::now() < until && !cancel.cancelled();
    };
    return Ledger::join(
        store, std::move(ledger), [&] { return doneBefore(job, options.folder); }, pause);
}

} // namespace

Result<MemberReport> work(const Job& job, KeyValueStore& store, const MemberOptions& options, const JobContext& context)
{
    if (job.measures()) {
        return failure(ErrorKind::usage,
            "what is measured here names a function to be run, which no file may; start the ranks with the lines that "
            "`nanscope measure .. --job` prints",
            options.folder.string());
    }
    std::unique_ptr<Helper> helper;
    if (job.judges()) {
        helper = std::make_unique<JudgingProgram>(job, options);
    } else {
        helper = std::make_unique<ReplayService>(job, options);
    }
    const auto start = TRY(helper->begin(context.cancel));
    auto log = TRY(PartLog::open(partPath(options.folder, options.rank), start));
    auto ledger = TRY(joinLedger(job, store, options, context.cancel));
    Member member(job, std::move(ledger), std::move(log), options, context);
    return member.run(*helper);
}

} // namespace nanscope::scaleout
