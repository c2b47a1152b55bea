// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/ingest/log/logformat.h"

namespace nanscope::ingest {

/// A line that says how a run was configured, or where it ran. A new one is one line of the table.
struct SettingLine
{
    const char* name; ///< of the setting; nullptr where a group `name` has it
    const char* pattern; ///< with a group `value`
    const char* suffix = ""; ///< behind the name
};

/// Lines behind which a whole configuration is printed.
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

/// Reads the configuration that a log prints, line by line or as a block behind a heading. A line that does not belong
/// to its block is left to others, so that nothing is lost where ranks print into each other.
class SettingReader
{
public:
    /// True if the line belongs to a block that is open.
    bool takeBlock(const LogLine& line, LogBuilder& builder);

    void start(ConfigBlock block, std::string_view rest, const LogLine& line, LogBuilder& builder);
    void take(std::string_view name, std::string_view value, const LogLine& line, LogBuilder& builder);

private:
    struct Block
    {
        ConfigBlock kind = ConfigBlock::json;
        std::string prefix; ///< of the names
        std::string text; ///< of JSON and YAML, which only as a whole can be read
        std::vector<std::int64_t> lines; ///< of the log, for the lines of `text`
        int depth = 0; ///< of brackets
        bool inString = false;
        int strange = 0; ///< lines since the last one that belonged to it
    };
    using Blocks = std::map<int, Block>;

    bool takeJson(Blocks::iterator open, const LogLine& line, LogBuilder& builder);
    bool takeDotted(Blocks::iterator open, const LogLine& line, LogBuilder& builder);
    bool takeField(Blocks::iterator open, const LogLine& line, LogBuilder& builder);
    bool takeAssigned(Blocks::iterator open, const LogLine& line, LogBuilder& builder);
    bool takeYaml(Blocks::iterator open, const LogLine& line, LogBuilder& builder);
    bool leaveOut(Blocks::iterator open);
    bool append(Blocks::iterator open, const LogLine& line);
    void finish(Blocks::iterator open, const LogLine& line, LogBuilder& builder);
    void give(std::string name, std::string value, std::int64_t at, const LogLine& line, LogBuilder& builder);

    Blocks m_blocks; ///< by rank, -1 for none
    std::size_t m_bytes = 0; ///< of all blocks
    std::unordered_set<std::size_t> m_given; ///< what was said already, of every rank its own
};

} // namespace nanscope::ingest
