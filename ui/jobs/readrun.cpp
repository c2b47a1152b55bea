// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/readrun.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/rejudge.h"
#include "core/diagnose/verdict/decide.h"
#include "core/model/words.h"
#include "core/platform/privatefolder.h"
#include "core/replay/variants/sessionvariants.h"
#include "core/workflow/judgement.h"
#include "core/workflow/openrun.h"
#include "core/workflow/runnews.h"
#include "core/workflow/userfiles.h"

namespace nanscope {

namespace {

namespace fs = std::filesystem;

/// A run may come with a session that bears its folder's name, like the sample: the user's own starts as a copy of it.
void takeOverShippedSession(const fs::path& folder, const fs::path& own)
{
    std::error_code ignored;
    const fs::path absolute = fs::canonical(folder, ignored);
    const fs::path shipped = absolute / (absolute.filename().string() + ".nanscope");
    if (!fs::exists(own, ignored) && session::isSessionFile(shipped)) {
        if (platform::makePrivateFolders(own.parent_path())) {
            fs::copy_file(shipped, own, ignored);
            fs::permissions(own, fs::perms::owner_read | fs::perms::owner_write, ignored);
        }
    }
}

void takeDiagnosis(ReadRun& read, const session::Session& session)
{
    auto stored = workflow::storedDiagnosis(session);
    const auto& run = *read.loaded.run;
    const auto from = workflow::judgedFrom(run, read.loaded.userFiles, read.loaded.choices, &session);
    read.changed = !stored || !stored->from.sameVerdicts(from);
    if (!stored) {
        return;
    }
    read.loaded.foundBy = stored->from.spikeRule;
    if (read.loaded.ran.empty()) {
        read.loaded.ran = stored->from.ran;
    }
    read.loaded.newestPoints = stored->from.newestPoints;
    if (stored->from.rules != diagnosisRules) {
        read.loaded.otherRules = stored->from.rules;
    }
    read.loaded.diagnosis =
        std::make_shared<const Diagnosis>(workflow::asChosen(std::move(*stored), run, read.loaded.choices));
}

std::vector<std::string> birthsAmong(const std::vector<const Capture*>& dumps, const Diagnosis& triage)
{
    std::set<std::string_view> names;
    std::ranges::for_each(dumps, [&](const Capture* dump) { names.insert(dump->file); });
    std::vector<std::string> births;
    for (const CaptureVerdict& verdict : triage.captures) {
        if (verdict.role == Role::birth && names.contains(verdict.capture)) {
            // The line that dates a dump comes after it: until then there is no step to tell.
            births.push_back(
                fmt::format("New birth: {}{}{}", verdict.rank ? fmt::format("rank {}, ", *verdict.rank) : std::string(),
                    verdict.step ? stepText(verdict) + ", " : std::string(), verdict.capture));
        }
    }
    return births;
}

/// Of a run that is read again, what is worth a word although nobody asked.
void takeNews(
    LoadedRun& loaded, const std::shared_ptr<const workflow::RunNews>& before, const session::Session* session)
{
    auto news = before ? *before : workflow::RunNews();
    const auto found = news.look(*loaded.run, [session](const Series& series) -> Result<std::vector<Point>> {
        return session ? session->points(series.id) : series.points;
    });
    loaded.news = std::make_shared<const workflow::RunNews>(std::move(news));
    if (!before) {
        return;
    }
    loaded.came = birthsAmong(found.dumps, *loaded.triage);
    for (const auto& one : found.nonFinite) {
        loaded.came.push_back("First bad value: " + textOf(one));
    }
}

Result<ReadRun> taken(workflow::OpenedRun opened, const fs::path& path, const UserContextOf& userContextOf)
{
    ReadRun read;
    read.changed = true;
    LoadedRun& loaded = read.loaded;
    const session::Session* session = opened.session ? &*opened.session : nullptr;
    loaded.opened = path;
    loaded.session = session ? session->path() : fs::path();
    std::shared_ptr<const workflow::RunNews> newsBefore;
    if (userContextOf) {
        auto before = userContextOf(session ? session->path() : path);
        loaded.userFiles = std::move(before.userFiles);
        loaded.choices = std::move(before.choices);
        loaded.ran = std::move(before.ran);
        newsBefore = std::move(before.news);
        auto known = workflow::readUserFilesOf(session, loaded.userFiles, opened.run);
        loaded.userFilesAsRead = std::move(known.files);
        loaded.kept = std::move(known.kept);
        loaded.catalogue = std::move(known.catalogue);
    }
    auto triaged = diagnose::triageRun(opened.run, loaded.catalogue);
    diagnose::silence(triaged.findings, loaded.choices.silenced);
    loaded.triage = std::make_shared<const Diagnosis>(std::move(triaged));
    loaded.run = std::make_shared<const RunData>(std::move(opened.run));
    takeNews(loaded, newsBefore, session);
    if (session) {
        loaded.cells = TRY(replay::cellsThatHold(*session, loaded.catalogue));
        loaded.observed = workflow::storedObservations(*session).value_or(Observations {});
        takeDiagnosis(read, *session);
    }
    return read;
}

workflow::OpenOptions optionsFor(const fs::path& path)
{
    workflow::OpenOptions options;
    options.points = workflow::Points::none;
    if (!session::isSessionFile(path)) {
        options.session = session::Session::defaultPath(path);
        takeOverShippedSession(path, options.session);
    }
    return options;
}

/// As it was when the run was read; another program may have stored a variant meanwhile.
workflow::JudgedFrom judgedFromOf(const LoadedRun& run)
{
    const auto session = session::openSessionOfRun(run.session, session::OpenMode::readOnly, run.key());
    return workflow::judgedFrom(*run.run, run.userFiles, run.choices, session ? &*session : nullptr);
}

/// As far as it still belongs to the run. A run that comes with a session has cells of that again, with their films.
void storeWhatIsHeld(const LoadedRun& before, LoadedRun& now)
{
    auto session = session::openSessionOfRun(now.session, session::OpenMode::readWrite, now.key());
    if (!session || before.key() != now.key()) {
        return;
    }
    for (Cell cell : before.cells) {
        const auto stored = session->findCell(cell);
        if (stored && !*stored && session->addCell(cell)) {
            now.cells.push_back(std::move(cell));
        }
    }
    if (workflow::storeObservations(*session, before.observed)) {
        now.observed = before.observed;
    }
    now.sessionMadeAnew = true;
}

/// About a second of reading: less is not worth showing a run twice.
constexpr std::int64_t muchToRead = std::int64_t {64} << 20;

/// What is known before the logs are read, where there is a capture to look at. Without it the window waits.
template <class Take>
void tellEarly(const fs::path& path, const Take& take, const EarlyRun& early)
{
    auto session = session::Session::open(path, session::OpenMode::readOnly);
    auto run = session ? session->summary() : Result<RunData>(tl::make_unexpected(session.error()));
    if (!run || run->captures.empty()) {
        return;
    }
    if (const auto read = take({std::move(*run), std::move(*session), false})) {
        early(read->loaded);
    }
}

} // namespace

Result<ReadRun> loadRun(
    const fs::path& path, const JobContext& job, const UserContextOf& userContextOf, const EarlyRun& early)
{
    const auto take = [&](workflow::OpenedRun opened) { return taken(std::move(opened), path, userContextOf); };
    auto options = optionsFor(path);
    options.capturesStored = [&](const fs::path& session, std::int64_t logBytes) {
        if (early && logBytes >= muchToRead) {
            tellEarly(session, take, early);
        }
    };
    auto read = workflow::openRun(path, options, job).and_then(take);
    // A damaged session file is the thing that was asked for; a folder can be read without one, as where the disk is
    // full.
    if (read || session::isSessionFile(path) || read.error().kind == ErrorKind::cancelled) {
        return read;
    }
    const auto problem = sentence(read.error());
    return workflow::openRun(path, {}, job).and_then(take).map([&](ReadRun without) {
        without.loaded.sessionProblem = problem;
        return without;
    });
}

Result<ReadRun> loadAgain(const LoadedRun& run, const JobContext& job)
{
    const bool gone = !run.session.empty() && !session::isSessionFile(run.opened)
        && !session::openSessionOfRun(run.session, session::OpenMode::readOnly, run.key());
    auto read = loadRun(run.opened, job, [&](const fs::path& /*session*/) {
        return UserContext {run.userFiles, run.choices, run.ran, run.news};
    });
    if (gone && read) {
        storeWhatIsHeld(run, read->loaded);
    }
    return read;
}

Result<RunData> runWithPoints(const LoadedRun& run)
{
    if (run.session.empty()) {
        auto whole = *run.run;
        workflow::keepJudgingPoints(whole);
        return whole;
    }
    const auto session = TRY(session::openSessionOfRun(run.session, session::OpenMode::readOnly, run.key()));
    auto stored = TRY(session.summary());
    // With what was read of them since, where the session could not keep it.
    stored.checkpoints = run.run->checkpoints;
    return workflow::readJudgingPoints(stored, session).map([&] { return std::move(stored); });
}

namespace {

Result<void> openAt(const rpc::DevicePlace& place, OpenDevice& open, const CancelToken& cancel)
{
    const bool same = open.place.name == place.name && open.place.worker == place.worker;
    if (same && open.device && !open.device->lost()) {
        return {};
    }
    open = {};
    return rpc::openDevice(place.name, cancel, place.worker).map([&](std::unique_ptr<replay::Device> device) {
        open = {place, std::move(device)};
    });
}

} // namespace

Result<Diagnosis> judgeRun(const LoadedRun& run, diagnose::DiagnoseOptions options, const rpc::DevicePlace& place,
    OpenDevice& open, const JobContext& job)
{
    options.findings = run.choices;
    auto whole = TRY(runWithPoints(run));
    const bool elsewhere = place.name != "cpu" && diagnose::needsReplays(whole);
    const auto opened = elsewhere ? openAt(place, open, job.cancel) : Result<void>();
    options.device = elsewhere && opened ? open.device : nullptr;
    auto from = judgedFromOf(run);
    from.ran = options.ran;
    auto diagnosis = workflow::diagnoseWith(workflow::readUserFiles(run.userFiles, run.kept), whole, options, job);
    if (diagnosis && !opened) {
        diagnosis->replayedOn = fmt::format("the CPU; {} cannot be used ({})", place.name, opened.error().what);
    }
    // A session that was opened as such keeps only what its reader says of it.
    const bool finished = diagnosis && diagnosis->stopped.empty();
    if (finished && !run.session.empty() && (!session::isSessionFile(run.opened) || !options.ran.empty())) {
        // One that is read-only keeps its old diagnosis; the new one is shown all the same.
        if (auto session = session::openSessionOfRun(run.session, session::OpenMode::readWrite, run.key())) {
            (void)workflow::storeDiagnosis(*session, *diagnosis, from);
        }
    }
    return diagnosis;
}

Result<std::vector<Finding>> findingsAgain(const LoadedRun& run, const CancelToken& cancel)
{
    auto whole = TRY(runWithPoints(run));
    workflow::addEnvironment(whole, workflow::readUserFiles(run.userFiles, run.kept));
    auto findings = workflow::findAgain(*run.diagnosis, whole, run.choices, cancel).findings;
    if (!cancel.cancelled() && !run.session.empty() && !session::isSessionFile(run.opened)) {
        if (auto session = session::openSessionOfRun(run.session, session::OpenMode::readWrite, run.key())) {
            (void)workflow::storeFindings(*session, findings, run.choices);
        }
    }
    return findings;
}

std::shared_ptr<const Diagnosis> tickedOf(const LoadedRun& run)
{
    auto known = run.known();
    if (!known || run.observed == Observations()) {
        return known;
    }
    Diagnosis ticked = *known;
    for (CaptureVerdict& verdict : ticked.captures) {
        verdict = diagnose::withAnswers(std::move(verdict), run.observed, run.catalogue);
    }
    return std::make_shared<const Diagnosis>(diagnose::withObservations(std::move(ticked), run.observed));
}

Result<void> storeObserved(const LoadedRun& run, const Observations& observed)
{
    auto session = TRY(session::openSessionOfRun(run.session, session::OpenMode::readWrite, run.key()));
    return workflow::storeObservations(session, observed);
}

} // namespace nanscope
