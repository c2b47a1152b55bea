// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screenshot.h"

#include <QCoreApplication>
#include <QPixmap>
#include <QTextStream>

#include "ui/mainwindow.h"
#include "ui/panes/timelinepane.h"

namespace nanscope {

Screenshot::Screenshot(MainWindow& window, QString path, bool sweep, QObject* parent)
    : QObject(parent)
    , m_window(window)
    , m_path(std::move(path))
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
    finish();
}

void Screenshot::finish()
{
    m_timer.stop();
    const bool saved = m_window.grab().save(m_path);
    if (!saved) {
        QTextStream(stderr) << tr("The picture could not be written: %1\n").arg(m_path);
    }
    QCoreApplication::exit(saved ? 0 : 1);
}

} // namespace nanscope
