// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/functionoptions.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/base/utf8.h"

namespace nanscope {

namespace fs = std::filesystem;

fs::path programPath(const std::string& name)
{
    const char* folders = std::getenv("PATH");
    if (name.find('/') != std::string::npos || folders == nullptr) {
        return name;
    }
    std::istringstream stream(folders);
    for (std::string folder; std::getline(stream, folder, ':');) {
        std::error_code error;
        if (fs::is_regular_file(fs::path(folder) / name, error)) {
            return fs::path(folder) / name;
        }
    }
    return name;
}

void FunctionOptions::add(Options& options)
{
    const auto function =
        options.add("--impl", impl, "Your own function: python:MODULE:FUNCTION, called as f(X, epsilon)");
    options.add("--python", python, "The Python it runs in").showDefault().needs(function);
    options.add("--timeout", timeout, "Seconds that one call may take").showDefault().needs(function);
    options.addFlag("--show", show, "Print the program that calls the function, and run nothing");
}

Result<instruments::FunctionChoice> FunctionOptions::choice(const std::string& device, const std::string& variant) const
{
    auto target = TRY(instruments::functionTarget(impl));
    if (!(timeout > 0)) {
        return failure(ErrorKind::usage, "--timeout takes a positive number of seconds");
    }
    return instruments::FunctionChoice {target, programPath(python), device, timeout, variant};
}

void sayWhatRuns(const instruments::FunctionChoice& choice, Terminal& terminal)
{
    if (!terminal.json()) {
        terminal.say(
            LogLevel::warning, "Runs " + instruments::harnessCommand(choice) + " (--show prints that program)");
    }
}

void printProgram(const instruments::FunctionChoice& choice, Terminal& terminal)
{
    terminal.print(
        fmt::format("# {}\n{}", printable(instruments::harnessCommand(choice)), instruments::harnessSource()));
}

} // namespace nanscope
