// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/diagnose/findings/advisories.h"
#include "core/diagnose/findings/findings.h"
#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::replay {
class Device;
} // namespace nanscope::replay

namespace nanscope::diagnose {

struct JudgingPlan;

struct DiagnoseOptions
{
    /// What the user says ran: "VARIANT" or "VARIANT:PRECISION"; several widen the plausible set.
    std::vector<std::string> ran;
    bool nothingElse = false; ///< the user says that no other code touched the input or the result
    bool otherCode = false; ///< the user says that some did
    FindingChoices findings {};
    std::vector<Advisory> advisories {}; ///< of the user, beside those that are built in
    std::optional<double> timeLimit {}; ///< seconds, after which no other capture is judged
    replay::Catalogue catalogue {}; ///< what may have run
    std::shared_ptr<replay::Device> device {}; ///< that replays; null for core's own CPU device
    /// An earlier diagnosis of the same run with the same options, that was stopped: what was replayed for it is not
    /// replayed again.
    std::shared_ptr<const Diagnosis> stopped {};
    /// Which captures are judged before the others, whose order stays; none are where it is empty. Asked on the judging
    /// thread before each capture, as it may change meanwhile.
    std::function<bool(const CaptureVerdict&)> first {};
    /// What another process made of a capture (capturejudge.h), by what triage says of it. Where this is set nothing is
    /// read or replayed here: what it gives nothing for stays unjudged, and Diagnosis::stopped counts that.
    std::function<std::optional<CaptureVerdict>(const CaptureVerdict&)> judgedElsewhere {};
    std::string elsewhere {}; ///< what those were replayed on, as Diagnosis::replayedOn
    /// Told on the judging thread what is going to be replayed, before the first replay of a judgement that takes long,
    /// with the name of the device.
    std::function<void(const JudgingPlan&, const std::string& device)> planned {};
    /// Called on the judging thread with each capture: before its replays, with the damage and without a summary, and
    /// once it is judged.
    std::function<void(const CaptureVerdict&)> arrived = [](const CaptureVerdict&) {};
};

} // namespace nanscope::diagnose
