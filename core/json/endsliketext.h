// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "core/model/model.h"

namespace nanscope {

/// "q of steps 3-5, z of step 5 (mirrored)", whatever the variant; "mirrored" where only symmetric kernels can.
std::string placesText(std::span<const SpreadPlace> places);

/// Which places of the iteration the picture leaves open, as one clause: "Rectangle: only the last write or code after
/// the iteration, 1 of 17 places". Empty where none were tried.
std::string endsLikeText(const CaptureVerdict& verdict);

} // namespace nanscope
