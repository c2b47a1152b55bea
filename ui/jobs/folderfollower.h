// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <filesystem>
#include <list>
#include <thread>

#include <QObject>

#include "core/base/job.h"

namespace nanscope {

/// Waits on a thread of its own for changes below a folder and says so in the thread of its receiver. Costs nothing
/// while nothing changes, and its receiver never waits: not for a folder of a million files, not for a slow disk.
class FolderFollower : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;
    ~FolderFollower() override;

    /// Follows this path instead of the one before.
    void follow(const std::filesystem::path& path);
    void stop();

Q_SIGNALS:
    void changed();

private:
    /// The last one follows; those before are on their way out.
    struct Watcher
    {
        CancelToken cancel;
        std::atomic<bool> over = false;
        std::thread thread;
    };

    void watch(Watcher& watcher, const std::filesystem::path& path);

    std::list<Watcher> m_watchers;
};

} // namespace nanscope
