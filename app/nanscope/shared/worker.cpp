// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/worker.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/platform/platform.h"

namespace nanscope {

namespace fs = std::filesystem;

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

Result<rpc::ServiceClient> startWorker(const std::vector<std::string>& wanted, Terminal& terminal)
{
    const auto path = workerPath();
    std::error_code error;
    if (!fs::exists(path, error)) {
        return failure(ErrorKind::usage,
            fmt::format("there is no nanscope-worker, which {} needs; make one with ./bootstrap build or name it in "
                        "NANSCOPE_WORKER",
                quotedList(wanted)),
            path.string());
    }
    // Threads of OpenMP that spin while they wait made a sweep 25 times slower on a machine that had other work too.
    auto worker =
        rpc::ServiceClient::start({path, {"serve"}, {{"OMP_WAIT_POLICY", "passive"}}}, terminal.cancelToken());
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
    auto worker = startWorker(wanted, terminal);
    if (!worker) {
        return tl::make_unexpected(worker.error());
    }
    const auto known = namesOf(worker->info());
    std::vector<std::string> missing;
    for (const auto& name : wanted) {
        const bool there = std::find(known.begin(), known.end(), name) != known.end();
        (there ? devices.ofWorker : missing).push_back(name);
    }
    Result<void> result;
    if (!missing.empty()) {
        result = failure(ErrorKind::usage,
            fmt::format("the worker has no device {}, only {}{}", quotedList(missing), quotedList(known),
                notesText(worker->info())),
            worker->path());
    }
    if (!devices.ofWorker.empty()) {
        devices.worker = std::move(*worker);
    }
    return result;
}

} // namespace

fs::path workerPath()
{
    if (const char* named = std::getenv("NANSCOPE_WORKER"); named != nullptr && *named != '\0') {
        return named;
    }
    return platform::programFolder() / "nanscope-worker";
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

} // namespace nanscope
