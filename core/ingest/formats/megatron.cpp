// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Megatron-LM and Megatron-DeepSpeed: " iteration 3/ 1000 | consumed samples: .. | .. | lm loss: 4.1E+01 | loss
// scale: 1.0 | grad norm: 0.5 | number of skipped iterations: 0 | number of nan iterations: 0 |" and " validation loss
// at iteration 3 | lm loss value: 4.1E+00 | ..", both from the last rank. A loss that is NaN, or skipped, is not on the
// line at all.
#include "core/ingest/formats/formats.h"

namespace nanscope::ingest {

namespace {

/// -1 stands for what was not measured.
bool measured(std::string_view key, double value)
{
    return value != -1 || (key != "loss scale" && key != "grad norm" && key != "params norm" && key != "num zeros");
}

void addField(std::string_view key, double value, LogBuilder& builder)
{
    if (key == "elapsed time per iteration (ms)") {
        builder.value("step_time_s", value / millisecondsPerSecond);
    } else if (key == "number of nan iterations") {
        builder.value("nan_iterations", value);
    } else if (key == "number of skipped iterations") {
        builder.value("skipped_iterations", value);
    } else if (measured(key, value)) {
        builder.value(key, value);
    }
}

/// "[2026-08-22 12:00:00.123456] " in newer versions.
std::string_view withoutDate(std::string_view text)
{
    text = trimmed(text);
    if (text.starts_with("[2")) {
        takeUntil(text, "]");
    }
    return trimmed(text);
}

bool parseTraining(std::string_view text, const LogLine& line, LogBuilder& builder)
{
    text = trimmed(text);
    const auto step = takeInteger(text);
    if (!step || !takePrefix(text, "/")) {
        return false;
    }
    takeUntil(text, "|");
    if (text.find("elapsed time per iteration") == std::string_view::npos) {
        return false;
    }
    builder.startRow(line.rank, *step, line.number);
    bool loss = false;
    bool ended = false; // the counters come last, whatever a fork adds
    while (!text.empty()) {
        auto field = trimmed(takeUntil(text, "|"));
        const auto key = takeUntil(field, ":");
        if (const auto value = parseNumber(field)) {
            loss = loss || key.ends_with("loss");
            ended = ended || key == "number of nan iterations";
            addField(key, *value, builder);
        }
    }
    if (ended && !loss) {
        builder.absent("lm loss");
    }
    return true;
}

bool parseValidation(std::string_view text, const LogLine& line, LogBuilder& builder)
{
    if (!takePrefix(text, "iteration ")) {
        return false;
    }
    const auto step = takeInteger(text);
    const bool test = text.starts_with(" on test set");
    bool any = false;
    while (step && !text.empty()) {
        auto field = trimmed(takeUntil(text, "|"));
        const auto key = takeUntil(field, ":");
        const auto value = parseNumber(field);
        if (value && key == "lm loss value") {
            builder.startRow(line.rank, *step, line.number);
            builder.value(test ? "test_loss" : "val_loss", *value);
            any = true;
        }
    }
    return any;
}

bool parseMegatron(const LogLine& line, LogBuilder& builder)
{
    if (line.text.find('|') == std::string_view::npos) {
        return false;
    }
    auto text = withoutDate(line.text);
    if (takePrefix(text, "iteration ")) {
        return parseTraining(text, line, builder);
    }
    return takePrefix(text, "validation loss at ") && parseValidation(text, line, builder);
}

} // namespace

FormatFile megatronFormat()
{
    return formatFile<LineFormat>(70, "megatron", "|", parseMegatron, 1);
}

} // namespace nanscope::ingest
