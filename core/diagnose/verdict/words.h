// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nanscope::diagnose::verdict {

/// What is said of a decision.
struct Words
{
    std::string kind; ///< finer than the blame: "finite corruption"
    std::string summary; ///< one sentence
    std::string question; ///< what would decide it, else empty
    std::string command {}; ///< how the command line is told the answer; the window has buttons
};

} // namespace nanscope::diagnose::verdict
