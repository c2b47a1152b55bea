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
    no, ///< it kept a finite value, or one beside it came out whole
    perhaps, ///< it kept none, and of those that share its leading dimensions, all or some of them, none came out whole
    withBad, ///< none of these kept a finite value, and one of them was not finite when it came in
};

/// Of each matrix of the call. Those among zeros alone are `no`, and all where the capture helper saw a published
/// function called with this very tensor: those take matrices one by one.
std::vector<TakenTogether> takenTogether(const Capture& capture);

/// True where such a function may leave zeros of a matrix: its values, divided by the norm of all matrices of the call,
/// are below the normal numbers of the format.
bool mayVanishAmongOthers(const Capture& capture, std::int64_t batch, Precision precision);

} // namespace nanscope::diagnose
