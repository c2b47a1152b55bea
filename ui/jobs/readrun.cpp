// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/readrun.h"

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "core/diagnose/experiments.h"
#include "core/ingest/ingest.h"
#include "core/model/diagnosisrules.h"
#include "core/platform/privatefolder.h"
#include "core/replay/sessionvariants.h"
#include "core/report/jsonanswer.h"
#include "core/report/report.h"
#include "core/session/session.h"
#include "ui/jobs/readtold.h"

namespace nanscope {

namespace {

namespace fs = std::filesystem;

bool isSessionFile(const fs::path& path)
{
    std::error_code ignored;
    return path.extension() == ".nanscope" && fs::is_regular_file(path, ignored);
}

/// A run may come with a session that bears its folder's name, like the sample: the user's own starts as a copy of it.
void takeOverShippedSession(const fs::path& folder, const fs::path& own)
{
    std::error_code ignored;
    const fs::path absolute = fs::canonical(folder, ignored);
    const fs::path shipped = absolute / (absolute.filename().string() + ".nanscope");
    if (!fs::exists(own, ignored) && isSessionFile(shipped)) {
        if (makePrivateFolders(own.parent_path())) {
            fs::copy_file(shipped, own, ignored);
            fs::permissions(own, fs::perms::owner_read | fs::perms::owner_write, ignored);
        }
    }
}

/// A session that is looked at stays as it is, to the byte.
Result<Session> openSession(const fs::path& path)
{
    if (isSessionFile(path)) {
        return Session::open(path, OpenMode::readOnly);
    }
    const fs::path own = Session::defaultPath(path);
    takeOverShippedSession(path, own);
    return Session::open(own, OpenMode::create);
}

std::int64_t sizeOfRun(const RunData& run)
{
    std::int64_t size = static_cast<std::int64_t>(run.captures.size() + run.events.size() + run.replaced.size());
    for (const Series& series : run.series) {
        size += series.pointCount;
    }
    return size;
}

struct StoredDiagnosis
{
    std::shared_ptr<const Diagnosis> diagnosis;
    std::optional<int> otherRules {}; ///< that judged it, where they are not those of this program
    std::optional<std::int64_t> newestPoints {};
    std::string toldStamp {};
};

/// The command line reads every point, and may have judged the same session.
constexpr const char* newestKey = "newest_points";
/// Of the files that it was judged with; a hash, because a session may be mailed.
constexpr const char* toldKey = "told_stamp";

JsonAnswer toStore(const Diagnosis& diagnosis, const LoadedRun& run, const std::string& stamp)
{
    auto answer = diagnosisAnswer(diagnosis);
    if (const auto newest = newestPointsOf(run)) {
        answer.add(newestKey, *newest);
    }
    if (!stamp.empty()) {
        answer.add(toldKey, stamp);
    }
    return answer;
}

std::string toldStampIn(const std::string& text)
{
    const auto json = nlohmann::json::parse(text, nullptr, false);
    const auto found = json.is_object() ? json.find(toldKey) : json.end();
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::int64_t> newestPointsIn(const std::string& text)
{
    const auto json = nlohmann::json::parse(text, nullptr, false);
    const auto found = json.is_object() ? json.find(newestKey) : json.end();
    return found != json.end() && found->is_number_integer() ? std::optional(found->get<std::int64_t>()) : std::nullopt;
}

StoredDiagnosis storedDiagnosis(const Session& session)
{
    const auto text = session.diagnosis();
    if (!text || text->empty()) {
        return {};
    }
    auto diagnosis = diagnosisFromJson(*text);
    const int rules = rulesOf(*text);
    return {diagnosis ? std::make_shared<const Diagnosis>(std::move(*diagnosis)) : nullptr,
        rules == diagnosisRules ? std::nullopt : std::optional(rules), newestPointsIn(*text), toldStampIn(*text)};
}

/// A session may be a stranger's: what cannot be argued with is as if it had not been said.
Observations storedObservations(const Session& session)
{
    const auto text = session.observations();
    const auto observed = text ? observationsFromJson(*text) : Observations {};
    return check(observed) ? observed : Observations {};
}

/// A run to compare with is told nothing, and leaves the variants of the run that is open as they are.
using MaybeTold = std::optional<KnownFiles>;

Result<OpenedRun> readSession(const fs::path& path, Session& session, const JobContext& job, const MaybeTold& told)
{
    OpenedRun opened;
    opened.loaded.opened = path;
    opened.loaded.session = session.path();
    const auto before = session.summary();
    std::int64_t sizeBefore = before ? sizeOfRun(*before) : 0;
    auto run = isSessionFile(path) ? session.summary() : importRun(path, session, job);
    if (!run) {
        return tl::make_unexpected(run.error());
    }
    if (told) {
        opened.loaded.toldFiles = useOwn(&session, *told, *run);
    }
    auto cells = cellsThatHold(session);
    if (!cells) {
        return tl::make_unexpected(cells.error());
    }
    opened.loaded.cells = std::move(*cells);
    opened.loaded.triage = std::make_shared<const Diagnosis>(triageRun(*run));
    auto stored = storedDiagnosis(session);
    opened.loaded.diagnosis = std::move(stored.diagnosis);
    opened.loaded.newestPoints = stored.newestPoints;
    opened.loaded.otherRules = stored.otherRules;
    opened.loaded.observed = storedObservations(session);
    opened.changed = !opened.loaded.diagnosis || stored.otherRules || sizeOfRun(*run) != sizeBefore
        || (told && stored.toldStamp != toldStamp(*told, session));
    opened.loaded.run = std::make_shared<const RunData>(std::move(*run));
    return opened;
}

Result<OpenedRun> readWithoutSession(
    const fs::path& path, const Error& problem, const JobContext& job, const MaybeTold& told)
{
    auto run = readRun(path, job);
    if (!run) {
        return tl::make_unexpected(run.error());
    }
    OpenedRun opened;
    if (told) {
        opened.loaded.toldFiles = useOwn(nullptr, *told, *run);
    }
    opened.loaded.opened = path;
    opened.loaded.sessionProblem = sentence(problem);
    opened.loaded.triage = std::make_shared<const Diagnosis>(triageRun(*run));
    opened.loaded.run = std::make_shared<const RunData>(std::move(*run));
    opened.changed = true;
    return opened;
}

/// All points of a run that has few; of a large one the newest of the series its story is read from.
constexpr std::int64_t fewPoints = 1'000'000;

bool isStory(const Series& series)
{
    return std::ranges::find(storySeries, series.name) != storySeries.end();
}

std::int64_t pointsOf(const RunData& run, bool storyOnly)
{
    std::int64_t sum = 0;
    for (const Series& series : run.series) {
        sum += !storyOnly || isStory(series) ? series.pointCount + series.missing : 0;
    }
    return sum;
}

/// Keeps at most `most` points, the last ones. Memory: those and one piece.
Result<std::vector<Point>> newestPoints(const Session& session, const Series& series, std::int64_t most)
{
    if (series.pointCount + series.missing <= most) {
        return session.points(series.id);
    }
    std::vector<Point> points;
    const SeriesRange all {series.id, series.firstStep, series.lastStep, std::numeric_limits<std::int64_t>::max()};
    const auto visited = session.visitRange(all, [&](const SeriesPiece& piece) {
        points.insert(points.end(), piece.points.begin(), piece.points.end());
        if (const auto over = static_cast<std::int64_t>(points.size()) - most; over > most / 4) {
            points.erase(points.begin(), points.begin() + over);
        }
        return true;
    });
    return visited.map([&] { return std::move(points); });
}

std::optional<std::int64_t> newestOfEach(const RunData& run)
{
    const auto stories = std::ranges::count_if(run.series, isStory);
    return pointsOf(run, true) <= fewPoints ? std::nullopt
                                            : std::optional(fewPoints / std::max<std::int64_t>(1, stories));
}

Result<void> addStoryPoints(RunData& run, const Session& session)
{
    const bool few = pointsOf(run, false) <= fewPoints;
    const auto most = newestOfEach(run).value_or(std::numeric_limits<std::int64_t>::max());
    for (Series& series : run.series) {
        if (!few && !isStory(series)) {
            continue;
        }
        auto points = newestPoints(session, series, most);
        if (!points) {
            return tl::make_unexpected(points.error());
        }
        series.points = std::move(*points);
    }
    return {};
}

} // namespace

Result<OpenedRun> openRun(const fs::path& path, const JobContext& job, const ToldOf& toldOf)
{
    auto session = openSession(path);
    const auto told = toldOf ? MaybeTold(toldOf(session ? session->path() : path)) : MaybeTold();
    auto opened =
        session ? readSession(path, *session, job, told) : Result<OpenedRun>(tl::make_unexpected(session.error()));
    // A damaged session file is the thing that was asked for; a folder can be read without one, as where the disk is
    // full.
    if (!opened && !isSessionFile(path) && opened.error().kind != ErrorKind::cancelled) {
        opened = readWithoutSession(path, opened.error(), job, told);
    }
    return std::move(opened).map([&](OpenedRun run) {
        run.loaded.told = told.value_or(KnownFiles());
        return run;
    });
}

Result<RunData> runWithPoints(const LoadedRun& run)
{
    if (run.session.empty()) {
        return *run.run;
    }
    const auto session = openSessionOfRun(run.session, OpenMode::readOnly, run.key());
    if (!session) {
        return tl::make_unexpected(session.error());
    }
    auto stored = session->summary();
    if (!stored) {
        return stored;
    }
    return addStoryPoints(*stored, *session).map([&] { return std::move(*stored); });
}

std::optional<std::int64_t> newestPointsOf(const LoadedRun& run)
{
    return run.session.empty() ? std::nullopt : newestOfEach(*run.run);
}

Result<Diagnosis> judgeRun(const LoadedRun& run, const DiagnoseOptions& options, const JobContext& job)
{
    auto whole = runWithPoints(run);
    if (!whole) {
        return tl::make_unexpected(whole.error());
    }
    const auto stamp = toldStamp(run);
    auto diagnosis = diagnoseWith(knownOf(run.told), *whole, options, job);
    // A session that was opened as such learns only what its reader says of it.
    const bool finished = diagnosis && diagnosis->stopped.empty();
    if (finished && !run.session.empty() && (!isSessionFile(run.opened) || !options.ran.empty())) {
        // One that is read-only keeps its old diagnosis; the new one is shown all the same.
        if (auto session = openSessionOfRun(run.session, OpenMode::readWrite, run.key())) {
            (void)session->setDiagnosis(toStore(*diagnosis, run, stamp).text());
        }
    }
    return diagnosis;
}

Result<void> storeObserved(const LoadedRun& run, const Observations& observed)
{
    auto session = openSessionOfRun(run.session, OpenMode::readWrite, run.key());
    if (!session) {
        return tl::make_unexpected(session.error());
    }
    return session->setObservations(jsonText(toJson(observed)));
}

} // namespace nanscope
