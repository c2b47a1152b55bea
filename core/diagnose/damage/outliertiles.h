// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Finite, and wrong: places of an output that no rounding of any plausible variant gives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/diagnose/damage/provenance.h"
#include "core/diagnose/identify/element.h"
#include "core/diagnose/identify/envelope.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

struct OutlierTiles
{
    std::size_t count = 0;
    double worstError = 0; ///< relative, against the replay that comes closest there
    std::int64_t row = 0; ///< where the worst of them starts
    std::int64_t col = 0;
    double spread = 0; ///< by how much the replays themselves differ there
    Region region; ///< around all of them
    bool deliberate = false; ///< of a finite output: see looksDeliberate()
    std::vector<std::string>
        unlessRan {}; ///< none of the tiles is odd if one of these forms ran: see findOutlierTiles()
    UnjudgedTiles unjudged {};
};

/// Replays every member, under its whole envelope where the first replay finds a tile suspicious. A tile is odd if it
/// is off from each of them, by far more than the typical tile and than they differ among themselves. Unpublished
/// forms, beside published ones that fit as well, may differ by as much: then the tile is odd unless they ran. `first`
/// is what the first member gives by its own rounding.
Result<OutlierTiles> findOutlierTiles(const Element& element, const std::vector<Member>& members, ValueView first,
    std::optional<double> epsilon, replay::Device& device, const CancelToken& cancel);

/// The same for the finite rest of a damaged output: tiles of which at least half is finite; none where there are few.
/// Only where every replay of every member is finite does the rest tell anything: a NaN of the numbers' own may come
/// with an overflow that ends as zero or as a large value elsewhere. Given that, what is finite was computed from sound
/// values alone, because sums and products hand on NaN and Inf and a norm hands them to the whole matrix.
Result<OutlierTiles> findOutliersOutsideDamage(const Element& element, const std::vector<Member>& members,
    ValueView first, std::optional<double> epsilon, replay::Device& device, const CancelToken& cancel);

} // namespace nanscope::diagnose
