// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The inverse of a spread: which places of the iteration a tile can have gone bad in, given how the output ended.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/model/verdict.h"
#include "core/replay/analysis/spreadmodel.h"
#include "core/replay/variants/catalogue.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::diagnose {

/// The most different lines that a spread has; damage with more was not left by one tile.
constexpr std::size_t mostSpreadLines = 5;

/// A tile that ends, from this place, with exactly this damage; none where there is no such tile. A tile is smaller
/// than the op's result in both directions; of an output that is all bad, no larger than 256 x 256, because one that
/// covers almost everything says nothing.
std::optional<replay::Region> tileEndingLike(
    const replay::SpreadModel& model, std::size_t place, const replay::BadBlocks& damage);

/// A place that can end like the damage, and a tile that does.
struct CandidateOrigin
{
    SpreadPlace place;
    replay::Region tile;
};

/// In the order of the variants and of what they compute.
struct CandidateOrigins
{
    std::vector<CandidateOrigin> places;
    int tried = 0;
    int variants = 0; ///< whose places were tried
};

/// Of one matrix of a capture, whose output is read, in variants by name. Damage that is finer than what one tile
/// leaves has no places.
Result<CandidateOrigins> candidateOriginsOf(const tensorfile::CaptureFile& capture, std::int64_t batch,
    const std::vector<std::string>& variants, const replay::Catalogue& catalogue);

/// Fills in CaptureVerdict::endsLike for the damaged matrix of a birth, from the variants it names, or all published
/// and the user's own where it names none. Reads the output, replays nothing; leaves the verdict alone where it cannot
/// be read.
void fillOrigins(CaptureVerdict& verdict, const tensorfile::CaptureFile& capture, const replay::Catalogue& catalogue);

/// Takes over those of a verdict that was judged with more variants.
void keepOrigins(CaptureVerdict& verdict, const CaptureVerdict& judged, const replay::Catalogue& catalogue);

} // namespace nanscope::diagnose
