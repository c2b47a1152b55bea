// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/options.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <CLI/App.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nanscope {

namespace {

bool reads(const OptionMode& mode, const std::string& option)
{
    return std::ranges::find(mode.reads, option) != mode.reads.end();
}

std::string namesOf(const std::vector<OptionMode>& modes, const std::string& option)
{
    std::vector<std::string> names;
    for (const auto& mode : modes) {
        if (reads(mode, option)) {
            names.push_back(mode.name);
        }
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

/// A variable of the shell that is not set would be taken for an option that was not given, or for a place.
std::string problemOfEmpty(const std::string& word)
{
    return word.empty() ? "nothing was given; a variable of the shell may not be set" : "";
}

} // namespace

Option& Option::required()
{
    m_option->required();
    return *this;
}

Option& Option::needs(const Option& other)
{
    m_option->needs(other.m_option);
    return *this;
}

Option& Option::excludes(const Option& other)
{
    m_option->excludes(other.m_option);
    return *this;
}

Option& Option::oneEach()
{
    m_option->allow_extra_args(false);
    return *this;
}

Option& Option::showDefault()
{
    m_option->capture_default_str();
    return *this;
}

Option& Option::shownAs(const std::string& text)
{
    m_option->option_text(text);
    return *this;
}

Option& Option::within(int low, int high)
{
    m_option->check(CLI::Range(low, high));
    return *this;
}

Option& Option::positive()
{
    m_option->check(CLI::PositiveNumber);
    return *this;
}

template <class Value>
Option Options::add(const std::string& name, Value& value, const std::string& help)
{
    auto* const option = m_app.add_option(name, value, help);
    option->check(CLI::Validator(problemOfEmpty, ""));
    return Option(option);
}

template Option Options::add(const std::string&, std::string&, const std::string&);
template Option Options::add(const std::string&, std::vector<std::string>&, const std::string&);
template Option Options::add(const std::string&, int&, const std::string&);
template Option Options::add(const std::string&, std::int64_t&, const std::string&);
template Option Options::add(const std::string&, double&, const std::string&);
template Option Options::add(const std::string&, std::optional<int>&, const std::string&);
template Option Options::add(const std::string&, std::optional<std::int64_t>&, const std::string&);
template Option Options::add(const std::string&, std::optional<double>&, const std::string&);

Option Options::addFlag(const std::string& name, bool& value, const std::string& help)
{
    return Option(m_app.add_flag(name, value, help));
}

bool Options::given(const std::string& name) const
{
    return m_app.count(name) > 0;
}

Result<void> Options::requireRead(const std::vector<OptionMode>& modes) const
{
    for (const auto& mode : modes) {
        for (const auto& option : mode.reads) {
            const bool isRead = std::ranges::any_of(
                modes, [&](const OptionMode& other) { return other.chosen && reads(other, option); });
            if (!isRead && given(option)) {
                return failure(ErrorKind::usage, fmt::format("{} is an option of {}", option, namesOf(modes, option)));
            }
        }
    }
    return {};
}

} // namespace nanscope
