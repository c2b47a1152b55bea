// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/serve.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <istream>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/replay/replay.h"
#include "core/replay/serverequest.h"
#include "core/report/report.h"
#include "core/session/session.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t maxWaiting = 1000;

struct Job
{
    Json id;
    SweepRequest request;
    std::string session;
    CancelToken cancel;
};

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
        auto sweep = sweepFromJson(request);
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

} // namespace

int serve(std::istream& in, std::ostream& out, const ServiceInfo& info, const DeviceFactory& devices)
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

} // namespace nanscope
