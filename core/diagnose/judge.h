// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/diagnose/context/runwords.h"
#include "core/diagnose/identify/captureindex.h"
#include "core/diagnose/identify/controls.h"
#include "core/diagnose/identify/envelope.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// What stays the same over the captures of a run.
struct JudgeContext
{
    const RunData& run;
    const RunWords& words;
    const CaptureIndex& captures;
    const replay::Catalogue& catalogue;
    const std::vector<Member>& given; ///< what the user says ran
    bool nothingElse = false; ///< the user's word
    replay::Device& device;
    Controls& controls;
    const JobContext& job;
    const std::function<void(const CaptureVerdict&)>& arrived; ///< as DiagnoseOptions::arrived
    std::size_t done = 0; ///< captures judged before, for the progress
};

/// Replays a capture that triage could not settle and fills in its verdict, with the places its damage may have come
/// from. A batch is settled by its first damaged matrix, unless another one proves more.
Result<void> judgeCapture(CaptureVerdict& verdict, const Capture& stored, const JudgeContext& context);

} // namespace nanscope::diagnose
