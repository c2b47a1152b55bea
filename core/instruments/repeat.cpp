// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/repeat.h"

#include <set>

#include <fmt/format.h>

namespace nanscope::instruments {

std::optional<double> RepeatCount::bound() const
{
    constexpr double ruleOfThree = 3;
    return clean() ? std::optional(std::min(1.0, ruleOfThree / static_cast<double>(calls))) : std::nullopt;
}

RepeatCount countRepeats(const Burst& burst, const std::string& reference)
{
    RepeatCount count;
    std::set<std::string> hashes;
    for (const auto& call : burst.calls) {
        if (call.hash.empty()) {
            ++count.failed;
            continue;
        }
        ++count.calls;
        hashes.insert(call.hash);
        count.differ += call.hash != reference ? 1 : 0;
        count.nonFinite += call.finite ? 0 : 1;
    }
    if (!reference.empty()) {
        hashes.insert(reference);
    }
    count.distinct = static_cast<std::int64_t>(hashes.size());
    return count;
}

RepeatCount& operator+=(RepeatCount& total, const RepeatCount& part)
{
    total.calls += part.calls;
    total.failed += part.failed;
    total.differ += part.differ;
    total.nonFinite += part.nonFinite;
    total.distinct = std::max(total.distinct, part.distinct);
    return total;
}

std::string repeatSentence(const RepeatCount& count)
{
    if (count.calls == 0) {
        return "no call gave an output";
    }
    if (count.differ > 0) {
        return fmt::format(
            "{} of {} calls differ from the first in at least one bit; {} distinct outputs, {} of {} not "
            "finite",
            count.differ, count.calls, count.distinct, count.nonFinite, count.calls);
    }
    if (count.nonFinite == count.calls) {
        return fmt::format("each of {} calls gave the same bits, and none of them finite: it fails on this input every "
                           "time",
            count.calls);
    }
    return fmt::format("not reproduced in this setting: none of {} calls differs from the first, so that at 95 % "
                       "confidence fewer than {:.2g} % do here; this lowers no suspicion elsewhere",
        count.calls, 100 * *count.bound());
}

Result<RepeatAnswer> repeatBitwise(Asker& asker, int calls)
{
    asker.setPhase("repeat", calls + 1, "calls");
    // The one that is looked at also tells how long the others may take.
    const auto first = asker.ask();
    if (!first) {
        return tl::make_unexpected(first.error());
    }
    RepeatAnswer answer;
    answer.outcome = first->answered() ? std::optional(first->worst) : std::nullopt;
    BurstOptions options;
    options.calls = calls;
    const auto burst = asker.burst(options);
    if (!burst) {
        return tl::make_unexpected(burst.error());
    }
    std::string reference;
    for (const auto& call : burst->calls) {
        reference = reference.empty() ? call.hash : reference;
    }
    answer.count = countRepeats(*burst, reference);
    const bool onlyFirst = answer.outcome && answer.count.calls == 0;
    answer.sentence = onlyFirst
        ? fmt::format("the first call gave an output, none of the {} after it did", answer.count.failed)
        : repeatSentence(answer.count);
    return answer;
}

} // namespace nanscope::instruments
