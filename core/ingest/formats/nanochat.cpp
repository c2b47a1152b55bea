// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// nanochat: "step 00200/00470 (42.55%) | loss: 2.1 | grad norm: 0.4 | lrm: 0.89 | dt: 258.47ms | tok/sec: 1,234 | .."
// and "Step 00470 | Validation bpb: 0.81". Its loss is a running average: after one NaN every later one is NaN.
#include "core/ingest/formats/formats.h"

namespace nanscope::ingest {

namespace {

std::string_view nanochatName(std::string_view key)
{
    return key == "Validation bpb" ? "val_bpb" : key;
}

void addField(std::string_view field, LogBuilder& builder)
{
    const auto key = takeUntil(field, ": ");
    const auto value = parseQuantity(field);
    // "pq: 3 rg: 7" and "lr(adamw:7.7e-02, ..)" are more than one number.
    if (!value || key.empty() || key.find('(') != std::string_view::npos) {
        return;
    }
    if (key == "dt" && field.ends_with("ms")) {
        builder.value("step_time_s", *value / millisecondsPerSecond);
    } else {
        builder.value(nanochatName(key), *value);
    }
}

bool startsStep(std::string_view& text, std::optional<std::int64_t>& step)
{
    const bool training = takePrefix(text, "step ");
    if (!training && !takePrefix(text, "Step ")) {
        return false;
    }
    text = trimmed(text);
    step = takeInteger(text);
    if (training && takePrefix(text, "/")) {
        takeInteger(text);
    }
    if (training && takePrefix(text, " (")) {
        takeUntil(text, ")");
    }
    return step && takePrefix(text, training ? " | loss: " : " | Validation bpb: ")
        && parseQuantity(text.substr(0, text.find(" |")));
}

bool parseNanochat(const LogLine& line, LogBuilder& builder)
{
    auto text = line.text;
    std::optional<std::int64_t> step;
    if (!startsStep(text, step)) {
        return false;
    }
    // The first key is taken already.
    auto fields = line.text.substr(line.text.find(" | ") + 3);
    builder.startRow(line.rank, *step, line.number);
    while (!fields.empty()) {
        addField(takeUntil(fields, " | "), builder);
    }
    return true;
}

} // namespace

FormatFile nanochatFormat()
{
    return formatFile<LineFormat>(110, "nanochat", "m", parseNanochat, 0);
}

} // namespace nanscope::ingest
