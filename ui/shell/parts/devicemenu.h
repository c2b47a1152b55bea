// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QToolButton>

class QMenu;

namespace nanscope {

class ReplayService;

/// What replays run on, for the user to choose: every local GPU and the CPU, by name and hardware. Where there is no
/// GPU the menu says why.
class DeviceMenu : public QToolButton
{
    Q_OBJECT

public:
    explicit DeviceMenu(const ReplayService& service, QWidget* parent = nullptr);

    /// The service may have answered, or something else is chosen.
    void showChosen();

Q_SIGNALS:
    /// Empty where nothing is left ticked: what is usual then.
    void devicesChosen(const QStringList& names);

private:
    void fill();
    void addNote(const QString& note);
    void onTicked();

    const ReplayService& m_service;
    QMenu* m_menu;
};

} // namespace nanscope
