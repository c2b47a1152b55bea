// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/model/model.h"
#include "core/replay/program/program.h"
#include "core/replay/variants/catalogue.h"

namespace nanscope::diagnose {

/// What judging one matrix may take at most: every variant identified and replayed over its envelope.
struct JudgingCost
{
    double operations = 0; ///< of the products alone
    std::int64_t bytes = 0; ///< at its peak, besides what the process holds anyway
};

JudgingCost judgingCost(const MatrixShape& shape, const replay::Catalogue& catalogue);

/// More than this is days on a large machine.
constexpr double mostJudgingOperations = 1e16;

/// An error that names the cost where it is beyond what `memory` bytes and a night allow.
Result<void> checkJudgingCost(const MatrixShape& shape, const replay::Catalogue& catalogue, std::int64_t memory);

} // namespace nanscope::diagnose
