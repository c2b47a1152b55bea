// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QCPAxis;
class QFont;

namespace nanscope {

/// Lines, ticks and type of one axis in the colours of the theme.
void styleAxis(QCPAxis* axis, const QFont& font);

} // namespace nanscope
