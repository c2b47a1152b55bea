// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/model/model.h"

namespace nanscope {

/// The headline, every birth with its evidence, and what the other captures are.
std::string diagnosisText(const Diagnosis& diagnosis);

} // namespace nanscope
