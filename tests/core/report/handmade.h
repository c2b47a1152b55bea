// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A small run written by hand: one birth on rank 0, one descendant, a log with a NaN loss.
#pragma once

#include "core/report/report.h"

namespace nanscope::handmade {

Scan finiteScan(std::int64_t count, double absmax, double frobenius);
Capture birthCapture();
CaptureVerdict birthVerdict();
Cell failingCell();
RunData run();
Diagnosis diagnosis();
ReportInput reportInput();

/// rows x cols matrix, one tile per element, all finite with the magnitude given.
TileMap flatMap(int rows, int cols, float magnitude);

} // namespace nanscope::handmade
