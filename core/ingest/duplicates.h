// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A log that lies in a folder twice is one log: read twice, every step would have happened twice.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ingest/ingest.h"

namespace nanscope::ingest {

class SeenLogs
{
public:
    /// Which of the logs seen before this one repeats byte for byte, if any; else it is one of them now. Files whose
    /// places name different ranks or attempts never repeat each other, nor do files that are not named like logs.
    /// Where the comparison is cancelled it repeats none.
    std::optional<std::string> repeats(const FoundFile& file, const CancelToken& cancel);

private:
    std::unordered_map<std::string, std::vector<FoundFile>> m_alike; ///< by size, place and both ends
};

} // namespace nanscope::ingest
