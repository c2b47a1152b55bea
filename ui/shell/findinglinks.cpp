// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/findinglinks.h"

#include <algorithm>
#include <utility>

#include "core/diagnose/whatif/whatifwords.h"
#include "core/model/verdict.h"
#include "ui/captures/capturespane.h"
#include "ui/findings/advisorylines.h"
#include "ui/findings/findingspane.h"
#include "ui/jobs/workspace.h"
#include "ui/rollback/rollbackpane.h"
#include "ui/shared/text.h"
#include "ui/timeline/timelinepane.h"
#include "ui/whatif/whatifpane.h"

namespace nanscope {

namespace {

qsizetype checkpointsInFolder(const RunData& run)
{
    return std::ranges::count_if(
        run.checkpoints, [](const Checkpoint& one) { return !one.place.empty() && one.problem.empty(); });
}

} // namespace

FindingLinks::FindingLinks(const Panes& panes, Workspace& workspace, QObject* parent)
    : QObject(parent)
    , m_panes(panes)
    , m_workspace(workspace)
{
    connectFindings();
    connectWhatIf();
    connect(&m_workspace, &Workspace::runChanged, this, &FindingLinks::fill);
}

void FindingLinks::connectFindings()
{
    connect(m_panes.rollback, &RollbackPane::copied, this, &FindingLinks::note);
    connect(&m_workspace, &Workspace::advised, m_panes.rollback, [this](const std::optional<Rollback>& rollback) {
        m_panes.rollback->setRollback(rollback, true, m_workspace.loaded().newestPoints, m_workspace.goOn());
        m_panes.rollback->setReadable(checkpointsInFolder(*m_workspace.loaded().run));
    });
    VerifyJob& verification = m_workspace.verification();
    connect(m_panes.rollback, &RollbackPane::verifyAsked, &m_workspace, &Workspace::verifyCheckpoints);
    connect(m_panes.rollback, &RollbackPane::cancelAsked, &verification, &VerifyJob::cancel);
    connect(&verification, &VerifyJob::started, m_panes.rollback, &RollbackPane::showVerifying);
    connect(&verification, &VerifyJob::progressed, m_panes.rollback, &RollbackPane::showProgress);
    connect(&verification, &VerifyJob::ended, m_panes.rollback, &RollbackPane::showVerified);
    connect(m_panes.findings, &FindingsPane::choicesChanged, &m_workspace, &Workspace::chooseFindings);
    connect(&m_workspace, &Workspace::findingsChanged, this, &FindingLinks::fillFindings);
    connect(m_panes.findings, &FindingsPane::evidenceActivated, this, [this](const QString& source, qint64 line) {
        Q_EMIT note(line > 0 ? QStringLiteral("%1:%2").arg(source).arg(line) : source);
    });
}

void FindingLinks::connectWhatIf()
{
    WhatIfJob& job = m_workspace.whatIf();
    WhatIfPane* pane = m_panes.whatIf;
    connect(pane, &WhatIfPane::questionChanged, &job, &WhatIfJob::setQuestion);
    connect(pane, &WhatIfPane::watchedChanged, &job, &WhatIfJob::setWatched);
    connect(pane, &WhatIfPane::factActivated, this, &FindingLinks::showFact);
    connect(pane, &WhatIfPane::copied, this, &FindingLinks::note);
    connect(&job, &WhatIfJob::started, pane, &WhatIfPane::setAsking);
    connect(&job, &WhatIfJob::answered, pane, &WhatIfPane::setAnswer);
    connect(&job, &WhatIfJob::failed, pane, &WhatIfPane::showProblem);
}

void FindingLinks::fillFindings()
{
    const LoadedRun& loaded = m_workspace.loaded();
    m_panes.findings->setChoices(loaded.choices);
    const bool nothing = loaded.run->captures.empty() && loaded.run->series.empty() && loaded.run->events.empty();
    const bool complete = loaded.diagnosis ? loaded.diagnosis->stopped.empty() : nothing;
    m_panes.findings->setFindings(
        loaded.known()->findings, loaded.diagnosis ? loaded.newestPoints : std::nullopt, complete);
    const QString wait = m_workspace.judging() ? tr("This rule is asked once the run is judged")
                                               : tr("Looking for spikes by this rule…");
    m_panes.findings->setWaiting(m_workspace.awaitsFindings() ? wait : QString());
}

void FindingLinks::fill()
{
    const LoadedRun& loaded = m_workspace.loaded();
    const auto newest = loaded.diagnosis ? loaded.newestPoints : std::nullopt;
    fillFindings();
    m_panes.findings->advisories()->setAdvisories(loaded.known()->advisories);
    m_panes.rollback->setRollback(m_workspace.rollback(), loaded.diagnosis != nullptr, newest, m_workspace.goOn());
    m_panes.rollback->setReadable(loaded.diagnosis ? checkpointsInFolder(*loaded.run) : 0);
    if (std::exchange(m_opened, loaded.opened) != loaded.opened) {
        m_panes.whatIf->forgetAnswer();
    }
    m_workspace.whatIf().setRun(loaded);
}

/// The capture where one shows it, the step in the timeline, and in any case where it stands.
void FindingLinks::showFact(const diagnose::AnswerFact& fact)
{
    QStringList words;
    if (!fact.source.empty()) {
        words << qstr(fact.source);
    }
    const auto& captures = m_workspace.loaded().run->captures;
    const auto found = std::ranges::find(captures, fact.source, &Capture::file);
    if (found != captures.end()) {
        m_panes.captures->selectCapture(static_cast<int>(found - captures.begin()));
    }
    if (fact.step) {
        const auto step = static_cast<double>(*fact.step);
        m_panes.timeline->view()->reveal(step);
        m_panes.timeline->view()->setCursor(step);
        words << tr("step %1").arg(*fact.step);
    }
    Q_EMIT note(words.join(QStringLiteral(" · ")));
}

} // namespace nanscope
