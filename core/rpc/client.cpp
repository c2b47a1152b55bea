// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/client.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/json/jsonfields.h"
#include "core/json/records.h"
#include "core/platform/platform.h"
#include "core/rpc/answers.h"
#include "core/rpc/requests.h"

namespace nanscope::rpc {

namespace {

using Json = nlohmann::ordered_json;
using jsonread::valueIn;
using namespace std::chrono_literals;

ServiceInfo infoOf(const Json& hello)
{
    ServiceInfo info {valueIn<std::string>(hello, "engine"), {}, {}};
    for (const auto& device : member(hello, "devices")) {
        info.devices.emplace_back(valueIn<std::string>(device, "name"), valueIn<std::string>(device, "hardware"));
    }
    for (const auto& note : member(hello, "notes")) {
        info.notes.push_back(note.is_string() ? note.get<std::string>() : std::string());
    }
    return info;
}

Progress progressOf(const Json& json)
{
    return {valueIn<std::string>(json, "job"), valueIn<std::string>(json, "phase"), valueIn<std::int64_t>(json, "done"),
        valueIn<std::int64_t>(json, "total"), valueIn<std::string>(json, "unit"),
        valueIn<std::string>(json, "message")};
}

tl::unexpected<Error> cancelled(const char* what)
{
    return failure(ErrorKind::cancelled, fmt::format("the {} was cancelled", what));
}

} // namespace

std::filesystem::path builtWorkerFolder()
{
    return platform::userDataFolder() / "worker";
}

std::filesystem::path workerProgram(const std::filesystem::path& chosen)
{
    if (const char* named = std::getenv("NANSCOPE_WORKER"); named != nullptr && *named != '\0') {
        return named;
    }
    if (!chosen.empty()) {
        return chosen;
    }
    const auto beside = platform::programFolder() / "nanscope-worker";
    const auto built = builtWorkerFolder() / "nanscope-worker";
    std::error_code ignored;
    return !std::filesystem::exists(beside, ignored) && std::filesystem::exists(built, ignored) ? built : beside;
}

Result<platform::ChildProgram> workerWith(const std::filesystem::path& path, const std::vector<std::string>& arguments,
    ErrorKind missing, const std::string& whoNeedsIt)
{
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
        return failure(missing,
            fmt::format("there is no nanscope-worker, which {} needs; make one with nanscope doctor --build-worker or "
                        "name it in NANSCOPE_WORKER",
                whoNeedsIt),
            path.string());
    }
    // Threads of OpenMP that spin while they wait made a sweep 25 times slower on a machine that had other work too.
    return platform::ChildProgram {path, arguments, {{"OMP_WAIT_POLICY", "passive"}}};
}

struct ServiceClient::Job
{
    const char* what;
    const char* answers; ///< that are awaited
    const JobContext& context;
    std::size_t awaited;
    std::function<bool(const Json&)> take; ///< false where it was none of them
    int id = 0;
    std::optional<Clock::time_point> giveUp {}; ///< set when it was cancelled
};

ServiceClient::ServiceClient(platform::ChildProcess process, std::string path)
    : m_process(std::move(process))
    , m_path(std::move(path))
{ }

Result<ServiceClient> ServiceClient::start(
    const platform::ChildProgram& program, const CancelToken& cancel, std::chrono::milliseconds patience)
{
    auto process = TRY(platform::ChildProcess::start(program));
    ServiceClient client(std::move(process), program.path.string());
    TRY(client.hello(cancel, patience));
    return client;
}

Result<void> ServiceClient::hello(const CancelToken& cancel, std::chrono::milliseconds patience)
{
    const auto until = Clock::now() + patience;
    TRY(send({{"id", ++m_lastId}, {"do", "hello"}}, until));
    while (!cancel.cancelled() && Clock::now() < until) {
        const auto answer = TRY(receive(std::min(until, Clock::now() + 50ms)));
        if (answer && member(*answer, "hello").is_object()) {
            const auto& said = (*answer)["hello"];
            if (!isOfThisVersion(said)) {
                return lost("is of another version of Nanscope: build it again");
            }
            m_info = infoOf(said);
            return {};
        }
    }
    return cancel.cancelled()
        ? cancelled("sweep")
        : lost(fmt::format("does not say what it is within {:.3g} s", std::chrono::duration<double>(patience).count()));
}

Result<void> ServiceClient::send(const Json& request, Clock::time_point until)
{
    if (!m_process) {
        return failure(ErrorKind::io, "the worker is gone", m_path);
    }
    if (!m_process->writeLine(jsonText(request), until)) {
        return lost({});
    }
    return {};
}

