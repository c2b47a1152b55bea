// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace nanscope {

/// One option of a subcommand. CLI11's headers take a file that includes them seconds to compile: options.cpp and
/// main.cpp alone do.
class Option
{
public:
    explicit Option(CLI::Option* option)
        : m_option(option)
    { }

    Option& required();
    Option& needs(const Option& other);
    Option& excludes(const Option& other);
    /// One value each time that it is given.
    Option& oneEach();
    /// The help shows the value that the variable has now.
    Option& showDefault();
    /// The help shows this in place of the type.
    Option& shownAs(const std::string& text);
    Option& within(int low, int high);
    Option& positive();

private:
    CLI::Option* m_option;
};

/// One way to use a subcommand, and the options that not every way reads.
struct OptionMode
{
    std::string name; ///< "`nanscope whatif guard`"
    bool chosen = false;
    std::vector<std::string> reads;
};

/// The options of a subcommand, read into variables that outlive it.
class Options
{
public:
    explicit Options(CLI::App& app)
        : m_app(app)
    { }

    /// For words, numbers, and either of them where there may be none or several: options.cpp says which.
    template <class Value>
    Option add(const std::string& name, Value& value, const std::string& help);
    Option addFlag(const std::string& name, bool& value, const std::string& help);

    /// Whether the command line has it, once that is read.
    bool given(const std::string& name) const;

    /// Refuses the first one given that modes read, but none of those that are chosen: nothing is ignored in silence.
    Result<void> requireRead(const std::vector<OptionMode>& modes) const;

private:
    CLI::App& m_app;
};

} // namespace nanscope
