// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QStringList>

#include "core/workflow/userfiles.h"
#include "ui/shared/theme.h"

namespace nanscope {

/// What the window remembers between starts. With `enabled` false nothing is read or written.
class WindowSettings
{
public:
    explicit WindowSettings(bool enabled)
        : m_enabled(enabled)
    { }

    bool enabled() const { return m_enabled; }

    ThemeChoice theme() const;
    void setTheme(ThemeChoice choice);

    /// What goes into reports, as its pane keeps it.
    QByteArray report() const;
    void setReport(const QByteArray& state);

    /// What was asked of a NaN detector and a guard last, as their pane keeps it.
    QByteArray whatIf() const;
    void setWhatIf(const QByteArray& state);

    QStringList recent() const;
    /// Moves to the front; the oldest beyond ten are forgotten.
    void addRecent(const QString& path);
    void removeRecent(const QString& path);
    /// Forgets what is not pinned.
    void clearRecent();

    /// In the order they were pinned; never more than the user pinned, never forgotten.
    QStringList pinned() const;
    void setPinned(const QString& path, bool pinned);

    /// Layouts of the panes that were given a name, in the order of their names.
    QStringList layoutNames() const;
    /// Empty where there is none of this name.
    QByteArray layout(const QString& name) const;
    void setLayout(const QString& name, const QByteArray& state);
    /// Replaces one that has the new name.
    void renameLayout(const QString& from, const QString& to);
    void removeLayout(const QString& name);

    /// Files in which the user said what they know of the run of this session. None where the list is empty.
    workflow::UserFiles known(const QString& session) const;
    void setKnown(const QString& session, const workflow::UserFiles& files);

    /// What its owner said ran.
    std::vector<std::string> ran(const QString& session) const;
    void setRan(const QString& session, const std::vector<std::string>& ran);

    /// The pane in front when the run of this session was shown last; empty where that is not known.
    QString front(const QString& session) const;
    void setFront(const QString& session, const QString& pane);

    /// Where the timelines of the run of this session were looked at, as their pane keeps it; empty where all is shown.
    QByteArray timelinePlace(const QString& session) const;
    void setTimelinePlace(const QString& session, const QByteArray& place);

    /// What was chosen of the findings of the run of this session, as far as its names are still known.
    diagnose::FindingChoices findingChoices(const QString& session) const;
    void setFindingChoices(const QString& session, const diagnose::FindingChoices& choices);

    /// Where the last plot was saved.
    QString saveFolder() const;
    void setSaveFolder(const QString& folder);

    QByteArray state(const char* name) const;
    void setState(const char* name, const QByteArray& state);
    void forgetLayout();

private:
    bool m_enabled;
};

} // namespace nanscope
