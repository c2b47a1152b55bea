// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

#include "core/replay/analysis/deep.h"
#include "ui/jobs/replayservice.h"

namespace nanscope {

/// The same replay on the same machine.
bool sameCell(const Cell& a, const Cell& b);

/// The deep gauges of a stored cell: of its worst matrix, with the overrides it was replayed with.
replay::DeepRequest deepRequest(const CaptureRef& capture, const Cell& cell);

/// Measures deep gauges in the replay process, one request at a time.
class DeepJob : public QObject
{
    Q_OBJECT

public:
    explicit DeepJob(ReplayService& service, QObject* parent = nullptr)
        : QObject(parent)
        , m_request(&service)
    { }

    /// The service keeps them in this session, if one is named.
    void measure(const rpc::DeepOrder& order);
    /// Ends it at once for who waits; the process stops at its next instruction.
    void cancel();
    bool busy() const { return m_request.busy(); }

Q_SIGNALS:
    void progressed(int done, int total);
    void measured(const nanscope::Cell& cell);
    /// Without gauges: why, or empty after a cancel.
    void ended(const QString& sentence);

private:
    ServiceRequest m_request;
};

} // namespace nanscope
