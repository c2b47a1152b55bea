// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/replay/program/program.h"

namespace nanscope::replay {

/// All that the numbers of a program depend on, but neither its name nor where its scans are taken: two programs of
/// equal work leave equal bits on one device, so that one replay stands for both.
std::string workOf(const Program& program);

} // namespace nanscope::replay
