// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// The lines of metrics of every log and rank, as far as they tell whether training went on past a line. Points into
/// the run.
class MetricLines
{
public:
    explicit MetricLines(const RunData& run);

    bool has(std::string_view source) const { return m_lines.contains(source); }
    /// Metrics follow in the same log: of the same rank, or of others for longer than these run ahead of it.
    bool goOnPast(const Event& event) const;

private:
    struct Lines
    {
        std::int64_t last = 0;
        std::int64_t thirdLast = 0; ///< of the loss
    };

    std::map<std::string_view, std::map<std::optional<int>, Lines>> m_lines;
};

} // namespace nanscope::diagnose
