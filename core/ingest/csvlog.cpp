// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Tables with a heading: comma, tab or semicolon, quoted or not. An empty cell is absence, "nan" is a value. A row of
// Lightning's CSVLogger holds what one call reported, and its empty cells nothing.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/ingest/aliases.h"
#include "core/ingest/consoletext.h"
#include "core/ingest/logformat.h"

namespace nanscope {

namespace {

using Fields = std::vector<std::string_view>;

constexpr std::size_t longestHeading = 200;

std::size_t fieldEnd(std::string_view text, char separator)
{
    if (!text.starts_with('"')) {
        return std::min(text.find(separator), text.size());
    }
    auto quote = text.find('"', 1);
    while (quote != std::string_view::npos && text.substr(quote + 1).starts_with('"')) {
        quote = text.find('"', quote + 2);
    }
    return quote == std::string_view::npos ? text.size() : std::min(text.find(separator, quote), text.size());
}

std::string_view bare(std::string_view field)
{
    field = trimmed(field);
    const bool quoted = field.size() >= 2 && field.front() == '"' && field.back() == '"';
    return quoted ? field.substr(1, field.size() - 2) : field;
}

void split(std::string_view text, char separator, Fields& fields)
{
    fields.clear();
    for (;;) {
        const auto end = fieldEnd(text, separator);
        fields.push_back(bare(text.substr(0, end)));
        if (end >= text.size()) {
            return;
        }
        text.remove_prefix(end + 1);
    }
}

std::string withoutDoubledQuotes(std::string_view field)
{
    std::string text(field);
    for (auto at = text.find("\"\""); at != std::string::npos; at = text.find("\"\"", at + 1)) {
        text.erase(at, 1);
    }
    return text;
}

/// Where semicolons separate, a comma may be the decimal point.
std::optional<double> numberIn(std::string_view field, char separator)
{
    if (separator != ';' || field.find('.') != std::string_view::npos) {
        return parseNumber(field);
    }
    std::string text(field);
    std::replace(text.begin(), text.end(), ',', '.');
    return parseNumber(text);
}

std::optional<std::int64_t> wholeNumber(std::string_view text)
{
    const auto value = parseNumber(text);
    constexpr double largest = 9e15;
    if (!value || std::abs(*value) > largest || *value != std::floor(*value)) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(*value);
}

/// W&B exports name a column "<run> - train/loss"; with a single run the name alone is enough.
void dropRunNames(std::vector<std::string>& names)
{
    const auto metricOf = [](const std::string& name) {
        const auto at = name.rfind(" - ");
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

    int sniff(std::span<const std::string_view> head) override
    {
        const auto first = std::find_if(head.begin(), head.end(), [](auto line) { return !line.starts_with('#'); });
        if (first == head.end()) {
            return 0;
        }
        for (const char separator : {',', '\t', ';'}) {
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
        split(line.text, m_separator, m_fields);
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
        Fields fields;
        split(line, separator, fields);
        const auto isName = [separator](
                                std::string_view f) { return f.size() <= longestHeading && !numberIn(f, separator); };
        if (fields.size() < 2 || !std::all_of(fields.begin(), fields.end(), isName)) {
            return false;
        }
        m_separator = separator;
        m_names.clear();
        std::transform(fields.begin(), fields.end(), std::back_inserter(m_names), withoutDoubledQuotes);
        m_firstName = m_names.front();
        m_sparse = isLightnings(m_names);
        dropSampledRanges();
        chooseColumns();
        dropRunNames(m_names);
        const auto known = [](const std::string& name) { return isCanonical(canonicalName(name)); };
        return m_step || std::any_of(m_names.begin(), m_names.end(), known);
    }

    /// An export of W&B's charts holds the extremes of each sample beside it, and rows of several runs: an empty cell
    /// is another run's row.
    void dropSampledRanges()
    {
        for (auto& name : m_names) {
            if (name.find(" - ") != std::string::npos && (name.ends_with("__MIN") || name.ends_with("__MAX"))) {
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
    }

    /// The lines below a heading must look like its rows, where there are any.
    bool fits(std::span<const std::string_view> rows)
    {
        if (rows.empty()) {
            return true;
        }
        split(rows.front(), m_separator, m_fields);
        return m_fields.size() == m_names.size() && std::any_of(m_fields.begin(), m_fields.end(), [this](auto field) {
            return numberIn(field, m_separator).has_value();
        });
    }

    bool addRow(const LogLine& line, LogBuilder& builder)
    {
        const auto rank = rankOf(line);
        if (m_sparse) {
            builder.expectNothing();
        }
        if (m_step) {
            const auto step = wholeNumber(m_fields[*m_step]);
            if (!step) {
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
        } else if (const auto value = numberIn(field, m_separator)) {
            builder.value(name, *value);
        }
    }

    char m_separator = ',';
    std::vector<std::string> m_names;
    std::string m_firstName;
    bool m_sparse = false; ///< an empty cell says nothing
    std::optional<std::size_t> m_step;
    std::optional<std::size_t> m_rank;
    Fields m_fields;
};

} // namespace

std::unique_ptr<LogFormat> makeCsvLog()
{
    return std::make_unique<CsvLog>();
}

} // namespace nanscope
