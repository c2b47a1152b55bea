// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

class QWidget;

namespace nanscope {

/// Everything in `parent` that Tab stops at, in the order it is read: row by row, and a pane to its end before the
/// next. Told from where things are now, because panes can be moved.
std::vector<QWidget*> tabStops(QWidget& parent);

/// Moves the keyboard focus of a window to the stop after or before the one that has it. False where there is none.
bool focusNextStop(QWidget& window, bool forward);

/// Where one works in a pane: its plot or table rather than the buttons above it. Null where nothing takes keys.
QWidget* workplaceOf(QWidget& pane);

} // namespace nanscope
