// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/percent.h"

#include <cmath>

#include <fmt/format.h>

namespace nanscope {

namespace {

constexpr double tenfold = 10;

} // namespace

std::string offByText(double fraction)
{
    const auto text = percentText(fraction);
    return std::abs(fraction) >= tenfold ? "off by " + text : text + " off";
}

std::string percentText(double fraction)
{
    constexpr double twoDigits = 0.0995;
    if (std::abs(fraction) >= tenfold) {
        return fmt::format("{:.2g} times its size", fraction);
    }
    return std::abs(fraction) < twoDigits ? fmt::format("{:.2g} %", 100 * fraction)
                                          : fmt::format("{:.0f} %", 100 * fraction);
}

} // namespace nanscope
