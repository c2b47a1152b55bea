// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/judgingplan.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/identify/cost.h"
#include "core/replay/analysis/rate.h"

namespace nanscope::diagnose {

namespace {

// As measured (docs/benchmarks.md): the verdict of a capture of 2048 x 5632 takes fifteen replays, and four where the
// function is named.
constexpr double usualReplays = 15;
constexpr double replaysOfNamed = 4;
// The host reads and compares the output of a replay wherever that was made: 1.3 s for 45 million elements.
constexpr double secondsPerElement = 3e-8;
// Judging looks at no more of a batch.
constexpr std::int64_t mostMatrices = 4;

} // namespace

bool JudgingPlan::isLong() const
{
    constexpr double secondsHere = 2e10; // operations of a second on a slow CPU
    return usualOperations > secondsHere;
}

double JudgingPlan::usualSeconds() const
{
    const double alone = rate > 0 ? usualOperations / rate + comparedElements * secondsPerElement : 0;
    return alone * std::max(largestShare, 1 / static_cast<double>(devices));
}

double JudgingPlan::mostSeconds() const
{
    return usualOperations > 0 ? usualSeconds() * mostOperations / usualOperations : 0;
}

JudgingPlan judgingPlan(const std::vector<CaptureToReplay>& captures, const replay::Catalogue& catalogue)
{
    JudgingPlan plan;
    const auto variants = static_cast<double>(catalogue.all().size());
    for (const auto& [capture, named] : captures) {
        const auto shape = matrixShape(capture->input.shape);
        const auto cost = judgingCost(shape, catalogue);
        const auto matrices = static_cast<double>(std::min(shape.batch, mostMatrices));
        const double usual = matrices * (named ? replaysOfNamed : usualReplays);
        const double operations = usual * cost.operations / (replaysPerVariant * variants);
        ++plan.captures;
        plan.mostOperations += matrices * cost.operations;
        plan.usualOperations += operations;
        plan.largestShare = std::max(plan.largestShare, operations);
        plan.comparedElements += usual * static_cast<double>(shape.rows * shape.cols);
        if (shape.rows * shape.cols > plan.largest.rows * plan.largest.cols) {
            plan.largest = {1, shape.rows, shape.cols};
        }
    }
    plan.largestShare /= std::max(plan.usualOperations, 1.0);
    return plan;
}

std::string textOf(const JudgingPlan& plan, const std::string& device)
{
    const auto what = fmt::format("Judging replays {}, the largest {} × {}", counted(plan.captures, "capture"),
        plan.largest.rows, plan.largest.cols);
    const auto work = fmt::format("{} as a rule, {} at most", replay::operationsText(plan.usualOperations),
        replay::operationsText(plan.mostOperations));
    if (plan.rate <= 0) {
        return fmt::format("{}: {}", what, work);
    }
    const auto each = plan.devices > 1 ? fmt::format(" for each of {} devices", plan.devices) : std::string();
    return fmt::format("{}: {} as a rule, {} at most, at the {} measured on {}{} ({})", what,
        replay::aboutSeconds(plan.usualSeconds()), replay::aboutSeconds(plan.mostSeconds()),
        replay::operationsText(plan.rate, true), device, each, work);
}

Progress progressOf(const JudgingPlan& plan, const std::string& device)
{
    Progress progress {"diagnose", "planned", 0, 0, "seconds", textOf(plan, device), true};
    progress.total = static_cast<std::int64_t>(std::ceil(plan.usualSeconds()));
    return progress;
}

} // namespace nanscope::diagnose
