// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// MaxText: "completed step: 9, seconds: 5.667, TFLOP/s/device: 134.924, Tokens/s/device: 8672.758, total_weights:
// 196608, loss: 10.374", behind its logger or not, with more losses at the end in newer versions.
#include "core/ingest/formats/formats.h"

namespace nanscope::ingest {

namespace {

std::string_view maxTextName(std::string_view key)
{
    return key == "seconds" ? "step_time_s" : key == "Tokens/s/device" ? "tps" : key;
}

bool parseMaxText(const LogLine& line, LogBuilder& builder)
{
    constexpr std::string_view start = "completed step: ";
    const auto at = line.text.substr(0, longestLogger).find(start);
    if (at == std::string_view::npos || line.text.find(", loss: ", at) == std::string_view::npos) {
        return false;
    }
    auto text = line.text.substr(at + start.size());
    const auto step = takeInteger(text);
    if (!step || !takePrefix(text, ", ")) {
        return false;
    }
    builder.startRow(line.rank, *step, line.number);
    while (!text.empty()) {
        auto field = takeUntil(text, ", ");
        const auto key = takeUntil(field, ": ");
        if (const auto value = parseNumber(field)) {
            builder.value(maxTextName(key), *value);
        }
    }
    return true;
}

} // namespace

FormatFile maxtextFormat()
{
    // It counts from 0 and names a checkpoint by the step whose update came last: the next step uses it.
    // The loss ends the line and nothing follows it: a cut one cannot be told from a whole one.
    return formatFile<LineFormat>(90, "maxtext", "", parseMaxText, 1);
}

} // namespace nanscope::ingest
