// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QString>

class QDialog;
class QMainWindow;

namespace nanscope {

/// One line of the list of keys.
struct KeyRow
{
    QString group; ///< the menu or the pane
    QString keys; ///< empty for a command without a shortcut
    QString what;
};

/// Every command of the menus, of the tables and plots, and every key the panes handle themselves, as they are now.
std::vector<KeyRow> keyRows(const QMainWindow& window);

/// The rows with a box to search them; deletes itself when closed.
QDialog* showKeyList(QMainWindow& window);

} // namespace nanscope
