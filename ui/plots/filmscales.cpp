// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/filmscales.h"

#include <algorithm>

namespace nanscope {

namespace {

void add(FilmScales& scales, const ScaleGroup& group, const LogScale& scale)
{
    const auto [at, isNew] = scales.try_emplace(group, scale);
    if (!isNew) {
        at->second = united(at->second, scale);
    }
}

} // namespace

ScaleGroup groupOf(const FilmFrame& frame)
{
    return {frame.iteration > 0, frame.name};
}

std::optional<LogScale> ownScale(const FilmFrame& frame)
{
    const bool has = frame.picture->scan.absmax > 0;
    return has ? std::optional(scaleOf(frame.picture->tiles)) : std::nullopt;
}

FilmScales scalesOf(const Film& film)
{
    FilmScales scales;
    for (const FilmFrame& frame : film.frames) {
        if (const auto scale = ownScale(frame)) {
            add(scales, groupOf(frame), *scale);
        }
    }
    return scales;
}

FilmScales united(FilmScales scales, const FilmScales& others)
{
    for (const auto& [group, scale] : others) {
        add(scales, group, scale);
    }
    return scales;
}

LogScale united(const LogScale& a, const LogScale& b)
{
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

bool canShareScale(const Film* a, const Film* b)
{
    return a && b && a->mode == FilmMode::values && b->mode == FilmMode::values;
}

} // namespace nanscope
