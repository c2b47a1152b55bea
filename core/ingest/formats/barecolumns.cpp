// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Numbers without a word: "step value", and the file of one metric in MLflow's store, "milliseconds value step". What
// they are only the file's name can say; where it does not, the column has no name of ours.
#include <algorithm>
#include <array>

#include <re2/re2.h>

#include "core/base/text.h"
#include "core/ingest/formats/formats.h"
#include "core/ingest/text/consoletext.h"
#include "core/ingest/text/fields.h"
#include "core/ingest/text/metricnames.h"

namespace nanscope::ingest {

namespace {

constexpr std::string_view unnamed = "column_2";
constexpr std::int64_t notBefore = 1'000'000'000'000; ///< 2001 in milliseconds
constexpr std::int64_t notAfter = 10'000'000'000'000; ///< 2286
constexpr std::int64_t beyondSteps = 1'000'000'000; ///< seconds of today, or addresses

struct BareRow
{
    std::int64_t step = 0;
    double value = 0;
};

std::optional<BareRow> twoColumns(std::string_view text)
{
    text = trimmed(text);
    const auto step = takeInteger(text);
    if (!step || text.empty() || (text.front() != ' ' && text.front() != '\t')) {
        return std::nullopt;
    }
    const auto value = parseNumber(text);
    return value ? std::optional(BareRow {*step, *value}) : std::nullopt;
}

bool isMetricLine(std::string_view text)
{
    const auto line = mlflowLine(text);
    return line && line->time >= notBefore && line->time < notAfter;
}

bool hasNoNumber(std::string_view line)
{
    return trimmed(line).empty() || line.starts_with('#');
}

/// Losses have decimals; what counts things has not.
bool hasDecimals(std::string_view line)
{
    return trimmed(line).find_first_of(".eEnN") != std::string_view::npos;
}

/// "val_loss" for "run3/val-loss.txt", none where the name says nothing. A loss that is only a part of another, as that
/// of a router, is not the loss.
std::string nameIn(std::string_view source)
{
    static const RE2 loss(R"((?:.*[^a-z])?loss(?:es)?(?:[^a-z].*)?)", RE2::Latin1);
    static const RE2 part(
        R"((?:.*[^a-z])?(?:aux|z|kl|router|moe|balance|mtp|policy|value|reward|critic|actor|test)[^a-z].*)",
        RE2::Latin1);
    static const RE2 scale(R"(.*loss[^a-z]?scale.*)", RE2::Latin1);
    static const RE2 validation(R"((?:.*[^a-z])?(?:val|valid|validation|eval|dev)[^a-z].*)", RE2::Latin1);
    static const RE2 gradient(R"((?:.*[^a-z])?(?:grad(?:ient)?[^a-z]?norms?|gnorm)(?:[^a-z].*)?)", RE2::Latin1);
    const auto name = lowered(source.substr(source.find_last_of('/') + 1));
    if (RE2::FullMatch(name, scale)) {
        return "loss_scale";
    }
    if (RE2::FullMatch(name, gradient)) {
        return "grad_norm";
    }
    if (!RE2::FullMatch(name, loss) || RE2::FullMatch(name, part)) {
        return {};
    }
    return RE2::FullMatch(name, validation) ? "val_loss" : "loss";
}

class BareColumns : public LogFormat
{
public:
    std::string_view name() const override { return m_metric ? "mlflow" : "two-columns"; }

    int sniff(std::span<const std::string_view> head) override
    {
        constexpr std::size_t enough = 3;
        std::vector<std::string_view> rows;
        std::copy_if(head.begin(), head.end(), std::back_inserter(rows),
            [](std::string_view line) { return !hasNoNumber(line); });
        m_metric = !rows.empty() && std::all_of(rows.begin(), rows.end(), isMetricLine);
        return m_metric || (rows.size() >= enough && areSteps(rows)) ? onlyThisFormat : 0;
    }

    bool parse(const LogLine& line, LogBuilder& builder) override
    {
        if (!line.whole) {
            return false; // its last number may be cut off
        }
        if (m_name.empty()) {
            m_name = nameOf(builder.source());
        }
        return m_metric ? takeMetric(line, builder) : takeRow(line, builder);
    }

private:
    static bool areSteps(std::span<const std::string_view> rows)
    {
        std::int64_t last = -1;
        for (const auto line : rows) {
            const auto row = twoColumns(line);
            if (!row || row->step <= last || row->step >= beyondSteps) {
                return false;
            }
            last = row->step;
        }
        return std::any_of(rows.begin(), rows.end(), hasDecimals);
    }

    /// A metric's file is named by the metric; any other name stands for something only where it says so.
    std::string nameOf(std::string_view source) const
    {
        const auto said = nameIn(source);
        const auto file = source.substr(source.find_last_of('/') + 1);
        return !said.empty() ? said : std::string(m_metric ? file : unnamed);
    }

    bool takeMetric(const LogLine& line, LogBuilder& builder)
    {
        const auto metric = mlflowLine(line.text);
        if (!metric) {
            return false;
        }
        metric->step ? builder.startRow({}, *metric->step, line.number) : builder.startCountedRow({}, line.number);
        builder.value(m_name, metric->value);
        return true;
    }

    bool takeRow(const LogLine& line, LogBuilder& builder)
    {
        const auto row = twoColumns(line.text);
        if (!row) {
            return false;
        }
        builder.startRow({}, row->step, line.number);
        builder.value(m_name, row->value);
        return true;
    }

    bool m_metric = false;
    std::string m_name;
};

} // namespace

FormatFile barecolumnsFormat()
{
    return formatFile<BareColumns>(180);
}

} // namespace nanscope::ingest
