// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Lines of fields between separators: comma, tab, semicolon, bar, or blanks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nanscope::ingest {

constexpr std::string_view separators = ",\t;| ";

/// Fields without their quotes; doubled quotes inside stay doubled. Several blanks separate like one.
void splitFields(std::string_view text, char separator, std::vector<std::string_view>& fields);

std::string withoutDoubledQuotes(std::string_view field);

/// Where semicolons separate, a comma may be the decimal point.
std::optional<double> numberInField(std::string_view field, char separator);

/// Names that a line can be the heading with: at least two, none of them a number.
bool isHeading(const std::vector<std::string_view>& fields, char separator);

struct KeyValuePair
{
    std::string_view key;
    double value = 0;
};

/// Every "key=number" and "key: number" of a line, whatever stands between them; keys may be quoted and begin with no
/// digit.
void readKeyValuePairs(std::string_view text, std::vector<KeyValuePair>& pairs);

/// "1664364007310 3.2727866172790527 0": milliseconds, value, step, which very old ones lack.
struct MlflowLine
{
    std::int64_t time = 0;
    double value = 0;
    std::optional<std::int64_t> step;
};
std::optional<MlflowLine> mlflowLine(std::string_view text);

} // namespace nanscope::ingest
