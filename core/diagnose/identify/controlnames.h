// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "core/model/model.h"

namespace nanscope::diagnose {

/// Healthy calls that the capture helper wrote beside a bad one. They have no sidecar of their own: that of the bad
/// call names them, and what it says of the function holds for both.
class ControlNames
{
public:
    /// `run` has to outlive it.
    explicit ControlNames(const RunData& run);

    /// The capture whose sidecar names this one; null where none does.
    const Capture* namedBy(const Capture& control) const;

private:
    std::map<std::string, const Capture*> m_byPath; ///< of the control
};

/// The control with what the sidecar of the other says of the function, where it says nothing itself, and of where it
/// ran.
Capture withWordsOf(Capture control, const Capture& namedBy);

} // namespace nanscope::diagnose
