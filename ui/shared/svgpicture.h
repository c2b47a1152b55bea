// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include <QByteArray>
#include <QRectF>

class QCPPainter;

namespace nanscope {

/// Qt's SVG generator knows no clipping (6.4). What is to be clipped is drawn into a drawing of its own, and a mark in
/// the outer one keeps its place until it is put in: an inner <svg> shows nothing outside its rectangle.
using SvgFragments = std::vector<QByteArray>;

/// Empty on builds without Qt's SVG module.
QByteArray svgOf(const QRectF& view, const QString& title,
    const std::function<void(QCPPainter& painter, SvgFragments& fragments)>& paint);

/// Leaves the mark at the origin of the outer painter.
void addSvgFragment(QCPPainter& outer, SvgFragments& fragments, const QRectF& inside,
    const std::function<void(QCPPainter& painter, SvgFragments& fragments)>& paint);

} // namespace nanscope
