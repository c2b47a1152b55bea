// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/diagnose/diagnose.h"
#include "core/model/verdict.h"

namespace nanscope::diagnose {

/// A capture whose file diagnose() reads.
struct CaptureToJudge
{
    const Capture* capture = nullptr;
    bool replayed = false; ///< else only its damage is looked at
};

/// In the order of triage.
std::vector<CaptureToJudge> capturesToJudge(const RunData& run);

/// Judges captures of a run one by one, as diagnose() judges each of them: what it says of one depends on the run and
/// on files, never on what was judged before, so that several processes may share a run.
class CaptureJudge
{
public:
    /// `run` stays where it is. Takes from the options what ran, the catalogue and the device.
    static Result<CaptureJudge> make(const RunData& run, DiagnoseOptions options, const CancelToken& cancel);
    CaptureJudge(CaptureJudge&& other) noexcept;
    CaptureJudge& operator=(CaptureJudge&& other) noexcept;
    ~CaptureJudge();

    Environment environment() const; ///< of its replays

    /// Fails for a name that the run does not have, when cancelled, and where the device is lost.
    Result<CaptureVerdict> judge(const std::string& capture);

private:
    struct State;
    explicit CaptureJudge(std::unique_ptr<State> state);

    std::unique_ptr<State> m_state;
};

} // namespace nanscope::diagnose
