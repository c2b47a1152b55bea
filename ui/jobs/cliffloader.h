// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QObject>
#include <QPointer>

#include <nlohmann/json_fwd.hpp>

#include "core/replay/analysis/cliff.h"
#include "ui/jobs/replayservice.h"

namespace nanscope {

/// Cliffs from the replay process. Only the newest request is answered, the one before it is stopped.
class CliffLoader : public QObject
{
    Q_OBJECT

public:
    explicit CliffLoader(ReplayService* service, QObject* parent = nullptr);
    ~CliffLoader() override;

    void request(const replay::CliffRequest& request);
    /// What was asked for is not wanted any more.
    void drop();
    bool busy() const { return m_wanted != 0; }

Q_SIGNALS:
    void ready(std::shared_ptr<const nanscope::replay::ReplayedCliff> cliff);
    void failed(const QString& sentence);

private:
    void take(int id, const nlohmann::ordered_json& answer);
    void fail(const QString& sentence);

    QPointer<ReplayService> m_service;
    int m_wanted = 0; ///< id of the request
};

} // namespace nanscope
