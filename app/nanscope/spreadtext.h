// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/diagnose/damage/endslike.h"
#include "core/diagnose/damage/spreadfilm.h"

namespace nanscope {

/// The film on a terminal: a line per op from the fault on, with a tile map where the damage has a shape.
std::string spreadText(const diagnose::SpreadFilm& film, const replay::PlantedFault& fault);

/// "nanscope.spread/1".
nlohmann::ordered_json spreadJson(const diagnose::SpreadFilm& film, const replay::PlantedFault& fault);

/// The places that can end like a capture, each with the line that plants one of its tiles.
/// `words` are repeated in the command that it suggests.
std::string likeDumpText(
    const Capture& capture, const DamagePattern& damage, const diagnose::EndsLike& ends, const std::string& words);
nlohmann::ordered_json likeDumpJson(
    const Capture& capture, const DamagePattern& damage, const diagnose::EndsLike& ends);

} // namespace nanscope
