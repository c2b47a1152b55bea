// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nanscope {

/// Counts up when the same files are judged differently than before: a session that was judged by others is judged
/// again.
constexpr int diagnosisRules = 24;

} // namespace nanscope
