// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

namespace nanscope::replay {

/// Told now and then which share of long work is done, from 0 to 1; it never falls. Called on the thread that waits for
/// the work.
using ShareDone = std::function<void(double share)>;

/// Of work that is the part from `begin` to `end` of what `told` is told of.
inline ShareDone partOf(ShareDone told, double begin, double end)
{
    return told ? [told = std::move(told), begin, end](double share) { told(begin + share * (end - begin)); }
                : ShareDone();
}

} // namespace nanscope::replay
