// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/serveclient.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/replay/serverequest.h"
#include "core/report/report.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

const Json& at(const Json& json, const char* key)
{
    static const Json none;
    const auto found = json.is_object() ? json.find(key) : json.end();
    return found == json.end() ? none : *found;
}

std::string textAt(const Json& json, const char* key)
{
    const auto& found = at(json, key);
    return found.is_string() ? found.get<std::string>() : std::string();
}

std::int64_t numberAt(const Json& json, const char* key)
{
    const auto& found = at(json, key);
    return found.is_number_integer() ? found.get<std::int64_t>() : 0;
}

ServiceInfo infoOf(const Json& hello)
{
    ServiceInfo info {textAt(hello, "engine"), {}, {}};
    for (const auto& device : at(hello, "devices")) {
        info.devices.emplace_back(textAt(device, "name"), textAt(device, "hardware"));
    }
    for (const auto& note : at(hello, "notes")) {
        info.notes.push_back(note.is_string() ? note.get<std::string>() : std::string());
    }
    return info;
}

Progress progressOf(const Json& json)
{
    return {textAt(json, "job"), textAt(json, "phase"), numberAt(json, "done"), numberAt(json, "total"),
        textAt(json, "unit"), textAt(json, "message")};
}

/// Of what a program says before it fails, the last line mostly tells why.
std::string lastLine(std::string text)
{
    constexpr std::size_t most = 300;
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    const auto line = text.substr(text.find_last_of('\n') + 1);
    return line.substr(0, most);
}

std::size_t cellsOf(const SweepRequest& request)
{
    return request.captures.size() * request.variants.size() * request.precisions.size() * request.devices.size()
        * std::max<std::size_t>(1, request.lowerings.size());
}

tl::unexpected<Error> cancelledSweep()
{
    return failure(ErrorKind::cancelled, "the sweep was cancelled");
}

} // namespace

struct ServiceClient::Job
{
    int id = 0;
    std::size_t awaited = 0; ///< cells
    const JobContext& context;
    const std::function<void(Cell)>& onCell;
    std::optional<Clock::time_point> giveUp; ///< set when it was cancelled
};

ServiceClient::ServiceClient(ChildProcess process, std::string path)
    : m_process(std::move(process))
    , m_path(std::move(path))
{ }

Result<ServiceClient> ServiceClient::start(
    const ChildProgram& program, const CancelToken& cancel, std::chrono::milliseconds patience)
{
    auto process = ChildProcess::start(program);
    if (!process) {
        return tl::make_unexpected(process.error());
    }
    ServiceClient client(std::move(*process), program.path.string());
    if (const auto ready = client.hello(cancel, patience); !ready) {
        return tl::make_unexpected(ready.error());
    }
    return client;
}

Result<void> ServiceClient::hello(const CancelToken& cancel, std::chrono::milliseconds patience)
{
    const auto until = Clock::now() + patience;
    if (auto sent = send({{"id", ++m_lastId}, {"do", "hello"}}, until); !sent) {
        return sent;
    }
    while (!cancel.cancelled() && Clock::now() < until) {
        const auto answer = receive(std::min(until, Clock::now() + 50ms));
        if (!answer) {
            return tl::make_unexpected(answer.error());
        }
        if (*answer && at(**answer, "hello").is_object()) {
            m_info = infoOf((**answer)["hello"]);
            return {};
        }
    }
    return cancel.cancelled()
        ? cancelledSweep()
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
    if (*got == ChildProcess::Got::end) {
        return lost({});
    }
    if (*got == ChildProcess::Got::nothing) {
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
    auto what = "the worker " + (how.empty() ? ending : how);
    return failure(ErrorKind::io, why.empty() ? what : fmt::format("{} (\"{}\")", what, why), m_path);
}

/// Takes one answer; true when it was the job's last.
Result<bool> ServiceClient::ended(const Json& answer, Job& job)
{
    const auto& id = at(answer, "id");
    const bool ours = id == job.id || (id.is_null() && answer.contains("error"));
    if (!ours) {
        return ignored().map([] { return false; });
    }
    if (answer.contains("progress")) {
        job.context.progress(progressOf(answer["progress"]));
    } else if (answer.contains("cell")) {
        return tookCell(answer["cell"], job).map([] { return false; });
    } else if (answer.contains("error")) {
        return failure(ErrorKind::io, "the worker says: " + textAt(answer, "error"), m_path);
    } else if (answer.contains("cancelled")) {
        return job.giveUp ? cancelledSweep()
                          : failure(ErrorKind::io, "the worker was stopped by somebody else", m_path);
    } else if (answer.contains("done") && job.awaited > 0) {
        return failure(ErrorKind::io, fmt::format("the worker left out {} of the cells", job.awaited), m_path);
    }
    return answer.contains("done");
}

Result<void> ServiceClient::tookCell(const Json& json, Job& job)
{
    auto cell = cellFromJson(json);
    if (!cell || job.awaited == 0) {
        return ignored();
    }
    --job.awaited;
    job.onCell(std::move(*cell));
    return {};
}

Result<void> ServiceClient::sweep(const SweepRequest& request, const std::string& session, const JobContext& context,
    const std::function<void(Cell)>& onCell)
{
    Job job {++m_lastId, cellsOf(request), context, onCell, {}};
    auto order = sweepToJson(request, session);
    order["id"] = job.id;
    if (auto sent = send(order, Clock::now() + cancelPatience); !sent) {
        return sent;
    }
    for (;;) {
        if (context.cancel.cancelled() && !job.giveUp) {
            job.giveUp = Clock::now() + cancelPatience;
            send({{"id", ++m_lastId}, {"do", "cancel"}, {"job", job.id}}, *job.giveUp);
        }
        if (job.giveUp && Clock::now() >= *job.giveUp) {
            lost("did not stop and was killed");
            return cancelledSweep();
        }
        const auto answer = receive(Clock::now() + 50ms);
        const auto last = answer ? (*answer ? ended(**answer, job) : Result<bool>(false))
                                 : Result<bool>(tl::make_unexpected(answer.error()));
        if (!last) {
            return job.giveUp ? cancelledSweep() : tl::make_unexpected(last.error());
        }
        if (*last) {
            return {};
        }
    }
}

} // namespace nanscope
