// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>

#include <QObject>
#include <QThreadPool>

#include "core/base/guarded.h"

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

} // namespace nanscope
