// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>

namespace nanscope {

/// One device, for what judges and measures beside the replay service (rpc::openDevice).
struct DevicePlace
{
    std::string name = "cpu"; ///< core's own CPU device
    std::filesystem::path worker {}; ///< that has any other
};

} // namespace nanscope
