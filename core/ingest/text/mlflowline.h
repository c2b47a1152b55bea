// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nanscope::ingest {

/// "1664364007310 3.2727866172790527 0": milliseconds, value, step, which very old ones lack.
struct MlflowLine
{
    std::int64_t time = 0;
    double value = 0;
    std::optional<std::int64_t> step;
};
std::optional<MlflowLine> mlflowLine(std::string_view text);

} // namespace nanscope::ingest
