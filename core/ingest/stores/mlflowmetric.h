// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace nanscope::ingest {

/// "1664364007310 3.2727866172790527 0": milliseconds, value, step, which very old ones lack.
struct MlflowLine
{
    std::int64_t time = 0;
    double value = 0;
    std::optional<std::int64_t> step;
};
std::optional<MlflowLine> mlflowLine(std::string_view text);

/// The file of one metric, line by line. A run may have a thousand of them, which are read side by side: the file is
/// open only while a piece of it is fetched.
class MlflowMetric
{
public:
    MlflowMetric(std::filesystem::path path, std::string name);

    const std::string& name() const { return m_name; }
    /// To the next line that is one; false at the end.
    bool next();
    const MlflowLine& line() const { return m_line; }
    std::int64_t number() const { return m_number; }
    std::int64_t bytes() const { return m_taken; }
    /// The first line that is none; 0 where all are.
    std::int64_t badLine() const { return m_badLine; }
    /// The file ends without a line break: its last number may be cut off, and is not taken.
    bool torn() const { return m_torn; }

private:
    bool refill();

    std::filesystem::path m_path;
    std::string m_name;
    std::string m_buffer;
    std::size_t m_at = 0;
    std::uint64_t m_read = 0; ///< of the file
    std::int64_t m_taken = 0;
    MlflowLine m_line;
    std::int64_t m_number = 0;
    std::int64_t m_badLine = 0;
    bool m_torn = false;
};

} // namespace nanscope::ingest
