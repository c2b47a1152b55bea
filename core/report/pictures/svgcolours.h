// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nanscope::report {

/// "#rrggbb" at `place` in [0, 1] of a map from dark indigo over green to pale yellow that grows evenly in perceived
/// lightness. Red, orange, blue, magenta and black stay free for what is not on the scale.
std::string magnitudeColour(double place);

} // namespace nanscope::report
