// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/member.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/rpc/client.h"
#include "core/scaleout/partlog.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::scaleout {

namespace fs = std::filesystem;

namespace {

using Clock = Ledger::Clock;
using namespace std::chrono_literals;

constexpr auto longestOpening = 120s; ///< for reading what earlier starts have done
constexpr auto betweenLooks = 100ms;

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
    while (!m_wake.wait_for(lock, betweenLooks, [this] { return m_over; })) {
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

/// The service that replays, started again where it was lost.
class Service
{
public:
    explicit Service(const MemberOptions& options)
        : m_options(options)
    { }

    /// How many cells it has kept.
    Result<std::int64_t> replay(const replay::SweepRequest& request, const JobContext& context);
    Result<rpc::ServiceInfo> info(const CancelToken& cancel);

private:
    Result<void> start(const CancelToken& cancel);

    const MemberOptions& m_options;
    std::optional<rpc::ServiceClient> m_client;
};

Result<void> Service::start(const CancelToken& cancel)
{
    if (m_client) {
        return {};
    }
    return rpc::ServiceClient::start(m_options.service, cancel).map([this](rpc::ServiceClient client) {
        m_client = std::move(client);
    });
}

Result<rpc::ServiceInfo> Service::info(const CancelToken& cancel)
{
    return start(cancel).map([this] { return m_client->info(); });
}

Result<std::int64_t> Service::replay(const replay::SweepRequest& request, const JobContext& context)
{
    if (auto ready = start(context.cancel); !ready) {
        return tl::make_unexpected(ready.error());
    }
    std::int64_t cells = 0;
    const auto session = partPath(m_options.folder, m_options.rank).string();
    auto done = m_client->sweep(request, session, context, [&](const Cell&) { ++cells; });
    if (!done) {
        m_client.reset();
    }
    return done.map([&] { return cells; });
}

class Member
{
public:
    Member(const Job& job, Ledger ledger, PartLog log, const MemberOptions& options, const JobContext& context);

    Result<MemberReport> run(Service& service);

private:
    Result<void> runBlock(Service& service, std::int64_t block);
    Result<std::int64_t> replay(Service& service, const replay::SweepRequest& request, const CancelToken& cancel);
    Result<void> keep(std::int64_t block, const Result<std::int64_t>& cells, double seconds);
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

Result<MemberReport> Member::run(Service& service)
{
    for (;;) {
        const auto next = stopped().and_then([this] { return this->next(); });
        if (!next) {
            return tl::make_unexpected(next.error());
        }
        if (next->turn == Ledger::Turn::over) {
            break;
        }
        if (next->turn == Ledger::Turn::wait) {
            pause(m_options.lookEvery);
            continue;
        }
        if (auto done = runBlock(service, next->block); !done) {
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

Result<void> Member::runBlock(Service& service, std::int64_t block)
{
    const auto& [capture, first, variants] = m_blocks[static_cast<std::size_t>(block)];
    report(fmt::format("{}, {}", m_job.captures[capture].name, m_job.captures[capture].request.variants[first]));
    const auto request = requestOf(m_job, m_blocks[static_cast<std::size_t>(block)], m_options.device);
    const auto begun = Clock::now();
    const auto cancel = m_watch.begin(block);
    const auto cells = replay(service, request, cancel);
    m_watch.end();
    if (auto still = stopped(); !still) {
        return still;
    }
    if (cancel.cancelled()) {
        return {}; // another process has done it meanwhile
    }
    return keep(block, cells, std::chrono::duration<double>(Clock::now() - begun).count());
}

/// What a service died of once may have been another's doing; what it died of twice is the block's.
Result<std::int64_t> Member::replay(Service& service, const replay::SweepRequest& request, const CancelToken& cancel)
{
    if (const auto& capture = request.captures.front(); !tensorfile::isThere(capture)) {
        return failure(ErrorKind::io, "the capture does not lie there as this machine sees it", capture.path);
    }
    JobContext context;
    context.cancel = cancel;
    auto cells = service.replay(request, context);
    return cells || cancel.cancelled() ? cells : service.replay(request, context);
}

Result<void> Member::keep(std::int64_t block, const Result<std::int64_t>& cells, double seconds)
{
    if (cells) {
        m_failedInARow = 0;
        ++m_report.blocks;
        m_report.cells += *cells;
        return m_log.done(block, *cells, seconds).and_then([&] {
            return locked([&](Ledger& ledger) { return ledger.finish(block); });
        });
    }
    ++m_report.failed;
    auto said = m_log.failed(block, sentence(cells.error())).and_then([&] {
        return locked([&](Ledger& ledger) { return ledger.fail(block); });
    });
    if (said && ++m_failedInARow == mostInARow) {
        auto error = cells.error();
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
        std::this_thread::sleep_for(std::min<std::chrono::milliseconds>(length, betweenLooks));
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
    m_context.progress(
        {"sweep", "replay", m_report.blocks, static_cast<std::int64_t>(m_blocks.size()), "blocks", message});
}

Result<Ledger> joinLedger(const Job& job, KeyValueStore& store, const MemberOptions& options, const CancelToken& cancel)
{
    LedgerOptions ledger {fmt::format("nanscope/{}/{}/", job.id, options.start),
        static_cast<std::int64_t>(blocksOf(job).size()), options.silence, options.patience};
    const auto until = Clock::now() + longestOpening;
    const auto pause = [&] {
        std::this_thread::sleep_for(betweenLooks);
        return Clock::now() < until && !cancel.cancelled();
    };
    return Ledger::join(
        store, std::move(ledger), [&] { return doneBefore(job, options.folder); }, pause);
}

} // namespace

Result<MemberReport> work(const Job& job, KeyValueStore& store, const MemberOptions& options, const JobContext& context)
{
    const auto part = partPath(options.folder, options.rank);
    if (const auto made = makePart(options.folder, part); !made) {
        return tl::make_unexpected(made.error());
    }
    Service service(options);
    const auto info = service.info(context.cancel);
    if (!info) {
        return tl::make_unexpected(info.error());
    }
    const auto device = std::find_if(
        info->devices.begin(), info->devices.end(), [&](const auto& known) { return known.first == options.device; });
    if (device == info->devices.end()) {
        return failure(ErrorKind::usage, fmt::format("this machine has no device {}", options.device));
    }
    auto log = PartLog::open(part, {job.id, options.rank, options.device, info->engine, device->second});
    if (!log) {
        return tl::make_unexpected(log.error());
    }
    auto ledger = joinLedger(job, store, options, context.cancel);
    if (!ledger) {
        return tl::make_unexpected(ledger.error());
    }
    Member member(job, std::move(*ledger), std::move(*log), options, context);
    return member.run(service);
}

} // namespace nanscope::scaleout
