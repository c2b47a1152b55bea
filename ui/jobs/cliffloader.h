// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QObject>

#include "core/replay/analysis/cliff.h"
#include "ui/jobs/replayservice.h"

namespace nanscope {

/// Cliffs from the replay process. Only the newest request is answered, the one before it is stopped.
class CliffLoader : public QObject
{
    Q_OBJECT

public:
    explicit CliffLoader(ReplayService* service, QObject* parent = nullptr)
        : QObject(parent)
        , m_request(service)
    { }

    void request(const replay::CliffRequest& request);
    /// What was asked for is not wanted any more.
    void drop() { m_request.drop(); }
    bool busy() const { return m_request.busy(); }

Q_SIGNALS:
    void ready(std::shared_ptr<const nanscope::replay::ReplayedCliff> cliff);
    void failed(const QString& sentence);

private:
    ServiceRequest m_request;
};

} // namespace nanscope
