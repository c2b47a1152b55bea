// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/probe/nandetector.h"

#include <array>
#include <cmath>

#include "core/probe/nanmessage.h"

namespace nanscope::probe {

namespace {

constexpr std::array<std::string_view, 3> actionNames {"warn", "skip", "raise"};

} // namespace

std::string_view name(NanAction action)
{
    return actionNames[static_cast<std::size_t>(action)];
}

std::optional<NanAction> parseNanAction(std::string_view name)
{
    for (std::size_t i = 0; i < actionNames.size(); ++i) {
        if (actionNames[i] == name) {
            return static_cast<NanAction>(i);
        }
    }
    return std::nullopt;
}

NanCheck NanDetector::checkLoss(double loss, std::int64_t step, bool anyOtherRank)
{
    const bool localNan = !std::isfinite(loss);
    if (!localNan && !anyOtherRank) {
        m_state.consecutive = 0;
        m_state.lastGoodLoss = loss;
        m_state.lastGoodStep = step;
        return {};
    }
    ++m_state.consecutive;
    ++m_state.total;
    if (m_state.nanSteps.size() < m_options.maxHistory) {
        m_state.nanSteps.push_back(step);
    }
    const NanMessage said {
        step, !localNan, m_state.consecutive, m_state.total, m_state.lastGoodLoss, m_state.lastGoodStep};
    return {false, m_options.action == NanAction::raise, textOf(said, m_options.action)};
}

NanCheck NanDetector::checkGradients(std::span<const GradientState> gradients, std::int64_t step) const
{
    auto next = gradients.begin();
    return checkGradients([&] { return next == gradients.end() ? std::nullopt : std::optional(*next++); }, step);
}

NanCheck NanDetector::checkGradients(const std::function<std::optional<GradientState>()>& next, std::int64_t step) const
{
    while (const auto gradient = next()) {
        if (!gradient->finite) {
            return {false, m_options.action == NanAction::raise, gradientText(gradient->name, step)};
        }
    }
    return {};
}

} // namespace nanscope::probe
