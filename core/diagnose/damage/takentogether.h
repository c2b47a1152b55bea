// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A function that flattens a tensor of three dimensions or more, or divides it by one norm, hands a NaN of one matrix
// to all of them. Replays take each matrix by itself.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/model.h"

namespace nanscope::diagnose {

enum class TakenTogether : std::uint8_t {
    no, ///< what came out of it, or of one beside it, has a finite value
    perhaps, ///< neither it nor those that share its leading dimensions, all or some of them, kept a finite value
    withBad, ///< the same, and one of them was not finite when it came in
};

/// Of each matrix of the call. All are `no` where the capture helper saw a published function called with this very
/// tensor: those take matrices one by one.
std::vector<TakenTogether> takenTogether(const Capture& capture);

} // namespace nanscope::diagnose
