// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/instruments/instruments.h"

namespace nanscope {

/// What was measured on whom: the first lines of every answer of `nanscope measure`.
std::string measureHead(const std::string& instrument, const Asker& asker);

std::string measureText(const ScaleAnswer& answer);
std::string measureText(const EpsilonAnswer& answer);
std::string measureText(const RepeatAnswer& answer);
std::string measureText(const StormAnswer& answer);
std::string measureText(const InputAnswer& answer);
std::string measureText(const SpectrumAnswer& answer);
std::string measureText(const MinimiseAnswer& answer);

/// What went wrong in single calls, and how many there were.
std::string measureFoot(const MeasureLog& log);

} // namespace nanscope
