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
    int begin() { return ++m_current; }
    void drop() { ++m_current; }
    bool isCurrent(int job) const { return job == m_current; }

private:
    int m_current = 0;
};

} // namespace nanscope
