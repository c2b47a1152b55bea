// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/diagnose/recovery/trouble.h"

namespace nanscope::diagnose {

/// Reads what the weights of processes lived through, as far as their losses tell. A log may hold very many of them, so
/// what they have in common is looked for once.
class LivesReader
{
public:
    explicit LivesReader(const RunData& run);

    ProcessLife read(const Trail& trail);

private:
    using Lane = std::pair<std::string, std::optional<int>>;

    std::int64_t baseOf(const LossLane& lane);

    const RunData& m_run;
    std::map<Lane, std::vector<const Series*>> m_losses;
    std::map<Lane, std::int64_t> m_bases;
};

} // namespace nanscope::diagnose
