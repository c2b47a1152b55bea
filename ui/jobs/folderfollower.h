// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <thread>

#include <QObject>

#include "core/model/job.h"

namespace nanscope {

/// Waits on a thread of its own for changes below a folder and says so in the thread of its receiver. Costs nothing
/// while nothing changes.
class FolderFollower : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;
    ~FolderFollower() override;

    /// Follows this path instead of the one before.
    void follow(const std::filesystem::path& path);
    void stop();
    bool following() const { return m_thread.joinable(); }

Q_SIGNALS:
    void changed();

private:
    CancelToken m_cancel;
    std::thread m_thread;
};

} // namespace nanscope
