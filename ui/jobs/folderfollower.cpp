// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/folderfollower.h"

#include "core/platform/folderwatch.h"

namespace nanscope {

FolderFollower::~FolderFollower()
{
    stop();
}

void FolderFollower::stop()
{
    m_cancel.cancel();
    if (m_thread.joinable()) {
        m_thread.join();
    }
}

void FolderFollower::follow(const std::filesystem::path& path)
{
    stop();
    auto watch = FolderWatch::open(path);
    if (!watch) {
        return;
    }
    m_cancel = CancelToken();
    m_thread = std::thread([this, watch = std::move(*watch), cancel = m_cancel]() mutable {
        while (watch.wait([&cancel] { return cancel.cancelled(); })) {
            if (!cancel.cancelled()) {
                // Queued to this object: what arrives after stop() is not delivered to somebody else.
                QMetaObject::invokeMethod(
                    this, [this] { Q_EMIT changed(); }, Qt::QueuedConnection);
            }
        }
    });
}

} // namespace nanscope
