// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/whatifjob.h"

#include <utility>

#include "core/base/try.h"
#include "core/diagnose/whatif/whatifwords.h"
#include "core/workflow/openrun.h"
#include "ui/jobs/readrun.h"
#include "ui/shared/text.h"

namespace nanscope {

WhatIfAnswer answerWhatIf(const RunData& run, const WhatIfQuestion& question)
{
    WhatIfAnswer answer;
    answer.question = question;
    answer.detector = diagnose::replayDetector(run, question.detector);
    answer.noDetector = answer.detector.empty() ? diagnose::nothingToReplay(run) : std::string();
    if (run.captures.empty()) {
        answer.noGuard = diagnose::noCaptureToGuard();
    } else {
        answer.guard = diagnose::guardWhatIf(run, question.guard);
    }
    return answer;
}

WhatIfJob::WhatIfJob(QObject* parent)
    : QObject(parent)
{
    m_pool.setMaxThreadCount(1);
}

WhatIfJob::~WhatIfJob()
{
    m_pool.waitForDone();
}

void WhatIfJob::setRun(const LoadedRun& run)
{
    // Judging changes nothing of what is asked here.
    const bool same = m_loaded && m_loaded->run == run.run;
    m_loaded = run;
    if (same) {
        return;
    }
    m_points.reset();
    ++m_changes;
    m_stale = true;
    ask();
}

void WhatIfJob::setQuestion(const WhatIfQuestion& question)
{
    m_question = question;
    m_stale = true;
    ask();
}

void WhatIfJob::setWatched(bool watched)
{
    m_watched = watched;
    if (watched) {
        ask();
    } else {
        m_points.reset();
    }
}

void WhatIfJob::ask()
{
    if (!m_watched || m_asking || !m_stale || !m_loaded) {
        return;
    }
    m_asking = true;
    m_stale = false;
    Q_EMIT started();
    background(
        m_pool, this,
        [loaded = *m_loaded, points = m_points, question = m_question]() -> Result<Done> {
            Done done {points, nullptr};
            if (!done.run) {
                done.run = std::make_shared<const RunData>(TRY(runWithPoints(loaded)));
            }
            auto answer = answerWhatIf(*done.run, question);
            answer.newestPoints = workflow::newestJudgingPoints(*loaded.run);
            done.answer = std::make_shared<const WhatIfAnswer>(std::move(answer));
            return done;
        },
        [this, change = m_changes](const Result<Done>& done) { onDone(change, done); });
}

// An answer to a question that has changed meanwhile is not shown: the next one follows at once.
void WhatIfJob::onDone(int change, const Result<Done>& done)
{
    m_asking = false;
    const bool sameRun = change == m_changes;
    m_points = done && sameRun && m_watched ? done->run : nullptr;
    if (!sameRun || m_stale) {
        m_stale = true;
        ask();
    } else if (done) {
        Q_EMIT answered(done->answer);
    } else {
        Q_EMIT failed(qstr(sentence(done.error())));
    }
}

} // namespace nanscope
