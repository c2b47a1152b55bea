// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>

class QWidget;

namespace nanscope {

class MainWindow;

/// Waits until everything asked for is on the screen, writes a picture of the window or of one pane and ends the
/// program.
class Screenshot : public QObject
{
    Q_OBJECT

public:
    Screenshot(MainWindow& window, QString path, QString pane, bool sweep, QObject* parent = nullptr);

private:
    void look();
    void finish();

    MainWindow& m_window;
    QString m_path;
    QString m_pane; ///< empty for the whole window
    QWidget* m_target = nullptr;
    bool m_sweep;
    int m_quietLooks = 0;
    QTimer m_timer;
};

} // namespace nanscope
