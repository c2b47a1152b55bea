// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QDockWidget;
class QWidget;

namespace nanscope {

/// Gives a dock its title bar: `heading`, a button that docks it again while it floats, and a menu. Dragging a floating
/// dock back is not possible everywhere: not on Wayland before Qt 6.7.
void setDockBar(QDockWidget& dock, QWidget& heading);

} // namespace nanscope
