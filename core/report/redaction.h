// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nanscope {

/// How often each kind of private text was replaced.
struct RedactionCounts
{
    int homes = 0;
    int users = 0;
    int hosts = 0;
    int addresses = 0;
    int emails = 0;
    int total() const { return homes + users + hosts + addresses + emails; }
};

/// As redact(), adding to `counts`.
std::string redact(const std::string& text, RedactionCounts& counts);

} // namespace nanscope
