// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QString>
#include <QWidget>

#include "ui/jobs/placecheck.h"

class QPushButton;
class QVBoxLayout;

namespace nanscope {

/// What the window shows before anything is open: what to do, and what was open lately.
class StartPage : public QWidget
{
    Q_OBJECT

public:
    explicit StartPage(QWidget* parent = nullptr);

    /// Somewhere that was open before.
    struct Place
    {
        QString path;
        bool pinned = false;
        PlaceState state = PlaceState::there;
    };

    void setPlaces(const std::vector<Place>& places);
    void setSampleAvailable(bool available);

Q_SIGNALS:
    void openRequested();
    void sampleRequested();
    void recentRequested(const QString& path);
    void pinRequested(const QString& path, bool pinned);
    void removeRequested(const QString& path);

private:
    QWidget* makeRow(const Place& place);

    QPushButton* m_sample;
    QVBoxLayout* m_recent;
};

} // namespace nanscope
