// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/stores/wandbvalues.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <simdjson.h>

#include "core/ingest/settings/settingsink.h"
#include "core/ingest/text/aliases.h"
#include "core/ingest/text/barewords.h"
#include "core/ingest/text/consoletext.h"

namespace nanscope::ingest {

namespace {

constexpr int deepest = 8;
constexpr std::size_t mostDeclared = 100;
constexpr std::string_view countOfCalls = "_step";

std::string joined(const std::vector<std::string_view>& path, std::string_view separator)
{
    return fmt::format("{}", fmt::join(path, separator));
}

/// W&B itself joins keys with dots; a loss in a table called "train" is the one of training all the same.
std::string nameOf(const std::vector<std::string_view>& path)
{
    if (path.size() == 1) {
        return std::string(path.front());
    }
    auto slashed = joined(path, "/");
    return isCanonical(canonicalName(slashed)) ? slashed : joined(path, ".");
}

/// When it was logged, and notes of W&B's own.
bool isNote(std::string_view name)
{
    return name == countOfCalls || name == "_runtime" || name == "_timestamp" || name == "_wandb";
}

void giveTable(std::vector<std::string_view>& path, const simdjson::dom::object& table, LogBuilder& builder)
{
    if (path.size() > deepest || table["_type"].error() == simdjson::SUCCESS) {
        return;
    }
    for (const auto [key, value] : table) {
        path.push_back(key);
        simdjson::dom::object inner;
        std::string_view text;
        if (value.get(inner) == simdjson::SUCCESS) {
            giveTable(path, inner, builder);
        } else if (value.is_null()) {
            builder.absent(nameOf(path));
        } else if (value.get(text) == simdjson::SUCCESS) {
            // Numbers are strings by now.
            if (const auto number = parseNumber(text)) {
                builder.value(nameOf(path), *number);
            }
        }
        path.pop_back();
    }
}

std::optional<std::int64_t> wholeNumber(std::string_view json)
{
    if (const auto integer = parseInteger(json)) {
        return integer;
    }
    constexpr double largest = 9e15;
    const auto value = parseNumber(json);
    return value && *value >= 0 && *value < largest && *value == std::floor(*value)
        ? std::optional(static_cast<std::int64_t>(*value))
        : std::nullopt;
}

} // namespace

void giveValue(const WandbMessage::Item& item, LogBuilder& builder)
{
    if (isNote(item.path.front())) {
        return;
    }
    const auto json = trimmed(item.json);
    if (json == "null") {
        builder.absent(nameOf(item.path));
    } else if (const auto number = parseNumber(json)) {
        builder.value(nameOf(item.path), *number);
    } else if (json.starts_with('{')) {
        simdjson::dom::parser parser;
        simdjson::dom::object table;
        if (parser.parse(strictJson(json)).get(table) == simdjson::SUCCESS) {
            auto path = item.path;
            giveTable(path, table, builder);
        }
    }
}

std::vector<Setting> settingsOf(const WandbMessage::Item& item)
{
    if (isNote(item.path.front()) || item.path.front() == "wandb_version") {
        return {};
    }
    SettingSink sink;
    // A value that is no table is wrapped into one; its key is put back afterwards, whatever characters it has.
    const bool read = readJsonSettings(fmt::format("{{\"v\":{}}}", item.json), sink).has_value();
    auto settings = read ? sink.take() : std::vector<Setting>();
    const auto name = joined(item.path, ".");
    for (auto& setting : settings) {
        setting.name.replace(0, 1, name);
    }
    std::erase_if(settings, [](const Setting& setting) { return isSecret(setting.name); });
    return settings;
}

/// Only what is called a step: "tokens" and "epoch" count something else.
void WandbSteps::declare(std::string_view name)
{
    const auto last = name.substr(name.find_last_of("/.") + 1);
    const bool step = last.ends_with("step") || last.ends_with("steps") || stepPriority(last);
    if (step && name != countOfCalls && m_declared.size() < mostDeclared
        && std::find(m_declared.begin(), m_declared.end(), name) == m_declared.end()) {
        m_declared.emplace_back(name);
    }
}

bool WandbSteps::counts(const WandbMessage::Item& item) const
{
    return priorityOf(nameOf(item.path)).has_value();
}

std::optional<int> WandbSteps::priorityOf(std::string_view name) const
{
    if (!m_chosen.empty() && name == m_chosen) {
        return -1;
    }
    const auto declared = std::find(m_declared.begin(), m_declared.end(), name);
    return declared != m_declared.end() ? std::optional(0) : stepPriority(name);
}

// W&B's own count is of log calls. Where the trainer's steps are logged beside the loss they are what counts, and a row
// that lacks them belongs to the last one that had them.
std::optional<WandbSteps::Step> WandbSteps::stepOf(const WandbMessage& row)
{
    struct Found
    {
        std::int64_t step = 0;
        int priority = 0;
        std::string name;
    };
    std::optional<Found> best;
    std::optional<std::int64_t> chosen;
    bool known = false;
    for (const auto& item : row.history) {
        const auto name = nameOf(item.path);
        known = known || isCanonical(canonicalName(name));
        m_chosenSeen = m_chosenSeen || (!m_chosen.empty() && name == m_chosen);
        const auto priority = priorityOf(name);
        const auto step = priority ? wholeNumber(trimmed(item.json)) : std::nullopt;
        if (step && (!best || *priority < best->priority)) {
            best = Found {*step, *priority, name};
        }
        chosen = step && name == m_key ? step : chosen;
    }
    if (!best && row.step) {
        best = Found {*row.step, 0, std::string(countOfCalls)};
    }
    if (m_key.empty() && best && known) {
        m_key = best->name;
        chosen = best->step;
    }
    if (chosen || m_key.empty()) {
        m_last = chosen ? chosen : m_last;
        return best ? std::optional(Step {chosen.value_or(best->step), false}) : std::nullopt;
    }
    if (m_last && m_key != countOfCalls) {
        return Step {*m_last, true};
    }
    return row.step ? std::optional(Step {*row.step, false}) : std::nullopt;
}

} // namespace nanscope::ingest
