// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/report/report.h"

namespace nanscope::report {

const CaptureVerdict* mainVerdict(const Diagnosis& diagnosis)
{
    for (const auto role : {Role::birth, Role::padding, Role::upstream, Role::downstream, Role::healthy}) {
        for (const auto& verdict : diagnosis.captures) {
            if (verdict.role == role) {
                return &verdict;
            }
        }
    }
    return nullptr;
}

const CaptureVerdict* mainVerdict(const ReportInput& input)
{
    const auto& captures = input.diagnosis.captures;
    const auto found = std::find_if(captures.begin(), captures.end(),
        [&input](const CaptureVerdict& verdict) { return verdict.capture == input.about; });
    return found == captures.end() ? mainVerdict(input.diagnosis) : &*found;
}

const Capture* mainCapture(const ReportInput& input)
{
    const auto* verdict = mainVerdict(input);
    if (verdict == nullptr) {
        return nullptr;
    }
    const auto& captures = input.run.captures;
    const auto found = std::find_if(captures.begin(), captures.end(),
        [verdict](const Capture& capture) { return capture.file == verdict->capture; });
    return found == captures.end() ? nullptr : &*found;
}

} // namespace nanscope::report
