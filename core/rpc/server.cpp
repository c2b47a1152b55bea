// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <iostream>
#include <istream>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <streambuf>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/base/try.h"
#include "core/json/records.h"
#include "core/platform/platform.h"
#include "core/platform/sharedmemory.h"
#include "core/replay/variants/sessionvariants.h"
#include "core/rpc/answers.h"
#include "core/rpc/queue.h"
#include "core/rpc/requests.h"
#include "core/rpc/storedcells.h"
#include "core/session/session.h"

namespace nanscope::rpc {

namespace {

/// The part of the service that answers with pictures. It keeps the replays of the last two films whose frames were
/// asked for (FrameReplay says how large they may be), and the blocks of its answers until they are fetched. One thread
/// at a time.
class PictureService
{
public:
    explicit PictureService(const replay::DeviceFactory& devices);

    /// Answers without their id.
    Result<nlohmann::ordered_json> film(const replay::FilmRequest& request, const JobContext& job);
    Result<nlohmann::ordered_json> frame(const replay::FrameRequest& request, const JobContext& job);

    /// Gives the memory of the kept replays back, for work that needs its own.
    void forget() { m_frames.forget(); }

    /// Lets go of the blocks that were fetched; true while others wait.
    bool tidy();

private:
    nlohmann::ordered_json keep(PackedAnswer answer);

    const replay::DeviceFactory& m_devices;
    replay::FrameReplay m_frames;
    std::deque<platform::SharedBlock> m_blocks;
};

PictureService::PictureService(const replay::DeviceFactory& devices)
    : m_devices(devices)
    , m_frames(devices)
{ }

Result<nlohmann::ordered_json> PictureService::film(const replay::FilmRequest& request, const JobContext& job)
{
    // Two workspaces of its own are enough to ask for, without those of kept replays.
    forget();
    return replay::replayFilm(request, m_devices, job).and_then(packFilm).map([this](PackedAnswer answer) {
        return keep(std::move(answer));
    });
}

Result<nlohmann::ordered_json> PictureService::frame(const replay::FrameRequest& request, const JobContext& job)
{
    return m_frames.frame(request, job).and_then(packFrame).map([this](PackedAnswer answer) {
        return keep(std::move(answer));
    });
}

bool PictureService::tidy()
{
    std::erase_if(m_blocks, [](const platform::SharedBlock& block) { return block.taken(); });
    return !m_blocks.empty();
}

nlohmann::ordered_json PictureService::keep(PackedAnswer answer)
{
    tidy();
    if (m_blocks.size() == maxWaitingBlocks) {
        m_blocks.pop_front();
    }
    m_blocks.push_back(std::move(answer.block));
    return std::move(answer.json);
}

using Json = nlohmann::ordered_json;

/// Lines are taken by the caller's thread, jobs run on the service's own.
class Service
{
public:
    Service(std::ostream& out, const ServiceInfo& info, const replay::DeviceFactory& devices)
        : m_out(out)
        , m_info(info)
        , m_devices(devices)
        , m_pictures(devices)
        , m_thread([this] { runJobs(); })
    { }

    ~Service()
    {
        m_queue.end();
        m_thread.join();
    }

    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    void take(const std::string& line)
    {
        const auto request = parseServiceLine(line);
        if (!request.is_object()) {
            return refuse(Json(), "a request is one JSON object per line");
        }
        const auto id = request.value("id", Json());
        const auto verb = request.value("do", Json());
        if (!id.is_number_integer() && !id.is_string()) {
            return refuse(Json(), "a request has an \"id\", a whole number or a string");
        }
        if (verb == "hello") {
            return hello(id);
        }
        if (const auto known = putDefinitions(request, m_catalogue); !known) {
            return refuse(id, sentence(known.error()));
        }
        if (verb == "sweep") {
            return add(id, sweepFromJson(request, m_catalogue));
        }
        if (verb == "film") {
            return add(id, filmFromJson(request, m_catalogue));
        }
        if (verb == "frame") {
            return add(id, frameFromJson(request, m_catalogue));
        }
        if (verb == "deep") {
            return add(id, deepFromJson(request, m_catalogue));
        }
        if (verb == "cliff") {
            return add(id, cliffFromJson(request, m_catalogue));
        }
        if (verb == "cancel") {
            // A job that has just ended is no mistake of the caller's, but it must not read "cancelled".
            const bool found = m_queue.cancel(request.value("job", Json()));
            return found ? write(id, "done", true) : refuse(id, "no such job runs or waits");
        }
        refuse(id, "\"do\" is one of hello, sweep, film, frame, deep, cliff and cancel");
    }

    void refuse(const Json& id, const std::string& why)
    {
        Json answer;
        if (!id.is_null()) {
            answer["id"] = id;
        }
        answer["error"] = why;
        write(answer);
    }

