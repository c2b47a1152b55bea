// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/controlnames.h"

#include <filesystem>

namespace nanscope::diagnose {

ControlNames::ControlNames(const RunData& run)
{
    for (const auto& capture : run.captures) {
        if (!capture.scene.control.empty()) {
            const auto folder = std::filesystem::path(capture.path).parent_path();
            m_byPath.try_emplace((folder / capture.scene.control).string(), &capture);
        }
    }
}

const Capture* ControlNames::namedBy(const Capture& control) const
{
    const auto found = m_byPath.find(control.path);
    return found == m_byPath.end() ? nullptr : found->second;
}

Capture withWordsOf(Capture control, const Capture& namedBy)
{
    if (!control.variant) {
        control.variant = namedBy.variant;
        control.nothingElse = control.nothingElse || namedBy.nothingElse;
    }
    control.scene.onCpu = namedBy.scene.onCpu;
    control.scene.world = namedBy.scene.world;
    return control;
}

} // namespace nanscope::diagnose
