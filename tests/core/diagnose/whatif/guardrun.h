// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Runs of several ranks told line by line: what each printed, and what it dumped.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "tests/core/diagnose/runmaker.h"

namespace nanscope {

struct Dumped
{
    std::string file;
    int rank = 0;
    Shape shape {1, 160, 96};
    bool badInput = false;
    bool zeroInput = false;
    bool badOutput = true;
    int pid = 100;
    bool raised = false;
};

class GuardRun
{
public:
    GuardRun& loss(int rank, std::int64_t step, double value)
    {
        auto& series = m_losses[rank];
        series.name = "loss";
        series.rank = rank;
        series.source = "console.log";
        series.points.push_back({step, value, stateOf(value), ++m_line});
        return *this;
    }

    /// One line of each rank, with losses of their own.
    GuardRun& step(std::int64_t step, int ranks = 2)
    {
        for (int rank = 0; rank < ranks; ++rank) {
            loss(rank, step, 1 + 0.25 * rank);
        }
        return *this;
    }

    GuardRun& dump(const Dumped& dumped)
    {
        const auto matrix = matrixShape(dumped.shape);
        const auto scan = [&](bool bad, bool zero) {
            Scan scan;
            scan.count = matrix.elements();
            scan.nan = bad ? scan.count : 0;
            scan.zero = zero ? scan.count : 0;
            scan.firstNonFinite = bad ? 0 : -1;
            scan.firstClass = bad ? ValueClass::nan : ValueClass::normal;
            return std::vector<Scan>(static_cast<std::size_t>(matrix.batch), scan);
        };
        Capture capture;
        capture.id = static_cast<std::int64_t>(m_run.captures.size()) + 1;
        capture.file = dumped.file;
        capture.rank = dumped.rank;
        capture.pid = dumped.pid + dumped.rank;
        capture.timestampMs = 1000 + ++m_line;
        capture.input = {dumped.shape, DType::bfloat16, scan(dumped.badInput, dumped.zeroInput)};
        capture.output = CaptureTensor {dumped.shape, DType::bfloat16, scan(dumped.badOutput, false)};
        m_run.captures.push_back(capture);
        event(EventKind::captureDumped, dumped.rank,
            std::string(dumped.raised ? "RuntimeError: " : "") + "[dion NaN capture] dumped to ./" + dumped.file);
        m_run.events.back().capture = dumped.file;
        return *this;
    }

    GuardRun& event(EventKind kind, std::optional<int> rank, const std::string& text, std::int64_t copies = 1)
    {
        Event event;
        event.kind = kind;
        event.rank = rank;
        say(event, text);
        event.source = "console.log";
        event.line = ++m_line;
        event.copies = copies;
        m_run.events.push_back(event);
        return *this;
    }

    RunData run() const
    {
        auto run = m_run;
        for (const auto& [rank, series] : m_losses) {
            run.series.push_back(series);
            run.series.back().pointCount = static_cast<std::int64_t>(series.points.size());
        }
        return run;
    }

private:
    RunData m_run;
    std::map<int, Series> m_losses;
    std::int64_t m_line = 0;
};

} // namespace nanscope
