// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/serve.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <streambuf>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/replay/replay.h"
#include "core/report/report.h"
#include "core/session/session.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t maxWaiting = 1000;
constexpr int maxDepth = 8;

struct Job
{
    Json id;
    SweepRequest request;
    std::string session;
    CancelToken cancel;
};

enum class Line { text, tooLong, end };

Line readLine(std::istream& in, std::string& line)
{
    line.clear();
    auto* buffer = in.rdbuf();
    bool tooLong = false;
    for (auto c = buffer->sbumpc(); c != std::char_traits<char>::eof(); c = buffer->sbumpc()) {
        if (c == '\n') {
            return tooLong ? Line::tooLong : Line::text;
        }
        tooLong = tooLong || line.size() == maxRequestBytes;
        if (!tooLong) {
            line.push_back(static_cast<char>(c));
        }
    }
    return tooLong ? Line::tooLong : line.empty() ? Line::end : Line::text;
}

// Nothing a request means lies deep; what does is dropped before it takes memory.
Json parseLine(const std::string& line)
{
    const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth < maxDepth; };
    return Json::parse(line, shallow, false);
}

tl::unexpected<Error> usage(std::string what)
{
    return failure(ErrorKind::usage, std::move(what));
}

Result<std::vector<std::string>> strings(const Json& request, const char* key)
{
    std::vector<std::string> result;
    const auto found = request.find(key);
    if (found == request.end() || found->is_null()) {
        return result;
    }
    if (!found->is_array()) {
        return usage(fmt::format("\"{}\" is not a list of strings", key));
    }
    for (const auto& item : *found) {
        if (!item.is_string()) {
            return usage(fmt::format("\"{}\" is not a list of strings", key));
        }
        result.push_back(item.get<std::string>());
    }
    return result;
}

template <class T, class Parse>
Result<std::vector<T>> words(const Json& request, const char* key, Parse parse)
{
    const auto names = strings(request, key);
    if (!names) {
        return tl::make_unexpected(names.error());
    }
    std::vector<T> result;
    for (const auto& name : *names) {
        const auto value = parse(name);
        if (!value) {
            return usage(fmt::format("'{}' in \"{}\" is not known", name, key));
        }
        result.push_back(*value);
    }
    return result;
}

Result<void> readNumbers(const Json& request, SweepRequest& sweep)
{
    const auto epsilon = request.value("epsilon", Json());
    if (epsilon.is_number()) {
        sweep.epsilon = epsilon.get<double>();
    } else if (!epsilon.is_null()) {
        return usage("\"epsilon\" is not a number");
    }
    const auto steps = request.value("steps", Json());
    if (steps.is_number_integer() && steps.get<std::int64_t>() >= 1 && steps.get<std::int64_t>() <= 100) {
        sweep.steps = steps.get<int>();
    } else if (!steps.is_null()) {
        return usage("\"steps\" is not a whole number from 1 to 100");
    }
    return {};
}

Result<SweepRequest> sweepRequest(const Json& request)
{
    SweepRequest sweep;
    const auto captures = strings(request, "captures");
    const auto variants = strings(request, "variants");
    const auto devices = strings(request, "devices");
    const auto precisions = words<Precision>(request, "precisions", parsePrecision);
    const auto lowerings = words<Lowering>(request, "lowerings", parseLowering);
    const auto numbers = readNumbers(request, sweep);
    for (const auto* part : {&captures, &variants, &devices}) {
        if (!*part) {
            return tl::make_unexpected(part->error());
        }
    }
    if (!precisions || !lowerings || !numbers) {
        return tl::make_unexpected(!precisions ? precisions.error() : !lowerings ? lowerings.error() : numbers.error());
    }
    sweep.captures = *captures;
    sweep.variants = *variants;
    sweep.precisions = *precisions;
    sweep.lowerings = lowerings->empty() ? sweep.lowerings : *lowerings;
    sweep.devices = devices->empty() ? sweep.devices : *devices;
    return sweep;
}

/// Lines are taken by the caller's thread, jobs run on the service's own.
class Service
{
public:
    Service(std::ostream& out, const ServiceInfo& info, const DeviceFactory& devices)
        : m_out(out)
        , m_info(info)
        , m_devices(devices)
        , m_thread([this] { runJobs(); })
    { }

    ~Service()
    {
        {
            const std::lock_guard lock(m_jobsMutex);
            m_ended = true;
            for (auto& job : m_jobs) {
                job->cancel.cancel();
            }
        }
        m_wake.notify_one();
        m_thread.join();
    }

    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    void take(const std::string& line)
    {
        const auto request = parseLine(line);
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
        if (verb == "sweep") {
            return addJob(id, request);
        }
        if (verb == "cancel") {
            return cancel(id, request.value("job", Json()));
        }
        refuse(id, "\"do\" is one of hello, sweep and cancel");
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

    /// False once nobody reads the answers any more.
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
        auto devices = Json::array();
        for (const auto& [name, hardware] : m_info.devices) {
            devices.push_back({{"name", name}, {"hardware", hardware}});
        }
        write(id, "hello", {{"engine", m_info.engine}, {"devices", devices}, {"notes", m_info.notes}});
    }

