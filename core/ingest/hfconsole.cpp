// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Hugging Face Trainer's console: one Python dict per log, without a step: "{'loss': 2.8911, 'grad_norm': nan,
// 'learning_rate': 5e-05, 'epoch': 0.05}", in newer versions with quoted numbers. Steps come from the progress bar
// drawn before it, else rows are counted; both are marked as inferred.
#include "core/ingest/consoletext.h"
#include "core/ingest/logformat.h"

namespace nanscope {

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
            return seeBar(line.text);
        }
        const auto end = line.text.rfind('}');
        if (end == std::string_view::npos || end < begin) {
            return false;
        }
        seeBar(line.text.substr(0, begin));
        return parseDict(line.text.substr(begin + 1, end - begin - 1), line, builder);
    }

private:
    enum class Row { none, training, evaluation };

    // The last dict holds means over the run under the names of single steps.
    static Row kindOf(std::string_view dict)
    {
        if (dict.find("'train_runtime'") != std::string_view::npos) {
            return Row::none;
        }
        return dict.find("'loss':") != std::string_view::npos     ? Row::training
            : dict.find("'eval_loss':") != std::string_view::npos ? Row::evaluation
                                                                  : Row::none;
    }

    bool parseDict(std::string_view dict, const LogLine& line, LogBuilder& builder)
    {
        const Row kind = kindOf(dict);
        if (kind == Row::none) {
            return false;
        }
        if (m_barStep > 0) {
            builder.startRow(line.rank, m_barStep, line.number, true);
        } else if (kind == Row::training) {
            builder.startCountedRow(line.rank, line.number);
        } else {
            builder.continueCountedRow(line.rank, line.number);
        }
        while (!dict.empty()) {
            auto field = takeUntil(dict, ", ");
            const auto key = takeUntil(field, ":");
            const auto value = parseNumber(field);
            if (value && key.size() > 2 && key.front() == '\'') {
                builder.value(key.substr(1, key.size() - 2), *value);
            }
        }
        return true;
    }

    /// " 12%|#2   | 360/3000 [01:55<14:02, 3.13it/s]". An evaluation draws a bar of its own, with another total.
    bool seeBar(std::string_view text)
    {
        const auto percent = text.rfind("%|");
        if (percent == std::string_view::npos) {
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
        if (!total || !takePrefix(text, " [") || text.find("train_loss=") != std::string_view::npos) {
            return false;
        }
        if (m_barTotal == 0) {
            m_barTotal = *total;
        }
        if (*total == m_barTotal) {
            m_barStep = *done;
        }
        return true;
    }

    std::int64_t m_barTotal = 0;
    std::int64_t m_barStep = 0;
};

} // namespace

std::unique_ptr<LogFormat> makeHfConsole()
{
    return std::make_unique<HfConsole>();
}

} // namespace nanscope
