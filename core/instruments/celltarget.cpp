// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/celltarget.h"
#include "core/replay/variants/variant.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/try.h"

namespace nanscope::instruments {

CellTarget::CellTarget(CellChoice choice, const replay::Variant& variant, std::unique_ptr<replay::Device> device)
    : m_choice(std::move(choice))
    , m_variant(variant)
    , m_precision(m_choice.precision.value_or(variant.precision))
    , m_lowering(m_choice.lowering.value_or(variant.lowering))
    , m_device(std::move(device))
{ }

Result<std::unique_ptr<CellTarget>> CellTarget::make(const CellChoice& choice, const replay::DeviceFactory& devices)
{
    const auto variant = TRY(choice.catalogue.find(choice.variant));
    // The range of outputs is searched step by step, before any program is compiled.
    TRY(replay::checkSteps(choice.steps));
    auto device = TRY(devices(choice.device));
    return std::unique_ptr<CellTarget>(new CellTarget(choice, *variant, std::move(device)));
}

bool CellTarget::goToCpu(const Error& error)
{
    const auto lost = m_device->lost();
    const bool unable = lost ? lost->kind != ErrorKind::cancelled : replay::isWorthTheCpu(error);
    if (m_choice.device == "cpu" || !unable) {
        return false;
    }
    m_choice.device = "cpu";
    m_device = replay::makeEigenDevice();
    return true;
}

TargetFacts CellTarget::facts() const
{
    TargetFacts facts;
    facts.name = m_choice.variant;
    facts.precision = name(m_precision);
    facts.lowering = name(m_lowering);
    facts.format = m_precision;
    facts.outputRange = replay::outputRange(replay::stepsOf(m_variant, m_choice.steps, std::nullopt));
    facts.turnsDirections = turnsDirections(m_variant);
    facts.environment = m_device->environment();
    return facts;
}

Result<replay::Replay> CellTarget::replayed(const Question& question, const Detour& detour, const CancelToken& cancel)
{
    replay::ReplayOptions options;
    options.precision = detour.precision.value_or(m_precision);
    options.rounding = detour.rounding.value_or(replay::Rounding {m_lowering});
    options.epsilon = question.epsilon;
    options.forceEpsilon = question.forceEpsilon && question.epsilon;
    options.steps = detour.steps ? detour.steps : m_choice.steps;
    options.keepOutput = true;
    // Bits depend on how many matrices are replayed at once, and that on what else is in a GPU's memory just then.
    options.mostAtOnce = 1;
    return replay::replay(m_variant, question.input.matrices(), valuesOf(question.input), *m_device, options, cancel);
}

Result<Reply> CellTarget::call(const Question& question, const CancelToken& cancel)
{
    auto done = TRY(replayed(question, {}, cancel));
    std::vector<double> values;
    for (const auto& output : done.outputs) {
        values.insert(values.end(), output.begin(), output.end());
    }
    Reply reply;
    reply.output = packed(DType::float64, question.input.shape, values);
    reply.seconds = done.seconds;
    return reply;
}

Result<Burst> CellTarget::burst(const Question& question, const BurstOptions& options, const JobContext& job)
{
    Burst burst;
    Progress progress;
    for (; progress.done < options.calls; ++progress.done) {
        const auto reply = TRY(call(question, job.cancel));
        const auto values = valuesOf(*reply.output);
        const bool finite = std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
        burst.calls.push_back({hashOf(*reply.output), finite});
        job.progress(progress);
    }
    return burst;
}

bool turnsDirections(const replay::Variant& variant)
{
    return variant.equalizeRows || variant.rescaleOutput || variant.normalization == replay::Normalization::aol;
}

std::array<double, 2> anyOutputRange()
{
    std::array<double, 2> range {1, 1};
    for (const auto& variant : replay::variants()) {
        const auto own = replay::outputRange(variant.steps);
        if (variant.published && own[0] > 0) {
            range = {std::min(range[0], own[0]), std::max(range[1], own[1])};
        }
    }
    return range;
}

} // namespace nanscope::instruments
