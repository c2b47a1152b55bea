// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <QObject>

#include "core/base/job.h"

namespace nanscope {

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

} // namespace nanscope
