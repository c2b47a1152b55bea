// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// OLMo and OLMo-core: "DATE\tHOST:0\tolmo.train:908\tINFO\t[step=1/739328,epoch=0]" and below it, four blanks deep,
// "train/CrossEntropyLoss=12.18", one line per value. Evaluations stand under a heading of their own, without a step.
#include "core/ingest/formats/formats.h"
#include "core/ingest/log/blockformat.h"

namespace nanscope::ingest {

namespace {

constexpr std::string_view margin = "    ";

/// A logger's date: "2024-08-06 09:59:26.181\t" or, on a terminal, "[2024-08-06 09:59:26] ".
bool startsWithDate(std::string_view text)
{
    takePrefix(text, "[");
    return text.size() > 10 && text.starts_with("20") && text[4] == '-' && text[7] == '-' && text[10] == ' ';
}

class Olmo : public BlockFormat
{
public:
    std::string_view name() const override { return "olmo"; }

protected:
    std::optional<Head> headOf(std::string_view text) override
    {
        constexpr std::string_view start = "[step=";
        const auto at = text.ends_with(']') ? text.rfind('[') : std::string_view::npos;
        if (at == std::string_view::npos || !text.substr(at).starts_with(start)
            || !(at == 0 || text[at - 1] == '\t' || text[at - 1] == ' ')) {
            return std::nullopt;
        }
        text.remove_prefix(at + start.size());
        const auto step = takeInteger(text);
        return step && text.starts_with('/') ? std::optional(Head {*step}) : std::nullopt;
    }

    std::optional<Value> valueOf(std::string_view text) const override
    {
        if (!takePrefix(text, margin) || text.empty() || text.front() == ' ') {
            return std::nullopt;
        }
        const auto sign = text.rfind('=');
        if (sign == std::string_view::npos || sign == 0) {
            return std::nullopt;
        }
        const auto number = parseNumber(text.substr(sign + 1));
        return number ? std::optional(Value {nameOf(text.substr(0, sign)), *number}) : std::nullopt;
    }

    bool endsBlock(std::string_view text) const override { return startsWithDate(text); }
    bool isLate(const Value& value) const override { return value.name.starts_with("eval/"); }

private:
    static std::string_view nameOf(std::string_view key)
    {
        return key == "optim/learning_rate_group0" || key == "optim/LR" || key == "optim/LR (group 0)" ? "lr" : key;
    }
};

} // namespace

FormatFile olmoFormat()
{
    return formatFile<Olmo>(130);
}

} // namespace nanscope::ingest
