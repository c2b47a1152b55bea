// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <QObject>
#include <QThreadPool>

#include "core/base/guarded.h"
#include "core/base/job.h"

namespace nanscope {

/// Runs `work` on the pool and hands its result to `done` in the thread of `context`, unless that is gone by then.
template <class Work, class Done>
void background(QThreadPool& pool, QObject* context, Work work, Done done)
{
    pool.start([context, work = std::move(work), done = std::move(done)]() mutable {
        auto result = guarded(work);
        QMetaObject::invokeMethod(
            context, [result = std::move(result), done = std::move(done)]() mutable { done(std::move(result)); },
            Qt::QueuedConnection);
    });
}

/// Numbers jobs, so that the answer of an older one is recognised and dropped.
class JobTracker
{
public:
    int begin()
    {
        m_busy = true;
        return ++m_current;
    }
    /// Whatever runs is heard no more. False where nothing did.
    bool drop()
    {
        ++m_current;
        return std::exchange(m_busy, false);
    }
    bool isCurrent(int job) const { return job == m_current; }
    /// The job has its answer; false where that is not to be heard.
    bool end(int job)
    {
        m_busy = m_busy && !isCurrent(job);
        return isCurrent(job);
    }
    bool busy() const { return m_busy; }

private:
    int m_current = 0;
    bool m_busy = false;
};

/// Lets through a report every 50 ms and each change of phase: the event queue of the window is not a log.
class ProgressGate
{
public:
    bool opensFor(const Progress& progress)
    {
        const auto now = std::chrono::steady_clock::now();
        if (progress.phase == m_phase && now - m_last < std::chrono::milliseconds(50)) {
            return false;
        }
        m_phase = progress.phase;
        m_last = now;
        return true;
    }

private:
    std::string m_phase;
    std::chrono::steady_clock::time_point m_last;
};

/// A job whose progress `take` is given in the thread of `context`, no oftener than the gate opens.
template <class Take>
JobContext gatedJob(QObject* context, const CancelToken& cancel, Take take)
{
    JobContext job;
    job.cancel = cancel;
    job.progress = [context, take = std::move(take), gate = std::make_shared<ProgressGate>()](
                       const Progress& progress) {
        if (gate->opensFor(progress)) {
            QMetaObject::invokeMethod(
                context, [take, progress] { take(progress); }, Qt::QueuedConnection);
        }
    };
    return job;
}

/// Work on a thread of its own, of which only the newest is answered: what runs when other work comes is cancelled, and
/// ends unheard. The last member of who has it: its thread ends before anything it uses.
class NewestJob
{
public:
    NewestJob() { m_pool.setMaxThreadCount(1); }
    ~NewestJob()
    {
        drop();
        m_pool.waitForDone();
    }
    NewestJob(const NewestJob&) = delete;
    NewestJob& operator=(const NewestJob&) = delete;

    /// `work` is given a JobContext, whose progress `progressed` hears of.
    template <class Work, class Done, class Progressed>
    void start(QObject* context, Work work, Done done, Progressed progressed)
    {
        drop();
        m_cancel = CancelToken();
        const int job = m_jobs.begin();
        const JobContext gated = gatedJob(context, m_cancel, [this, job, progressed](const Progress& progress) {
            if (m_jobs.isCurrent(job)) {
                progressed(progress);
            }
        });
        background(
            m_pool, context, [work = std::move(work), gated]() mutable { return work(gated); },
            [this, job, done = std::move(done)](auto answer) {
                if (m_jobs.end(job)) {
                    done(std::move(answer));
                }
            });
    }
    template <class Work, class Done>
    void start(QObject* context, Work work, Done done)
    {
        start(
            context, [work = std::move(work)](const JobContext& job) mutable { return work(job.cancel); },
            std::move(done), [](const Progress& /*progress*/) {});
    }

    /// False where nothing ran.
    bool drop()
    {
        m_cancel.cancel();
        m_pool.clear();
        return m_jobs.drop();
    }
    bool busy() const { return m_jobs.busy(); }

private:
    JobTracker m_jobs;
    CancelToken m_cancel;
    QThreadPool m_pool;
};

} // namespace nanscope
