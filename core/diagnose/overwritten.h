// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Dumps whose input is what the call left there: a function that works in place, saved after it returned.
#pragma once

#include "core/model/model.h"
#include "core/tensorfile/capturefile.h"

namespace nanscope {

/// True if input and output are one memory in the file, or the same bits although some of them are finite: no
/// iteration hands on the finite values beside a NaN.
bool inputMayBeResult(const CaptureFile& file, const Capture& scanned);

/// Turns the accusation of what lies before the call into a question.
void askForInputBefore(CaptureVerdict& verdict);

} // namespace nanscope
