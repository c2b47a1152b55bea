// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/diagnose/verdict/considered.h"
#include "core/diagnose/verdict/words.h"

namespace nanscope::diagnose::verdict {

/// "the output is keller-jordan times 2.53, to 0.4 %"; empty where it is not known what the output is.
std::string offOutputText(const Facts& facts);

/// An output that is off, where it is known what it is: the question that is left, and whom nobody accuses.
std::optional<Words> wordsOfOff(const Considered& c);

} // namespace nanscope::diagnose::verdict
