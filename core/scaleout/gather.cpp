// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/gather.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/try.h"
#include "core/json/records.h"

namespace nanscope::scaleout {

namespace fs = std::filesystem;

namespace {

using Key = std::tuple<std::string, std::string, Precision, Lowering>; ///< capture, variant

/// The cells of a job, by what they are of.
class Collection
{
public:
    explicit Collection(const Job& job);

    /// False for one that was not asked for, or is there.
    bool add(Cell cell);
    Gathered ordered() &&;

private:
    void expect(const std::string& capture, const std::string& variant, const replay::SweepRequest& request);

    std::vector<Key> m_keys;
    std::map<Key, std::optional<Cell>> m_cells;
};

Collection::Collection(const Job& job)
{
    for (const auto& capture : job.captures) {
        for (const auto& variant : capture.request.variants) {
            expect(capture.name, variant, capture.request);
        }
    }
}

void Collection::expect(const std::string& capture, const std::string& variant, const replay::SweepRequest& request)
{
    const auto found = request.catalogue.find(variant);
    const auto lowerings = request.lowerings.empty() && found ? std::vector {(*found)->lowering} : request.lowerings;
    for (const auto precision : request.precisions) {
        for (const auto lowering : lowerings) {
            const Key key {capture, variant, precision, lowering};
            if (m_cells.try_emplace(key).second) {
                m_keys.push_back(key);
            }
        }
    }
}

bool Collection::add(Cell cell)
{
    const auto found = m_cells.find({cell.capture, cell.variant, cell.precision, cell.lowering});
    const bool wanted = found != m_cells.end() && !found->second;
    if (wanted) {
        cell.id = 0; // that of its part
        found->second = std::move(cell);
    }
    return wanted;
}

Gathered Collection::ordered() &&
{
    Gathered gathered;
    for (const auto& key : m_keys) {
        auto& cell = m_cells[key];
        if (cell) {
            gathered.cells.push_back(std::move(*cell));
        } else {
            ++gathered.missing;
        }
    }
    return gathered;
}

/// What the captures of the job are called where the cells go.
Result<std::map<std::string, std::string>> namesIn(const session::Session& into, const Job& job)
{
    std::map<std::string, std::string> names;
    for (const auto& capture : job.captures) {
        auto name = TRY(into.captureName(capture.request.captures.front().identity));
        names[capture.name] = name.value_or(std::string());
    }
    return names;
}

Result<void> keep(session::Session& into, const session::Session& part, Cell cell, const std::string& name)
{
    return part.opTraces(cell.id).and_then([&](std::vector<OpTrace> ops) {
        cell.ops = std::move(ops);
        cell.capture = name;
        return into.addCell(cell);
    });
}

class Gatherer
{
public:
    Gatherer(const Job& job, session::Session* into, const JobContext& context)
        : m_job(job)
        , m_into(into)
        , m_context(context)
        , m_collection(job)
    { }

    Result<Gathered> run(const fs::path& folder);

private:
    Result<void> part(const fs::path& path);
    Result<void> cell(const session::Session& part, Cell cell);

    const Job& m_job;
    session::Session* m_into;
    const JobContext& m_context;
    Collection m_collection;
    std::map<std::string, std::string> m_names;
};

Result<Gathered> Gatherer::run(const fs::path& folder)
{
    if (m_into != nullptr) {
        m_names = TRY(namesIn(*m_into, m_job));
    }
    std::vector<PartSummary> summaries;
    std::vector<Error> unread;
    const auto parts = partsIn(folder);
    for (const auto& path : parts) {
        m_context.progress({"sweep", "gather", static_cast<std::int64_t>(summaries.size()),
            static_cast<std::int64_t>(parts.size()), "parts", path.filename().string()});
        std::ranges::move(readPartLogByPlace(path, m_job.id), std::back_inserter(summaries));
        const auto done = part(path);
        if (!done && done.error().kind == ErrorKind::cancelled) {
            return tl::make_unexpected(done.error());
        }
        if (!done) {
            unread.push_back(done.error());
        }
    }
    auto gathered = std::move(m_collection).ordered();
    gathered.parts = std::move(summaries);
    gathered.unread = std::move(unread);
    return gathered;
}

Result<void> Gatherer::part(const fs::path& path)
{
    const auto session = TRY(session::Session::open(path, session::OpenMode::readOnly));
    auto cells = TRY(session.cells());
    for (auto& one : cells) {
        if (m_context.cancel.cancelled()) {
            return failure(ErrorKind::cancelled, "gathering the parts was cancelled");
        }
        TRY(cell(session, std::move(one)));
    }
    return {};
}

Result<void> Gatherer::cell(const session::Session& part, Cell cell)
{
    if (!m_collection.add(cell) || m_into == nullptr) {
        return {};
    }
    const auto name = m_names.find(cell.capture);
    return name == m_names.end() || name->second.empty() ? Result<void>()
                                                         : keep(*m_into, part, std::move(cell), name->second);
}

} // namespace

namespace {

void takeVerdicts(const std::vector<std::string>& texts, const fs::path& part, GatheredVerdicts& gathered)
{
    for (const auto& text : texts) {
        auto read = diagnosisFromJson(text);
        if (!read || read->captures.size() != 1) {
            gathered.unread.push_back({ErrorKind::format, "one of its verdicts cannot be read", part.string()});
            continue;
        }
        auto& verdict = read->captures.front();
        gathered.verdicts.try_emplace(verdict.capture, std::move(verdict));
    }
}

} // namespace

GatheredVerdicts gatherVerdicts(const Job& job, const fs::path& folder)
{
    GatheredVerdicts gathered;
    for (const auto& path : partsIn(folder)) {
        for (auto& part : readPartLogByPlace(path, job.id)) {
            takeVerdicts(std::exchange(part.verdicts, {}), path, gathered);
            gathered.parts.push_back(std::move(part));
        }
    }
    gathered.missing = std::ranges::count_if(
        job.captures, [&](const JobCapture& capture) { return !gathered.verdicts.contains(capture.name); });
    return gathered;
}

Result<Gathered> gather(const Job& job, const fs::path& folder, session::Session* into, const JobContext& context)
{
    return Gatherer(job, into, context).run(folder);
}

} // namespace nanscope::scaleout
