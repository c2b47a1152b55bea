// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Takes the values of a configuration as its reader comes by them and gives them names with dots. Bounded in number,
// depth and length, whatever the file holds. What is called a key, a token or a password is left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.h"

namespace nanscope::ingest {

class SettingSink
{
public:
    /// A table, or a list. The key counts for nothing where it is a place in a list.
    void open(std::string_view key, bool isList, std::int64_t line);
    void close();
    void value(std::string_view key, std::string_view text, std::int64_t line);

    std::vector<Setting> take() { return std::move(m_settings); }

private:
    struct Frame
    {
        std::size_t nameLength = 0; ///< of the name around it
        bool isList = false;
        std::size_t index = 0;
        bool holdsOthers = false; ///< tables or lists: a place in it is part of their names
        std::string values; ///< of a list
        std::int64_t line = 0;
    };

    void give(std::string name, std::string_view text, std::int64_t line);
    std::string nameOf(std::string_view key) const;

    std::string m_name; ///< of what is open
    std::vector<Frame> m_frames;
    std::size_t m_tooDeep = 0;
    std::vector<Setting> m_settings;
};

/// "wandb.api_key" and the like: of no use to anybody who reads a report.
bool isSecret(std::string_view name);

/// Readers of configurations. Lines are counted from 1. What a text that is no valid one holds up to there is given.
Result<void> readJsonSettings(std::string_view text, SettingSink& sink);
Result<void> readYamlSettings(std::string_view text, SettingSink& sink);
Result<void> readTomlSettings(std::string_view text, SettingSink& sink);

} // namespace nanscope::ingest
