// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/ingest/log/logformat.h"

namespace nanscope::ingest {

/// Reads what NVIDIA's compute-sanitizer reports, in a log of its own or between the lines of the program it watches,
/// of every process its own:
///
///     ========= Invalid __global__ write of size 2 bytes
///     =========     at store_tile(float *, int)+0x70 in kernels.cu:41
///     =========     by thread (0,0,0) in block (3,0,0)
///     =========     Address 0x7f0012340000 is out of bounds
///     =========     Device Frame: ns_line_1_kernel+0x30 in kernels.cu:90
///     =========     Saved host backtrace up to driver entry point at kernel launch time
///
/// A report is one event. All that have the same kind and kernel have the words of the first, so that they are counted
/// as its copies.
class SanitizerReports
{
public:
    /// True if the line is the sanitizer's. A report is given once a line shows that it is whole.
    bool take(const LogLine& line, LogBuilder& builder);

    /// The end of the log: what was begun is given as it is.
    void finish(LogBuilder& builder);

private:
    struct Report
    {
        std::string kind; ///< "Invalid __global__ write"
        bool warning = false; ///< less than an error
        std::string size; ///< " of size 2 bytes"
        std::string function; ///< that did it: the kernel, or what was compiled into it
        std::string place; ///< "kernels.cu:41"
        std::string kernel; ///< the outermost device frame; empty where there is none
        std::string thread;
        std::string address;
        std::optional<int> rank;
        std::int64_t line = 0;
    };

    static std::optional<Report> reportBegunBy(std::string_view text);
    static void addTo(Report& report, std::string_view text);
    static std::string textOf(const Report& report);
    void give(int process, LogBuilder& builder);
    static void giveSummary(std::string_view text, const LogLine& line, LogBuilder& builder);

    std::map<int, std::optional<Report>> m_open; ///< by process; without a report for one whose last one was given
    std::map<std::string, std::string> m_first; ///< words of the first report of each kind and kernel
};

} // namespace nanscope::ingest
