// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QStringList>

#include "ui/theme.h"

namespace nanscope {

/// What the window remembers between starts. With `enabled` false nothing is read or written.
class WindowSettings
{
public:
    explicit WindowSettings(bool enabled)
        : m_enabled(enabled)
    { }

    ThemeChoice theme() const;
    void setTheme(ThemeChoice choice);

    QStringList recent() const;
    /// Moves to the front; the oldest beyond ten are forgotten.
    void addRecent(const QString& path);
    void clearRecent();

    QByteArray state(const char* name) const;
    void setState(const char* name, const QByteArray& state);
    void forgetLayout();

private:
    bool m_enabled;
};

} // namespace nanscope