    /// False once answers cannot be written any more.
    bool heard()
    {
        const std::lock_guard lock(m_outMutex);
        return m_out.good();
    }

private:
    void write(const Json& answer)
    {
        const auto text = jsonText(answer) + '\n';
        const std::lock_guard lock(m_outMutex);
        m_out << text << std::flush;
    }

    void write(const Json& id, const char* key, Json value) { write(Json {{"id", id}, {key, std::move(value)}}); }

    void hello(const Json& id)
    {
        auto devices = jsonArray(m_info.devices, [](const auto& device) -> Json {
            return {{"name", device.first}, {"hardware", device.second}};
        });
        write(id, "hello",
            {{"engine", m_info.engine}, {"devices", devices}, {"notes", m_info.notes},
                {"sessions", session::sessionSchemaVersion}});
    }

    template <class Order>
    void add(const Json& id, Result<Order> order)
    {
        if (!order) {
            return refuse(id, sentence(order.error()));
        }
        if (!m_queue.add(std::make_shared<ServiceJob>(ServiceJob {id, std::move(*order), {}}))) {
            refuse(id, "a job of this id is still there, or too many wait");
        }
    }

    void runJobs()
    {
        while (const auto job = m_queue.begin([this] { return m_pictures.tidy(); })) {
            Result<void> result;
            try {
                result = run(*job);
            } catch (const std::exception& error) {
                result = failure(ErrorKind::internal,
                    fmt::format("the {} stopped: {}", job->isSweep() ? "sweep" : "replay", error.what()));
            }
            m_queue.finish();
            if (result) {
                write(job->id, "done", true);
            } else if (result.error().kind == ErrorKind::cancelled) {
                write(job->id, "cancelled", true);
            } else {
                refuse(job->id, sentence(result.error()));
            }
        }
    }

    Result<void> run(ServiceJob& job)
    {
        if (job.cancel.cancelled()) {
            return failure(ErrorKind::cancelled, "the job was cancelled before it began");
        }
        JobContext context;
        context.cancel = job.cancel;
        context.progress = [&](const Progress& progress) {
            write(job.id, "progress", toJson(progress));
            if (!heard()) {
                context.cancel.cancel();
            }
        };
        if (const auto* film = std::get_if<replay::FilmRequest>(&job.order)) {
            return send(job.id, m_pictures.film(*film, context));
        }
        if (const auto* frame = std::get_if<replay::FrameRequest>(&job.order)) {
            return send(job.id, m_pictures.frame(*frame, context));
        }
        m_pictures.forget();
        if (const auto* deep = std::get_if<DeepOrder>(&job.order)) {
            return deepCell(*deep, m_devices, context).map([&](const Cell& cell) {
                write(job.id, "deep", toJson(cell));
            });
        }
        if (const auto* cliff = std::get_if<replay::CliffRequest>(&job.order)) {
            return send(job.id, replay::replayCliff(*cliff, m_devices, context).map(packCliff));
        }
        return runSweep(job.id, std::get<SweepOrder>(job.order), context);
    }

    Result<void> send(const Json& id, Result<Json> picture)
    {
        return picture.map([&](const Json& answer) {
            Json line {{"id", id}};
            line.update(answer);
            write(line);
        });
    }

    Result<void> runSweep(const Json& id, const SweepOrder& order, JobContext& context)
    {
        auto session = TRY(openKept(order.kept));
        if (session) {
            TRY(replay::keepVariants(*session, order.request.catalogue, order.request.variants));
        }
        // One after the other: a cell does not tell which file it is of.
        const auto captures = static_cast<std::int64_t>(order.request.captures.size());
        for (std::int64_t i = 0; i < std::max<std::int64_t>(1, captures); ++i) {
            TRY(sweepOne(id, order, i, session, context));
        }
        return {};
    }

    Result<void> sweepOne(const Json& id, const SweepOrder& order, std::int64_t place,
        std::optional<session::Session>& session, JobContext& context)
    {
        auto request = order.request;
        const auto name = TRY(takeOne(request, place, session));
        Result<void> stored;
        const auto onCell = [&](Cell cell) {
            cell.capture = name.value_or(cell.capture);
            if (name && stored) {
                stored = session->addCell(cell);
            }
            write(id, "cell", toJson(cell));
            if (!heard()) {
                context.cancel.cancel();
            }
        };
        const auto captures = static_cast<std::int64_t>(order.request.captures.size());
        TRY(replay::sweep(request, m_devices, partOf(context, place, captures), onCell));
        return stored;
    }

