// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/verifyjob.h"

#include <optional>
#include <utility>

#include "core/session/session.h"
#include "core/workflow/judgement.h"
#include "core/workflow/userfiles.h"
#include "core/workflow/verifycheckpoints.h"
#include "ui/jobs/progressgate.h"
#include "ui/jobs/readrun.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

Result<std::vector<Checkpoint>> verified(const LoadedRun& run, const JobContext& job)
{
    auto whole = runWithPoints(run);
    if (!whole) {
        return tl::make_unexpected(whole.error());
    }
    workflow::addEnvironment(*whole, workflow::readUserFiles(run.userFiles, run.kept));
    const auto shown = workflow::weighed(*run.diagnosis, run.observed, *whole, run.userFiles, run.catalogue, true);
    std::optional<session::Session> session;
    if (!run.session.empty()) {
        if (auto opened = session::openSessionOfRun(run.session, session::OpenMode::readWrite, run.key())) {
            session = std::move(*opened);
        }
    }
    const auto read = workflow::verifyCheckpoints(*whole, shown.captures, session ? &*session : nullptr, job);
    if (!read) {
        return tl::make_unexpected(read.error());
    }
    return std::move(whole->checkpoints);
}

} // namespace

VerifyJob::VerifyJob(QObject* parent)
    : QObject(parent)
{
    m_pool.setMaxThreadCount(1);
}

VerifyJob::~VerifyJob()
{
    m_cancel.cancel();
    m_pool.waitForDone();
}

void VerifyJob::start(const LoadedRun& run)
{
    m_cancel.cancel();
    m_cancel = CancelToken();
    const int number = m_jobs.begin();
    const auto job = gatedJob(this, m_cancel, [this, number](const Progress& progress) {
        if (m_jobs.isCurrent(number)) {
            Q_EMIT progressed(qstr(progress.phase), progress.done);
        }
    });
    Q_EMIT started();
    background(
        m_pool, this, [run, job] { return nanscope::verified(run, job); },
        [this, number](const Answer& answer) { onDone(number, answer); });
}

void VerifyJob::cancel()
{
    m_cancel.cancel();
    if (m_jobs.drop()) {
        Q_EMIT ended();
    }
}

void VerifyJob::onDone(int job, const Answer& answer)
{
    if (!m_jobs.end(job)) {
        return;
    }
    if (answer) {
        Q_EMIT verified(*answer);
    } else {
        Q_EMIT failed(qstr(sentence(answer.error())));
    }
    Q_EMIT ended();
}

} // namespace nanscope
