// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace nanscope::ingest {

/// A restart begins an event file of its own beside those before it: how many there are.
int placeAmongOthers(const std::filesystem::path& eventFile);

} // namespace nanscope::ingest
