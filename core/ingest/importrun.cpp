// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

#include "core/ingest/ingest.h"
#include "core/ingest/logimport.h"
#include "core/ingest/progressmeter.h"
#include "core/session/session.h"
#include "core/tensorfile/capturefile.h"

namespace nanscope {

namespace {

/// Few enough that storing them is one short transaction, many enough that it is one at all.
constexpr std::size_t capturesPerPiece = 64;

/// Where an import leaves what it reads.
struct Destination
{
    std::function<Result<bool>(const Capture&)> knows;
    std::function<Result<void>(std::vector<Capture>&)> addCaptures;
    std::function<Result<void>(const FoundFile&, ProgressMeter&)> readLog;
};

Result<void> cancelled()
{
    return failure(ErrorKind::cancelled, "cancelled; what was imported so far is kept");
}

Rejection rejectionOf(const FoundFile& file, const Error& error)
{
    return {file.relative, error.what};
}

bool holdsTensor(const PickleValue& value)
{
    if (const auto* list = std::get_if<PickleList>(&value.value)) {
        return std::any_of(list->begin(), list->end(), holdsTensor);
    }
    if (const auto* dict = std::get_if<PickleDict>(&value.value)) {
        return std::any_of(dict->begin(), dict->end(), [](const auto& entry) { return holdsTensor(entry.second); });
    }
    return value.tensor() != nullptr;
}

/// A file of tensors that is no capture, a checkpoint for example, is nothing to complain about. One that holds
/// nothing but objects we refuse to rebuild is.
bool isOtherTensorFile(const FoundFile& file)
{
    const auto opened = openTensorFile(file.path);
    return opened && (opened->opaque.empty() || holdsTensor(opened->root));
}

class CaptureImport
{
public:
    CaptureImport(const FoundFiles& found, const Destination& destination, std::vector<Rejection>& rejected)
        : m_found(found)
        , m_destination(destination)
        , m_rejected(rejected)
    { }

    Result<void> run(const JobContext& job)
    {
        const auto isTensor = [](const FoundFile& file) { return file.kind == FoundFile::Kind::tensor; };
        const auto total = std::count_if(m_found.files.begin(), m_found.files.end(), isTensor);
        ProgressMeter meter(job, "captures", "files");
        std::int64_t done = 0;
        for (const auto& file : m_found.files) {
            if (!isTensor(file)) {
                continue;
            }
            if (meter.cancelled()) {
                auto kept = flush();
                return kept ? cancelled() : kept;
            }
            if (auto added = add(file); !added) {
                return added;
            }
            meter.advance(++done, total, file.relative);
        }
        return flush();
    }

private:
    Result<void> add(const FoundFile& file)
    {
        auto opened = openCapture(file.path);
        if (!opened) {
            if (m_found.files.size() == 1 || !isOtherTensorFile(file)) {
                m_rejected.push_back(rejectionOf(file, opened.error()));
            }
            return {};
        }
        const auto known = m_destination.knows(opened->capture);
        if (!known) {
            return tl::make_unexpected(known.error());
        }
        if (*known) {
            return {};
        }
        if (auto scanned = scanCapture(*opened); !scanned) {
            m_rejected.push_back(rejectionOf(file, scanned.error()));
            return {};
        }
        m_waiting.push_back(std::move(opened->capture));
        return m_waiting.size() < capturesPerPiece ? Result<void>() : flush();
    }

    Result<void> flush()
    {
        auto captures = std::exchange(m_waiting, {});
        return captures.empty() ? Result<void>() : m_destination.addCaptures(captures);
    }

