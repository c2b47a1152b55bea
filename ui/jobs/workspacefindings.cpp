// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the user chose of the findings of the open run.
#include "ui/jobs/workspace.h"

#include <utility>

#include "ui/jobs/readrun.h"
#include "ui/text.h"

namespace nanscope {

namespace {

std::shared_ptr<const Diagnosis> withFindings(const Diagnosis& diagnosis, std::vector<Finding> findings)
{
    auto changed = std::make_shared<Diagnosis>(diagnosis);
    changed->findings = std::move(findings);
    return changed;
}

} // namespace

void Workspace::chooseFindings(const diagnose::FindingChoices& choices)
{
    if (!hasRun() || choices == m_loaded.choices) {
        return;
    }
    dropFindings();
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

void Workspace::dropFindings()
{
    m_findings.drop();
    m_findingsCancel.cancel();
    m_finder.clear();
}

void Workspace::askFindings()
{
    if (!m_loaded.findingsDue() || m_loader.busy()) {
        return;
    }
    dropFindings();
    m_findingsCancel = CancelToken();
    background(
        m_finder, this, [run = m_loaded, cancel = m_findingsCancel] { return findingsAgain(run, cancel); },
        [this, job = m_findings.begin(), rule = m_loaded.choices.spikeRule](Result<std::vector<Finding>> findings) {
            if (m_findings.isCurrent(job)) {
                onFindings(std::move(findings), rule);
            }
        });
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

} // namespace nanscope
