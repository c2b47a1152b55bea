// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Writes logs as KempnerForge prints them: metrics behind the increment, warnings before it.
#pragma once

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/ingest/ingest.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {

class KempnerLog
{
public:
    KempnerLog& line(const std::string& level, const std::string& text)
    {
        m_text += fmt::format("[rank 0] {:<8} {}\n", level, text);
        return *this;
    }

    /// The metric line of the attempt with this index.
    KempnerLog& good(std::int64_t index, double loss = 2.5, const std::string& gradNorm = "1.250")
    {
        return line("INFO",
            fmt::format("[step {}] loss={:.4f} | lr=3.00e-04 | grad_norm={} | tok/s=125,000 | mfu=52.3% | "
                        "mem=71.2/80GB | step_time=1.25s",
                index + 1, loss, gradNorm));
    }

    KempnerLog& nan(std::int64_t index, int consecutive, int total, const std::string& lastGood = "2.5000",
        std::int64_t goodStep = 0)
    {
        return line("WARNING",
            fmt::format("NaN/Inf loss at step {} (consecutive={}, total={}, last_good_loss={} at step {})", index,
                consecutive, total, lastGood, goodStep));
    }

    KempnerLog& elsewhere(std::int64_t index, int consecutive, int total)
    {
        return line("WARNING",
            fmt::format(
                "NaN/Inf detected on another rank at step {} (consecutive={}, total={})", index, consecutive, total));
    }

    KempnerLog& stop() { return line("ERROR", "Too many consecutive NaNs \u2014 stopping"); }

    const std::string& text() const { return m_text; }

    RunData run() const
    {
        const TemporaryFolder folder;
        folder.write("train.log", m_text);
        const auto read = ingest::readRun(folder.path());
        EXPECT_TRUE(read) << (read ? "" : read.error().what);
        return read.value_or(RunData {});
    }

private:
    std::string m_text;
};

/// Three bad attempts in a row among good ones.
inline KempnerLog threeBad()
{
    KempnerLog log;
    log.good(0).good(1).good(2, 2.25);
    log.nan(3, 1, 1, "2.2500", 2).nan(4, 2, 2, "2.2500", 2).nan(5, 3, 3, "2.2500", 2);
    return log.good(6, 2.75).good(7).good(8).good(9);
}

} // namespace nanscope
