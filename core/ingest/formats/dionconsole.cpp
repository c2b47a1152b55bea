// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// microsoft/dion's train.py and the modded-nanogpt family it descends from: "Step 5: train_loss=.., grad_norm=..",
// "step:5/100 val_loss:.. train_time:..ms step_avg:..ms", and a tqdm bar that ends in "train_loss=..".
#include <cmath>
#include <set>

#include <re2/re2.h>

#include "core/ingest/formats/formats.h"
#include "core/ingest/text/consoletext.h"

namespace nanscope::ingest {

namespace {

/// The formatter prints four decimals, so that a cut-off number shows.
bool endsWhole(std::string_view text)
{
    const auto dot = text.rfind('.');
    return text.ends_with("nan") || text.ends_with("inf") || text.ends_with("ms")
        || (dot != std::string_view::npos && text.size() - dot == 5);
}

class DionConsole : public LogFormat
{
public:
    std::string_view name() const override { return "dion"; }
    int sniff(std::span<const std::string_view>) override { return 1; }

    bool parse(const LogLine& line, LogBuilder& builder) override
    {
        if (!line.whole && !endsWhole(line.text)) {
            return false;
        }
        auto text = line.text;
        if (takePrefix(text, "Step ")) {
            return parseDebugLine(text, line, builder);
        }
        if (takePrefix(text, "step:")) {
            return parseStepLine(text, line, builder);
        }
        return parseBar(line, builder);
    }

    /// Dion's train.py counts from 0 and saves a checkpoint of the same number behind the update whose loss it has
    /// printed. Relatives print the losses of training behind the increment, and those of validations before it.
    std::optional<int> stepBase(const LogLine& line) const override
    {
        const bool ofTraining =
            line.text.starts_with("Step ") || line.text.find("train_loss") != std::string_view::npos;
        return ofTraining ? std::optional(1) : std::nullopt;
    }

    void finish(LogBuilder& builder) override { flushBar(builder); }

private:
    struct Bar
    {
        std::optional<int> rank;
        int lane = 0;
        int process = -1;
        std::int64_t step = 0;
        double loss = 0;
        std::int64_t line = 0;
    };

    bool parseDebugLine(std::string_view text, const LogLine& line, LogBuilder& builder)
    {
        const auto step = takeInteger(text);
        if (!step || !takePrefix(text, ": ") || text.find('=') == std::string_view::npos) {
            return false;
        }
        bool any = false;
        while (!text.empty()) {
            auto field = trimmed(takeUntil(text, ","));
            const auto name = takeUntil(field, "=");
            const auto value = parseNumber(takeUntil(field, " "));
            if (!value || name.empty()) {
                continue;
            }
            if (!std::exchange(any, true)) {
                builder.startRow(line.rank, *step, line.number);
                m_exact.insert(line.process());
            }
            builder.value(name, *value);
        }
        return any;
    }

    bool parseStepLine(std::string_view text, const LogLine& line, LogBuilder& builder)
    {
        const auto step = takeInteger(text);
        if (!step || !takePrefix(text, "/") || !takeInteger(text) || !takePrefix(text, " ")) {
            return false;
        }
        bool any = false;
        while (!text.empty()) {
            auto field = takeUntil(text, " ");
            takePrefix(field, "(");
            field = field.substr(0, field.find_last_not_of(')') + 1);
            const auto name = takeUntil(field, ":");
            if (name.empty() || field.empty()) {
                continue;
            }
            if (!std::exchange(any, true)) {
                builder.startRow(line.rank, *step, line.number);
            }
            addField(name, field, builder);
        }
        return any;
    }

    static void addField(std::string_view name, std::string_view text, LogBuilder& builder)
    {
        const bool milliseconds = text.ends_with("ms");
        const auto value = parseNumber(text.substr(0, text.size() - (milliseconds ? 2 : 0)));
        if (!value || name.empty()) {
            return;
        }
        // Averages read nan until enough steps were timed; that is no sign of anything.
        if (milliseconds && std::isnan(*value)) {
            return;
        }
        builder.value(milliseconds ? std::string(name) + "_ms" : std::string(name), *value);
    }

    bool parseBar(const LogLine& line, LogBuilder& builder)
    {
        static const RE2 bar(R"((\d+)/\d+ \[.*\btrain_loss=([^\s,\]]+))", RE2::Latin1);
        if (line.text.find("%|") == std::string_view::npos) {
            return false;
        }
        std::int64_t count = 0;
        std::string loss;
        if (!RE2::PartialMatch({line.text.data(), line.text.size()}, bar, &count, &loss)) {
            return false;
        }
        const auto value = parseNumber(loss);
        if (!value || count < 1) {
            return value.has_value();
        }
        // The bar counts a step before it shows the loss of that step, and is drawn again until then.
        const Bar next {line.rank, line.lane, line.process(), count - 1, *value, line.number};
        if (m_bar && (m_bar->step != next.step || m_bar->process != next.process)) {
            flushBar(builder);
        }
        m_bar = next;
        return true;
    }

    void flushBar(LogBuilder& builder)
    {
        if (m_bar && !m_exact.contains(m_bar->process)) {
            builder.setLane(m_bar->lane);
            builder.startRow(m_bar->rank, m_bar->step, m_bar->line, true);
            builder.value("train_loss", m_bar->loss);
        }
        m_bar.reset();
    }

    std::optional<Bar> m_bar;
    std::set<int> m_exact; ///< processes whose own lines give every loss, so that the bar adds nothing
};

} // namespace

FormatFile dionconsoleFormat()
{
    return formatFile<DionConsole>(40);
}

} // namespace nanscope::ingest
