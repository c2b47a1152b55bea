// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// What the trace of grad_norm or loss_scale says about the lines before a birth.
struct LogVote
{
    enum class Kind { silent, calm, climbing } kind = Kind::silent;
    EvidenceLine line;
};

/// Climbing: of the last ten finite values at least eight rise and the last is four times the first. Calm: none of
/// them leaves half to twice their median, and no line between them has a value that is not finite. Anything else is
/// silent.
LogVote voteOf(const RunData& run, const std::string& seriesName, const CaptureVerdict& verdict);

/// What grad_norm and loss_scale have to say about a capture, whatever the verdict will be.
std::vector<LogTrend> logLinesOf(const RunData& run, const CaptureVerdict& verdict);

/// Of a call that came in damaged, whether the log of its steps has the loss or the gradient norm go bad first: with a
/// finite loss the forward pass was sound. None where no log has both at that step.
std::optional<EvidenceLine> wentBadFirst(const RunData& run, const CaptureVerdict& verdict);

/// That an input is larger than the logged gradients can make it, whatever the momentum: what was logged is not what
/// the function was given.
std::optional<EvidenceLine> beyondGradients(const RunData& run, const CaptureVerdict& verdict, double inputAbsmax);

} // namespace nanscope::diagnose
