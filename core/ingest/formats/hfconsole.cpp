// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Hugging Face Trainer's console: one Python dict per log, without a step: "{'loss': 2.8911, 'grad_norm': nan,
// 'learning_rate': 5e-05, 'epoch': 0.05}", in newer versions with quoted numbers. Steps come from the progress bar
// drawn before it, else rows are counted; both are marked as inferred.
#include <algorithm>
#include <vector>

#include "core/ingest/formats/formats.h"
#include "core/ingest/text/consoletext.h"

namespace nanscope::ingest {

namespace {

class HfConsole : public LogFormat
{
public:
    std::string_view name() const override { return "hf-console"; }
    int sniff(std::span<const std::string_view>) override { return 1; }

    bool parse(const LogLine& line, LogBuilder& builder) override
    {
        const auto begin = line.text.find("{'");
        if (begin == std::string_view::npos) {
            // What is written right behind a bar, without a line break between, is somebody else's to read.
            seeBar(line.text);
            return false;
        }
        const auto end = line.text.rfind('}');
        const auto before = line.text.substr(0, begin);
        if (end == std::string_view::npos || end < begin || !(trimmed(before).empty() || seeBar(before))) {
            return false;
        }
        return parseDict(line.text.substr(begin + 1, end - begin - 1), line, builder);
    }

private:
    struct Bar
    {
        std::int64_t step = 0;
        std::int64_t total = 0;
    };

    struct Value
    {
        std::string_view key;
        double number;
    };

    static std::vector<Value> valuesOf(std::string_view dict)
    {
        std::vector<Value> values;
        while (!dict.empty()) {
            auto field = takeUntil(dict, ", ");
            const auto key = trimmed(takeUntil(field, ":"));
            const auto value = parseNumber(field);
            if (value && key.size() > 2 && key.front() == '\'' && key.back() == '\'') {
                values.push_back({key.substr(1, key.size() - 2), *value});
            }
        }
        return values;
    }

    bool parseDict(std::string_view dict, const LogLine& line, LogBuilder& builder)
    {
        const auto values = valuesOf(dict);
        const auto has = [&](std::string_view key) {
            return std::any_of(values.begin(), values.end(), [&](const Value& value) { return value.key == key; });
        };
        if (has("train_runtime")) {
            // The last dict holds means over the run under the names of single steps; another run may follow it.
            m_training = m_last = {};
            return true;
        }
        const bool training = has("loss");
        if (!has("epoch") || (!training && !has("eval_loss"))) {
            return false;
        }
        startRow(training, line, builder);
        for (const auto& value : values) {
            builder.value(value.key, value.number);
        }
        return true;
    }

    void startRow(bool training, const LogLine& line, LogBuilder& builder)
    {
        // An evaluation draws a shorter bar of its own, in between.
        if (training && m_last.total >= m_training.total) {
            m_training = m_last;
        }
        if (m_training.step > 0) {
            builder.startRow(line.rank, m_training.step, line.number, true);
        } else if (training) {
            builder.startCountedRow(line.rank, line.number);
        } else {
            builder.continueCountedRow(line.rank, line.number);
        }
    }

    /// " 12%|#2   | 360/3000 [01:55<14:02, 3.13it/s]" and nothing before it: bars of downloads have a title.
    bool seeBar(std::string_view text)
    {
        const auto percent = text.rfind("%|");
        if (percent == std::string_view::npos || !parseInteger(trimmed(text.substr(0, percent)))) {
            return false;
        }
        text.remove_prefix(percent + 2);
        takeUntil(text, "|");
        text = trimmed(text);
        const auto done = takeInteger(text);
        if (!done || !takePrefix(text, "/")) {
            return false;
        }
        const auto total = takeInteger(text);
        if (!total || !takePrefix(text, " [")) {
            return false;
        }
        m_last = {*done, *total};
        if (*total == m_training.total) {
            m_training = m_last;
        }
        return true;
    }

    Bar m_last;
    Bar m_training; ///< whose steps are those of the training
};

} // namespace

FormatFile hfconsoleFormat()
{
    return formatFile<HfConsole>(160);
}

} // namespace nanscope::ingest
