// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nanscope::platform {

/// From now on this thread, and those that it starts, come after others where processors are few.
void leaveProcessorsToOthers();

} // namespace nanscope::platform
