// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What no line of a log can show: steps between the lines, whose overflow it was, how often a warning was meant.
#include <algorithm>

#include <fmt/format.h>

#include "core/diagnose/context/settings.h"
#include "core/diagnose/findings/honesty.h"
#include "core/diagnose/findings/skips.h"
#include "core/diagnose/findings/story.h"

namespace nanscope::diagnose::cards {

namespace {

const Point* firstBad(const Trace& trace)
{
    const auto found = std::find_if(
        trace.points.begin(), trace.points.end(), [](const Point& point) { return isNonFinite(point.state); });
    return found == trace.points.end() ? nullptr : &*found;
}

CardOutcome loggedInterval(const Story& story)
{
    if (story.loss.points.size() < 2) {
        return notCheckable(story.loss.empty() ? whyEmpty(story, story.loss) : "the loss has a single point");
    }
    const auto interval = intervalOf(story.loss);
    if (interval <= 1) {
        return clear("the loss of every step is logged");
    }
    auto reason = fmt::format("the loss of one step in {} is logged", interval);
    std::vector<Evidence> evidence {evidenceOf(story.loss, story.loss.points[1])};
    std::optional<std::int64_t> step;
    if (const auto* bad = firstBad(story.loss); bad != nullptr && bad != &story.loss.points.front()) {
        reason += fmt::format("; the first bad step lies after {} and not after {}", (bad - 1)->step, bad->step);
        evidence = {evidenceOf(story.loss, *(bad - 1)), evidenceOf(story.loss, *bad)};
        step = bad->step;
    }
    return at(fired(Confidence::high, reason, evidence), step, story.loss.rank);
}

/// Lines of the events that `wanted` picks, counted with their copies.
template <class Wanted>
std::pair<std::int64_t, std::vector<Evidence>> linesThat(const RunData& run, const Wanted& wanted)
{
    std::pair<std::int64_t, std::vector<Evidence>> lines {0, {}};
    for (const auto& event : run.events) {
        if (wanted(event)) {
            lines.first += event.copies;
            addEvidence(lines.second, evidenceOf(event));
        }
    }
    return lines;
}

bool namesPrinter(const Event& event)
{
    return event.kind == EventKind::skippedStep && event.says(Phrase::namesPrinter);
}

CardOutcome overflowRank(const Story& story)
{
    const auto [count, evidence] = linesThat(story.run, namesPrinter);
    if (count == 0) {
        return hasConsole(story.run) ? clear("no overflow line that names a rank") : notCheckable("no console log");
    }
    return fired(Confidence::high,
        fmt::format(
            "{} of overflow: the rank they name is the one that prints, whichever overflowed", howMany(count, "line")),
        evidence);
}

bool isAnomalyLine(const Event& event)
{
    return event.kind == EventKind::diagnosticFailed || event.says(Phrase::anomalyMode);
}

CardOutcome anomalyMode(const Story& story)
{
    auto [count, evidence] = linesThat(story.run, isAnomalyLine);
    const auto* setting = settingNamed(story.run, {"detect_anomaly", "anomaly_detection", "debug_nan"});
    if (setting != nullptr && truthOf(*setting) == true) {
        ++count;
        addEvidence(evidence, evidenceOf(*setting));
    }
    if (count == 0) {
        return hasConsole(story.run) ? clear("nothing says that anomaly mode was on") : notCheckable("no console log");
    }
    return fired(Confidence::high, "anomaly mode was on: what it did not report may still be there", evidence);
}

bool isWarning(const Event& event)
{
    const bool counts = event.kind == EventKind::skippedStep || event.kind == EventKind::nanLoss;
    return counts && event.says(Phrase::pythonWarning);
}

CardOutcome warningOnce(const Story& story)
{
    const auto [count, evidence] = linesThat(story.run, isWarning);
    if (count == 0) {
        return hasConsole(story.run) ? clear("nothing is told by a Python warning") : notCheckable("no console log");
    }
    return fired(Confidence::high,
        fmt::format("{} of Python's warnings tell of bad steps: at least so many there were", howMany(count, "line")),
        evidence);
}

} // namespace

std::vector<Card> limitCards()
{
    return {
        {"log-interval", "Steps between the lines are unseen", "info",
            "the most common distance of two lines is over 1 step",
            {"a NaN, a spike or a skipped step between two lines leaves no trace: log every step while hunting one"},
            loggedInterval},
        {"log-overflow-rank", "Overflow lines do not name the rank", "info",
            "\"OVERFLOW! Rank 0\" (DeepSpeed prints it on rank 0, after a reduction over all)",
            {"which rank overflowed is in no such line: check each rank's gradients before they are reduced"},
            overflowRank},
        {"log-anomaly-mode", "Anomaly mode sees NaN in gradients only", "info",
            "a line or a setting of autograd's anomaly mode (PyTorch checks for NaN, not for Inf, and backward only)",
            {"it sees neither Inf nor a NaN of the forward pass: a clean run under it is no clean bill"}, anomalyMode},
        {"log-warning-once", "A warning is shown once, however often it was meant", "info",
            "a skipped step or NaN told by Python's warnings, which print the same text once per process",
            {"PYTHONWARNINGS=always shows every one of them; better, count them in the trainer"}, warningOnce},
    };
}

} // namespace nanscope::diagnose::cards
