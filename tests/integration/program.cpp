// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <chrono>
#include <cstdlib>
#include <sstream>

#include <sys/wait.h>

#include "workfolder.h"

namespace nanscope::testing {

namespace {

std::string quoted(const std::string& word)
{
    std::string result = "'";
    for (const auto byte : word) {
        result += byte == '\'' ? "'\\''" : std::string(1, byte);
    }
    return result + "'";
}

} // namespace

nlohmann::ordered_json Finished::json() const
{
    return nlohmann::ordered_json::parse(out, nullptr, false);
}

std::vector<std::string> Finished::errors() const
{
    std::vector<std::string> lines;
    std::istringstream stream(err);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

Finished run(const std::vector<std::string>& arguments, const std::string& before)
{
    const WorkFolder folder;
    const auto out = folder.path() / "out";
    const auto err = folder.path() / "err";
    auto command = "XDG_DATA_HOME=" + quoted(folder.path().string()) + " " + before + " " + quoted(NANSCOPE_PROGRAM);
    for (const auto& argument : arguments) {
        command += " " + quoted(argument);
    }
    command += " >" + quoted(out.string()) + " 2>" + quoted(err.string());
    const auto start = std::chrono::steady_clock::now();
    const int raw = std::system(command.c_str());
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    const int status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
    return {status, contentsOf(out), contentsOf(err), spent.count()};
}

} // namespace nanscope::testing
