// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// nanoGPT: "iter 10: loss 4.5735, time 267.36ms, mfu 8.92%" and "step 0: train loss 6.0601, val loss 6.0586". Forks put
// a unit behind the loss ("4.5735 BPC").
#include <algorithm>

#include "core/ingest/formats/formats.h"

namespace nanscope::ingest {

namespace {

void addField(std::string_view name, std::string_view value, LogBuilder& builder)
{
    const auto number = parseQuantity(value.substr(0, value.find(' ')));
    if (!number) {
        return;
    }
    if (name == "time") {
        if (value.ends_with("ms")) {
            builder.value("step_time_s", *number / millisecondsPerSecond);
        }
    } else if (name != "mfu" || *number >= 0) {
        // The utilisation is -100 % until it has been measured.
        builder.value(name, *number);
    }
}

bool parseNanoGpt(const LogLine& line, LogBuilder& builder)
{
    auto text = line.text;
    const bool evaluated = takePrefix(text, "step ");
    if (!evaluated && !takePrefix(text, "iter ")) {
        return false;
    }
    const auto step = takeInteger(text);
    if (!step || !takePrefix(text, evaluated ? ": train loss " : ": loss ")) {
        return false;
    }
    builder.startRow(line.rank, *step, line.number);
    addField(evaluated ? "eval_train_loss" : "loss", trimmed(takeUntil(text, ",")), builder);
    while (!text.empty()) {
        const auto field = trimmed(takeUntil(text, ","));
        const auto space = field.rfind("loss ") == 4 ? field.find(' ', 4) : field.find(' ');
        if (space != std::string_view::npos) {
            const auto name = field.substr(0, space);
            addField(name == "val loss" ? "val_loss" : name, field.substr(space + 1), builder);
        }
    }
    return true;
}

} // namespace

FormatFile nanogptFormat()
{
    return formatFile<LineFormat>(100, "nanogpt", "%", parseNanoGpt, 0);
}

} // namespace nanscope::ingest
