// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/watch/runjudge.h"

#include <utility>

#include "core/diagnose/diagnose.h"
#include "core/diagnose/triage/triage.h"
#include "core/model/words.h"
#include "core/platform/platform.h"
#include "core/session/session.h"
#include "core/workflow/judgement.h"
#include "core/workflow/openrun.h"
#include "core/workflow/userfiles.h"

namespace nanscope {

namespace {

/// One whose file was being written again meanwhile will be judged when it is whole.
bool isTold(const CaptureVerdict& verdict)
{
    const bool began = verdict.role == Role::birth || verdict.role == Role::upstream;
    return began && !verdict.summary.empty() && verdict.unread.empty();
}

Result<session::Session> sessionOf(const RunJudge::Subject& subject)
{
    return session::openSessionOfRun(
        subject.session, session::OpenMode::readWrite, session::hashText(subject.run->root));
}

} // namespace

RunJudge::RunJudge(Listener listener)
    : m_listener(std::move(listener))
    , m_thread([this] { work(); })
{ }

RunJudge::~RunJudge()
{
    {
        const std::lock_guard lock(m_mutex);
        m_over = true;
        m_cancel.cancel();
        m_changed.notify_all();
    }
    m_thread.join();
}

void RunJudge::passOver(const Capture& capture, const std::string& blame)
{
    const std::lock_guard lock(m_mutex);
    m_told[capture.identity] = blame;
}

void RunJudge::goOnAs(const std::string& before, const std::string& identity)
{
    const std::lock_guard lock(m_mutex);
    for (auto& [old, now] : m_goesOnAs) {
        now = now == before ? identity : now;
    }
    m_goesOnAs.erase(identity);
    m_goesOnAs[before] = identity;
    if (auto told = m_told.extract(before)) {
        told.key() = identity;
        m_told.insert(std::move(told));
    }
    if (m_due.erase(before) > 0) {
        m_due.insert(identity);
    }
}

std::string RunJudge::newestOf(const std::string& identity) const
{
    const auto known = m_goesOnAs.find(identity);
    return known == m_goesOnAs.end() ? identity : known->second;
}

void RunJudge::judge(Subject subject)
{
    const std::lock_guard lock(m_mutex);
    // What is judged now, or next, is stored anyway.
    if (subject.onlyToStore && (m_judging || m_waiting)) {
        return;
    }
    m_waiting = std::move(subject);
    makeWay();
    m_changed.notify_all();
}

void RunJudge::makeWay()
{
    if (m_waiting && m_due.empty()) {
        m_cancel.cancel();
    }
}

std::optional<RunJudge::Subject> RunJudge::next()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_over || m_waiting; });
    m_cancel = CancelToken();
    m_judging = true;
    return m_over ? std::nullopt : std::exchange(m_waiting, std::nullopt);
}

void RunJudge::work()
{
    // What is told next does not wait for what is judged now.
    platform::leaveProcessorsToOthers();
    while (const auto subject = next()) {
        if (subject->onlyToStore && m_unstored) {
            storeAgain(*subject);
        } else {
            judgeOne(*subject);
        }
        end();
    }
}

void RunJudge::begin(const RunData& run)
{
    const auto triaged = diagnose::triage(run);
    const std::lock_guard lock(m_mutex);
    m_identities.clear();
    for (const auto& capture : run.captures) {
        if (!capture.overwritten) {
            m_identities[capture.file] = capture.identity;
        }
    }
    m_due.clear();
    for (const auto& verdict : triaged) {
        const auto identity = identityOf(verdict);
        if (verdict.role == Role::birth && identity && !m_told.contains(*identity)) {
            m_due.insert(*identity);
        }
    }
}

void RunJudge::end()
{
    const std::lock_guard lock(m_mutex);
    m_due.clear();
    m_judging = false;
}

/// A capture is called otherwise once another one has its file's name. None where nothing is to be said of it any more.
std::optional<std::string> RunJudge::identityOf(const CaptureVerdict& verdict) const
{
    const auto known = m_identities.find(verdict.capture);
    return known == m_identities.end() ? std::nullopt : std::optional(newestOf(known->second));
}

