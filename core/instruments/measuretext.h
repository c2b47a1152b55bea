// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/instruments/measure.h"

namespace nanscope::instruments {

/// The answer of `nanscope measure` as text: what was measured on whom, what was found, and what went wrong in single
/// calls.
std::string measureText(Instrument instrument, const Asker& asker, const MeasureAnswer& answer);

} // namespace nanscope::instruments
