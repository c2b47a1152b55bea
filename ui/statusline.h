// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QElapsedTimer>

#include "ui/timeleft.h"

class QLabel;
class QProgressBar;
class QStatusBar;

namespace nanscope {

class ElidedLabel;
struct Progress;

/// What stands in the window's status bar: the worker, the session, what is being done, and what is under the cursor.
class StatusLine
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::StatusLine)

public:
    explicit StatusLine(QStatusBar& bar);

    void setWorker(const QString& text, const QString& details);
    /// Empty for a run that nothing is remembered of.
    void setSession(const QString& path);
    /// What the user added to the run; empty for nothing.
    void setKnown(const QString& text, const QString& details);
    /// What of the captures is listed.
    void setListed(const QString& text);
    void setReadout(const QString& text);
    void say(const QString& text);
    void showProgress(const Progress& progress, bool busy);
    /// Hides the bar, and what it said, once nothing runs any more.
    void setBusy(bool busy);

private:
    QLabel* m_worker;
    QLabel* m_session;
    QLabel* m_known;
    QLabel* m_listed;
    QLabel* m_phase;
    QProgressBar* m_progress;
    ElidedLabel* m_readout;
    TimeLeft m_left;
    QElapsedTimer m_clock;
    bool m_tellsProgress = false; ///< what it says is of something that runs
};

} // namespace nanscope
