// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Outcomes as lanes of a plot, finite on top: a place, a word, a mark and a colour each, so that none is told by its
// colour alone.
#pragma once

#include <optional>

#include <QColor>
#include <QString>
#include <QVector>

#include "core/model/model.h"

class QCPAxis;
class QCustomPlot;

namespace nanscope {

constexpr double silentLane = 5; ///< of what gave no output
constexpr double lowestLane = 4;

QString outcomeText(std::optional<Outcome> outcome);
/// On the y axis.
double laneOf(std::optional<Outcome> outcome);
QColor laneColor(std::optional<Outcome> outcome);

/// Names the lanes. `silence`: with the one of no output.
void setOutcomeLanes(QCPAxis& axis, bool silence);

/// The mark of the outcome in its lane at each of these places.
void addOutcomeMarks(QCustomPlot& plot, std::optional<Outcome> outcome, const QVector<double>& places);

/// A part of the x axis of which something else is to be said than an outcome.
void addHatched(QCustomPlot& plot, double from, double to);

/// A line over all lanes with a word at its foot.
void addOwnPlace(QCustomPlot& plot, double at, const QString& words);

} // namespace nanscope
