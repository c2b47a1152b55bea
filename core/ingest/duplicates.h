// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A log that lies in a folder twice is one log: read twice, every step would have happened twice.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ingest/ingest.h"

namespace nanscope {

class SeenLogs
{
public:
    /// Which of the logs seen before this one repeats byte for byte, if any; else it is one of them now. Files whose
    /// places name different ranks or attempts never repeat each other, nor do files that are not named like logs.
    std::optional<std::string> repeats(const FoundFile& file);

private:
    std::map<std::uint64_t, std::vector<FoundFile>> m_bySize;
};

} // namespace nanscope
