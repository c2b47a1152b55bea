// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/worker.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/nanscope/shared/options.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/diagnose/diagnose.h"
#include "core/platform/childprocess.h"
#include "core/rpc/remotedevice.h"

namespace nanscope {

namespace {

std::string quotedList(const std::vector<std::string>& names)
{
    return fmt::format("'{}'", fmt::join(names, "', '"));
}

std::vector<std::string> namesOf(const rpc::ServiceInfo& info)
{
    std::vector<std::string> names;
    for (const auto& [name, hardware] : info.devices) {
        names.push_back(name);
    }
    return names;
}

std::string notesText(const rpc::ServiceInfo& info)
{
    return info.notes.empty() ? std::string() : fmt::format(" ({})", fmt::join(info.notes, "; "));
}

/// How the worker ended, and the last line of what it wrote to its standard error.
std::string endOf(platform::ChildProcess& worker)
{
    auto text = worker.end(platform::ChildProcess::Clock::now() + platform::ChildProcess::patience);
    const auto errors = lastLine(worker.errors());
    return errors.empty() ? text : fmt::format("{} (\"{}\")", text, errors);
}

Result<rpc::ServiceClient> startWorker(const std::vector<std::string>& wanted, Terminal& terminal)
{
    const auto program = TRY(rpc::workerWith(rpc::workerProgram(), {"serve"}, ErrorKind::usage, quotedList(wanted)));
    auto worker = rpc::ServiceClient::start(program, terminal.cancelToken());
    if (worker) {
        terminal.say(LogLevel::info,
            fmt::format("Worker: {} with {}{}", worker->info().engine, quotedList(namesOf(worker->info())),
                notesText(worker->info())));
    }
    return worker;
}

/// Moves to the worker what it has, and says what it has not.
Result<void> assign(const std::vector<std::string>& wanted, SweepDevices& devices, Terminal& terminal)
{
    auto worker = TRY(startWorker(wanted, terminal));
    const auto known = namesOf(worker.info());
    std::vector<std::string> missing;
    for (const auto& name : wanted) {
        const bool there = std::find(known.begin(), known.end(), name) != known.end();
        (there ? devices.ofWorker : missing).push_back(name);
    }
    Result<void> result;
    if (!missing.empty()) {
        result = failure(ErrorKind::usage,
            fmt::format("the worker has no device {}, only {}{}", quotedList(missing), quotedList(known),
                notesText(worker.info())),
            worker.path());
    }
    if (!devices.ofWorker.empty()) {
        devices.worker = std::move(worker);
    }
    return result;
}

} // namespace

Result<std::string> askWorker(
    const std::vector<std::string>& arguments, const CancelToken& cancel, std::optional<std::chrono::seconds> patience)
{
    using Process = platform::ChildProcess;
    const auto begin = Process::Clock::now();
    const auto program = TRY(rpc::workerWith(rpc::workerProgram(), arguments, ErrorKind::unsupported, "a GPU"));
    auto worker = TRY(Process::start(program));
    std::string text;
    std::string line;
    while (!cancel.cancelled()) {
        const auto got = TRY(worker.readLine(line, Process::Clock::now() + std::chrono::milliseconds(100)));
        const bool late = patience && Process::Clock::now() - begin > *patience;
        if (late || text.size() > Process::maxLineBytes) {
            worker.kill();
            return failure(ErrorKind::busy,
                late ? fmt::format("the worker did not end within {} s", patience->count())
                     : "the worker answers without end",
                program.path.string());
        }
        if (got == Process::Got::line) {
            text += line + '\n';
        } else if (got == Process::Got::end && text.empty()) {
            return failure(ErrorKind::internal, fmt::format("the worker {}", endOf(worker)), program.path.string());
        } else if (got == Process::Got::end) {
            return text;
        }
    }
    worker.kill();
    return failure(ErrorKind::cancelled, "the worker was not waited for");
}

Result<SweepDevices> openDevices(const std::vector<std::string>& names, Terminal& terminal)
{
    SweepDevices devices;
    std::vector<std::string> others;
    for (const auto& name : names) {
        (replay::makeCoreDevice(name) ? devices.own : others).push_back(name);
    }
    if (others.empty()) {
        return devices;
    }
    if (const auto assigned = assign(others, devices, terminal); !assigned) {
        if (!devices.any() || assigned.error().kind == ErrorKind::cancelled) {
            return tl::make_unexpected(assigned.error());
        }
        devices.complete = false;
        terminal.error(assigned.error());
    }
    return devices;
}

Result<std::unique_ptr<replay::Device>> openDevice(const std::string& name, const CancelToken& cancel)
{
    return rpc::openDevice(name, cancel).map_error([](Error error) {
        error.kind = error.kind == ErrorKind::unsupported ? ErrorKind::usage : error.kind;
        return error;
    });
}

void addJudgingDevice(Options& options, std::string& device)
{
    options.add("--device", device, "What replays: cpu, or one of nanscope-worker such as cuda:0").showDefault();
}

Result<void> replayOn(const std::string& device, diagnose::DiagnoseOptions& options, Terminal& terminal)
{
    if (device == "cpu") {
        return {};
    }
    return openDevice(device, terminal.cancelToken()).map([&](std::unique_ptr<replay::Device> opened) {
        options.device = std::move(opened);
    });
}

} // namespace nanscope
