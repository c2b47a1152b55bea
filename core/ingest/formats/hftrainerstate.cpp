// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Hugging Face Trainer's trainer_state.json: the objects of "log_history", which Python writes one key to a line and
// with bare NaN and Infinity. Read as lines, so that a value keeps its place and a long history takes no memory.
#include <algorithm>
#include <cmath>

#include "core/ingest/formats/formats.h"
#include "core/ingest/text/consoletext.h"

namespace nanscope::ingest {

namespace {

class HfTrainerState : public LogFormat
{
public:
    std::string_view name() const override { return "hf-trainer-state"; }

    int sniff(std::span<const std::string_view> head) override
    {
        const auto has = [&](std::string_view key) {
            return std::any_of(
                head.begin(), head.end(), [&](std::string_view line) { return trimmed(line).starts_with(key); });
        };
        return !head.empty() && trimmed(head.front()) == "{" && has("\"log_history\": [") ? onlyThisFormat : 0;
    }

    /// What an object holds is only known at its end, and where the history is only from its beginning.
    bool resumable() const override { return false; }

    bool parse(const LogLine& line, LogBuilder& builder) override
    {
        const auto text = trimmed(line.text);
        const auto depth = static_cast<std::size_t>(text.data() - line.text.data());
        if (!line.whole && !text.starts_with('}')) {
            return false;
        }
        if (!m_inHistory) {
            m_inHistory = text.starts_with("\"log_history\": [");
            return m_inHistory;
        }
        // Python indents by two: what lies deeper than an entry's keys is a list or an object within it.
        if (text.starts_with('{') && depth == entryDepth) {
            m_fields.clear();
        } else if (text.starts_with('}') && depth == entryDepth) {
            giveOut(builder);
        } else if (text.starts_with(']') && depth < entryDepth) {
            m_inHistory = false;
        } else if (depth == entryDepth + 2) {
            addField(text, line.number);
        }
        return true;
    }

private:
    static constexpr std::size_t entryDepth = 4;

    struct Field
    {
        std::string key;
        std::optional<double> value; ///< none for null
        std::int64_t line = 0;
    };

    void addField(std::string_view text, std::int64_t line)
    {
        if (!takePrefix(text, "\"")) {
            return;
        }
        const auto key = takeUntil(text, "\": ");
        text = text.ends_with(',') ? text.substr(0, text.size() - 1) : text;
        const auto value = parseNumber(text);
        if (value || text == "null") {
            m_fields.push_back({std::string(key), value, line});
        }
    }

    bool has(std::string_view key) const
    {
        return std::any_of(m_fields.begin(), m_fields.end(), [&](const Field& field) { return field.key == key; });
    }

    void giveOut(LogBuilder& builder)
    {
        const auto step =
            std::find_if(m_fields.begin(), m_fields.end(), [](const Field& field) { return field.key == "step"; });
        // The last entry holds means over the run under the names of single steps.
        constexpr double largestStep = 1e18;
        if (step == m_fields.end() || !step->value || !(std::abs(*step->value) <= largestStep)
            || has("train_runtime")) {
            return;
        }
        for (const auto& field : m_fields) {
            if (field.key == "step") {
                continue;
            }
            builder.startRow({}, static_cast<std::int64_t>(*step->value), field.line);
            if (field.value) {
                builder.value(field.key, *field.value);
            } else {
                builder.absent(field.key);
            }
        }
    }

    bool m_inHistory = false;
    std::vector<Field> m_fields;
};

} // namespace

FormatFile hftrainerstateFormat()
{
    return formatFile<HfTrainerState>(10);
}

} // namespace nanscope::ingest
