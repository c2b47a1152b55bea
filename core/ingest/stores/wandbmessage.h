// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What one record of W&B says, of what is of use here: a row of values, configuration, console output, the run's facts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nanscope::ingest {

/// Everything in it is valid as long as the record's bytes are.
struct WandbMessage
{
    struct Item
    {
        std::vector<std::string_view> path; ///< one key, or several of nested tables
        std::string_view json;
    };
    enum class Stream { none, errors, output };

    std::vector<Item> history;
    std::optional<std::int64_t> step; ///< of the history: W&B's count of log calls
    std::vector<Item> config;
    std::vector<std::pair<const char*, std::string_view>> facts; ///< names as settings have them
    std::string_view stepMetric; ///< a value that the trainer declared to be the step of others
    Stream stream = Stream::none; ///< where `text` was printed
    std::string_view text; ///< any piece of it: a line, a part of one, several
    std::optional<int> exitCode;
};

/// Throws protozero's exceptions on bytes that are no such message.
WandbMessage wandbMessage(std::string_view record);

} // namespace nanscope::ingest
