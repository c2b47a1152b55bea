// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Tables with a heading: fields between comma, tab, semicolon, bar or blanks, quoted or not. An empty cell is absence,
// "nan" is a value. A row of Lightning's CSVLogger holds what one call reported, and its empty cells nothing.
#include <algorithm>
#include <map>

#include "core/ingest/formats/formats.h"
#include "core/ingest/text/consoletext.h"
#include "core/ingest/text/fields.h"
#include "core/ingest/text/metricnames.h"

namespace nanscope::ingest {

namespace {

using Fields = std::vector<std::string_view>;

std::optional<std::int64_t> wholeNumberIn(std::string_view text)
{
    const auto value = parseNumber(text);
    return value ? wholeNumber(*value) : std::nullopt;
}

/// W&B exports name a column "<run> - train/loss"; with a single run the name alone is enough.
void dropRunNames(std::vector<std::string>& names, const ColumnMap& columns)
{
    const auto metricOf = [&](const std::string& name) {
        const auto at = columns.nameOf(name).empty() ? name.rfind(" - ") : std::string::npos;
        const auto metric = at == std::string::npos ? std::string() : name.substr(at + 3);
        return isCanonical(canonicalName(metric)) ? metric : std::string();
    };
    std::map<std::string, int> uses;
    for (const auto& name : names) {
        ++uses[canonicalName(metricOf(name))];
    }
    for (auto& name : names) {
        const auto metric = metricOf(name);
        if (!metric.empty() && uses[canonicalName(metric)] == 1) {
            name = metric;
        }
    }
}

/// CSVLogger sorts its columns, and reports an epoch and a step with every call.
bool isLightnings(const std::vector<std::string>& names)
{
    const auto has = [&](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
    return names.size() > 2 && has("epoch") && has("step") && std::is_sorted(names.begin(), names.end());
}

class CsvLog : public LogFormat
{
public:
    std::string_view name() const override { return m_separator == '\t' ? "tsv" : "csv"; }

    void useColumns(const ColumnMap& columns) override { m_columns = columns; }
    std::vector<std::string> columns() const override { return m_names; }

    int sniff(std::span<const std::string_view> head) override
    {
        const auto first = std::find_if(head.begin(), head.end(), [](auto line) { return !line.starts_with('#'); });
        if (first == head.end()) {
            return 0;
        }
        for (const char separator : separators) {
            if (readHeading(*first, separator) && fits(std::span(first + 1, head.end()))) {
                return onlyThisFormat;
            }
        }
        return 0;
    }

    bool parse(const LogLine& line, LogBuilder& builder) override
    {
        // The last number of an unfinished line may lack digits; only a closing quote shows that it does not.
        if (!line.whole && !line.text.ends_with('"')) {
            return false;
        }
        splitFields(line.text, m_separator, m_fields);
        if (m_fields.size() != m_names.size()) {
            return false;
        }
        if (m_fields.front() == m_firstName) {
            return true;
        }
        return addRow(line, builder);
    }

private:
    bool readHeading(std::string_view line, char separator)
    {
        splitFields(line, separator, m_fields);
        if (!isHeading(m_fields, separator)) {
            return false;
        }
        m_separator = separator;
        m_names.clear();
        std::transform(m_fields.begin(), m_fields.end(), std::back_inserter(m_names), withoutDoubledQuotes);
        m_firstName = m_names.front();
        m_sparse = isLightnings(m_names);
        dropSampledRanges();
        chooseColumns();
        dropRunNames(m_names, m_columns);
        const auto known = [this](const std::string& name) {
            return isCanonical(canonicalName(name)) || !m_columns.nameOf(name).empty();
        };
        return m_step || std::any_of(m_names.begin(), m_names.end(), known);
    }

    /// An export of W&B's charts holds the extremes of each sample beside it, and rows of several runs: an empty cell
    /// is another run's row.
    void dropSampledRanges()
    {
        for (auto& name : m_names) {
            if (m_columns.nameOf(name).empty() && name.find(" - ") != std::string::npos
                && (name.ends_with("__MIN") || name.ends_with("__MAX"))) {
                name.clear();
                m_sparse = true;
            }
        }
    }

    void chooseColumns()
    {
        m_step.reset();
        m_rank.reset();
        int best = 0;
        for (std::size_t i = 0; i < m_names.size(); ++i) {
            const auto priority = stepPriority(m_names[i]);
            if (priority && (!m_step || *priority < best)) {
                best = *priority;
                m_step = i;
            }
            if (isRankName(m_names[i])) {
                m_rank = i;
            }
        }
        m_step = placeOfColumn("step") ? placeOfColumn("step") : m_step;
        m_rank = placeOfColumn("rank") ? placeOfColumn("rank") : m_rank;
    }

    /// Where the user says it is.
    std::optional<std::size_t> placeOfColumn(std::string_view name) const
    {
        const auto column = m_columns.columnOf(name);
        const auto at = std::find(m_names.begin(), m_names.end(), column);
        return column.empty() || at == m_names.end() ? std::nullopt : std::optional(at - m_names.begin());
    }

    /// The lines below a heading must look like its rows, where there are any.
    bool fits(std::span<const std::string_view> rows)
    {
        if (rows.empty()) {
            return m_separator != ' ';
        }
        splitFields(rows.front(), m_separator, m_fields);
        const auto isNumber = [this](auto field) { return numberInField(field, m_separator).has_value(); };
        if (m_fields.size() != m_names.size()) {
            return false;
        }
        // Prose has blanks, too.
        return m_separator == ' ' ? std::all_of(m_fields.begin(), m_fields.end(), isNumber)
                                  : std::any_of(m_fields.begin(), m_fields.end(), isNumber);
    }

    bool addRow(const LogLine& line, LogBuilder& builder)
    {
        const auto rank = rankOf(line);
        if (m_sparse) {
            builder.expectNothing();
        }
        if (m_step) {
            const auto step = wholeNumberIn(m_fields[*m_step]);
            if (!step) {
                const bool odd = numberInField(m_fields[*m_step], m_separator).has_value();
                if (odd && !std::exchange(m_saidOddStep, true)) {
                    builder.event(oddStepEvent(line.number));
                }
                return false;
            }
            builder.startRow(rank, *step, line.number);
        } else {
            builder.startCountedRow(rank, line.number);
        }
        for (std::size_t i = 0; i < m_fields.size(); ++i) {
            if (i != m_step && i != m_rank) {
                addValue(m_names[i], m_fields[i], builder);
            }
        }
        return true;
    }

    std::optional<int> rankOf(const LogLine& line) const
    {
        const auto rank = m_rank ? parseInteger(m_fields[*m_rank]) : std::nullopt;
        return rank && *rank <= largestRank ? std::optional(static_cast<int>(*rank)) : line.rank;
    }

    void addValue(const std::string& name, std::string_view field, LogBuilder& builder) const
    {
        if (name.empty()) {
            return;
        }
        if (field.empty()) {
            if (!m_sparse) {
                builder.absent(name);
            }
        } else if (const auto value = numberInField(field, m_separator)) {
            builder.value(name, *value);
        }
    }

    ColumnMap m_columns;
    char m_separator = ',';
    std::vector<std::string> m_names;
    std::string m_firstName;
    bool m_saidOddStep = false;
    bool m_sparse = false; ///< an empty cell says nothing
    std::optional<std::size_t> m_step;
    std::optional<std::size_t> m_rank;
    Fields m_fields;
};

} // namespace

FormatFile csvlogFormat()
{
    return formatFile<CsvLog>(30);
}

} // namespace nanscope::ingest
