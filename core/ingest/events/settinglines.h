// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Lines that say how a run was configured, or where it ran, and lines behind which a whole configuration is printed. A
// new one is one line.
#pragma once

#include <span>

namespace nanscope::ingest {

struct SettingLine
{
    const char* name; ///< of the setting; nullptr where a group `name` has it
    const char* pattern; ///< with a group `value`
    const char* suffix = ""; ///< behind the name
};

enum class ConfigBlock {
    json, ///< an object of JSON or Python, begun in a group `rest` or on the next line
    dotted, ///< "  lr ............ 0.1"
    fields, ///< "lr=0.1,"
    assigned, ///< "lr = 0.1 # comment"
    yaml, ///< until a rule of asterisks
};

struct ConfigHeading
{
    ConfigBlock block;
    const char* pattern;
};

std::span<const SettingLine> settingLines();
std::span<const ConfigHeading> configHeadings();

} // namespace nanscope::ingest
