// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Every combination of captures, variants and formats, replayed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/model/model.h"
#include "core/replay/engine/capturecells.h"
#include "core/replay/variants/catalogue.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::replay {

struct SweepRequest
{
    std::vector<CaptureRef> captures;
    std::vector<std::string> variants;
    std::vector<Precision> precisions;
    std::vector<Lowering> lowerings; ///< empty: each variant's own
    std::vector<std::string> devices {"cpu"};
    std::optional<double> epsilon;
    std::optional<int> steps;
    bool tileMaps = true;
    bool deep = false; ///< measure the deep gauges of each cell too (deep.h)
    Catalogue catalogue {}; ///< of the variants that it names
    std::vector<CellRequest> cells {}; ///< these alone instead of every combination, in this order
};

/// How many cells it is answered by.
std::int64_t cellCount(const SweepRequest& request);

/// Replays every combination, fp64 first for each capture and variant so that distances can be measured. `onCell` is
/// called from the caller's thread as each one is done; a cell that failed carries its error and the sweep goes
/// on. Returns an error only for a request that names nothing usable, or when cancelled.
Result<void> sweep(const SweepRequest& request, const DeviceFactory& devices, const JobContext& job,
    const std::function<void(Cell)>& onCell);

} // namespace nanscope::replay
