// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/probe/nandetector.h"

#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/base/text.h"

namespace nanscope::probe {

namespace {

constexpr std::array<std::string_view, 3> actionNames {"warn", "skip", "raise"};

constexpr std::string_view skipSuffix = " \u2014 skipping optimizer step";

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

std::string textOf(const NanMessage& message, NanAction action)
{
    const auto* const where = message.otherRank ? "NaN/Inf detected on another rank" : "NaN/Inf loss";
    auto text =
        fmt::format("{} at step {} (consecutive={}, total={}", where, message.step, message.consecutive, message.total);
    if (!message.otherRank) {
        text += fmt::format(", last_good_loss={:.4f} at step {}",
            message.lastGoodLoss.value_or(std::numeric_limits<double>::infinity()), message.lastGoodStep.value_or(0));
    }
    text += ")";
    return action == NanAction::skip ? text.append(skipSuffix) : text;
}

std::string gradientText(std::string_view parameter, std::int64_t step)
{
    return fmt::format("NaN/Inf gradient in {} at step {}", parameter, step);
}

std::optional<NanMessage> parseNanMessage(std::string_view line)
{
    static const RE2 pattern(R"(NaN/Inf (loss|detected on another rank) at step (\d+) \(consecutive=(\d+), total=(\d+))"
                             R"((?:, last_good_loss=(-?(?:\d+\.\d+|inf|nan)) at step (\d+))?\))");
    re2::StringPiece where;
    re2::StringPiece loss;
    re2::StringPiece lossStep;
    NanMessage message;
    const re2::StringPiece whole(line.data(), line.size());
    if (!RE2::PartialMatch(
            whole, pattern, &where, &message.step, &message.consecutive, &message.total, &loss, &lossStep)) {
        return std::nullopt;
    }
    message.otherRank = where != "loss";
    message.lastGoodLoss = numberIn<double>({loss.data(), loss.size()});
    message.lastGoodStep = numberIn<std::int64_t>({lossStep.data(), lossStep.size()});
    return message;
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

Result<NanCheck> NanDetector::checkLoss(RankGroup& ranks, double loss, std::int64_t step)
{
    const bool finite = std::isfinite(loss);
    return ranks.sum(nanFlag(finite)).map([&](float flags) {
        return checkLoss(loss, step, finite && anyRankFlagged(flags));
    });
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

Result<NanCheck> NanDetector::checkGradients(
    RankGroup& ranks, std::span<const GradientState> gradients, std::int64_t step) const
{
    auto own = checkGradients(gradients, step);
    return ranks.sum(nanFlag(own.good)).map([&](float flags) {
        if (!own.good || !anyRankFlagged(flags)) {
            return own;
        }
        // Nothing was counted, so the line has no counts; the words are those that are read.
        return NanCheck {false, m_options.action == NanAction::raise,
            fmt::format("NaN/Inf detected on another rank at step {}", step)};
    });
}

} // namespace nanscope::probe
