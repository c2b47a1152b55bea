// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <exception>
#include <new>
#include <utility>

#include <QObject>
#include <QThreadPool>

#include "core/model/result.h"

namespace nanscope {

/// What `work` gives; where it can fail, running out of memory is a failure like another.
template <class Work>
auto guarded(Work& work) -> decltype(work())
{
    using Answer = decltype(work());
    if constexpr (requires { typename Answer::error_type; }) {
        try {
            return work();
        } catch (const std::bad_alloc&) {
            return failure(ErrorKind::refused, "this takes more memory than there is");
        } catch (const std::exception& error) {
            return failure(ErrorKind::internal, error.what());
        }
    } else {
        return work();
    }
}

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
