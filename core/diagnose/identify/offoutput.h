// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What an output is that no variant gives: a multiple of what one gives, another number of its steps, the input itself,
// or nothing that came of this input.
#pragma once

#include <optional>

#include "core/diagnose/identify/element.h"
#include "core/diagnose/identify/envelope.h"
#include "core/diagnose/identify/identify.h"

namespace nanscope::diagnose {

/// What is asked of an output that is off.
struct OffQuestion
{
    const Element& element;
    const ElementFit& fit; ///< of the element; nothing fits
    Member expected; ///< what is named, or else what comes nearest
    bool named = false;
    std::optional<double> epsilon;
    replay::Device& device;
    const CancelToken& cancel;
    const ReplayWatch& watch;
};

/// The cheapest answer first: at most 12 replays of one variant, and none where a factor alone explains the
/// output.
Result<OffOutput> describeOff(const OffQuestion& question);

} // namespace nanscope::diagnose
