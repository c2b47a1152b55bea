// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QFileSystemWatcher>

#include "ui/shared/elidedlabel.h"

class QProgressBar;
class QStatusBar;
class QToolButton;

namespace nanscope {

struct Progress;

/// How long a phase of a job still takes, judged by what it took so far. Nothing until that says something: in the
/// first second, while nothing is done, while the total is not known, or where the units are uneven.
class TimeLeft
{
public:
    /// In seconds; `nowMs` is any clock that only goes forward.
    std::optional<double> after(const Progress& progress, std::int64_t nowMs);
    /// In seconds, on the job since its first progress; nothing in the first ten.
    std::optional<double> spent(const std::string& job, std::int64_t nowMs) const;

private:
    std::map<std::string, std::int64_t> m_jobStartMs;
    std::string m_phase;
    std::int64_t m_startMs = 0;
    std::int64_t m_startDone = 0;
    std::int64_t m_lastDone = -1;
};

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
    /// With a button behind it, which goes with the next word.
    void offer(const QString& text, const QString& what, std::function<void()> taken);
    void showProgress(const Progress& progress, bool busy);
    /// Shows the bar where a job runs, and hides it, with what it said, once nothing is running or waited for any more.
    void setBusy(bool running, bool awaited);
    QString phase() const { return m_phase->fullText(); }

private:
    void tell(const QString& text);
    void onSessionFileChanged(const QString& path);
    void takePlan(const Progress& progress);
    QStringList timesOf(const Progress& progress);

    QStatusBar& m_bar;
    ElidedLabel* m_worker;
    ElidedLabel* m_session;
    ElidedLabel* m_known;
    ElidedLabel* m_listed;
    ElidedLabel* m_phase;
    QToolButton* m_offer;
    QProgressBar* m_progress;
    ElidedLabel* m_readout;
    std::function<void()> m_taken; ///< what the button does
    TimeLeft m_left;
    QElapsedTimer m_clock;
    QFileSystemWatcher m_sessionFile;
    std::string m_plannedJob; ///< which has said how long it takes as a rule
    double m_plannedSeconds = 0;
    bool m_tellsProgress = false; ///< what it says is of something that runs
};

} // namespace nanscope
