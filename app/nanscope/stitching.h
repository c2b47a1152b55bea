// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/nanscope/shared/terminal.h"

namespace nanscope {

/// `inspect --stitch`: puts the shards in these files and folders together and tells what they come to; with `output`
/// the one call that was found is written there as a capture. The exit status.
Result<int> stitchCaptures(const std::vector<std::string>& paths, const std::string& output, Terminal& terminal);

} // namespace nanscope
