// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/instruments/asker.h"

namespace nanscope::instruments {

/// Whether a function writes into what it is handed, and whether what it returns lies in it.
struct InputAnswer
{
    bool answered = false; ///< false: there was no output; the log says why
    std::int64_t changed = 0; ///< elements whose bits differ after the call
    std::optional<std::vector<std::int64_t>> first; ///< index of the first of them
    bool sharesStorage = false;
    bool returnsInput = false; ///< the output has the bits of the input as it was
    std::string sentence;
};

/// Only a function can do this: a replay cell is refused.
Result<InputAnswer> checkInput(Asker& asker);

} // namespace nanscope::instruments
