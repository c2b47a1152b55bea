// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/model/run.h"

namespace nanscope::ingest {

/// The checkpoint that a folder ("step_1000", "checkpoint-500", "global_step20", "iter_0000100") or a file
/// ("state_step001000.pt", "epoch=0-step=100.ckpt") is by its name and by what lies in it; nothing where it is none.
/// Opens no file. `relative` is its path in the run's folder.
std::optional<Checkpoint> checkpointAt(const std::filesystem::path& path, const std::string& relative, bool isFolder);

} // namespace nanscope::ingest
