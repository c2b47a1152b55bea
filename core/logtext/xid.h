// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/model/run.h"

namespace nanscope::logtext {

/// An Xid of NVIDIA's driver that names no hardware error.
struct QuietXid
{
    int code = 0;
    std::string meaning; ///< half a sentence, which accuses nobody
};

/// What such a line means, as the driver writes it; none for lines of hardware errors, and for text that only quotes
/// one.
std::optional<QuietXid> quietXid(const Event& event);

} // namespace nanscope::logtext
