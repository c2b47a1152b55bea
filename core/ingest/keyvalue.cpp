// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Lines of a home-made training loop: "step:10, loss:5.45", "Step 10 | loss=2.31 grad_norm=0.4". Taken only where a
// number stands behind a step's name at the start of the line and another behind a name that is known, so that prose,
// source code and configuration are left alone.
#include <algorithm>
#include <array>

#include "core/ingest/aliases.h"
#include "core/ingest/lineformat.h"

namespace nanscope {

namespace {

constexpr std::size_t mostFields = 32;
constexpr std::array<std::string_view, 4> stepNames {"step", "global_step", "iter", "iteration"};

bool isDigitAt(std::string_view text, std::size_t at)
{
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

/// Where a field ends: at a semicolon, a bar, a tab, and at a comma that groups no digits.
std::size_t fieldEnd(std::string_view text)
{
    auto end = text.find_first_of(",;|\t");
    while (end != std::string_view::npos && text[end] == ',' && isDigitAt(text, end + 1)) {
        end = text.find_first_of(",;|\t", end + 1);
    }
    return std::min(end, text.size());
}

struct Row
{
    std::array<std::pair<std::string_view, double>, mostFields> values;
    std::size_t count = 0;
    bool training = false; ///< a loss or a gradient norm is among them

    // The whole of a name counts: "val loss" is no loss, and "weight norm" no gradient norm.
    void add(std::string_view key, std::string_view text)
    {
        const auto value = parseQuantity(text);
        key = trimmed(key);
        if (!value || key.empty() || count == mostFields) {
            return;
        }
        const auto name = canonicalName(key);
        training = training || name == "loss" || name == "val_loss" || name == "grad_norm";
        values[count++] = {key, *value};
    }
};

/// "loss=2.31 grad_norm=0.4", "train loss: 2.31", "loss 2.25"
void takeFields(std::string_view text, Row& row)
{
    text = trimmed(text);
    if (text.find_first_of("=:") == std::string_view::npos) {
        const auto space = text.rfind(' ');
        if (space != std::string_view::npos) {
            row.add(text.substr(0, space), text.substr(space + 1));
        }
        return;
    }
    while (!text.empty()) {
        const auto sign = text.find_first_of("=:");
        if (sign == std::string_view::npos) {
            return;
        }
        const auto key = text.substr(0, sign);
        text = trimmed(text.substr(sign + 1));
        row.add(key, takeUntil(text, " "));
    }
}

/// "Step 10: ..", "step=10 ..", "step:10, ..": the step, which has to come first.
std::optional<std::int64_t> takeStep(std::string_view& text)
{
    takePrefix(text, "[");
    const auto end = std::min(text.find_first_of(" =:"), text.size());
    const auto priority = stepPriority(text.substr(0, end));
    const bool known = std::any_of(
        stepNames.begin(), stepNames.end(), [&](auto name) { return priority && priority == stepPriority(name); });
    if (!known) {
        return std::nullopt;
    }
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find_first_not_of(" =:"), text.size()));
    const auto step = takeInteger(text);
    if (step && takePrefix(text, "/")) {
        text = trimmed(text);
        takeInteger(text);
    }
    // "1,000" is not step 1.
    const bool grouped = text.starts_with(',') && isDigitAt(text, 1);
    const bool ends =
        !grouped && (text.empty() || std::string_view(" ,;|:]").find(text.front()) != std::string_view::npos);
    text.remove_prefix(ends ? std::min(text.find_first_not_of(" ,;|:]"), text.size()) : 0);
    return ends ? step : std::nullopt;
}

bool parse(const LogLine& line, LogBuilder& builder)
{
    auto text = line.text;
    const auto step = takeStep(text);
    if (!step) {
        return false;
    }
    Row row;
    while (!text.empty()) {
        const auto end = fieldEnd(text);
        takeFields(text.substr(0, end), row);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!row.training) {
        return false;
    }
    builder.startRow(line.rank, *step, line.number);
    for (std::size_t i = 0; i < row.count; ++i) {
        builder.value(row.values[i].first, row.values[i].second);
    }
    return true;
}

} // namespace

std::unique_ptr<LogFormat> makeKeyValue()
{
    return std::make_unique<LineFormat>("key-value", "", parse);
}

} // namespace nanscope
