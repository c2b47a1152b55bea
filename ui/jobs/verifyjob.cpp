// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/verifyjob.h"

#include <optional>
#include <utility>

#include "core/base/try.h"
#include "core/session/session.h"
#include "core/workflow/judgement.h"
#include "core/workflow/userfiles.h"
#include "core/workflow/verifycheckpoints.h"
#include "ui/jobs/readrun.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

Result<std::vector<Checkpoint>> verified(const LoadedRun& run, const JobContext& job)
{
    auto whole = TRY(runWithPoints(run));
    workflow::addEnvironment(whole, workflow::readUserFiles(run.userFiles, run.kept));
    const auto shown = workflow::weighed(*run.diagnosis, run.observed, whole, run.userFiles, run.catalogue, true);
    std::optional<session::Session> session;
    if (!run.session.empty()) {
        if (auto opened = session::openSessionOfRun(run.session, session::OpenMode::readWrite, run.key())) {
            session = std::move(*opened);
        }
    }
    TRY(workflow::verifyCheckpoints(whole, shown.captures, session ? &*session : nullptr, job));
    return std::move(whole.checkpoints);
}

} // namespace

void VerifyJob::start(const LoadedRun& run)
{
    const auto done = [this](const Result<std::vector<Checkpoint>>& checkpoints) {
        if (checkpoints) {
            Q_EMIT verified(*checkpoints);
        } else {
            Q_EMIT failed(qstr(sentence(checkpoints.error())));
        }
        Q_EMIT ended();
    };
    Q_EMIT started();
    m_job.start(
        this, [run](const JobContext& job) { return nanscope::verified(run, job); }, done,
        [this](const Progress& progress) { Q_EMIT progressed(qstr(progress.phase), progress.done); });
}

void VerifyJob::cancel()
{
    if (m_job.drop()) {
        Q_EMIT ended();
    }
}

} // namespace nanscope
