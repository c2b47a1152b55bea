// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/workspace.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/diagnose/judgeone.h"
#include "core/diagnose/recovery/rollback.h"
#include "core/diagnose/rejudge.h"
#include "core/model/diagnosisrules.h"
#include "core/model/verdict.h"
#include "core/report/report.h"
#include "core/rpc/answers.h"
#include "core/session/session.h"
#include "core/workflow/openrun.h"
#include "core/workflow/userfiles.h"
#include "core/workflow/verifycheckpoints.h"
#include "ui/captures/capturemodel.h"
#include "ui/jobs/cellchoice.h"
#include "ui/jobs/readrun.h"
#include "ui/shared/text.h"
#include "ui/sweep/cellgridmodel.h"

namespace nanscope {

namespace {

bool sameContents(const RunData& a, const RunData& b)
{
    const auto points = [](const RunData& run) {
        std::int64_t sum = 0;
        for (const Series& series : run.series) {
            sum += series.pointCount;
        }
        return sum;
    };
    return a.captures.size() == b.captures.size() && a.events.size() == b.events.size()
        && a.rejected.size() == b.rejected.size() && a.replaced.size() == b.replaced.size() && points(a) == points(b);
}

std::shared_ptr<const Diagnosis> withFindings(const Diagnosis& diagnosis, std::vector<Finding> findings)
{
    auto changed = std::make_shared<Diagnosis>(diagnosis);
    changed->findings = std::move(findings);
    return changed;
}

/// What opening made for a folder that holds nothing.
void dropEmptySession(const LoadedRun& run)
{
    if (!run.session.empty() && run.session == session::Session::defaultPath(run.opened) && run.cells.empty()) {
        std::error_code ignored;
        for (const char* ending : {"", "-wal", "-shm"}) {
            std::filesystem::remove(run.session.string() + ending, ignored);
        }
    }
}

/// Its input was bad already, and so is every replay of it.
bool followsFromAnother(const CaptureVerdict* judged)
{
    return judged && judged->role == Role::downstream;
}

bool nothingIsFinite(const Capture& capture)
{
    const Scan input = capture.input.total();
    return capture.input.scanned() && input.nonFinite() == input.count;
}

QStringList problemsOf(const RunData& run)
{
    QStringList lines;
    for (const auto* list : {&run.rejected, &run.notes}) {
        std::ranges::transform(*list, std::back_inserter(lines), [](const Rejection& one) {
            return QStringLiteral("%1: %2").arg(sentenceCase(qstr(one.reason)), qstr(one.path));
        });
    }
    return lines;
}

} // namespace

Workspace::Workspace(std::deque<ServiceProgram> programs, QObject* parent)
    : QObject(parent)
    , m_service(std::move(programs))
{
    m_notes.setMaxThreadCount(1);
    connectJobs();
    connectReporter();
    connectProgress();
}

Workspace::~Workspace()
{
    m_leaving.emplace();
    m_notes.waitForDone();
}

void Workspace::connectJobs()
{
    connect(&m_loader, &RunLoader::loaded, this, &Workspace::onLoaded);
    connect(&m_loader, &RunLoader::arrived, this, &Workspace::onArrived);
    connect(&m_loader, &RunLoader::judged, this, &Workspace::onJudged);
    connect(&m_loader, &RunLoader::idle, this, [this] {
        m_judging = false;
        m_refreshing = false;
        m_rescanning = false;
        Q_EMIT stateChanged();
        if (const QString told = std::exchange(m_rescanned, {}); !told.isEmpty()) {
            Q_EMIT note(told);
        }
        // After the verdicts of the job that has ended.
        QMetaObject::invokeMethod(this, &Workspace::askFindings, Qt::QueuedConnection);
        if (std::exchange(m_folderChanged, false)) {
            onFolderChanged();
        }
    });
    connect(&m_follower, &FolderFollower::changed, this, &Workspace::onFolderChanged);
    connect(&m_loader, &RunLoader::cancelled, this, [this] {
        m_rescanned.clear();
        m_refit = false;
        Q_EMIT note(m_judging ? tr("Judging cancelled") : tr("Reading cancelled"));
    });
    connect(&m_loader, &RunLoader::failed, this, [this](const Error& error) {
        follow();
        Q_EMIT problem(qstr(sentence(error)), {});
    });
    connect(&m_film, &CellFilm::changed, this, &Workspace::filmChanged);
    connect(&m_film, &CellFilm::missing, this, &Workspace::filmMissing);
    connect(&m_film, &CellFilm::changed, this, &Workspace::stateChanged);
    connect(&m_film, &CellFilm::missing, this, &Workspace::stateChanged);
    connect(&m_verify, &VerifyJob::verified, this, &Workspace::onVerified);
    connect(&m_verify, &VerifyJob::failed, this, [this](const QString& sentence) { Q_EMIT problem(sentence, {}); });
    connect(&m_deep, &DeepJob::progressed, this, &Workspace::deepProgressed);
    connect(&m_deep, &DeepJob::measured, this, &Workspace::onDeep);
    connect(&m_deep, &DeepJob::ended, this, &Workspace::deepEnded);
    m_beside.setSweeping(false);
    connect(&m_beside, &CellFilm::changed, this, &Workspace::stateChanged);
    connect(&m_beside, &CellFilm::missing, this, &Workspace::stateChanged);
    connect(&m_service, &ReplayService::stateChanged, &m_loader, [this] { m_loader.replayOn(m_service.firstGpu()); });
    connect(&m_service, &ReplayService::stateChanged, this, &Workspace::stateChanged);
    connect(&m_service, &ReplayService::cellDone, this, &Workspace::onCell);
    connect(&m_service, &ReplayService::finished, this, &Workspace::onSweepDone);
    connect(&m_service, &ReplayService::cancelled, this, [this] {
        Q_EMIT note(m_sweep.size() > 1 ? tr("Sweep cancelled") : tr("Replay cancelled"));
        m_sweep.clear();
    });
    connect(&m_service, &ReplayService::failed, this, &Workspace::onServiceFailed);
}

void Workspace::connectReporter()
{
    connect(this, &Workspace::runChanged, &m_reporter, &Reporter::subjectChanged);
    connect(this, &Workspace::selectionChanged, &m_reporter, &Reporter::subjectChanged);
    connect(this, &Workspace::cellAdded, &m_reporter, &Reporter::cellsChanged);
    connect(&m_reporter, &Reporter::problem, this, &Workspace::problem);
    connect(this, &Workspace::userFilesChanged, &m_reporter, &Reporter::subjectChanged);
    connect(this, &Workspace::findingsChanged, &m_reporter, &Reporter::subjectChanged);
    connect(&m_reporter, &Reporter::savingChanged, this, &Workspace::stateChanged);
    connect(&m_reporter, &Reporter::cancelled, this, [this] { Q_EMIT note(tr("Saving cancelled")); });
}

/// Of jobs that run at once one is told of: the one that cancel() would stop.
void Workspace::connectProgress()
{
    const auto tell = [this](auto& job, auto signal, auto isForemost) {
        connect(&job, signal, this, [this, isForemost](const Progress& progress) {
            if (isForemost(foremost())) {
                Q_EMIT progressed(progress);
            }
        });
    };
    const auto is = [](Task task) { return [task](Task foremost) { return foremost == task; }; };
    tell(m_loader, &RunLoader::progressed,
        [](Task foremost) { return foremost == Task::reading || foremost == Task::judging; });
    tell(m_service, &ReplayService::progressed, is(Task::sweep));
    tell(m_film, &CellFilm::progressed, is(Task::film));
    tell(m_beside, &CellFilm::progressed, is(Task::secondFilm));
    tell(m_reporter, &Reporter::progressed, is(Task::saving));
}

void Workspace::select(int capture)
{
    if (capture == m_selected) {
        return;
    }
    m_selected = capture;
    if (const Capture* shown = this->capture()) {
        m_loader.judgeFirst(*shown);
    }
    Q_EMIT selectionChanged();
    const CaptureVerdict* judged = verdict();
    showBatch(judged ? judged->facts.damage.batch : 0);
    showDefaultCell();
}

/// In a run without captures none is selected, neither before nor after, and what the panes show is of another run.
void Workspace::showNothing()
{
    showBatch(0);
    showDefaultCell();
}

void Workspace::showBatch(std::int64_t batch)
{
    const Capture* shown = capture();
    if (!shown) {
        m_tensors.drop();
        Q_EMIT picturesMissing(tr("No capture is selected"));
        return;
    }
    m_tensors.start(
        this, [of = CaptureRef(*shown), batch](const CancelToken& /*cancel*/) { return picturesOf(of, batch); },
        [this](const Result<TensorPictures>& pictures) {
            if (pictures) {
                Q_EMIT picturesChanged(*pictures);
            } else {
                Q_EMIT picturesMissing(qstr(sentence(pictures.error())));
            }
        });
}

const Capture* Workspace::capture() const
{
    if (!m_loaded.run || m_selected < 0 || static_cast<std::size_t>(m_selected) >= m_loaded.run->captures.size()) {
        return nullptr;
    }
    return &m_loaded.run->captures[static_cast<std::size_t>(m_selected)];
}

const CaptureVerdict* Workspace::verdict() const
{
    const Capture* shown = capture();
    return shown && m_loaded.known() ? verdictOf(*m_loaded.known(), *shown) : nullptr;
}

bool Workspace::owesVerdict() const
{
    return !judging() && !m_loader.busy() && lacksVerdict();
}

bool Workspace::lacksVerdict() const
{
    const Capture* shown = capture();
    if (!shown) {
        return false;
    }
    const CaptureVerdict* judged = verdict();
    return !judged || judged->summary.empty() || diagnose::leftUnjudged(*m_loaded.known(), *judged, *shown);
}

std::optional<CaptureVerdict> Workspace::tickedVerdict() const
{
    const CaptureVerdict* judged = verdict();
    if (!judged) {
        return std::nullopt;
    }
    return diagnose::withAnswers(*judged, m_loaded.observed, m_loaded.catalogue);
}

std::shared_ptr<const Diagnosis> Workspace::tickedDiagnosis() const
{
    return tickedOf(m_loaded);
}

int Workspace::causeOf(const CaptureVerdict& verdict) const
{
    const auto& captures = m_loaded.run->captures;
    const auto found = std::ranges::find(captures, verdict.causedBy, &Capture::file);
    return found == captures.end() ? -1 : static_cast<int>(found - captures.begin());
}

Workspace::Task Workspace::foremost() const
{
    if (m_reporter.saving()) {
        return Task::saving;
    }
    if (m_service.running()) {
        return Task::sweep;
    }
    if (m_film.awaitsReplay()) {
        return Task::film;
    }
    if (m_beside.awaitsReplay()) {
        return Task::secondFilm;
    }
    if (m_loader.busy()) {
        return m_judging ? Task::judging : Task::reading;
    }
    return Task::none;
}

void Workspace::cancel()
{
    switch (foremost()) {
    case Task::saving:
        m_reporter.cancel();
        break;
    case Task::sweep:
        m_service.cancel();
        break;
    case Task::film:
        m_film.cancelReplay();
        Q_EMIT note(tr("Replay cancelled"));
        break;
    case Task::secondFilm:
        m_beside.cancelReplay();
        Q_EMIT note(tr("Replay cancelled"));
        break;
    case Task::reading:
    case Task::judging:
        m_loader.cancel();
        break;
    case Task::none:
        break;
    }
}

void Workspace::cancelReplays()
{
    m_deep.cancel();
    m_measure.cancel();
    m_verify.cancel();
    m_loader.cancel();
    m_service.cancel();
    m_film.cancelReplay();
    m_beside.cancelReplay();
}

bool Workspace::busy() const
{
    return m_loader.busy() || m_service.running() || m_reporter.saving();
}

bool Workspace::settled() const
{
    return !busy() && !m_tensors.busy() && !m_film.busy() && !m_beside.busy() && !m_deep.busy() && !m_cliff.busy()
        && m_service.settled() && !m_reporter.busy() && !m_whatIf.busy() && !m_measure.busy() && !m_verify.busy()
        && !m_advice.busy() && !m_loaded.findingsDue() && !m_userFiles.busy();
}

ReportSubject Workspace::reportSubject() const
{
    const CaptureVerdict* judged = verdict();
    return {m_loaded, judged && judged->role == Role::birth ? judged->capture : std::string()};
}

// The run that is open: read, judged, followed while it grows, and what its owner says about it.

void Workspace::open(const QString& path, const UserContextOf& userContextOf)
{
    m_service.cancel();
    m_deep.cancel();
    m_verify.cancel();
    m_refreshing = false;
    m_rescanning = false;
    m_rescanned.clear();
    m_refit = false;
    m_folderChanged = false;
    m_follower.stop();
    m_userFiles.drop();
    m_loader.open(
        path.toStdString(), userContextOf ? userContextOf : [](const auto& /*session*/) { return UserContext(); });
    Q_EMIT stateChanged();
}

void Workspace::setFollowing(bool following)
{
    m_following = following;
    follow();
}

void Workspace::follow()
{
    std::error_code ignored;
    if (m_following && hasRun() && std::filesystem::is_directory(m_loaded.opened, ignored)) {
        m_follower.follow(m_loaded.opened);
    } else {
        m_follower.stop();
    }
}

// A judgement under way is not given up for a new line: a log that grows all the time would never see its end.
void Workspace::onFolderChanged()
{
    if (!m_following || !hasRun()) {
        return;
    }
    if (m_loader.busy()) {
        m_folderChanged = true;
        return;
    }
    m_refreshing = true;
    m_loader.openAgain(m_loaded, false);
}

void Workspace::rescan()
{
    if (hasRun()) {
        m_rescanning = true;
        m_loader.openAgain(m_loaded, true);
        Q_EMIT stateChanged();
    }
}

void Workspace::setRan(const QStringList& ran)
{
    if (!hasRun()) {
        return;
    }
    Said next = said();
    next.ran = stringsOf(ran);
    // What was ticked of another set says nothing of this one.
    diagnose::dropVariants(next.observed.answers);
    m_answerSteps.leave(said(), next, Gesture::fresh);
    restore(std::move(next));
}

Workspace::Said Workspace::said() const
{
    return {m_loaded.observed, m_loaded.ran};
}

void Workspace::restore(Said next)
{
    const bool replays = next.ran != m_loaded.ran;
    m_loaded.ran = std::move(next.ran);
    const Observations before = std::exchange(m_loaded.observed, std::move(next.observed));
    m_reporter.subjectChanged();
    if (m_loaded.observed != before) {
        keepObserved();
    } else {
        Q_EMIT answersChanged();
    }
    if (replays) {
        m_refit = true;
        judgeAgain();
    } else {
        adviseAgain();
        Q_EMIT answersTakenBack();
        showAsBefore();
    }
}

void Workspace::undoAnswer()
{
    if (auto before = m_answerSteps.back(said())) {
        restore(std::move(*before));
    }
}

void Workspace::redoAnswer()
{
    if (auto after = m_answerSteps.forward(said())) {
        restore(std::move(*after));
    }
}

void Workspace::judge(bool goesOn)
{
    m_judging = true;
    m_judgedBy = m_loaded.choices;
    std::shared_ptr<const Diagnosis> stopped;
    if (m_loaded.diagnosis && !m_loaded.diagnosis->stopped.empty()) {
        stopped = std::exchange(m_loaded.diagnosis, nullptr);
        m_loaded.triage = std::make_shared<const Diagnosis>(diagnose::judgedOn(*stopped, *m_loaded.run));
    }
    m_loader.judge(m_loaded, goesOn ? stopped : nullptr);
    if (stopped) {
        Q_EMIT verdictsArrived(true);
    }
    Q_EMIT stateChanged();
}

void Workspace::setTicks(const QStringList& ticks)
{
    const Capture* shown = capture();
    if (!shown) {
        return;
    }
    const Said before = said();
    std::vector<KeptAnswer>& answers = m_loaded.observed.answers;
    std::erase_if(answers, [&](const KeptAnswer& answer) { return answer.capture == shown->file; });
    if (!ticks.isEmpty()) {
        answers.push_back({shown->file, stringsOf(ticks)});
    }
    m_answerSteps.leave(before, said(), Gesture::fresh);
    onAnswered();
}

std::vector<KeptAnswer> Workspace::answersAlike() const
{
    const KeptAnswer* kept = keptAnswer();
    return kept
        ? diagnose::answersAlike(m_loaded.known()->captures, *kept, m_loaded.observed.answers, m_loaded.catalogue)
        : std::vector<KeptAnswer>();
}

std::size_t Workspace::answerAlike()
{
    const auto alike = answersAlike();
    const Said before = said();
    std::ranges::copy(alike, std::back_inserter(m_loaded.observed.answers));
    m_answerSteps.leave(before, said(), Gesture::fresh);
    onAnswered();
    return alike.size();
}

void Workspace::onAnswered()
{
    keepObserved();
    m_reporter.subjectChanged();
    adviseAgain();
    followVerdict();
}

/// Which checkpoint to go back to depends on whose fault it is.
void Workspace::adviseAgain()
{
    m_advice.drop();
    if (!m_loaded.diagnosis || !m_loaded.diagnosis->rollback) {
        return;
    }
    m_advice.start(
        this, [run = m_loaded](const CancelToken& /*cancel*/) { return adviceOf(run); },
        [this](const Result<std::optional<Rollback>>& advice) {
            if (advice) {
                m_advised = std::make_shared<const std::optional<Rollback>>(*advice);
                Q_EMIT advised(*advice);
            }
        });
}

const std::optional<Rollback>& Workspace::rollback() const
{
    return m_advised ? *m_advised : m_loaded.known()->rollback;
}

QString Workspace::goOn() const
{
    const bool known = m_loaded.diagnosis && !rollback();
    return known ? windowText(diagnose::goOnTonight(*m_loaded.run, m_loaded.diagnosis->captures)) : QString();
}

void Workspace::setObserved(const Observations& observed)
{
    const Said before = said();
    m_loaded.observed = observed;
    m_loaded.observed.answers = before.observed.answers;
    // Turns of a spin box that follow each other closely are one answer.
    m_answerSteps.leave(before, said(), Gesture::wheel);
    m_reporter.subjectChanged();
    adviseAgain();
    keepObserved();
}

void Workspace::takeBack(const Observations& left)
{
    const Said next {left, m_loaded.ran};
    m_answerSteps.leave(said(), next, Gesture::fresh);
    restore(next);
}

void Workspace::keepObserved()
{
    Q_EMIT answersChanged();
    if (m_loaded.session.empty()) {
        return;
    }
    background(
        m_notes, this, [run = m_loaded] { return storeObserved(run, run.observed); },
        [this](const Result<void>& stored) {
            if (!stored) {
                Q_EMIT problem(qstr(sentence(stored.error())), {});
            }
        });
}

QStringList Workspace::ran() const
{
    return qstrs(m_loaded.ran);
}

QStringList Workspace::ticks() const
{
    const KeptAnswer* kept = keptAnswer();
    return kept ? qstrs(kept->ticks) : QStringList();
}

const KeptAnswer* Workspace::keptAnswer() const
{
    const Capture* shown = capture();
    const auto& answers = m_loaded.observed.answers;
    const auto kept = shown ? std::ranges::find(answers, shown->file, &KeptAnswer::capture) : answers.end();
    return kept == answers.end() ? nullptr : &*kept;
}

/// The folder may have been read again meanwhile.
void Workspace::onVerified(const std::vector<Checkpoint>& checkpoints)
{
    auto run = std::make_shared<RunData>(*m_loaded.run);
    for (Checkpoint& known : run->checkpoints) {
        const auto read = std::ranges::find_if(checkpoints, [&](const Checkpoint& checkpoint) {
            return checkpoint.contents && !known.place.empty() && checkpoint.path == known.path;
        });
        if (read != checkpoints.end()) {
            known.contents = read->contents;
        }
    }
    workflow::forgetRewrittenCheckpoints(*run);
    m_loaded.run = std::move(run);
    m_reporter.subjectChanged();
    adviseAgain();
}

/// What an earlier visit saw holds for the advice, too.
void Workspace::adviseAsObserved()
{
    m_advice.drop();
    const Observations& observed = m_loaded.observed;
    const bool read = std::ranges::any_of(
        m_loaded.run->checkpoints, [](const Checkpoint& checkpoint) { return checkpoint.contents.has_value(); });
    if (read || !observed.tried.empty() || !observed.called.empty() || !observed.answers.empty()) {
        adviseAgain();
    }
}

/// What a rescan found, beside what it judges anew.
QString Workspace::rescanText(const LoadedRun& run) const
{
    const auto before = std::ssize(m_loaded.run->captures);
    const auto now = std::ssize(run.run->captures);
    if (now > before) {
        return now - before == 1 ? tr("Read again: 1 new capture")
                                 : tr("Read again: %1 new captures").arg(now - before);
    }
    return sameContents(*run.run, *m_loaded.run) ? tr("Read again: nothing new")
                                                 : tr("Read again: the run has changed");
}

void Workspace::onLoaded(const LoadedRun& run, bool judging)
{
    if (std::exchange(m_rescanning, false)) {
        m_rescanned = rescanText(run);
    }
    if (m_refreshing && !judging && sameContents(*run.run, *m_loaded.run)) {
        return;
    }
    const bool elsewhere = run.opened != m_loaded.opened;
    std::error_code ignored;
    // A folder may be followed until something comes.
    const bool refused = hasRun() || !std::filesystem::is_directory(run.opened, ignored);
    if (elsewhere && run.holdsNothing() && refused) {
        follow();
        dropEmptySession(run);
        const QString nothing = tr("There is no capture (.pt, .safetensors, .npy), log or checkpoint in %1")
                                    .arg(qstr(run.opened.filename().string()));
        Q_EMIT problem(hasRun() ? tr("%1, so %2 stays open.").arg(nothing, qstr(m_loaded.run->name)) : nothing + u'.',
            problemsOf(*run.run));
        return;
    }
    const diagnose::FindingChoices chosen = elsewhere ? run.choices : m_loaded.choices;
    m_findings.drop();
    m_advised.reset();
    m_loaded = run;
    m_judgedBy = run.choices;
    if (elsewhere) {
        m_answerSteps.forget();
        follow();
    }
    m_judging = judging;
    m_selected = -1;
    m_tensors.drop();
    m_film.clear();
    m_beside.clear();
    Q_EMIT runChanged();
    if (!capture()) {
        showNothing();
    }
    // What was chosen while it was read holds.
    chooseFindings(chosen);
    adviseAsObserved();
    reportRejections();
    tellWhatCame();
    Q_EMIT stateChanged();
}

void Workspace::tellWhatCame()
{
    const QStringList came = qstrs(m_loaded.came);
    if (!came.isEmpty()) {
        const QString more = came.size() > 1 ? tr(" (and %1 more)").arg(came.size() - 1) : QString();
        Q_EMIT newsCame(came.constFirst() + more, came.mid(1));
    }
}

void Workspace::reportRejections()
{
    QStringList details;
    if (m_loaded.sessionMadeAnew) {
        details << tr(
            "The session was deleted or replaced while it was open. What the window held of it, %1 replayed "
            "cells and what you said, is kept in a new one; films and deep gauges are replayed when asked for.")
                       .arg(m_loaded.cells.size());
    }
    if (!m_loaded.sessionProblem.empty()) {
        details << tr("Nothing will be remembered of this run. %1").arg(qstr(m_loaded.sessionProblem));
    }
    if (m_loaded.otherRules) {
        details << (*m_loaded.otherRules > diagnosisRules
                ? tr("Its verdicts were stored by a newer Nanscope, and are judged again by the rules of this one.")
                : tr("Its verdicts were stored by an older Nanscope, and are judged again by the rules of this one."));
    }
    details << userFileProblems();
    details << problemsOf(*m_loaded.run);
    if (m_loaded.run->rejected.empty()) {
        if (!details.isEmpty()) {
            const QString more = details.size() > 1 ? tr(" (and %1 more)").arg(details.size() - 1) : QString();
            Q_EMIT problem(details.constFirst() + more, details.mid(1));
        }
        return;
    }
    const auto count = m_loaded.run->rejected.size();
    const QString unused = count == 1 ? tr("1 file could not be used") : tr("%1 files could not be used").arg(count);
    const QString rejected = m_loaded.canBeJudged() ? tr("%1; everything else is open").arg(unused)
                                                    : tr("%1; nothing else was found here").arg(unused);
    Q_EMIT problem(
        m_loaded.sessionProblem.empty() ? rejected : tr("%1. Nothing will be remembered of this run").arg(rejected),
        details);
}

// What an earlier visit found stays until all of the new is there.
void Workspace::onArrived(const std::vector<CaptureVerdict>& verdicts)
{
    if (m_loaded.diagnosis || !m_loaded.triage) {
        return;
    }
    std::map<std::pair<std::int64_t, std::string_view>, const CaptureVerdict*> arrived;
    for (const CaptureVerdict& verdict : verdicts) {
        arrived[{verdict.captureId, verdict.capture}] = &verdict;
    }
    auto known = std::make_shared<Diagnosis>(*m_loaded.triage);
    for (CaptureVerdict& verdict : known->captures) {
        const auto found = arrived.find({verdict.captureId, verdict.capture});
        if (found != arrived.end()) {
            verdict = *found->second;
        }
    }
    m_loaded.triage = std::move(known);
    const CaptureVerdict* shown = verdict();
    Q_EMIT verdictsArrived(shown && arrived.contains({shown->captureId, shown->capture}));
}

void Workspace::onJudged(std::shared_ptr<const Diagnosis> diagnosis)
{
    // Cancelled half-way it says less than the one that is there.
    if (!diagnosis->stopped.empty() && m_loaded.diagnosis) {
        return;
    }
    m_findings.drop();
    m_advised.reset();
    m_loaded.diagnosis = std::move(diagnosis);
    m_loaded.foundBy = m_judgedBy.spikeRule;
    if (m_judgedBy.silenced != m_loaded.choices.silenced) {
        setFindings(m_loaded.diagnosis->findings);
    }
    m_loaded.newestPoints = workflow::newestJudgingPoints(*m_loaded.run);
    Q_EMIT runChanged();
    adviseAsObserved();
    Q_EMIT selectionChanged();
    if (std::exchange(m_refit, false)) {
        showAsBefore();
    } else {
        followVerdict();
    }
}

// Replays of the selected capture: which cell is seen, and what is asked of the replay process about it.

void Workspace::showDefaultCell()
{
    const Capture* shown = capture();
    m_chosenByUser = false;
    m_film.clear();
    m_film.setPlace(m_loaded.place(), shown);
    m_beside.clear(tr("The second cell follows the first"));
    m_beside.setPlace(m_loaded.place(), shown);
    const auto ticked = tickedVerdict();
    const CaptureVerdict* judged = ticked ? &*ticked : nullptr;
    const int batch = judged ? judged->facts.damage.batch : 0;
    const bool canReplay = shown && m_service.available() && !sweeping();
    const auto quick = canReplay ? quickReplay(*shown, judged, m_loaded.catalogue) : std::nullopt;
    // Another epsilon or another number of steps is nothing that ran.
    const std::vector<const Cell*> all = cells();
    std::vector<const Cell*> usual;
    std::ranges::copy_if(all, std::back_inserter(usual), [this](const Cell* cell) {
        const replay::CellRequest request = requestOf(*cell);
        return !request.epsilon && !request.steps;
    });
    const Cell* cell = firstToSee(usual, judged, m_loaded.catalogue);
    if (cell && (mayHaveRun(cell->variant, judged) || !quick)) {
        m_film.show(*cell, batch);
    } else if (quick) {
        replay::CellRequest cell;
        cell.variant = quick->variant;
        cell.precision = quick->precision;
        cell.lowering = (*m_loaded.catalogue.find(quick->variant))->lowering;
        cell.device = m_service.chosenDevices().constFirst().toStdString();
        m_film.replay(cell, batch);
    } else {
        m_film.clear(!shown ? tr("No capture is selected")
                : followsFromAnother(judged)
                ? tr("This capture follows from another one: the film of the birth shows where it began")
                : nothingIsFinite(*shown) ? tr("No value of the input is finite, so a replay shows nothing else")
                : judging() && lacksVerdict()
                ? tr("The film is replayed once this capture is judged. Sweep shows it now.")
                : tr("Sweep this capture to see every step of its replay"));
    }
}

bool Workspace::sweepWouldShow() const
{
    return capture() && !m_film.showing() && m_service.available() && !sweeping() && !followsFromAnother(verdict())
        && !nothingIsFinite(*capture());
}

QString Workspace::whyNoSweep() const
{
    if (!capture()) {
        return tr("Select a capture to sweep it");
    }
    return !sweeping()       ? QString()
        : m_film.replaying() ? tr("The film is being replayed: wait for its end, or cancel it")
                             : tr("A sweep is running: wait for its end, or cancel it");
}

/// Nothing else than what is shown would explain the verdict.
bool Workspace::showsExplanation() const
{
    const auto ticked = tickedVerdict();
    const auto explains = explainingReplay(ticked ? &*ticked : nullptr);
    const auto& cell = m_film.cell();
    return !explains || (cell && cell->variant == explains->variant && cell->precision == explains->precision);
}

/// What was shown unasked goes on fitting the verdict, and the user's answers.
void Workspace::followVerdict()
{
    const auto ticked = tickedVerdict();
    const auto& cell = m_film.cell();
    const bool ranNot = cell && !mayHaveRun(cell->variant, ticked ? &*ticked : nullptr);
    const bool unfit = !m_chosenByUser && (!showsExplanation() || ranNot);
    if (capture() && (!m_film.showing() || unfit)) {
        showDefaultCell();
    }
}

/// After an answer is taken back: the film that it led to may still fit the verdict, but is not the default one.
void Workspace::showAsBefore()
{
    if (capture() && !m_chosenByUser) {
        showDefaultCell();
    } else {
        followVerdict();
    }
}

void Workspace::showCell(const Cell& cell, int batch)
{
    m_chosenByUser = true;
    m_film.show(cell, batch);
}

void Workspace::replayCliff(replay::CliffRequest request)
{
    if (const Capture* shown = capture()) {
        request.capture = *shown;
        request.catalogue = m_loaded.catalogue;
        m_cliffOf = shown->path;
        const auto take = [this](const nlohmann::ordered_json& answer) {
            return rpc::unpackCliff(answer).map([this](replay::ReplayedCliff cliff) { onCliff(std::move(cliff)); });
        };
        m_cliff.ask(
            rpc::cliffToJson(request), {"cliff", take, [this](const QString& why) { Q_EMIT cliffFailed(why); }});
    }
}

void Workspace::onCliff(replay::ReplayedCliff cliff)
{
    for (replay::CliffReplay& replay : cliff.replays) {
        nameCapture(replay.cell, m_cliffOf);
    }
    Q_EMIT cliffReady(std::make_shared<const replay::ReplayedCliff>(std::move(cliff)));
}

QStringList Workspace::variantsInOrder(int& identified) const
{
    VariantOrder order = variantOrder(verdict(), m_loaded.catalogue);
    identified = order.identified;
    return std::move(order.names);
}

QStringList Workspace::usualVariants() const
{
    const VariantOrder order = variantOrder(verdict(), m_loaded.catalogue);
    return m_everyVariant ? order.names : worthSweeping(order, cells(), m_loaded.catalogue);
}

/// Variants of one run's own may have been chosen that another has not.
QStringList Workspace::variantsToSweep(int& identified) const
{
    QStringList chosen = variantsInOrder(identified);
    chosen.removeIf([this](const QString& name) { return !m_choice.variants.contains(name); });
    return chosen.isEmpty() ? usualVariants() : chosen;
}

SweepSubject Workspace::sweepSubject(const Capture& capture) const
{
    VariantOrder order = variantOrder(verdict(), m_loaded.catalogue);
    QStringList variants = variantsToSweep(order.identified);
    return {capture, m_loaded.catalogue, std::move(order), std::move(variants), m_choice, m_service.chosenDevices(),
        cellsOf(m_loaded.cells, capture), runningCells()};
}

SweepGrid Workspace::grid() const
{
    const Capture* shown = capture();
    return shown ? sweepGrid(sweepSubject(*shown)) : SweepGrid();
}

replay::CellRequest Workspace::requestOf(const Cell& cell) const
{
    const Capture* shown = capture();
    return replay::requestOf(cell, shown ? shown->epsilon : std::nullopt, m_loaded.catalogue);
}

std::vector<replay::CellRequest> Workspace::runningCells() const
{
    return sweepingSelected() ? m_service.order()->request.cells : std::vector<replay::CellRequest>();
}

std::vector<const Cell*> Workspace::cells() const
{
    const Capture* shown = capture();
    return shown ? cellsOf(m_loaded.cells, *shown) : std::vector<const Cell*> {};
}

void Workspace::chooseSweep(const SweepChoice& choice)
{
    m_choice = choice;
    Q_EMIT sweepChoiceChanged();
}

void Workspace::setEveryVariant(bool every)
{
    m_everyVariant = every;
    m_choice.variants.clear();
    Q_EMIT sweepChoiceChanged();
}

void Workspace::sweepSelected()
{
    const Capture* shown = capture();
    if (!shown || sweeping()) {
        return;
    }
    const SweepSubject subject = sweepSubject(*shown);
    if (std::vector<replay::CellRequest> cells = cellsToSweep(subject); !cells.empty()) {
        startSweep(*shown, std::move(cells));
    } else {
        Q_EMIT nothingToSweep(static_cast<int>(cellsWanted(subject).size()));
    }
}

void Workspace::sweepAgain()
{
    const Capture* shown = capture();
    if (shown && !sweeping()) {
        startSweep(*shown, cellsWanted(sweepSubject(*shown)));
    }
}

void Workspace::startSweep(const CaptureRef& capture, std::vector<replay::CellRequest> cells)
{
    m_sweepOf = capture;
    m_sweep = cells;
    m_rest.clear();
    m_failures.clear();
    m_service.sweep(orderOf(capture, std::move(cells), m_loaded.catalogue, m_loaded.place()));
}

/// How the cells of the last one ended, of the capture that is shown.
QString Workspace::sweepText() const
{
    const Capture* shown = capture();
    if (!shown || shown->path != m_sweepOf.path) {
        return tr("Sweep done");
    }
    int finite = 0;
    int all = 0;
    const auto cells = cellsOf(m_loaded.cells, *shown);
    for (const replay::CellRequest& wanted : m_sweep) {
        // The film may have replayed the same.
        const auto cell = std::ranges::find_if(
            cells, [&](const Cell* one) { return one->error.empty() && requestOf(*one) == wanted; });
        if (cell != cells.end()) {
            finite += (*cell)->outcome == Outcome::finite ? 1 : 0;
            ++all;
        }
    }
    const int without = static_cast<int>(m_sweep.size()) - all;
    if (all == 0) {
        return tr("Sweep done: all %1 replays failed").arg(without);
    }
    const QString failed = without > 0 ? tr(", %1 failed").arg(without) : QString();
    return tr("Sweep done: %1 of %2 replays are finite").arg(finite).arg(all) + failed;
}

void Workspace::onSweepDone()
{
    if (m_sweep.size() > 1) {
        Q_EMIT note(sweepText());
    }
    offerRest(tr("Some replays failed; the other cells are kept: %1").arg(m_failures.value(0)), m_failures.mid(1));
    if (!m_film.showing()) {
        showDefaultCell();
    }
}

void Workspace::onServiceFailed(const QString& sentence, const QStringList& details)
{
    if (!offerRest(sentence, details)) {
        Q_EMIT problem(sentence, details);
    }
}

/// Of a sweep that has ended, where another device than the CPU left something out.
bool Workspace::offerRest(const QString& sentence, const QStringList& details)
{
    if (sweeping() || m_sweep.empty()) {
        return false;
    }
    const std::vector<replay::CellRequest> ordered = std::exchange(m_sweep, {});
    const auto found = std::ranges::find(m_loaded.run->captures, m_sweepOf.path, &Capture::path);
    if (found == m_loaded.run->captures.end()) {
        return false;
    }
    m_rest = restOnCpu(ordered, sweepSubject(*found));
    if (m_rest.empty()) {
        return false;
    }
    Q_EMIT restOffered(sentence, details);
    return true;
}

void Workspace::replayRestOnCpu()
{
    if (!sweeping() && !m_rest.empty()) {
        startSweep(m_sweepOf, std::exchange(m_rest, {}));
    }
}

void Workspace::replayCell(const replay::CellRequest& cell)
{
    if (const QString why = whyNoSweep(); !why.isEmpty()) {
        Q_EMIT note(why);
        return;
    }
    m_film.replay(cell, m_film.batch());
    Q_EMIT stateChanged();
}

bool Workspace::sweepingSelected() const
{
    const Capture* shown = capture();
    return sweeping() && !m_film.replaying() && shown && sweptCapture() == shown->path;
}

/// A sweep of the window's is of one capture.
std::string Workspace::sweptCapture() const
{
    const rpc::SweepOrder* order = m_service.order();
    return order && !order->request.captures.empty() ? order->request.captures.front().path : std::string();
}

/// The replay process calls a capture what its session does; without one, as its file is called, which several of a run
/// may share.
void Workspace::nameCapture(Cell& cell, const std::string& path) const
{
    const auto& captures = m_loaded.run->captures;
    if (const auto found = std::ranges::find(captures, path, &Capture::path); found != captures.end()) {
        cell.capture = found->file;
    }
}

void Workspace::onCell(Cell cell)
{
    if (m_loaded.session.empty()) {
        nameCapture(cell, sweptCapture());
    }
    if (const QString why = qstr(cell.error); !why.isEmpty() && !m_failures.contains(why)) {
        m_failures << why;
    }
    m_loaded.cells.push_back(std::move(cell));
    const Cell& added = m_loaded.cells.back();
    Q_EMIT cellAdded(added);
    m_film.offer(added);
}

Result<std::string> Workspace::deepCostOf(const Cell& cell) const
{
    const Capture* shown = capture();
    if (!shown) {
        return failure(ErrorKind::usage, "no capture is selected");
    }
    return replay::deepCost(matrixShape(shown->input.shape), deepRequest(*shown, cell).cell, m_loaded.catalogue)
        .and_then([](const replay::DeepCost& cost) -> Result<std::string> {
            return replay::allowDeep(cost).map([&] { return replay::deepCostText(cost); });
        });
}

void Workspace::measureDeep()
{
    const Capture* shown = capture();
    if (!shown || !m_film.cell() || m_deep.busy()) {
        return;
    }
    if (const auto cost = deepCostOf(*m_film.cell()); !cost) {
        Q_EMIT deepEnded(qstr(sentence(cost.error())));
        return;
    }
    m_deepOf = shown->path;
    auto request = deepRequest(*shown, *m_film.cell());
    request.catalogue = m_loaded.catalogue;
    m_deep.measure({std::move(request), m_loaded.place()});
}

/// Where the process is another than the one that swept the cell, what comes back is a cell of its own.
void Workspace::onDeep(Cell cell)
{
    if (m_loaded.session.empty()) {
        nameCapture(cell, m_deepOf);
    }
    m_loaded.cells.push_back(cell);
    Q_EMIT cellAdded(cell);
    const Capture* shown = capture();
    if (m_film.cell() && shown && shown->file == cell.capture) {
        const bool same = sameCell(*m_film.cell(), cell);
        m_film.update(cell);
        if (!same && m_film.cell()->variant == cell.variant && m_film.cell()->precision == cell.precision) {
            showCell(cell, replay::worstBatch(cell));
        }
    }
    Q_EMIT deepMeasured(cell);
}

// What the user chose of the findings of the open run.

void Workspace::chooseFindings(const diagnose::FindingChoices& choices)
{
    if (!hasRun() || choices == m_loaded.choices) {
        return;
    }
    m_findings.drop();
    m_loaded.choices = choices;
    auto early = m_loaded.triage->findings;
    diagnose::silence(early, choices.silenced);
    m_loaded.triage = withFindings(*m_loaded.triage, std::move(early));
    if (m_loaded.diagnosis) {
        setFindings(m_loaded.diagnosis->findings);
    }
    Q_EMIT findingsChanged();
    askFindings();
}

bool Workspace::awaitsFindings() const
{
    return m_loaded.findingsDue() || (m_judging && m_judgedBy.spikeRule != m_loaded.choices.spikeRule);
}

/// Of findings that were asked before the newest silence.
void Workspace::setFindings(std::vector<Finding> findings)
{
    diagnose::silence(findings, m_loaded.choices.silenced);
    m_loaded.diagnosis = withFindings(*m_loaded.diagnosis, std::move(findings));
}

void Workspace::askFindings()
{
    if (!m_loaded.findingsDue() || m_loader.busy()) {
        return;
    }
    m_findings.start(
        this, [run = m_loaded](const CancelToken& cancel) { return findingsAgain(run, cancel); },
        [this, rule = m_loaded.choices.spikeRule](
            Result<std::vector<Finding>> findings) { onFindings(std::move(findings), rule); });
}

void Workspace::onFindings(Result<std::vector<Finding>> findings, const std::string& rule)
{
    m_loaded.foundBy = rule;
    if (findings) {
        setFindings(std::move(*findings));
    } else {
        // Findings by another rule would pass for findings by this one.
        setFindings(m_loaded.triage->findings);
        Q_EMIT problem(qstr(sentence(findings.error())), {});
    }
    Q_EMIT findingsChanged();
}

// Files in which the user says what they know of the open run.

/// Who names one file while another is still read names both.
workflow::UserFiles Workspace::userFilesSoon() const
{
    return m_userFiles.busy() ? m_asked : m_loaded.userFiles;
}

void Workspace::addUserFiles(workflow::UserFileKind kind, const QStringList& paths)
{
    workflow::UserFiles userFiles = userFilesSoon();
    for (const QString& path : paths) {
        userFiles = workflow::withFile(std::move(userFiles), kind, path.toStdString());
    }
    setUserFiles(userFiles, true);
}

void Workspace::removeUserFile(workflow::UserFileKind kind, const QString& path)
{
    setUserFiles(workflow::withoutFile(userFilesSoon(), kind, path.toStdString()), false);
}

/// `strict`: what is new must be of use. What was so once is kept, and says why it no longer is.
void Workspace::setUserFiles(const workflow::UserFiles& userFiles, bool strict)
{
    if (!hasRun()) {
        return;
    }
    m_asked = userFiles;
    m_userFiles.start(
        this,
        [userFiles, place = m_loaded.place()](
            const CancelToken& /*cancel*/) { return workflow::readUserFilesBeside(place, userFiles); },
        [this, userFiles, strict](workflow::UserFacts known) { onUserFilesRead(userFiles, std::move(known), strict); });
}

void Workspace::onUserFilesRead(const workflow::UserFiles& userFiles, workflow::UserFacts known, bool strict)
{
    const auto isNew = [this](const workflow::UserFile& file) {
        return std::ranges::none_of(m_loaded.userFilesAsRead,
            [&](const workflow::UserFile& before) { return before.kind == file.kind && before.path == file.path; });
    };
    const auto bad = std::ranges::find_if(
        known.files, [&](const workflow::UserFile& file) { return strict && file.problem && isNew(file); });
    if (bad != known.files.end()) {
        Q_EMIT userFileRefused(qstr(sentence(*bad->problem)));
        return;
    }
    m_loaded.userFilesAsRead = std::move(known.files);
    m_loaded.kept = std::move(known.kept);
    m_loaded.catalogue = std::move(known.catalogue);
    const bool news = std::exchange(m_loaded.userFiles, userFiles) != userFiles || strict;
    if (news && m_loaded.canBeJudged()) {
        judgeAgain();
    }
    Q_EMIT userFilesChanged();
}

QStringList Workspace::userFileProblems() const
{
    QStringList sentences;
    for (const workflow::UserFile& file : m_loaded.userFilesAsRead) {
        if (file.problem) {
            sentences << qstr(sentence(*file.problem));
        }
    }
    return sentences;
}

} // namespace nanscope

#include "moc_workspace.cpp"
