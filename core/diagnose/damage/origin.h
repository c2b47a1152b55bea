// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Where the values of a place that is finite and wrong come from: the places that are searched, and their words. It is
// evidence of stale or misplaced data, and decides nothing by itself.
#pragma once

#include <string>
#include <vector>

#include "core/diagnose/damage/region.h"
#include "core/diagnose/identify/element.h"
#include "core/model/model.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::diagnose {

/// Where values stand a second time; no text where they are new.
struct Recurrence
{
    std::string text;
    bool misplaced = false; ///< from elsewhere in this call's results, where nobody puts them on purpose
};

/// Searches the matrix itself, the others of its call, then `before`, dumps of the same process and shape that were
/// written earlier; of these one is held in memory at a time.
Recurrence originOf(const Element& element, const Region& region, const tensorfile::CaptureFile& file,
    const std::vector<const Capture*>& before, const CancelToken& cancel);

} // namespace nanscope::diagnose
