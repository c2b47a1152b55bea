// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/platform/priority.h"

#include <sys/resource.h>
#include <unistd.h>

namespace nanscope::platform {

void leaveProcessorsToOthers()
{
    // A third of the time of those who do not step back: enough that no busy machine starves it.
    constexpr int back = 5;
    // On Linux this is the priority of the thread of that number alone. Where it is refused, all is as before.
    const auto thread = static_cast<id_t>(::gettid());
    (void)::setpriority(PRIO_PROCESS, thread, ::getpriority(PRIO_PROCESS, thread) + back);
}

} // namespace nanscope::platform
