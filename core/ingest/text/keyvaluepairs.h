// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace nanscope::ingest {

struct KeyValuePair
{
    std::string_view key;
    double value = 0;
};

/// Every "key=number" and "key: number" of a line, whatever stands between them; keys may be quoted and begin with no
/// digit.
void readKeyValuePairs(std::string_view text, std::vector<KeyValuePair>& pairs);

} // namespace nanscope::ingest
