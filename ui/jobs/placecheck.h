// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>

#include <QHash>
#include <QObject>
#include <QStringList>

namespace nanscope {

enum class PlaceState {
    there,
    checking,
    gone,
    closed, ///< there, or maybe there, and nobody may look
};

/// Why a place cannot be opened: "not there any more"; empty where it can be tried.
QString reasonOf(PlaceState state);

/// Whether folders are still there, each asked about on a thread of its own: a network folder that does not answer
/// holds up neither the window nor the others, and is not waited for when the window closes.
class PlaceCheck : public QObject
{
    Q_OBJECT

public:
    using Checker = std::function<PlaceState(const QString& path)>;
    static PlaceState onDisk(const QString& path);

    explicit PlaceCheck(Checker look, QObject* parent = nullptr);
    ~PlaceCheck() override;

    /// Asks again about each of them; what is being asked already is not asked twice.
    void check(const QStringList& paths);
    /// As far as it is known; `checking` only where the first answer takes noticeably long.
    PlaceState state(const QString& path) const;

Q_SIGNALS:
    void changed();

private:
    struct Link;
    struct Place
    {
        bool asked = false;
        bool known = false;
        bool late = false;
        PlaceState state = PlaceState::there;
    };

    void ask(const QString& path);
    void take(const QString& path, PlaceState state);
    void tellLate();

    Checker m_look;
    std::shared_ptr<Link> m_link;
    QHash<QString, Place> m_places;
};

} // namespace nanscope
