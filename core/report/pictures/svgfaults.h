// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/verdict.h"
#include "core/report/pictures/svg.h"

namespace nanscope::report {

/// The captures of a run as ranks x updates: births filled, what descends from them as grey rings, arrows from a
/// birth to its first descendant on every rank. Empty without captures.
Svg faultPicture(const Diagnosis& diagnosis);

} // namespace nanscope::report
