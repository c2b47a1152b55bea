// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// KempnerForge: "[step N] loss=.. | lr=.. | grad_norm=.. | tok/s=.. | mfu=..% | mem=../..GB | step_time=..s" and
// "[step N] eval/loss=.. | ..". Its warnings are events, see eventreader.cpp.
#include "core/ingest/formats/formats.h"

namespace nanscope::ingest {

namespace {

bool addField(std::string_view field, std::int64_t step, const LogLine& line, LogBuilder& builder, bool started)
{
    const auto equals = field.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        return false;
    }
    const auto value = parseQuantity(field.substr(equals + 1));
    if (!value) {
        return false;
    }
    if (!started) {
        builder.startRow(line.rank, step, line.number);
    }
    builder.value(field.substr(0, equals), *value);
    return true;
}

bool parseKempnerForge(const LogLine& line, LogBuilder& builder)
{
    auto text = line.text;
    if (!takePrefix(text, "[step ")) {
        return false;
    }
    const auto step = takeInteger(text);
    if (!step || !takePrefix(text, "] ")) {
        return false;
    }
    bool any = false;
    while (!text.empty()) {
        any = addField(takeUntil(text, " | "), *step, line, builder, any) || any;
    }
    return any;
}

} // namespace

FormatFile kempnerforgeFormat()
{
    // Only the metric line has an end that shows: step_time and its unit.
    return formatFile<LineFormat>(50, "kempnerforge", "s", parseKempnerForge);
}

} // namespace nanscope::ingest
