// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/capture.h"
#include "core/model/verdict.h"
#include "core/replay/variants/catalogue.h"
#include "core/report/input/measures.h"

namespace nanscope::workflow {

/// What a report says of a capture besides its verdict: the digest of its file, the spectrum of the matrix that is
/// shown, and the op whose result its number format does not hold. Reads the file, and replays that matrix twice where
/// a replay for the verdict was not finite. What takes longer than a reader waits is left out, and so is all of it
/// where the file is not to be read.
report::Measures measuresOf(const Capture& capture, const CaptureVerdict& verdict, const replay::Catalogue& catalogue);

} // namespace nanscope::workflow
