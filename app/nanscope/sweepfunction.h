// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/nanscope/functionoptions.h"
#include "core/instruments/functioncell.h"
#include "core/replay/engine/replay.h"

namespace nanscope {

/// The user's own function beside the replays of a sweep: one process on each device, which lives as long as the
/// function lets it.
class SweptFunction
{
public:
    /// Starts it on each device. One where it cannot be loaded is one sentence, and fails only where no other is left.
    static Result<SweptFunction> open(
        const FunctionOptions& options, const std::vector<std::string>& devices, Terminal& terminal);

    /// One row for each device. `cells` are the replays of the capture. Fails only when cancelled.
    Result<void> run(const replay::SweepRequest& request, const Capture& capture, const std::vector<Cell>& cells);

    const std::vector<instruments::FunctionCell>& rows() const { return m_rows; }
    /// False where it could not be loaded on a device, or gave no output.
    bool complete() const;

private:
    explicit SweptFunction(Terminal& terminal)
        : m_terminal(&terminal)
    { }

    Terminal* m_terminal;
    std::vector<std::unique_ptr<instruments::ImplSubject>> m_subjects;
    std::vector<instruments::FunctionCell> m_rows;
    bool m_complete = true;
};

/// What was called how often, and what it did beside giving an output; a line for each device.
std::string functionFooter(const std::vector<instruments::FunctionCell>& rows);

} // namespace nanscope
