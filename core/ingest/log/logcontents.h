// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/model.h"

namespace nanscope::ingest {

/// What one log gave. Points are in the order of the file; a decrease of the step starts a new segment. A step that
/// was reported without a value has a point in state `reported`, counted as missing and not in pointCount.
struct LogContents : LogRecords
{
    std::string format; ///< "dion", "kempnerforge", "csv", "jsonl", ...; empty when nothing was recognised
    std::int64_t bytes = 0; ///< place in the file behind the last line that was taken: where to go on
    std::int64_t lines = 0; ///< line breaks before that place
    std::vector<std::string> columns {}; ///< names met, as the log has them; only where a map was given
};

} // namespace nanscope::ingest
