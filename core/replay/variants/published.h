// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "core/replay/variants/variant.h"

namespace nanscope::replay {

/// All built-in variants, in the order of their names in the documentation.
std::span<const Variant> variants();

/// Null where none of them has this name.
const Variant* builtInVariant(std::string_view name);

} // namespace nanscope::replay