    const FoundFiles& m_found;
    const Destination& m_destination;
    std::vector<Rejection>& m_rejected;
    std::vector<Capture> m_waiting;
};

/// Errors of the session end the import; errors of one log are the log's own, and so is a log that another program
/// imports into the same session at this moment.
bool concernsOneLog(const Error& error, const FoundFile& file)
{
    return error.kind == ErrorKind::refused || (error.kind != ErrorKind::cancelled && error.path == file.path.string());
}

Result<void> importLogs(
    const FoundFiles& found, const Destination& destination, std::vector<Rejection>& rejected, const JobContext& job)
{
    ProgressMeter meter(job, "logs", "bytes");
    for (const auto& file : found.files) {
        if (file.kind != FoundFile::Kind::log) {
            continue;
        }
        auto read = destination.readLog(file, meter);
        if (!read && concernsOneLog(read.error(), file)) {
            rejected.push_back(rejectionOf(file, read.error()));
        } else if (!read) {
            return read;
        }
        if (meter.cancelled()) {
            return cancelled();
        }
    }
    return {};
}

Result<std::vector<Rejection>> importFiles(FoundFiles& found, const Destination& destination, const JobContext& job)
{
    auto rejected = std::move(found.rejected);
    if (auto done = CaptureImport(found, destination, rejected).run(job); !done) {
        return tl::make_unexpected(done.error());
    }
    if (auto done = importLogs(found, destination, rejected, job); !done) {
        return tl::make_unexpected(done.error());
    }
    return rejected;
}

template <class T>
void moveTo(std::vector<T>& to, std::vector<T>& from)
{
    std::move(from.begin(), from.end(), std::back_inserter(to));
}

std::int64_t logBytes(const FoundFiles& found)
{
    std::int64_t sum = 0;
    for (const auto& file : found.files) {
        sum += file.kind == FoundFile::Kind::log ? static_cast<std::int64_t>(file.size) : 0;
    }
    return sum;
}

} // namespace

Result<RunData> readRun(const std::filesystem::path& path, const JobContext& job)
{
    auto found = findFiles(path, job);
    if (!found) {
        return tl::make_unexpected(found.error());
    }
    RunData run;
    run.name = found->name;
    run.root = found->root;
    const auto total = logBytes(*found);
    std::int64_t done = 0;
    Destination destination;
    destination.knows = [](const Capture&) { return false; };
    destination.addCaptures = [&](std::vector<Capture>& captures) -> Result<void> {
        moveTo(run.captures, captures);
        return {};
    };
    destination.readLog = [&](const FoundFile& file, ProgressMeter& meter) -> Result<void> {
        auto contents = readLog(file.path, file.relative, 0, 0, job);
        if (!contents) {
            return tl::make_unexpected(contents.error());
        }
        moveTo(run.series, contents->series);
        moveTo(run.events, contents->events);
        meter.advance(done += static_cast<std::int64_t>(file.size), total, file.relative);
        return {};
    };
    auto rejected = importFiles(*found, destination, job);
    if (!rejected) {
        return tl::make_unexpected(rejected.error());
    }
    run.rejected = std::move(*rejected);
    return run;
}

Result<RunData> importRun(const std::filesystem::path& path, Session& session, const JobContext& job)
{
    auto found = findFiles(path, job);
    if (!found) {
        return tl::make_unexpected(found.error());
    }
    auto before = session.setRun(found->name, found->root).and_then([&] { return session.summary(); });
    if (!before) {
        return before;
    }
    const auto total = logBytes(*found);
    std::int64_t done = 0;
    Destination destination;
    destination.knows = [&](const Capture& capture) { return session.knowsCapture(capture.identity, capture.path); };
    destination.addCaptures = [&](std::vector<Capture>& captures) { return session.addCaptures(captures); };
    destination.readLog = [&](const FoundFile& file, ProgressMeter& meter) {
        const auto advance = [&](std::int64_t offset) { meter.advance(done + offset, total, file.relative); };
        auto read = importLog(file, session, before->series, advance, job.cancel);
        done += static_cast<std::int64_t>(file.size);
        return read;
    };
    const auto rejected = importFiles(*found, destination, job);
    if (!rejected) {
        return tl::make_unexpected(rejected.error());
    }
    return session.setRejections(*rejected).and_then([&] { return session.summary(); });
}

} // namespace nanscope
