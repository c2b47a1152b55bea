// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/replay/variants/variant.h"

namespace nanscope::replay {

/// All built-in variants, in the order of their names in the documentation.
std::span<const Variant> variants();

} // namespace nanscope::replay
