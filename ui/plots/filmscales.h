// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "ui/plots/film.h"

namespace nanscope {

/// Frames that are coloured alike: the same op of all steps, so that growth is seen, or one before the first step
/// (false).
using ScaleGroup = std::pair<bool, OpName>;

using FilmScales = std::map<ScaleGroup, LogScale>;

ScaleGroup groupOf(const FilmFrame& frame);

/// What a frame takes for itself; none where nothing in it has a magnitude.
std::optional<LogScale> ownScale(const FilmFrame& frame);

/// Each from the least to the most that its frames take for themselves.
FilmScales scalesOf(const Film& film);

/// For two films side by side: what both have is on one scale.
FilmScales united(FilmScales scales, const FilmScales& others);

/// Both ranges in one.
LogScale united(const LogScale& a, const LogScale& b);

/// Magnitudes that may share a scale; a difference has one of its own.
bool canShareScale(const Film* a, const Film* b);

} // namespace nanscope
