// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "app/nanscope/source.h"
#include "app/nanscope/terminal.h"
#include "app/nanscope/worker.h"

namespace nanscope {

/// Runs one capture after the other, each with the variants that may have made it: here what core's device replays,
/// then in the worker the rest.
class Sweeper
{
public:
    Sweeper(SweepRequest request, SweepDevices devices, Source& source, Terminal& terminal);

    Result<void> run(const std::vector<const Capture*>& captures);

    const std::vector<Cell>& cells() const { return m_cells; }
    /// False where cells that were asked for are not to be had; the reason was said.
    bool complete() const { return m_devices.complete; }

private:
    Result<void> runCapture(const Capture& capture);
    Result<void> runInWorker();
    JobContext job();
    void sayMemory(const Capture& capture);
    void store(Cell& cell);
    void take(Cell& cell);

    SweepRequest m_request;
    SweepDevices m_devices;
    Source& m_source;
    Terminal& m_terminal;
    Progress m_last {"sweep", "sweep", 0, 0, "cells", {}};
    std::vector<Cell> m_cells;
};

} // namespace nanscope
