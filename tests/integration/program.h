// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace nanscope::testing {

/// The run that the program brings along.
inline const std::string sample = NANSCOPE_SAMPLE;

/// Has no torch where that of the project lies apart. Not there on every system: what takes it skips then.
inline const std::string systemPython = "/usr/bin/python3";

/// What a run of the built program left behind.
struct Finished
{
    int status = -1; ///< exit status; 128 + signal if it was killed
    std::string out;
    std::string err;
    double seconds = 0;

    nlohmann::ordered_json json() const;
    /// Lines of stderr.
    std::vector<std::string> errors() const;
};

/// Runs `nanscope ARGUMENTS` with an empty user data folder. `before` goes in front of the program, such as
/// "timeout -s INT 1".
Finished run(const std::vector<std::string>& arguments, const std::string& before = {});

} // namespace nanscope::testing
