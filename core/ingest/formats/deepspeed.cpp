// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// DeepSpeed: "[DATE] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=4, lr=[1e-05], mom=[(0.9, 0.999)]" and
// its pipeline engine's "steps: 1 loss: 12.7902 iter time (s): 1.2 samples/sec: 8.1". `skipped` counts from the start
// of the run. Its overflow lines carry no step; they are events (eventreader.cpp).
#include "core/ingest/formats/formats.h"

namespace nanscope::ingest {

namespace {

/// "[2025-07-13 21:48:34,943] [INFO] [logging.py:96:log_dist] [Rank 0] "
std::string_view withoutBrackets(std::string_view text)
{
    while (text.starts_with('[')) {
        takeUntil(text, "]");
        text = trimmed(text);
    }
    return text;
}

bool parseProgress(std::string_view text, const LogLine& line, LogBuilder& builder)
{
    const auto step = takeInteger(text);
    if (!step || !takePrefix(text, ", skipped=")) {
        return false;
    }
    const auto skipped = takeInteger(text);
    if (!skipped) {
        return false;
    }
    builder.startRow(line.rank, *step, line.number);
    builder.value("skipped_steps", static_cast<double>(*skipped));
    if (takePrefix(text, ", lr=[")) {
        // One per parameter group. A name of its own: in the logs of Megatron-DeepSpeed the other one stands beside it.
        if (const auto rate = parseNumber(text.substr(0, text.find_first_of(",]")))) {
            builder.value("deepspeed/lr", *rate);
        }
    }
    return true;
}

bool parsePipeline(std::string_view text, const LogLine& line, LogBuilder& builder)
{
    const auto step = takeInteger(text);
    if (!step || !takePrefix(text, " loss: ")) {
        return false;
    }
    const auto loss = parseNumber(takeUntil(text, " "));
    if (!loss) {
        return false;
    }
    builder.startRow(line.rank, *step, line.number);
    builder.value("loss", *loss);
    if (takePrefix(text, "iter time (s): ")) {
        if (const auto time = parseNumber(takeUntil(text, " "))) {
            builder.value("step_time_s", *time);
        }
    }
    return true;
}

bool parseDeepSpeed(const LogLine& line, LogBuilder& builder)
{
    auto text = withoutBrackets(line.text);
    if (takePrefix(text, "step=")) {
        return parseProgress(text, line, builder);
    }
    return takePrefix(text, "steps: ") && parsePipeline(text, line, builder);
}

} // namespace

FormatFile deepspeedFormat()
{
    return formatFile<LineFormat>(80, "deepspeed", "]", parseDeepSpeed);
}

} // namespace nanscope::ingest
