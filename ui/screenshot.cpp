// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screenshot.h"

#include <QCoreApplication>
#include <QPixmap>
#include <QTextStream>

#include "ui/mainwindow.h"
#include "ui/panes/timelinepane.h"

namespace nanscope {

Screenshot::Screenshot(MainWindow& window, QString path, QString pane, bool sweep, QObject* parent)
    : QObject(parent)
    , m_window(window)
    , m_path(std::move(path))
    , m_pane(std::move(pane))
    , m_sweep(sweep)
{
    connect(&m_timer, &QTimer::timeout, this, &Screenshot::look);
    m_timer.start(50);
}

void Screenshot::look()
{
    if (!m_window.workspace().settled() || !m_window.panes().timeline->settled()) {
        m_quietLooks = 0;
        return;
    }
    // Queued repaints of the plots follow the last result.
    constexpr int settledLooks = 4;
    if (++m_quietLooks < settledLooks) {
        return;
    }
    if (m_sweep && m_window.workspace().capture()) {
        m_sweep = false;
        m_quietLooks = 0;
        m_window.workspace().sweepSelected();
        return;
    }
    // A pane behind a tab is painted once more when it comes to the front.
    if (!m_pane.isEmpty() && !m_target) {
        m_target = m_window.pane(m_pane);
        m_quietLooks = 0;
        if (m_target) {
            return;
        }
    }
    finish();
}

void Screenshot::finish()
{
    m_timer.stop();
    if (!m_pane.isEmpty() && !m_target) {
        QTextStream(stderr) << tr("There is no pane of this name: %1\n").arg(m_pane);
        QCoreApplication::exit(1);
        return;
    }
    const bool saved = (m_target ? *m_target : static_cast<QWidget&>(m_window)).grab().save(m_path);
    if (!saved) {
        QTextStream(stderr) << tr("The picture could not be written: %1\n").arg(m_path);
    }
    QCoreApplication::exit(saved ? 0 : 1);
}

} // namespace nanscope
