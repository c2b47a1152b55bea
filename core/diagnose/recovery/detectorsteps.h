// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/model/model.h"

namespace nanscope::diagnose {

/// Trainers print behind the increment and KempnerForge's detector counts before it; a loop of one's own may not. The
/// loss that a warning remembers is found again on the line that printed it.
struct DetectorNumbering
{
    std::int64_t offset = 1; ///< printed step minus the detector's
    const Event* warning = nullptr; ///< with `loss`, what shows it; null where nothing does
    const Point* loss = nullptr;
};

/// Of one log: its series of losses, and its events.
DetectorNumbering numberingOf(const std::vector<const Series*>& losses, const std::vector<const Event*>& events);

/// Whether the loss that a detector remembers is a number.
bool namesGoodLoss(const NanMessage& said);

/// A line of the detector that names a step, in its own count.
bool isDetectorLine(const Event& event);

/// An update was left out; KempnerForge leaves out the attempt its detector speaks of.
bool saysLeftOut(const Event& event);

/// Steps of events as the metrics of their log count them.
class DetectorSteps
{
public:
    explicit DetectorSteps(const RunData& run);

    /// Of an event that names a step.
    std::int64_t printed(const Event& event) const;

private:
    std::map<std::string, std::int64_t, std::less<>> m_offsets; ///< by source
};

} // namespace nanscope::diagnose
