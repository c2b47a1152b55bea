// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// P10 and P11: values that go non-finite for the range of fp16, or for what a batch holds.
#include "core/diagnose/findings/nonfinite.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/diagnose/context/settings.h"
#include "core/diagnose/findings/attempts.h"
#include "core/diagnose/findings/skips.h"
#include "core/diagnose/findings/story.h"

namespace nanscope::diagnose::cards {

namespace {

/// Fallen to 1 or below, where it scales nothing.
const Point* fallenToOne(const Trace& scale)
{
    bool above = false;
    for (const auto& point : scale.points) {
        const bool finite = point.state == PointState::finite;
        if (finite && above && point.value <= 1) {
            return &point;
        }
        above = above || (finite && point.value > 1);
    }
    return nullptr;
}

CardOutcome collapsing(const SkipStreak& streak, std::string_view what)
{
    return at(
        fired(Confidence::medium,
            fmt::format("{} {} in a row, from step {} to {}", streak.count, what, streak.firstStep, streak.lastStep),
            {streak.first, streak.last}),
        streak.firstStep, std::nullopt);
}

CardOutcome overflowCollapse(const Story& story)
{
    constexpr std::int64_t most = 5;
    if (const auto* event = eventSaying(story.run, Phrase::lossScaleAtMinimum)) {
        // Every rank says so; which of them overflowed, none does.
        return at(
            fired(Confidence::high, "the loss scale is at its minimum and steps still overflow", {evidenceOf(*event)}),
            event->step, std::nullopt);
    }
    const auto skips = skipsOf(story);
    if (const auto* streak = longest(skips.streaks, false);
        skips.byScaler && streak != nullptr && streak->count >= most) {
        return collapsing(*streak, "steps left out");
    }
    const auto falls = scaleFalls(story);
    if (const auto* streak = longest(falls, false); streak != nullptr && streak->count >= most) {
        return collapsing(*streak, "falls of the loss scale");
    }
    if (const auto* point = fallenToOne(story.lossScale)) {
        return at(fired(Confidence::medium, fmt::format("the loss scale has fallen to {:g}", point->value),
                      {evidenceOf(story.lossScale, *point)}),
            point->step, story.lossScale.rank);
    }
    if (!skips.byScaler && story.lossScale.empty()) {
        const auto formats = formatsOf(story.run);
        return formats.known() && formats.fp16 == nullptr ? clear("the run does not compute in fp16")
                                                          : notCheckable(whyEmpty(story, story.lossScale));
    }
    return clear(fmt::format("{} left out for overflow, never {} in a row after the search for the scale",
        howMany(skips.total, "step"), most));
}

/// Attempts that went bad after they had been good: one that starts bad tells of its checkpoint, not of a batch.
std::vector<Attempt> wentBadLater(const Story& story)
{
    auto attempts = attemptsOf(story);
    std::erase_if(attempts, [](const Attempt& attempt) { return !attempt.firstBad || !attempt.goodBefore; });
    return attempts;
}

std::string stepsText(const std::vector<Attempt>& attempts)
{
    std::string text;
    for (const auto& attempt : attempts) {
        text += fmt::format("{}{}", text.empty() ? "" : ", ", *attempt.firstBad);
    }
    return text;
}

/// Two that agree; others may have ended before they came there.
std::optional<std::pair<Attempt, Attempt>> agreeing(const std::vector<Attempt>& attempts)
{
    for (std::size_t i = 0; i < attempts.size(); ++i) {
        for (std::size_t j = i + 1; j < attempts.size(); ++j) {
            if (attempts[i].firstBad == attempts[j].firstBad) {
                return std::pair(attempts[i], attempts[j]);
            }
        }
    }
    return std::nullopt;
}

CardOutcome badData(const Story& story)
{
    if (story.loss.empty()) {
        return notCheckable(whyEmpty(story, story.loss));
    }
    const auto attempts = wentBadLater(story);
    if (attempts.empty()) {
        return wentBad(story) ? notCheckable("one run alone cannot tell")
                              : clear("no step gave a loss that is not finite");
    }
    if (attempts.size() == 1) {
        return notCheckable(
            fmt::format("one run alone cannot tell (its first bad step is {})", *attempts.front().firstBad));
    }
    const auto same = agreeing(attempts);
    if (!same) {
        return clear(fmt::format("the first bad steps differ ({}): not one batch", stepsText(attempts)));
    }
    const auto interval = intervalOf(story.loss);
    const auto coarse = interval > 1 ? fmt::format(", as far as one line in {} steps shows", interval) : std::string();
    return at(
        fired(interval > 1 ? Confidence::low : Confidence::medium,
            fmt::format("two attempts have the same first bad step, {}{}: the batch, or anything else that repeats "
                        "exactly",
                *same->first.firstBad, coarse),
            {same->first.bad, same->second.bad}),
        same->first.firstBad, story.loss.rank);
}

} // namespace

std::vector<Card> nonFiniteCards()
{
    auto cards = birthCards();
    cards.push_back({"P10", "fp16 overflows and the loss scale collapses", "error",
        "at least 5 steps left out in a row after the search for a scale (our proposal), a scale down to 1, or "
        "\"already at minimum\" (DeepSpeed)",
        {"bf16 instead of fp16, where the GPU has it: its range is that of fp32",
            "else compute attention scores, final logits and loss in fp32: torch.autocast(\"cuda\", enabled=False)",
            "z-loss (P15) and query-key norm (P16) keep logits from growing"},
        overflowCollapse});
    cards.push_back({"P11", "The same step goes bad again", "warning",
        "equal first bad step in at least two attempts that were good before (seed 004, P11; Megatron-LM skips an "
        "iteration seen twice)",
        {"look at that batch: finite values, labels inside of the classes, no empty sequence",
            "another order of the data tells the batch from the weights: does the step move with it?",
            "assert torch.isfinite(x).all() where the batch enters, with its index in the message"},
        badData});
    return cards;
}

} // namespace nanscope::diagnose::cards
