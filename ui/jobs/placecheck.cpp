// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/placecheck.h"

#include <filesystem>
#include <mutex>
#include <system_error>
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

QString reasonOf(PlaceState state)
{
    switch (state) {
    case PlaceState::gone:
        return PlaceCheck::tr("not there any more");
    case PlaceState::closed:
        return PlaceCheck::tr("no permission to read it");
    default:
        return {};
    }
}

PlaceState PlaceCheck::onDisk(const QString& path)
{
    std::error_code error;
    const std::filesystem::path place(path.toStdString());
    if (!std::filesystem::exists(place, error)) {
        // A folder on the way there may hide it.
        return error == std::errc::permission_denied ? PlaceState::closed : PlaceState::gone;
    }
    return QFileInfo(path).isReadable() ? PlaceState::there : PlaceState::closed;
}

PlaceCheck::PlaceCheck(Checker look, QObject* parent)
    : QObject(parent)
    , m_look(std::move(look))
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
    std::thread([link = m_link, look = m_look, path] {
        const PlaceState state = look(path);
        const std::lock_guard lock(link->mutex);
        if (PlaceCheck* receiver = link->receiver) {
            QMetaObject::invokeMethod(
                receiver, [receiver, path, state] { receiver->take(path, state); }, Qt::QueuedConnection);
        }
    }).detach();
}

void PlaceCheck::take(const QString& path, PlaceState state)
{
    Place& place = m_places[path];
    const bool shownOtherwise = place.late || place.state != state;
    place = {false, true, false, state};
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
    return place.late ? PlaceState::checking : place.state;
}

} // namespace nanscope
