// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Cells of a capture: replays of its input, each with outcome, first non-finite, birth, gauges and environment.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/model/model.h"
#include "core/replay/device/device.h"
#include "core/replay/engine/heldoutput.h"
#include "core/replay/engine/spectrum.h"
#include "core/replay/variants/catalogue.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::replay {

struct CellRequest
{
    std::string variant;
    Precision precision = Precision::fp32;
    Lowering lowering = Lowering::eager;
    std::optional<double> epsilon;
    std::optional<int> steps;
    std::string device = "cpu";
    bool tileMaps = false;
    bool operator==(const CellRequest&) const = default;
};

/// What is asked for, and of which capture; nothing of how it ends. The variant is that of the request.
Cell emptyCell(const Capture& capture, const CellRequest& request, const Variant& variant);

/// A cell asked for again. Epsilon and steps are left out where they are what the variant takes of itself of a capture
/// with this epsilon.
CellRequest requestOf(const Cell& cell, std::optional<double> captured, const Catalogue& catalogue);

/// Replays cells of one capture, whose input is read once. Distances are measured to the fp64 cell of the same variant,
/// where that came before. Devices that were given have to outlive it: they keep what is measured against.
class CaptureCells
{
public:
    /// `file` has to outlive it. Requests name variants of this catalogue.
    static Result<CaptureCells> of(
        const tensorfile::CaptureFile& file, Catalogue catalogue, const CancelToken& cancel = {});

    const Capture& capture() const { return m_file->capture; }

    /// Cancelled between instructions.
    Result<Cell> cell(const CellRequest& request, Device& device, const CancelToken& cancel);

private:
    CaptureCells(const tensorfile::CaptureFile& file, Catalogue catalogue, Values input, const CancelToken& cancel);

    const tensorfile::CaptureFile* m_file;
    Catalogue m_catalogue;
    Values m_input;
    std::vector<std::vector<SingularDirection>> m_directions;
    std::map<std::string, std::vector<Reference>> m_exact; ///< outputs in fp64, by variant
};

/// One cell alone.
Result<Cell> replayCell(const tensorfile::CaptureFile& capture, const CellRequest& request, const Catalogue& catalogue,
    Device& device, const CancelToken& cancel = {});

} // namespace nanscope::replay
