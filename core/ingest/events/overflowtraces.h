// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "core/ingest/log/logformat.h"

namespace nanscope::ingest {

/// Follows the forward frames that Hugging Face's DebugUnderflowOverflow prints, of every rank its own:
///
///     Detected inf/nan during batch_number=0
///     Last 21 forward frames:
///     abs min  abs max  metadata
///                       encoder.block.2.layer.1.DenseReluDense.wo Linear
///     2.17e-07 4.50e+00 weight
///     1.79e-06 4.65e+00 input[0]
///     0.00e+00      inf output
///
/// up to the first value that is not finite: what follows it took it over.
class OverflowTraces
{
public:
    struct Taken
    {
        bool inside = false; ///< the line belongs to the frames
        std::string badValue; ///< a sentence with the module and which of its values; empty for every other line
    };

    Taken take(const LogLine& line);

private:
    struct State
    {
        int lines = 0;
        std::string module; ///< with its class, as the frame has it
    };

    std::map<int, State> m_states; ///< by process
};

} // namespace nanscope::ingest
