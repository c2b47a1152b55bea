// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nanscope {

/// How far something is off, of a relative distance: "0.42 %", "54 %", "153 %", and "4e+05 times its size" of what is
/// more than tenfold, which no per cent makes readable.
std::string percentText(double fraction);

/// "54 % off", "off by 15 times its size"
std::string offByText(double fraction);

} // namespace nanscope
