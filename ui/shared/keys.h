// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QKeySequence>
#include <QList>
#include <QString>

namespace nanscope {

/// What a widget does for a key, or for the mouse where `mouse` says how.
struct KeyHint
{
    QList<QKeySequence> keys;
    QString what;
    QString mouse;
};

/// A widget that handles keys of its own tells them here: the list of keys asks it, and a test presses every key to see
/// that none is left out.
class KeyUser
{
public:
    KeyUser() = default;
    KeyUser(const KeyUser&) = delete;
    KeyUser& operator=(const KeyUser&) = delete;
    virtual ~KeyUser() = default;

    /// "Heat map"
    virtual QString keysTitle() const = 0;
    virtual std::vector<KeyHint> keyHints() const = 0;
};

} // namespace nanscope
