// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QStringList>
#include <QVariant>

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
    void setTheme(ThemeChoice choice) { setValue(QStringLiteral("theme"), themeName(choice)); }

    /// What goes into reports, as its pane keeps it.
    QByteArray report() const { return value(QStringLiteral("report")).toByteArray(); }
    void setReport(const QByteArray& state) { setValue(QStringLiteral("report"), state); }

    /// What was asked of a NaN detector and a guard last, as their pane keeps it.
    QByteArray whatIf() const { return value(QStringLiteral("whatIf")).toByteArray(); }
    void setWhatIf(const QByteArray& state) { setValue(QStringLiteral("whatIf"), state); }

    QStringList recent() const { return value(QStringLiteral("recent")).toStringList(); }
    /// Moves to the front; the oldest beyond ten are forgotten.
    void addRecent(const QString& path);
    void removeRecent(const QString& path);
    /// Forgets what is not pinned.
    void clearRecent() { remove(QStringLiteral("recent")); }

    /// In the order they were pinned; never more than the user pinned, never forgotten.
    QStringList pinned() const { return value(QStringLiteral("pinned")).toStringList(); }
    void setPinned(const QString& path, bool pinned);

    /// Layouts of the panes that were given a name, in the order of their names.
    QStringList layoutNames() const;
    /// Empty where there is none of this name.
    QByteArray layout(const QString& name) const { return value(keyIn(namedLayouts, name)).toByteArray(); }
    void setLayout(const QString& name, const QByteArray& state) { setValue(keyIn(namedLayouts, name), state); }
    /// Replaces one that has the new name.
    void renameLayout(const QString& from, const QString& to);
    void removeLayout(const QString& name) { remove(keyIn(namedLayouts, name)); }

    /// Files in which the user said what they know of the run of this session. None where the list is empty.
    workflow::UserFiles known(const QString& session) const;
    void setKnown(const QString& session, const workflow::UserFiles& files);

    /// What its owner said ran.
    std::vector<std::string> ran(const QString& session) const;
    void setRan(const QString& session, const std::vector<std::string>& ran);

    /// The pane in front when the run of this session was shown last; empty where that is not known.
    QString front(const QString& session) const { return value(keyIn("front", session)).toString(); }
    void setFront(const QString& session, const QString& pane) { setValue(keyIn("front", session), pane); }

    /// Where the timelines of the run of this session were looked at, as their pane keeps it; empty where all is shown.
    QByteArray timelinePlace(const QString& session) const { return value(keyIn(timelines, session)).toByteArray(); }
    void setTimelinePlace(const QString& session, const QByteArray& place)
    {
        setValue(keyIn(timelines, session), place);
    }

    /// What was chosen of the findings of the run of this session, as far as its names are still known.
    diagnose::FindingChoices findingChoices(const QString& session) const;
    void setFindingChoices(const QString& session, const diagnose::FindingChoices& choices);

    /// Where the last plot was saved.
    QString saveFolder() const { return value(QStringLiteral("saveFolder")).toString(); }
    void setSaveFolder(const QString& folder) { setValue(QStringLiteral("saveFolder"), folder); }

    /// Of parts of the window, by a name each.
    QByteArray state(const char* name) const { return value(layoutKey(name)).toByteArray(); }
    void setState(const char* name, const QByteArray& state) { setValue(layoutKey(name), state); }
    void forgetLayout() { remove(QLatin1String(windowLayout)); }

private:
    // The numbers are of the way of keeping them: sizes of an older arrangement of the panes would only confuse a newer
    // one.
    static constexpr const char* windowLayout = "layout2";
    static constexpr const char* namedLayouts = "layouts1";
    static constexpr const char* timelines = "timelinePlace";

    /// A name, or the path of a session, may hold what a key of the settings may not.
    static QString keyIn(const char* group, const QString& name);
    static QString layoutKey(const char* name);
    QVariant value(const QString& key) const;
    /// An empty value is removed.
    void setValue(const QString& key, const QVariant& value);
    void remove(const QString& key);

    bool m_enabled;
};

} // namespace nanscope
