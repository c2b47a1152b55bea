// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QWidget;

namespace nanscope {

void showAboutDialog(QWidget& parent);

} // namespace nanscope
