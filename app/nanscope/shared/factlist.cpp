// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/factlist.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/report/report.h"

namespace nanscope {

namespace {

/// Only numbers and dots, as in 13.1.0.3: what else a builder puts into a version (2.1+git.alice@node7) may tell a
/// name.
bool isPlainNumber(const std::string& text)
{
    return text.find_first_not_of("0123456789.") == std::string::npos;
}

} // namespace

void FactList::group(const std::string& name)
{
    m_groups.push_back({name, {}});
}

void FactList::add(const std::string& name, const std::string& value)
{
    m_groups.back().facts.emplace_back(name, value);
}

void FactList::addVersion(const std::string& name, const std::string& version)
{
    m_groups.back().versions.insert(name);
    add(name, version);
}

std::string FactList::text() const
{
    std::size_t width = 0;
    for (const auto& group : m_groups) {
        for (const auto& [name, value] : group.facts) {
            width = std::max(width, textWidth(name));
        }
    }
    std::string text;
    for (const auto& group : m_groups) {
        if (group.facts.empty()) {
            continue;
        }
        text += (text.empty() ? "" : "\n") + group.name + "\n";
        for (const auto& [name, value] : group.facts) {
            text +=
                fmt::format("  {:<{}}  {}\n", printable(name), width, value.empty() ? "not found" : printable(value));
        }
    }
    return text;
}

nlohmann::ordered_json FactList::json(const std::string& schema) const
{
    nlohmann::ordered_json answer {{"schema", schema}};
    for (const auto& group : m_groups) {
        auto& facts = answer[group.name] = nlohmann::ordered_json::object();
        for (const auto& [name, value] : group.facts) {
            facts[name] = value.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(value);
        }
    }
    return answer;
}

void FactList::redactAll()
{
    for (auto& group : m_groups) {
        for (auto& [name, value] : group.facts) {
            value = group.versions.contains(name) && isPlainNumber(value) ? value : report::redact(value);
        }
    }
}

} // namespace nanscope
