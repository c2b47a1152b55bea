// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "core/replay/engine/capturecells.h"
#include "core/replay/engine/plant.h"

namespace nanscope::replay {

/// A cell that stops after each op, so that its results can be looked at while they are there: programs overwrite
/// their buffers. It runs the chunk of the batch that a sweep would run, because the batched products of some
/// libraries differ from single ones in their last bits. Where the device is short of memory, wherever in the run that
/// shows, it begins again with fewer matrices, as a sweep does, and comes to the same op.
class CellRun
{
public:
    static Result<CellRun> begin(const tensorfile::CaptureFile& capture, const CellRequest& request,
        const Catalogue& catalogue, std::int64_t batch, const DeviceFactory& devices);

    /// What is replayed, where and how; nothing of how it ends.
    const Cell& cell() const { return m_cell; }

    const Program& program() const { return m_program; }

    /// What its device holds for it.
    std::int64_t workspaceBytes() const;

    /// Names and sizes.
    const std::vector<OpTrace>& ops() const { return m_ops; }

    /// Ops that have run. The result of the last of them is there to be looked at.
    std::size_t passed() const { return m_passed; }

    /// Puts a fault in as it runs; to be called before the first op.
    Result<void> plant(const PlantedFault& fault);

    /// Runs on until this op is the last; it must not have been passed. Cancelled between instructions.
    Result<void> runThrough(std::size_t op, const CancelToken& cancel);

    /// The result of the last op, or a part of it, in the capture's own orientation; a scalar is a 1 x 1 matrix.
    Result<Values> values(const std::optional<Region>& part = {});
    Result<std::vector<double>> matrix(const std::optional<Region>& part = {}); ///< the same in doubles
    Result<TileMap> tiles();

    /// Of the ops that have run.
    Result<std::vector<Scan>> scans();

private:
    CellRun(Program program, std::unique_ptr<Device> device, tensorfile::Tensor input, std::int64_t batch);
    template <class Work>
    auto fitting(const Work& work) -> decltype(work());
    Result<void> upload();
    Result<void> runOps(std::size_t count);
    Result<void> runNext();
    std::size_t scanOf(std::size_t op) const;

    Program m_program;
    std::unique_ptr<Device> m_device;
    tensorfile::Tensor m_input;
    std::int64_t m_batch; ///< the matrix that is looked at
    CancelToken m_cancel;
    Cell m_cell;
    std::vector<OpTrace> m_ops;
    std::optional<Planter> m_planter;
    std::size_t m_passed = 0;
    std::size_t m_next = 0; ///< instruction
    std::int64_t m_most = 1; ///< matrices at once
    std::int64_t m_chunk = 0; ///< matrices that are there; 0: none yet
    std::int64_t m_element = 0; ///< of the chunk
};

} // namespace nanscope::replay
