// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What several runs show together and none of them alone: P11 and P17 over runs instead of over the attempts of one.
#pragma once

#include <string>
#include <vector>

#include "core/model/finding.h"
#include "core/model/run.h"

namespace nanscope::diagnose {

struct NamedRun
{
    std::string name; ///< in front of the files of its evidence
    const RunData* run = nullptr; ///< with the points that it is judged by
};

/// The findings over two runs or more, each with its state.
std::vector<Finding> findingsAcross(const std::vector<NamedRun>& runs);

} // namespace nanscope::diagnose
