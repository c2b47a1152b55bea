// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/cost.h"

#include <algorithm>

#include <fmt/format.h>

namespace nanscope::diagnose {

JudgingCost judgingCost(const MatrixShape& shape, const replay::Catalogue& catalogue)
{
    // Two replays identify a variant, eight are its envelope.
    constexpr double replaysPerVariant = 10;
    const auto matrixBytes = shape.rows * shape.cols * static_cast<std::int64_t>(sizeof(double));
    JudgingCost cost;
    for (const auto* variant : catalogue.all()) {
        replay::CompileOptions options;
        options.precision = Precision::fp64;
        if (const auto program = replay::compileProgram(*variant, {1, shape.rows, shape.cols}, options)) {
            cost.operations += replaysPerVariant * program->gemmFlops();
            cost.bytes = std::max(cost.bytes, program->workspaceBytes(sizeof(double)));
        }
    }
    // The input, the captured output, a moved input and the outputs that are compared.
    constexpr std::int64_t matricesHeld = 5;
    cost.bytes += matricesHeld * matrixBytes;
    return cost;
}

Result<void> checkJudgingCost(const MatrixShape& shape, const replay::Catalogue& catalogue, std::int64_t memory)
{
    const auto cost = judgingCost(shape, catalogue);
    if (cost.operations <= mostJudgingOperations && cost.bytes <= memory) {
        return {};
    }
    constexpr double gibibyte = 1U << 30;
    return failure(ErrorKind::refused,
        fmt::format(
            "the replays that judge a {} x {} matrix take up to {:.0f} GiB of memory and {:.1e} operations, more "
            "than is begun here ({:.0f} GiB, {:.0e}); sweep the variant that ran with nanscope-worker on a GPU",
            shape.rows, shape.cols, static_cast<double>(cost.bytes) / gibibyte, cost.operations,
            static_cast<double>(memory) / gibibyte, mostJudgingOperations));
}

} // namespace nanscope::diagnose
