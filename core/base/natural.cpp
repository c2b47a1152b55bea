// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/base/natural.h"

#include <algorithm>
#include <string>

namespace nanscope {

namespace {

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// Takes the digits at the front, without zeros before them.
std::string_view takeNumber(std::string_view& text)
{
    const auto end = std::min(
        text.size(), static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), isDigit) - text.begin()));
    auto digits = text.substr(0, end);
    text.remove_prefix(end);
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

std::string withoutNumbers(std::string_view text)
{
    std::string rest;
    while (!text.empty()) {
        if (isDigit(text.front())) {
            takeNumber(text);
            rest += '#';
        } else {
            rest += text.front();
            text.remove_prefix(1);
        }
    }
    return rest;
}

} // namespace

bool naturalLess(std::string_view a, std::string_view b)
{
    while (!a.empty() && !b.empty()) {
        if (isDigit(a.front()) && isDigit(b.front())) {
            const auto x = takeNumber(a);
            const auto y = takeNumber(b);
            if (x != y) {
                return x.size() != y.size() ? x.size() < y.size() : x < y;
            }
            continue;
        }
        if (a.front() != b.front()) {
            return a.front() < b.front();
        }
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    return a.size() < b.size();
}

bool sameButForNumbers(std::string_view a, std::string_view b)
{
    return withoutNumbers(a) == withoutNumbers(b);
}

} // namespace nanscope
