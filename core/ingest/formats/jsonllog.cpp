// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// One JSON object per line. Python writes NaN and Infinity bare, which is not JSON: such a line is read again with
// those words quoted. null is absence, but in LLaMA-Factory's rows, where it stands for what another call of its logger
// reports; numbers in strings count as numbers.
#include <algorithm>

#include <simdjson.h>

#include "core/ingest/formats/formats.h"
#include "core/ingest/text/consoletext.h"
#include "core/ingest/text/linereader.h"
#include "core/ingest/text/metricnames.h"
#include "core/ingest/text/pythonjson.h"

namespace nanscope::ingest {

namespace {

static_assert(linePadding >= simdjson::SIMDJSON_PADDING);

enum class Role { value, step, rank };

struct Key
{
    std::string name;
    Role role = Role::value;
    int priority = 0;
    bool canonical = false;
};

struct JsonField
{
    std::size_t key = 0;
    std::optional<double> value;
};

class JsonlLog : public LogFormat
{
public:
    std::string_view name() const override { return "jsonl"; }
    int sniff(std::span<const std::string_view>) override { return 2; }
    void useColumns(const ColumnMap& columns) override { m_columns = columns; }

    std::vector<std::string> columns() const override
    {
        std::vector<std::string> names;
        std::transform(
            m_keys.begin(), m_keys.end(), std::back_inserter(names), [](const Key& key) { return key.name; });
        return names;
    }

    bool parse(const LogLine& line, LogBuilder& builder) override
    {
        const auto end = line.text.find_last_not_of(" \t");
        if (line.text.front() != '{' || line.text[end] != '}') {
            return false;
        }
        return (readFields(line.text) || readAgain(line.text)) && addRow(line, builder);
    }

private:
    bool readAgain(std::string_view text)
    {
        m_quoted = strictJson(text);
        m_quoted.reserve(m_quoted.size() + linePadding);
        return readFields(m_quoted);
    }

    /// `text` is followed by linePadding readable bytes.
    bool readFields(std::string_view text)
    {
        m_fields.clear();
        m_hint = 0;
        simdjson::dom::object object;
        constexpr bool copyFirst = false;
        if (m_parser.parse(text.data(), text.size(), copyFirst).get(object) != simdjson::SUCCESS) {
            return false;
        }
        for (const auto [key, value] : object) {
            readField(key, value);
        }
        return true;
    }

    void readField(std::string_view key, const simdjson::dom::element& value)
    {
        double number = 0;
        std::string_view text;
        if (value.get(number) == simdjson::SUCCESS) {
            addField(key, number);
        } else if (value.get(text) == simdjson::SUCCESS) {
            if (const auto spelled = parseNumber(text)) {
                addField(key, *spelled);
            }
        } else if (value.is_null()) {
            addField(key, std::nullopt);
        }
    }

    void addField(std::string_view key, std::optional<double> value)
    {
        constexpr std::size_t mostKeys = 2000;
        std::size_t at = m_hint;
        if (at >= m_keys.size() || m_keys[at].name != key) {
            at = 0;
            while (at < m_keys.size() && m_keys[at].name != key) {
                ++at;
            }
        }
        if (at == m_keys.size()) {
            if (at == mostKeys) {
                return;
            }
            m_keys.push_back(keyOf(key));
        }
        m_hint = at + 1;
        m_fields.push_back({at, value});
    }

    /// Where the user names the step, no other key of the file is one.
    Key keyOf(std::string_view name) const
    {
        const auto given = m_columns.nameOf(name);
        if (!given.empty()) {
            const auto role = given == "step" ? Role::step : given == "rank" ? Role::rank : Role::value;
            return {std::string(name), role, 0, true};
        }
        const auto priority = m_columns.claims("step") ? std::nullopt : stepPriority(name);
        const bool rank = isRankName(name) && !m_columns.claims("rank");
        const auto role = priority ? Role::step : rank ? Role::rank : Role::value;
        return {std::string(name), role, priority.value_or(0), isCanonical(canonicalName(name))};
    }

    struct RowHead
    {
        std::optional<std::int64_t> step;
        std::optional<int> rank;
        int priority = 0;
        bool oddStep = false; ///< a number that can be none
        bool hasValue = false;
        bool hasCanonical = false;
    };

    /// "n" and "it" may be called anything else, too.
    static bool isClearlyStep(const Key& key, double value)
    {
        constexpr int lastClearName = 4; // train/global_step
        constexpr double largest = 9e15;
        return key.priority <= lastClearName || std::abs(value) >= largest;
    }

    void addToHead(const JsonField& field, RowHead& head) const
    {
        const auto& key = m_keys[field.key];
        head.hasValue = head.hasValue || key.role == Role::value;
        head.hasCanonical = head.hasCanonical || key.canonical;
        const auto number = key.role == Role::value || !field.value ? std::nullopt : wholeNumber(*field.value);
        if (key.role == Role::step && number && (!head.step || key.priority < head.priority)) {
            head.priority = key.priority;
            head.step = number;
        }
        head.oddStep =
            head.oddStep || (key.role == Role::step && field.value && !number && isClearlyStep(key, *field.value));
        if (key.role == Role::rank && number && *number >= 0 && *number <= largestRank) {
            head.rank = static_cast<int>(*number);
        }
    }

    bool addRow(const LogLine& line, LogBuilder& builder)
    {
        RowHead head;
        head.rank = line.rank;
        for (const auto& field : m_fields) {
            addToHead(field, head);
        }
        if (head.oddStep && !head.step) {
            if (!std::exchange(m_saidOddStep, true)) {
                builder.event(oddStepEvent(line.number));
            }
            return true;
        }
        // Where other rows have a step, one without it is a summary or a message.
        if (!head.hasValue || (!head.step && (!head.hasCanonical || m_stepped))) {
            return false;
        }
        m_stepped = m_stepped || head.step.has_value();
        head.step ? builder.startRow(head.rank, *head.step, line.number)
                  : builder.startCountedRow(head.rank, line.number);
        for (const auto& field : m_fields) {
            addValue(field, builder);
        }
        return true;
    }

    bool nullIsNothing() const
    {
        return std::any_of(m_fields.begin(), m_fields.end(),
            [this](const JsonField& field) { return m_keys[field.key].name == "current_steps"; });
    }

    /// lingua's norm where a step only accumulates.
    static bool notComputed(std::string_view key, double value) { return key == "optim/grad_norm" && value == -1; }

    void addValue(const JsonField& field, LogBuilder& builder) const
    {
        const auto& key = m_keys[field.key];
        if (key.role != Role::value) {
            return;
        }
        if (!field.value && !nullIsNothing()) {
            builder.absent(key.name);
        } else if (field.value && !notComputed(key.name, *field.value)) {
            builder.value(key.name, *field.value);
        }
    }

    ColumnMap m_columns;
    simdjson::dom::parser m_parser;
    std::vector<Key> m_keys;
    std::vector<JsonField> m_fields;
    std::string m_quoted;
    std::size_t m_hint = 0;
    bool m_stepped = false;
    bool m_saidOddStep = false;
};

} // namespace

FormatFile jsonllogFormat()
{
    return formatFile<JsonlLog>(20);
}

} // namespace nanscope::ingest
