// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/reproduce/material.h"

namespace nanscope::reproduce {

/// expected.json: what repro.py holds its results against.
std::string expectedText(const Material& from);

} // namespace nanscope::reproduce
