// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// KempnerForge: "[step N] loss=.. | lr=.. | grad_norm=.. | tok/s=.. | mfu=..% | mem=../..GB | step_time=..s" and
// "[step N] eval/loss=.. | ..". Its warnings are events, see eventreader.cpp.
#include "core/ingest/consoletext.h"
#include "core/ingest/logformat.h"

namespace nanscope {

namespace {

class KempnerForge : public LogFormat
{
public:
    std::string_view name() const override { return "kempnerforge"; }
    int sniff(std::span<const std::string_view>) override { return 1; }

    bool parse(const LogLine& line, LogBuilder& builder) override
    {
        auto text = line.text;
        // Only the metric line has an end that shows: step_time and its unit.
        if (!takePrefix(text, "[step ") || (!line.whole && !text.ends_with('s'))) {
            return false;
        }
        const auto step = takeInteger(text);
        if (!step || !takePrefix(text, "] ")) {
            return false;
        }
        bool any = false;
        while (!text.empty()) {
            const auto end = std::min(text.find(" | "), text.size());
            any = addField(text.substr(0, end), *step, line, builder, any) || any;
            text.remove_prefix(std::min(end + 3, text.size()));
        }
        return any;
    }

private:
    static bool addField(
        std::string_view field, std::int64_t step, const LogLine& line, LogBuilder& builder, bool started)
    {
        const auto equals = field.find('=');
        if (equals == std::string_view::npos || equals == 0) {
            return false;
        }
        const auto value = parseQuantity(field.substr(equals + 1));
        if (!value) {
            return false;
        }
        if (!started) {
            builder.startRow(line.rank, step, line.number);
        }
        builder.value(field.substr(0, equals), *value);
        return true;
    }
};

} // namespace

std::unique_ptr<LogFormat> makeKempnerForge()
{
    return std::make_unique<KempnerForge>();
}

} // namespace nanscope
