// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/nanscope/shared/functionoptions.h"
#include "app/nanscope/shared/source.h"
#include "app/nanscope/shared/terminal.h"
#include "app/nanscope/shared/worker.h"
#include "core/instruments/functioncell.h"
#include "core/replay/analysis/sweep.h"

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
    std::vector<std::unique_ptr<instruments::FunctionSubject>> m_subjects;
    std::vector<instruments::FunctionCell> m_rows;
    bool m_complete = true;
};

/// What was called how often, and what it did beside giving an output; a line for each device.
std::string functionFooter(const std::vector<instruments::FunctionCell>& rows);

/// Where the rows of a capture end, in the order they were computed.
struct SweptCapture
{
    const Capture* capture = nullptr;
    std::size_t cells = 0;
    std::size_t calls = 0; ///< of the user's own function
};

/// Runs one capture after the other, each with the variants that may have made it: here what core's device replays,
/// then in the worker the rest, then the user's own function where there is one.
class Sweeper
{
public:
    Sweeper(replay::SweepRequest request, SweepDevices devices, std::optional<SweptFunction> function, Source& source,
        Terminal& terminal);

    Result<void> run(const std::vector<const Capture*>& captures);

    const std::vector<Cell>& cells() const { return m_cells; }
    std::vector<instruments::FunctionCell> functionRows() const;
    const std::vector<SweptCapture>& swept() const { return m_swept; }
    /// False where cells that were asked for are not to be had; the reason was said.
    bool complete() const { return m_devices.complete && (!m_function || m_function->complete()); }

private:
    Result<void> runCapture(const Capture& capture);
    Result<void> replayCapture(const Capture& capture);
    Result<void> requireUnchanged(const Capture& capture) const;
    Result<void> runInWorker(const std::function<void(Cell)>& onCell);
    JobContext job();
    void sayMemory(const Capture& capture);
    void store(Cell& cell);
    void take(Cell& cell);

    replay::SweepRequest m_request;
    SweepDevices m_devices;
    std::optional<SweptFunction> m_function;
    Source& m_source;
    Terminal& m_terminal;
    Progress m_last {"sweep", "sweep", 0, 0, "cells", {}};
    std::vector<Cell> m_cells;
    std::vector<SweptCapture> m_swept;
};

} // namespace nanscope
