// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Lines of a home-made training loop: "step:10, loss:5.45", "Step 10 | loss=2.31 grad_norm=0.4". Taken only where a
// number stands behind a step's name at the start of the line and another behind a name that is known, so that prose,
// source code and configuration are left alone. A line with a column that the user names needs neither.
#include <algorithm>
#include <array>

#include "core/ingest/formats/formats.h"
#include "core/ingest/text/consoletext.h"
#include "core/ingest/text/fields.h"
#include "core/ingest/text/metricnames.h"

namespace nanscope::ingest {

namespace {

constexpr std::size_t mostFields = 32;
constexpr std::array<std::string_view, 4> stepNames {"step", "global_step", "iter", "iteration"};

/// Where a field ends: at a semicolon, a bar, a tab, and at a comma that groups no digits.
std::size_t fieldEnd(std::string_view text)
{
    auto end = text.find_first_of(",;|\t");
    while (end != std::string_view::npos && text[end] == ',' && isDigitAt(text, end + 1)) {
        end = text.find_first_of(",;|\t", end + 1);
    }
    return std::min(end, text.size());
}

struct KeyValueRow
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

/// "loss 3.4 grad_norm 0.2": nothing but names of one word and numbers in turn. Nothing is taken of anything else.
bool takeTurns(std::string_view text, KeyValueRow& row)
{
    KeyValueRow taken = row;
    while (!text.empty()) {
        const auto key = takeUntil(text, " ");
        text = trimmed(text);
        const auto value = takeUntil(text, " ");
        text = trimmed(text);
        const auto before = taken.count;
        taken.add(key, value);
        if (taken.count == before || parseQuantity(key)) {
            return false;
        }
    }
    row = taken;
    return true;
}

/// "loss=2.31 grad_norm=0.4", "train loss: 2.31", "loss 2.25", "loss 3.4 grad_norm 0.2"
void takeFields(std::string_view text, KeyValueRow& row)
{
    text = trimmed(text);
    if (text.find_first_of("=:") == std::string_view::npos) {
        if (takeTurns(text, row)) {
            return;
        }
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

bool parseKnown(const LogLine& line, LogBuilder& builder)
{
    auto text = line.text;
    const auto step = takeStep(text);
    if (!step) {
        return false;
    }
    KeyValueRow row;
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

class KeyValue : public LogFormat
{
public:
    std::string_view name() const override { return "key-value"; }
    int sniff(std::span<const std::string_view>) override { return 1; }
    void useColumns(const ColumnMap& columns) override { m_columns = columns; }
    std::vector<std::string> columns() const override { return m_steps; }

    bool parse(const LogLine& line, LogBuilder& builder) override
    {
        return line.whole && (parseNamed(line, builder) || parseKnown(line, builder));
    }

private:
    /// A line that has a column the user names.
    bool parseNamed(const LogLine& line, LogBuilder& builder)
    {
        const auto isIn = [&](const MappedColumn& entry) { return line.text.find(entry.column) != line.text.npos; };
        if (std::none_of(m_columns.entries.begin(), m_columns.entries.end(), isIn)) {
            return false;
        }
        readKeyValuePairs(line.text, m_pairs);
        const auto named = [&](const KeyValuePair& pair) { return !m_columns.nameOf(pair.key).empty(); };
        const auto series = [&](const KeyValuePair& pair) {
            return m_columns.nameOf(pair.key) != "rank" && !isStep(pair.key);
        };
        if (std::none_of(m_pairs.begin(), m_pairs.end(), named)
            || std::none_of(m_pairs.begin(), m_pairs.end(), series)) {
            return false;
        }
        startRow(line, builder);
        for (const auto& pair : m_pairs) {
            if (series(pair)) {
                builder.value(pair.key, pair.value);
            }
        }
        return true;
    }

    bool isStep(std::string_view key) const
    {
        return m_columns.claims("step") ? m_columns.nameOf(key) == "step" : stepPriority(key).has_value();
    }

    void startRow(const LogLine& line, LogBuilder& builder)
    {
        const auto rank = rankIn(line);
        if (const auto step = stepIn(line)) {
            builder.startRow(rank, *step, line.number);
        } else {
            builder.startCountedRow(rank, line.number);
        }
    }

    std::optional<std::int64_t> stepIn(const LogLine& line)
    {
        auto text = line.text;
        if (const auto leading = takeStep(text); leading && !m_columns.claims("step")) {
            return leading;
        }
        for (const auto& pair : m_pairs) {
            if (const auto whole = wholeNumber(pair.value); whole && isStep(pair.key)) {
                noteStep(pair.key);
                return whole;
            }
        }
        return std::nullopt;
    }

    std::optional<int> rankIn(const LogLine& line) const
    {
        for (const auto& pair : m_pairs) {
            const auto whole = wholeNumber(pair.value).value_or(-1);
            if (m_columns.nameOf(pair.key) == "rank" && whole >= 0 && whole <= largestRank) {
                return static_cast<int>(whole);
            }
        }
        return line.rank;
    }

    void noteStep(std::string_view key)
    {
        if (m_steps.empty()) {
            m_steps.emplace_back(key);
        }
    }

    ColumnMap m_columns;
    std::vector<KeyValuePair> m_pairs;
    std::vector<std::string> m_steps;
};

} // namespace

FormatFile keyvalueFormat()
{
    return formatFile<KeyValue>(170);
}

} // namespace nanscope::ingest
