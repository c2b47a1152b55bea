// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "ui/plots/film.h"

namespace nanscope {

/// What is told of a frame beside its picture, in the order it is told.
enum class FrameFact {
    variant,
    format,
    outcome,
    formula,
    size,
    counts,
    first,
    largest,
    smallest,
    norm,
    spectralNorm,
    largestQ,
    distance
};

constexpr int frameFactCount = static_cast<int>(FrameFact::distance) + 1;

QString factName(FrameFact fact);

/// "–" where it is not known.
QString factText(FrameFact fact, const Film& film, const FilmFrame& frame);

} // namespace nanscope