/// The next answer, or none where none came in time.
Result<std::optional<Json>> ServiceClient::receive(Clock::time_point until)
{
    if (!m_process) {
        return failure(ErrorKind::io, "the worker is gone", m_path);
    }
    std::string line;
    const auto got = m_process->readLine(line, until);
    if (!got) {
        return lost("sends a line without end and was stopped");
    }
    if (*got == platform::ChildProcess::Got::end) {
        return lost({});
    }
    if (*got == platform::ChildProcess::Got::nothing) {
        return std::nullopt;
    }
    auto answer = parseServiceLine(line);
    if (!answer.is_object()) {
        return ignored().map([] { return std::optional<Json>(); });
    }
    return answer;
}

/// For a line that is no answer to anything: a few happen where a library prints, many are a fault.
Result<void> ServiceClient::ignored()
{
    if (++m_nonsense > maxNonsense) {
        return lost("sends what is no answer and was stopped");
    }
    return {};
}

/// Ends the process. Without words of its own, how it ended is what is said.
tl::unexpected<Error> ServiceClient::lost(const std::string& how)
{
    const auto ending = how.empty() ? m_process->end(Clock::now() + cancelPatience) : m_process->kill();
    const auto why = lastLine(m_process->errors());
    m_process.reset();
    platform::removeAbandonedBlocks();
    auto what = "the worker " + (how.empty() ? ending : how);
    return failure(ErrorKind::io, why.empty() ? what : fmt::format("{} (\"{}\")", what, why), m_path);
}

/// Takes one answer; true when it was the job's last.
Result<bool> ServiceClient::ended(const Json& answer, Job& job)
{
    const auto& id = member(answer, "id");
    const bool ours = id == job.id || (id.is_null() && answer.contains("error"));
    if (!ours) {
        return ignored().map([] { return false; });
    }
    if (answer.contains("progress")) {
        job.context.progress(progressOf(answer["progress"]));
    } else if (answer.contains("error")) {
        return failure(ErrorKind::io, "the worker says: " + valueIn<std::string>(answer, "error"), m_path);
    } else if (answer.contains("cancelled")) {
        return job.giveUp ? cancelled(job.what)
                          : failure(ErrorKind::io, "the worker was stopped by somebody else", m_path);
    } else if (!answer.contains("done")) {
        return took(answer, job).map([] { return false; });
    } else if (job.awaited > 0) {
        return failure(
            ErrorKind::io, fmt::format("the worker left out {} of the {}", job.awaited, job.answers), m_path);
    }
    return answer.contains("done");
}

Result<void> ServiceClient::took(const Json& answer, Job& job)
{
    if (job.awaited == 0 || !job.take(answer)) {
        return ignored();
    }
    --job.awaited;
    return {};
}

Result<void> ServiceClient::perform(Json order, Job job)
{
    job.id = ++m_lastId;
    order["id"] = job.id;
    TRY(send(order, Clock::now() + cancelPatience));
    for (;;) {
        if (job.context.cancel.cancelled() && !job.giveUp) {
            job.giveUp = Clock::now() + cancelPatience;
            send({{"id", ++m_lastId}, {"do", "cancel"}, {"job", job.id}}, *job.giveUp);
        }
        if (job.giveUp && Clock::now() >= *job.giveUp) {
            lost("did not stop and was killed");
            return cancelled(job.what);
        }
        const auto answer = receive(Clock::now() + 50ms);
        const auto last = answer ? (*answer ? ended(**answer, job) : Result<bool>(false))
                                 : Result<bool>(tl::make_unexpected(answer.error()));
        if (!last) {
            return job.giveUp ? cancelled(job.what) : tl::make_unexpected(last.error());
        }
        if (*last) {
            return {};
        }
    }
}

Result<void> ServiceClient::sweep(const replay::SweepRequest& request, const std::string& session,
    const JobContext& context, const std::function<void(Cell)>& onCell)
{
    const auto take = [&](const Json& answer) {
        auto cell = cellFromJson(member(answer, "cell"));
        if (cell) {
            onCell(std::move(*cell));
        }
        return cell.has_value();
    };
    return perform(sweepToJson({request, {session, {}}}),
        {"sweep", "cells", context, static_cast<std::size_t>(replay::cellCount(request)), take});
}

Result<replay::ReplayedFilm> ServiceClient::film(const replay::FilmRequest& request, const JobContext& job)
{
    Result<replay::ReplayedFilm> film;
    const auto take = [&](const Json& answer) {
        film = unpackFilm(answer);
        return answer.contains("film");
    };
    return perform(filmToJson(request), {"replay", "films", job, 1, take}).and_then([&] { return std::move(film); });
}

Result<replay::ReplayedFrame> ServiceClient::frame(const replay::FrameRequest& request, const JobContext& job)
{
    Result<replay::ReplayedFrame> frame;
    const auto take = [&](const Json& answer) {
        frame = unpackFrame(answer);
        return answer.contains("frame");
    };
    return perform(frameToJson(request), {"replay", "frames", job, 1, take}).and_then([&] { return std::move(frame); });
}

} // namespace nanscope::rpc
