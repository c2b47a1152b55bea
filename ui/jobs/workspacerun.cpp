// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The run that is open: read, judged, followed while it grows, and what its owner says about it.
#include "ui/jobs/workspace.h"

#include <map>
#include <utility>

#include "core/model/diagnosisrules.h"
#include "core/report/report.h"
#include "core/workflow/judgingpoints.h"
#include "ui/jobs/readrun.h"
#include "ui/jobs/reportjob.h"
#include "ui/text.h"

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

} // namespace

void Workspace::open(const QString& path, const UserContextOf& userContextOf)
{
    m_service.cancel();
    m_deep.cancel();
    m_ran.clear();
    m_refreshing = false;
    m_folderChanged = false;
    m_follower.stop();
    m_userFileReadings.drop();
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
    m_loader.open(m_loaded.opened, [said = userContext()](const auto& /*session*/) { return said; });
}

void Workspace::rescan()
{
    if (hasRun()) {
        m_loader.open(
            m_loaded.opened, [said = userContext()](const auto& /*session*/) { return said; }, true);
        Q_EMIT stateChanged();
    }
}

void Workspace::setRan(const QStringList& ran)
{
    if (!hasRun()) {
        return;
    }
    m_ran = ran;
    judgeAgain();
}

UserContext Workspace::userContext() const
{
    return {m_loaded.userFiles, m_loaded.choices};
}

void Workspace::judgeAgain()
{
    std::vector<std::string> names;
    for (const QString& name : m_ran) {
        names.push_back(name.toStdString());
    }
    m_judging = true;
    m_judgedBy = m_loaded.choices;
    if (!m_loaded.diagnosis) {
        m_loaded.ticks.clear();
    }
    m_loader.judge(m_loaded, names);
    Q_EMIT stateChanged();
}

void Workspace::setTicks(const QStringList& ticks)
{
    if (const Capture* shown = capture()) {
        std::vector<std::string>& kept = m_loaded.ticks[shown->file];
        kept.clear();
        for (const QString& tick : ticks) {
            kept.push_back(tick.toStdString());
        }
        m_reporter.subjectChanged();
        adviseAgain();
    }
}

/// Which checkpoint to go back to depends on whose fault it is.
void Workspace::adviseAgain()
{
    const int job = m_advice.begin();
    m_adviser.clear();
    m_advising = m_loaded.diagnosis && m_loaded.diagnosis->rollback;
    if (!m_advising) {
        return;
    }
    background(
        m_adviser, this, [run = m_loaded] { return adviceOf(run); },
        [this, job](const Result<std::optional<Rollback>>& advice) {
            if (!m_advice.isCurrent(job)) {
                return;
            }
            m_advising = false;
            if (advice) {
                Q_EMIT advised(*advice);
            }
        });
}

void Workspace::setObserved(const Observations& observed)
{
    m_loaded.observed = observed;
    m_reporter.subjectChanged();
    adviseAgain();
    if (m_loaded.session.empty()) {
        return;
    }
    background(
        m_notes, this, [run = m_loaded, observed] { return storeObserved(run, observed); },
        [this](const Result<void>& stored) {
            if (!stored) {
                Q_EMIT problem(qstr(sentence(stored.error())), {});
            }
        });
}

QStringList Workspace::ticks() const
{
    QStringList names;
    const Capture* shown = capture();
    const auto kept = shown ? m_loaded.ticks.find(shown->file) : m_loaded.ticks.end();
    if (kept != m_loaded.ticks.end()) {
        for (const std::string& tick : kept->second) {
            names << qstr(tick);
        }
    }
    return names;
}

/// What an earlier visit saw holds for the advice, too.
void Workspace::adviseAsObserved()
{
    m_advice.drop();
    m_advising = false;
    if (!m_loaded.observed.tried.empty() || !m_loaded.observed.called.empty()) {
        adviseAgain();
    }
}

void Workspace::onLoaded(const LoadedRun& run, bool judging)
{
    if (m_refreshing && !judging && sameContents(*run.run, *m_loaded.run)) {
        return;
    }
    const bool elsewhere = run.opened != m_loaded.opened;
    const diagnose::FindingChoices chosen = elsewhere ? run.choices : m_loaded.choices;
    dropFindings();
    m_loaded = run;
    m_judgedBy = run.choices;
    if (elsewhere) {
        follow();
    }
    m_judging = judging;
    m_selected = -1;
    m_tensors.drop();
    m_film.clear();
    m_beside.clear();
    Q_EMIT runChanged();
    // What was chosen while it was read holds.
    chooseFindings(chosen);
    adviseAsObserved();
    reportRejections();
    Q_EMIT stateChanged();
}

void Workspace::reportRejections()
{
    QStringList details;
    if (!m_loaded.sessionProblem.empty()) {
        details << tr("Nothing will be remembered of this run. %1").arg(qstr(m_loaded.sessionProblem));
    }
    if (m_loaded.otherRules) {
        details << (*m_loaded.otherRules > diagnosisRules
                ? tr("Its verdicts were stored by a newer Nanscope, and are judged again by the rules of this one.")
                : tr("Its verdicts were stored by an older Nanscope, and are judged again by the rules of this one."));
    }
    details << userFileProblems();
    const auto add = [&](const Rejection& one) {
        details << QStringLiteral("%1: %2").arg(qstr(one.reason), qstr(one.path));
    };
    std::ranges::for_each(m_loaded.run->rejected, add);
    std::ranges::for_each(m_loaded.run->notes, add);
    if (m_loaded.run->rejected.empty()) {
        if (!details.isEmpty()) {
            Q_EMIT problem(details.constFirst(), details.mid(1));
        }
        return;
    }
    const auto count = m_loaded.run->rejected.size();
    const QString rejected = count == 1 ? tr("1 file could not be used; everything else is open")
                                        : tr("%1 files could not be used; everything else is open").arg(count);
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
    // Verdicts that arrived one by one are these, and may have been ticked since.
    if (m_loaded.diagnosis) {
        m_loaded.ticks.clear();
    }
    dropFindings();
    m_loaded.diagnosis = std::move(diagnosis);
    m_loaded.foundBy = m_judgedBy.spikeRule;
    if (m_judgedBy.silenced != m_loaded.choices.silenced) {
        setFindings(m_loaded.diagnosis->findings);
    }
    m_loaded.newestPoints = workflow::newestJudgingPoints(*m_loaded.run);
    Q_EMIT runChanged();
    adviseAsObserved();
    Q_EMIT selectionChanged();
    if (capture() && !m_film.showing()) {
        showDefaultCell();
    }
}

} // namespace nanscope
