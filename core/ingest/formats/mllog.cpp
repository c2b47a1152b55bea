// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// MLPerf: ":::MLLOG {"key": "train_loss", "value": 3.2, "metadata": {"samples_count": 192}, ..}", behind whatever a
// launcher puts before it. Its steps are what the submitter counts, which are samples nearly always.
#include <cmath>

#include <simdjson.h>

#include "core/ingest/formats/formats.h"
#include "core/ingest/settings/settingsink.h"
#include "core/ingest/text/consoletext.h"
#include "core/ingest/text/linereader.h"
#include "core/ingest/text/pythonjson.h"

namespace nanscope::ingest {

namespace {

static_assert(linePadding >= simdjson::SIMDJSON_PADDING);

using simdjson::dom::element;
using simdjson::dom::object;

std::optional<double> numberIn(const element& value)
{
    double number = 0;
    std::string_view text;
    if (value.get(number) == simdjson::SUCCESS) {
        return number;
    }
    return value.get(text) == simdjson::SUCCESS ? parseNumber(text) : std::nullopt;
}

std::optional<double> numberAt(const object& parent, std::string_view key)
{
    element value;
    return parent[key].get(value) == simdjson::SUCCESS ? numberIn(value) : std::nullopt;
}

std::optional<std::int64_t> stepIn(const object& metadata)
{
    constexpr double largest = 9e15;
    for (const std::string_view key : {"step", "step_num", "samples_count", "epoch_num"}) {
        const auto number = numberAt(metadata, key);
        if (number && *number >= 0 && *number < largest && *number == std::floor(*number)) {
            return static_cast<std::int64_t>(*number);
        }
    }
    return std::nullopt;
}

/// What a benchmark says of itself before it begins.
void addSetting(std::string_view key, const element& value, const LogLine& line, LogBuilder& builder)
{
    std::string_view text;
    const auto written = value.get(text) == simdjson::SUCCESS ? std::string(text) : simdjson::minify(value);
    if (!value.is_null() && !value.is_object() && !isSecret(key)) {
        builder.setting({std::string(key), written, line.rank, {}, line.number});
    }
}

class Mllog : public LogFormat
{
public:
    std::string_view name() const override { return "mllog"; }
    int sniff(std::span<const std::string_view>) override { return 1; }

    bool parse(const LogLine& line, LogBuilder& builder) override
    {
        constexpr std::string_view start = ":::MLLOG ";
        constexpr std::size_t longestPrefix = 120;
        const auto at =
            line.text.ends_with('}') ? line.text.substr(0, longestPrefix).find(start) : std::string_view::npos;
        if (at == std::string_view::npos) {
            return false;
        }
        object entry;
        const auto json = line.text.substr(at + start.size());
        return (read(json, entry) || readAgain(json, entry)) && take(entry, line, builder);
    }

private:
    /// `text` is followed by linePadding readable bytes.
    bool read(std::string_view text, object& entry)
    {
        constexpr bool copyFirst = false;
        return m_parser.parse(text.data(), text.size(), copyFirst).get(entry) == simdjson::SUCCESS;
    }

    bool readAgain(std::string_view text, object& entry)
    {
        m_strict = strictJson(text);
        m_strict.reserve(m_strict.size() + linePadding);
        return read(m_strict, entry);
    }

    static bool take(const object& entry, const LogLine& line, LogBuilder& builder)
    {
        std::string_view type;
        std::string_view key;
        element value;
        if (entry["event_type"].get(type) != simdjson::SUCCESS || entry["key"].get(key) != simdjson::SUCCESS
            || entry["value"].get(value) != simdjson::SUCCESS || type != "POINT_IN_TIME") {
            return false;
        }
        object metadata;
        const bool placed = entry["metadata"].get(metadata) == simdjson::SUCCESS;
        const auto step = placed ? stepIn(metadata) : std::nullopt;
        if (!step) {
            addSetting(key, value, line, builder);
            return false;
        }
        builder.startRow(line.rank, *step, line.number);
        addValues(key, value, builder);
        if (const auto rate = numberAt(metadata, "lr")) {
            builder.value("lr", *rate);
        }
        return true;
    }

    static void addValues(std::string_view key, const element& value, LogBuilder& builder)
    {
        object several;
        if (value.get(several) == simdjson::SUCCESS) {
            for (const auto [name, one] : several) {
                if (const auto number = numberIn(one)) {
                    builder.value(name, *number);
                }
            }
        } else if (const auto number = numberIn(value)) {
            builder.value(key, *number);
        } else if (value.is_null()) {
            builder.absent(key);
        }
    }

    simdjson::dom::parser m_parser;
    std::string m_strict;
};

} // namespace

FormatFile mllogFormat()
{
    return formatFile<Mllog>(150);
}

} // namespace nanscope::ingest
