// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/folderfollower.h"

#include "core/platform/folderwatch.h"

namespace nanscope {

FolderFollower::~FolderFollower()
{
    stop();
    for (Watcher& watcher : m_watchers) {
        watcher.thread.join();
    }
}

void FolderFollower::stop()
{
    for (auto watcher = m_watchers.begin(); watcher != m_watchers.end();) {
        watcher->cancel.cancel();
        if (!watcher->over) {
            ++watcher;
            continue;
        }
        watcher->thread.join();
        watcher = m_watchers.erase(watcher);
    }
}

void FolderFollower::follow(const std::filesystem::path& path)
{
    stop();
    Watcher& watcher = m_watchers.emplace_back();
    watcher.thread = std::thread([this, &watcher, path] { watch(watcher, path); });
}

void FolderFollower::watch(Watcher& watcher, const std::filesystem::path& path)
{
    auto folder = platform::FolderWatch::open(path);
    while (folder && folder->wait([&watcher] { return watcher.cancel.cancelled(); })) {
        // Queued to this object; what arrives after stop() is of a folder that nobody asks for any more.
        const auto tell = [this, cancel = watcher.cancel] {
            if (!cancel.cancelled()) {
                Q_EMIT changed();
            }
        };
        QMetaObject::invokeMethod(this, tell, Qt::QueuedConnection);
    }
    watcher.over = true;
}

} // namespace nanscope
