// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSharedPointer>
#include <Qt>

class QCPAxis;
class QCPAxisTicker;
class QCPItemStraightLine;
class QCPItemText;
class QColor;
class QCustomPlot;
class QFont;
class QPen;
class QString;

namespace nanscope {

/// Lines, ticks and type of one axis in the colours of the theme.
void styleAxis(QCPAxis* axis, const QFont& font);

/// Powers of ten on a logarithmic axis, which it must outlive; below two decades 1, 2 and 5, or fewer where the axis is
/// short.
QSharedPointer<QCPAxisTicker> decadeTicker(const QCPAxis& axis);

/// Across the whole plot.
QCPItemStraightLine* addVerticalLine(QCustomPlot& plot, double x, const QPen& pen);
QCPItemStraightLine* addHorizontalLine(QCustomPlot& plot, double y, const QPen& pen);
/// Words in the plot, at a place of its axes.
QCPItemText* addWords(
    QCustomPlot& plot, const QString& text, const QColor& color, double x, double y, Qt::Alignment alignment);

} // namespace nanscope