    void addJob(const Json& id, const Json& request)
    {
        auto sweep = sweepRequest(request);
        if (!sweep) {
            return refuse(id, sentence(sweep.error()));
        }
        const auto session = request.value("session", Json());
        if (!session.is_null() && !session.is_string()) {
            return refuse(id, "\"session\" is not a path");
        }
        const auto path = session.is_string() ? session.get<std::string>() : std::string();
        {
            const std::lock_guard lock(m_jobsMutex);
            const bool repeated =
                std::any_of(m_jobs.begin(), m_jobs.end(), [&](const auto& job) { return job->id == id; });
            if (!repeated && m_jobs.size() < maxWaiting) {
                m_jobs.push_back(std::make_shared<Job>(Job {id, std::move(*sweep), path, {}}));
                m_wake.notify_one();
                return;
            }
        }
        refuse(id, "a job of this id is still there, or too many wait");
    }

    void cancel(const Json& id, const Json& wanted)
    {
        bool found = false;
        {
            const std::lock_guard lock(m_jobsMutex);
            for (auto& job : m_jobs) {
                if (job->id == wanted) {
                    job->cancel.cancel();
                    found = true;
                }
            }
        }
        // A job that has just ended is no mistake of the caller's, but it must not read "cancelled".
        found ? write(id, "done", true) : refuse(id, "no such job runs or waits");
    }

    std::shared_ptr<Job> waitForJob()
    {
        std::unique_lock lock(m_jobsMutex);
        m_wake.wait(lock, [this] { return m_ended || !m_jobs.empty(); });
        return m_jobs.empty() ? nullptr : m_jobs.front();
    }

    // A job stays at the front of the queue while it runs, where a cancel finds it.
    void runJobs()
    {
        while (const auto job = waitForJob()) {
            Result<void> result;
            try {
                result = run(*job);
            } catch (const std::exception& error) {
                result = failure(ErrorKind::internal, fmt::format("the sweep stopped: {}", error.what()));
            }
            {
                const std::lock_guard lock(m_jobsMutex);
                m_jobs.pop_front();
            }
            if (result) {
                write(job->id, "done", true);
            } else if (result.error().kind == ErrorKind::cancelled) {
                write(job->id, "cancelled", true);
            } else {
                refuse(job->id, sentence(result.error()));
            }
        }
    }

    Result<void> run(Job& job)
    {
        if (job.cancel.cancelled()) {
            return failure(ErrorKind::cancelled, "the sweep was cancelled before it began");
        }
        std::optional<Session> session;
        if (!job.session.empty()) {
            auto opened = Session::open(job.session, OpenMode::create);
            if (!opened) {
                return tl::make_unexpected(opened.error());
            }
            session = std::move(*opened);
        }
        Result<void> stored;
        JobContext context;
        context.cancel = job.cancel;
        context.progress = [&](const Progress& progress) { write(job.id, "progress", toJson(progress)); };
        const auto onCell = [&](Cell cell) {
            if (session && stored) {
                stored = session->addCell(cell);
            }
            write(job.id, "cell", toJson(cell));
            if (!heard()) {
                context.cancel.cancel();
            }
        };
        if (auto done = sweep(job.request, m_devices, context, onCell); !done) {
            return done;
        }
        return stored;
    }

    std::ostream& m_out;
    const ServiceInfo& m_info;
    const DeviceFactory& m_devices;
    std::mutex m_outMutex;
    std::mutex m_jobsMutex;
    std::condition_variable m_wake;
    std::deque<std::shared_ptr<Job>> m_jobs;
    bool m_ended = false;
    std::thread m_thread; ///< last: it uses everything above
};

std::atomic<bool> signalled = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

extern "C" void onSignal(int)
{
    signalled = true;
}

/// What a thread that may block for ever has read so far.
struct Pump
{
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<std::string> blocks;
    bool ended = false;

    void add(std::string block, bool last)
    {
        const std::lock_guard lock(mutex);
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

int serve(std::istream& in, std::ostream& out, const ServiceInfo& info, const DeviceFactory& devices)
{
    Service service(out, info, devices);
    std::string line;
    for (auto kind = readLine(in, line); kind != Line::end && service.heard(); kind = readLine(in, line)) {
        if (kind == Line::tooLong) {
            service.refuse(Json(), fmt::format("a request of more than {} bytes is not read", maxRequestBytes));
        } else if (line.find_first_not_of(" \t\r") != std::string::npos) {
            service.take(line);
        }
    }
    return 0;
}

int serveStandardStreams(const ServiceInfo& info, const DeviceFactory& devices)
{
    // Unsynchronised, std::cin reads what is there instead of waiting for a full buffer, and holds no lock at exit.
    std::ios::sync_with_stdio(false);
    std::signal(SIGINT, onSignal);
    std::signal(SIGTERM, onSignal);
#if defined(SIGPIPE)
    std::signal(SIGPIPE, SIG_IGN);
#endif
    InterruptibleInput buffer;
    std::istream in(&buffer);
    return serve(in, std::cout, info, devices);
}

} // namespace nanscope