    /// Leaves one capture in the request and tells what its cells are kept as: none of a file that cannot be read,
    /// whose cells say so.
    static Result<std::optional<std::string>> takeOne(
        replay::SweepRequest& request, std::int64_t place, const std::optional<session::Session>& session)
    {
        if (request.captures.empty()) {
            return std::nullopt;
        }
        request.captures = {request.captures[static_cast<std::size_t>(place)]};
        if (!session) {
            return std::nullopt;
        }
        auto name = nameIn(*session, request.captures.front());
        if (!name && name.error().kind == ErrorKind::refused) {
            return tl::make_unexpected(name.error());
        }
        return name ? std::optional(std::move(*name)) : std::nullopt;
    }

    static JobContext partOf(const JobContext& whole, std::int64_t place, std::int64_t parts)
    {
        JobContext part;
        part.cancel = whole.cancel;
        part.progress = [&whole, place, parts](Progress progress) {
            progress.done += place * progress.total;
            progress.total *= parts;
            whole.progress(progress);
        };
        return part;
    }

    std::ostream& m_out;
    const ServiceInfo& m_info;
    const replay::DeviceFactory& m_devices;
    replay::Catalogue m_catalogue; ///< of the caller's thread; every job has a copy
    std::mutex m_outMutex;
    ServiceQueue m_queue;
    PictureService m_pictures; ///< of the thread
    std::thread m_thread; ///< last: it uses everything above
};

} // namespace

int serve(std::istream& in, std::ostream& out, const ServiceInfo& info, const replay::DeviceFactory& devices)
{
    Service service(out, info, devices);
    std::string line;
    for (auto kind = readRequestLine(in, line); kind != RequestLine::end && service.heard();
         kind = readRequestLine(in, line)) {
        if (kind == RequestLine::tooLong) {
            service.refuse(Json(), fmt::format("a request of more than {} bytes is not read", maxRequestBytes));
        } else if (line.find_first_not_of(" \t\r") != std::string::npos) {
            service.take(line);
        }
    }
    return 0;
}

namespace {

std::atomic<bool> signalled = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

/// How long to wait for an answer that is not read, and for a kernel that cannot be cancelled.
constexpr unsigned longestGoodbye = 10; // seconds

extern "C" void onSignal(int)
{
    signalled = true;
    platform::endProgramAfter(longestGoodbye, 0);
}

/// What a thread that may block for ever has read so far.
struct Pump
{
    static constexpr std::size_t mostBlocks = 64;

    std::mutex mutex;
    std::condition_variable wake;
    std::condition_variable roomMade;
    std::deque<std::string> blocks;
    bool ended = false;

    /// Waits where the requests are not taken, as while the answers are not read.
    void add(std::string block, bool last)
    {
        std::unique_lock lock(mutex);
        roomMade.wait(lock, [this] { return blocks.size() < mostBlocks; });
        blocks.push_back(std::move(block));
        ended = last;
        wake.notify_one();
    }
};

void readStandardInput(const std::shared_ptr<Pump>& pump)
{
    auto* input = std::cin.rdbuf();
    while (input->sgetc() != std::char_traits<char>::eof()) {
        std::string block(static_cast<std::size_t>(std::max<std::streamsize>(1, input->in_avail())), '\0');
        block.resize(static_cast<std::size_t>(input->sgetn(block.data(), static_cast<std::streamsize>(block.size()))));
        pump->add(std::move(block), false);
    }
    pump->add({}, true);
}

/// Standard input that ends when a signal arrives.
class InterruptibleInput : public std::streambuf
{
public:
    InterruptibleInput() { std::thread(readStandardInput, m_pump).detach(); }

protected:
    int_type underflow() override
    {
        using namespace std::chrono_literals;
        std::unique_lock lock(m_pump->mutex);
        for (;;) {
            while (!m_pump->blocks.empty()) {
                m_current = std::move(m_pump->blocks.front());
                m_pump->blocks.pop_front();
                m_pump->roomMade.notify_one();
                if (!m_current.empty()) {
                    setg(m_current.data(), m_current.data(), m_current.data() + m_current.size());
                    return traits_type::to_int_type(m_current.front());
                }
            }
            if (m_pump->ended || signalled) {
                return traits_type::eof();
            }
            // A handler cannot notify a condition variable, so the flag is looked at.
            m_pump->wake.wait_for(lock, 50ms);
        }
    }

private:
    std::shared_ptr<Pump> m_pump = std::make_shared<Pump>();
    std::string m_current;
};

} // namespace

int serveStandardStreams(const ServiceInfo& info, const replay::DeviceFactory& devices)
{
    // Unsynchronised, std::cin reads what is there instead of waiting for a full buffer, and holds no lock at exit.
    std::ios::sync_with_stdio(false);
    std::signal(SIGINT, onSignal);
    std::signal(SIGTERM, onSignal);
    platform::ignoreBrokenPipes();
    platform::removeAbandonedBlocks();
    InterruptibleInput buffer;
    std::istream in(&buffer);
    return serve(in, std::cout, info, devices);
}

} // namespace nanscope::rpc
