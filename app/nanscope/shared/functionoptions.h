// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "app/nanscope/shared/options.h"
#include "app/nanscope/shared/terminal.h"
#include "core/instruments/functiontarget.h"

namespace nanscope {

/// The options that name a function of the user's, and the Python it runs in.
struct FunctionOptions
{
    std::string impl;
    std::string python = "python3";
    double timeout = 60;
    bool show = false;

    void add(Options& options);
    bool empty() const { return impl.empty(); }
    /// What will be run, on a device as torch names it; `variant` is what the function claims to be, or empty.
    Result<instruments::FunctionChoice> choice(const std::string& device, const std::string& variant) const;
};

/// As a shell looks for a program; a name with a slash is taken as it is.
std::filesystem::path programPath(const std::string& name);

/// Before it runs; programs that read JSON find it in the answer.
void sayWhatRuns(const instruments::FunctionChoice& choice, Terminal& terminal);

/// --show.
void printProgram(const instruments::FunctionChoice& choice, Terminal& terminal);

} // namespace nanscope
