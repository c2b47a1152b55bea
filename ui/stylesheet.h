// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace nanscope {

struct Theme;

/// Style sheet on top of Fusion: quiet lines, rounded panes, no frames inside frames.
QString styleSheet(const Theme& theme);

} // namespace nanscope
