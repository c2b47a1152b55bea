// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/experiment.h"

#include <charconv>

namespace nanscope {

std::string lineOf(const Experiment& experiment)
{
    auto line = experiment.what;
    if (!experiment.meaning.empty()) {
        line += ": " + experiment.meaning;
    }
    if (experiment.cleanHours) {
        char digits[32];
        const auto end = std::to_chars(std::begin(digits), std::end(digits), *experiment.cleanHours,
            std::chars_format::fixed, *experiment.cleanHours < 100 ? 1 : 0);
        line += " (" + std::string(std::begin(digits), end.ptr) + " clean hours for 95 %)";
    }
    return line;
}

} // namespace nanscope
