// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// llm.c: the log file's "s:1 trl:10.9598 lr:0.000002 norm:15.24", "s:0 tel:11.0" (validation) and "s:0 eval:0.25"
// (HellaSwag), and the console's "step 1/21479 | loss 11.0 (+nanz)| norm 16.3 (+nanz)| lr 2.86e-06 | 2734.72 ms | ..".
// The z in brackets is an outlier score that reads nan until its window has filled.
#include "core/ingest/formats/formats.h"

namespace nanscope::ingest {

namespace {

std::string_view llmcName(std::string_view key)
{
    return key == "trl" ? "loss" : key == "tel" ? "val_loss" : key == "eval" ? "hellaswag" : key;
}

bool parseFileLine(std::string_view text, const LogLine& line, LogBuilder& builder)
{
    const auto step = takeInteger(text);
    if (!step || !takePrefix(text, " ")) {
        return false;
    }
    bool any = false;
    while (!text.empty()) {
        auto field = takeUntil(text, " ");
        const auto key = takeUntil(field, ":");
        const auto value = parseNumber(field);
        if (!value) {
            continue;
        }
        if (!std::exchange(any, true)) {
            builder.startRow(line.rank, *step, line.number);
        }
        builder.value(llmcName(key), *value);
    }
    return any;
}

void addConsoleField(std::string_view field, LogBuilder& builder)
{
    const auto first = takeUntil(field, " ");
    if (const auto value = parseNumber(first)) {
        if (field == "ms") {
            builder.value("step_time_s", *value / millisecondsPerSecond);
        } else if (field == "tok/s") {
            builder.value(field, *value);
        }
        return;
    }
    if (const auto value = parseNumber(takeUntil(field, " "))) {
        builder.value(first, *value);
    }
}

bool parseConsoleLine(std::string_view text, const LogLine& line, LogBuilder& builder)
{
    text = trimmed(text);
    const auto step = takeInteger(text);
    if (!step || !takePrefix(text, "/") || !takeInteger(text) || !takePrefix(text, " | loss ")) {
        return false;
    }
    const auto loss = parseNumber(takeUntil(text, " "));
    if (!loss) {
        return false;
    }
    builder.startRow(line.rank, *step, line.number);
    builder.value("loss", *loss);
    takeUntil(text, "| ");
    while (!text.empty()) {
        addConsoleField(trimmed(takeUntil(text, "| ")), builder);
    }
    return true;
}

bool parseLlmC(const LogLine& line, LogBuilder& builder)
{
    auto text = line.text;
    if (takePrefix(text, "s:")) {
        return parseFileLine(text, line, builder);
    }
    return takePrefix(text, "step ") && parseConsoleLine(text, line, builder);
}

/// The file counts from 0, the console from 1.
class LlmC : public LineFormat
{
public:
    LlmC()
        : LineFormat("llm.c", "s", parseLlmC)
    { }

    std::optional<int> stepBase(const LogLine& line) const override { return line.text.starts_with("s:") ? 0 : 1; }
};

} // namespace

FormatFile llmcFormat()
{
    return formatFile<LlmC>(120);
}

} // namespace nanscope::ingest
