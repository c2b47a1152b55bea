// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// torchtitan: "[titan] DATE - root - INFO - step:  1  loss: 11.76178  grad_norm: 5.1  memory: 6.48GiB(20.65%)  tps: 513
// tflops: 0.77  mfu: 0.25%", in fields that two spaces part, and "validate step: 100  loss: ..". lingua prints the same
// fields under other names. The rank in front is torchrun's.
#include "core/ingest/formats/formats.h"

namespace nanscope::ingest {

namespace {

/// Behind "step:", where only a logger stands before it.
std::optional<std::string_view> afterStep(std::string_view text, bool& validation)
{
    constexpr std::string_view key = "step: ";
    const auto at = text.substr(0, longestLogger).find(key);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    auto before = text.substr(0, at);
    validation = before.ends_with("validate ");
    before.remove_suffix(validation ? std::string_view("validate ").size() : 0);
    return before.empty() || before.ends_with("- ") || before.ends_with("] ")
        ? std::optional(text.substr(at + key.size()))
        : std::nullopt;
}

struct TorchTitanField
{
    std::string_view key;
    std::string_view value;
};

std::optional<TorchTitanField> takeField(std::string_view& text)
{
    text = trimmed(text);
    TorchTitanField field;
    field.key = takeUntil(text, ":");
    text = trimmed(text);
    field.value = takeUntil(text, " ");
    return field.key.empty() || field.value.empty() ? std::nullopt : std::optional(field);
}

bool parseTorchTitan(const LogLine& line, LogBuilder& builder)
{
    bool validation = false;
    auto text = afterStep(line.text, validation);
    if (!text) {
        return false;
    }
    *text = trimmed(*text);
    const auto step = takeInteger(*text);
    auto field = step ? takeField(*text) : std::nullopt;
    const bool known = field && (field->key == "loss" || field->key == "acc");
    if (!known || !parseQuantity(field->value)) {
        return false;
    }
    builder.startRow(line.rank, *step, line.number);
    if (validation) {
        // Its other fields are those of a validation, and no step of the training has them.
        builder.value("val_loss", *parseQuantity(field->value));
        return true;
    }
    for (; field; field = takeField(*text)) {
        // "6.48GiB(20.65%)": the share says nothing that the amount does not.
        const auto value = parseQuantity(field->value.substr(0, field->value.find('(')));
        // lingua's norm where a step only accumulates.
        const bool measured = field->key != "grad" || value != -1.0;
        if (value && measured) {
            builder.value(field->key == "iter" ? "step_time_s" : field->key, *value);
        }
    }
    return true;
}

} // namespace

FormatFile torchtitanFormat()
{
    return formatFile<LineFormat>(60, "torchtitan", "%W", parseTorchTitan, 1);
}

} // namespace nanscope::ingest
