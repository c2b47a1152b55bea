// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nanscope::diagnose {

/// A sentence of an answer, as every face of the program says it.
struct AnswerFact
{
    std::string label; ///< what it is about; empty where it goes on with what the one before is about
    std::string text;
    std::string source {}; ///< "file:line" of what shows it, or a capture; empty where nothing does
    std::string tail {}; ///< what follows the source in the sentence
    std::optional<std::int64_t> step {}; ///< that it speaks of, as the log prints it
};

} // namespace nanscope::diagnose
