// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The number that a verdict rests on, as one sentence. Drawn from facts, never from their wording.
#pragma once

#include <optional>
#include <string>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "core/report/input/measures.h"

namespace nanscope::report {

/// "80,384", "0.2969": whole where that is what a reader compares with the end of a format.
std::string magnitudeText(double magnitude);

/// "The input reaches 80,384; fp16 holds at most 65,504. A cast to fp16 before the norm turns it into Inf." Empty where
/// fp16 holds the input, or where its values are not all finite.
std::string castText(const CaptureTensor& input);

/// What convicts: an overflow, a damaged input, an input that a cast loses, or the damage beside what replays of the
/// same input give. Empty where no number does.
std::string convictingText(
    const Capture& capture, const CaptureVerdict& verdict, const std::optional<Overflow>& overflow);

} // namespace nanscope::report
