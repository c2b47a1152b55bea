// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSharedPointer>

class QCPAxis;
class QCPAxisTicker;
class QFont;

namespace nanscope {

/// Lines, ticks and type of one axis in the colours of the theme.
void styleAxis(QCPAxis* axis, const QFont& font);

/// Powers of ten on a logarithmic axis, which it must outlive; below two decades 1, 2 and 5, or fewer where the axis is
/// short.
QSharedPointer<QCPAxisTicker> decadeTicker(const QCPAxis& axis);

} // namespace nanscope
