// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/experiment.h"

#include <charconv>

namespace nanscope {

std::string hoursText(double hours)
{
    char digits[400]; // the largest double has 309 before its point
    const auto end =
        std::to_chars(std::begin(digits), std::end(digits), hours, std::chars_format::fixed, hours < 100 ? 1 : 0);
    return {std::begin(digits), end.ptr};
}

std::string lineOf(const Experiment& experiment)
{
    auto line = experiment.what;
    if (!experiment.meaning.empty()) {
        line += ": " + experiment.meaning;
    }
    if (experiment.cleanHours) {
        line += " (" + hoursText(*experiment.cleanHours) + " clean hours for 95 %)";
    }
    return line;
}

} // namespace nanscope