bool RunJudge::isUntold(const CaptureVerdict& verdict)
{
    const std::lock_guard lock(m_mutex);
    const auto identity = identityOf(verdict);
    return identity && m_due.contains(*identity);
}

/// Of a birth that was there before the watching only the end of a whole judging tells whether its verdict changed.
void RunJudge::take(const CaptureVerdict& verdict, const RunData& run, bool last)
{
    if (!isTold(verdict) || (!last && verdict.role != Role::birth)) {
        return;
    }
    bool news = false;
    {
        const std::lock_guard lock(m_mutex);
        const auto identity = identityOf(verdict);
        if (!identity) {
            return;
        }
        const auto blame = blameText(verdict);
        const auto [told, isNew] = m_told.try_emplace(*identity, blame);
        news = isNew || (last && !told->second.empty() && told->second != blame);
        told->second = blame;
    }
    if (news) {
        m_listener.verdict(verdict, run);
    }
    const std::lock_guard lock(m_mutex);
    // It may have been written again while its verdict was told.
    m_due.erase(identityOf(verdict).value_or(std::string()));
    makeWay();
}

/// The run with the points that it is judged by, and its session where both can be read.
workflow::OpenedRun RunJudge::opened(const Subject& subject) const
{
    workflow::OpenedRun read {*subject.run};
    if (subject.session.empty()) {
        workflow::keepJudgingPoints(read.run);
        return read;
    }
    auto session = sessionOf(subject);
    if (!session) {
        m_listener.unkept(sentence(session.error()));
    } else if (const auto points = workflow::readJudgingPoints(read.run, *session); !points) {
        read.run = *subject.run;
        m_listener.failure("The values of the logs could not be read from the session: verdicts are given without "
                           "them, and the diagnosis is not stored. "
            + sentence(points.error()));
    } else {
        read.session = std::move(*session);
        read.writable = true;
    }
    return read;
}

void RunJudge::judgeOne(const Subject& subject)
{
    auto source = opened(subject);
    if (subject.onlyToStore && !source.session) {
        return;
    }
    const auto* session = source.session ? &*source.session : nullptr;
    begin(source.run);
    const auto facts = workflow::readUserFilesOf(session, {}, source.run);
    diagnose::DiagnoseOptions options;
    options.first = [this](const CaptureVerdict& verdict) { return isUntold(verdict); };
    options.arrived = [&](const CaptureVerdict& verdict) { take(verdict, source.run, false); };
    options.findings = diagnose::checked(options.findings).value_or(diagnose::FindingChoices {});
    const auto from = workflow::judgedFrom(source.run, {}, options.findings, session);
    JobContext job;
    {
        const std::lock_guard lock(m_mutex);
        job.cancel = m_cancel;
    }
    auto diagnosis = workflow::diagnoseWith(facts, source.run, options, job);
    if (!diagnosis) {
        m_listener.failure("The run could not be judged: " + sentence(diagnosis.error()));
        return;
    }
    if (!diagnosis->stopped.empty()) {
        return;
    }
    std::set<std::optional<std::pair<std::int64_t, std::int64_t>>> damagedSteps;
    for (const auto& verdict : diagnosis->captures) {
        if (verdict.role != Role::upstream || damagedSteps.insert(verdict.step).second) {
            take(verdict, source.run, true);
        }
    }
    keep(source.session, {std::move(*diagnosis), from});
}

void RunJudge::keep(std::optional<session::Session>& session, workflow::StoredDiagnosis judged)
{
    m_owes = true;
    m_unstored.reset();
    if (session) {
        m_unstored = std::move(judged);
        store(*session);
    }
}

void RunJudge::storeAgain(const Subject& subject)
{
    if (auto session = sessionOf(subject)) {
        store(*session);
    } else {
        m_listener.unkept(sentence(session.error()));
    }
}

void RunJudge::store(session::Session& session)
{
    if (const auto stored = workflow::storeDiagnosis(session, m_unstored->diagnosis, m_unstored->from); !stored) {
        m_listener.unkept(sentence(stored.error()));
    } else {
        m_unstored.reset();
        m_owes = false;
    }
}

} // namespace nanscope
