// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/placecheck.h"

#include <mutex>
#include <thread>
#include <utility>

#include <QFileInfo>
#include <QTimer>

namespace nanscope {

/// A thread that hangs in the file system cannot be stopped or waited for: it is left alone, and finds nobody here when
/// it comes back.
struct PlaceCheck::Link
{
    std::mutex mutex;
    PlaceCheck* receiver = nullptr;
};

bool PlaceCheck::onDisk(const QString& path)
{
    return QFileInfo::exists(path);
}

PlaceCheck::PlaceCheck(Checker isThere, QObject* parent)
    : QObject(parent)
    , m_isThere(std::move(isThere))
    , m_link(std::make_shared<Link>())
{
    m_link->receiver = this;
}

PlaceCheck::~PlaceCheck()
{
    const std::lock_guard lock(m_link->mutex);
    m_link->receiver = nullptr;
}

void PlaceCheck::check(const QStringList& paths)
{
    bool first = false;
    for (const QString& path : paths) {
        Place& place = m_places[path];
        first = first || (!place.asked && !place.known);
        if (!std::exchange(place.asked, true)) {
            ask(path);
        }
    }
    if (first) {
        constexpr int patienceMs = 300;
        QTimer::singleShot(patienceMs, this, &PlaceCheck::tellLate);
    }
}

void PlaceCheck::ask(const QString& path)
{
    std::thread([link = m_link, isThere = m_isThere, path] {
        const bool there = isThere(path);
        const std::lock_guard lock(link->mutex);
        if (PlaceCheck* receiver = link->receiver) {
            QMetaObject::invokeMethod(
                receiver, [receiver, path, there] { receiver->take(path, there); }, Qt::QueuedConnection);
        }
    }).detach();
}

void PlaceCheck::take(const QString& path, bool there)
{
    Place& place = m_places[path];
    const bool shownOtherwise = place.late || place.there != there;
    place = {false, true, there, false};
    if (shownOtherwise) {
        Q_EMIT changed();
    }
}

void PlaceCheck::tellLate()
{
    bool any = false;
    for (Place& place : m_places) {
        place.late = place.asked && !place.known;
        any = any || place.late;
    }
    if (any) {
        Q_EMIT changed();
    }
}

PlaceState PlaceCheck::state(const QString& path) const
{
    const Place place = m_places.value(path);
    if (place.late) {
        return PlaceState::checking;
    }
    return place.there ? PlaceState::there : PlaceState::gone;
}

} // namespace nanscope
