// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QObject>
#include <QString>

#include "core/model/run.h"
#include "ui/jobs/background.h"
#include "ui/jobs/runloader.h"

namespace nanscope {

/// Reads the checkpoints that a run may go back to, on a thread of its own.
class VerifyJob : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    /// The run is judged, and in trouble. Its session keeps what is read, if it can.
    void start(const LoadedRun& run);
    /// Ends it at once for who waits. Checkpoints that were read to their end are kept by the session.
    void cancel();
    bool busy() const { return m_job.busy(); }

Q_SIGNALS:
    void started();
    void progressed(const QString& checkpoint, qint64 tensors);
    /// Every checkpoint of the run, with what is known of it now.
    void verified(const std::vector<nanscope::Checkpoint>& checkpoints);
    void failed(const QString& sentence);
    /// After each of the others, and after a cancel.
    void ended();

private:
    NewestJob m_job;
};

} // namespace nanscope
