// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What a log hides: values that were replaced, dropped or smeared. Then what no line of a log can show: steps
// between the lines, whose overflow it was, how often a warning was meant.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/diagnose/context/settings.h"
#include "core/diagnose/findings/cardevidence.h"
#include "core/diagnose/findings/cards.h"
#include "core/diagnose/findings/skips.h"

namespace nanscope::diagnose::cards {

namespace {

const Point* firstBad(const Trace& trace)
{
    const auto found = std::find_if(
        trace.points.begin(), trace.points.end(), [](const Point& point) { return isNonFinite(point.state); });
    return found == trace.points.end() ? nullptr : &*found;
}

CardOutcome loggedInterval(const RunSummary& summary)
{
    if (summary.loss.points.size() < 2) {
        return notCheckable(summary.loss.empty() ? whyEmpty(summary, summary.loss) : "the loss has a single point");
    }
    const auto interval = intervalOf(summary.loss);
    if (interval <= 1) {
        return clear("the loss of every step is logged");
    }
    auto reason = fmt::format("the loss of one step in {} is logged", interval);
    std::vector<Evidence> evidence {evidenceOf(summary.loss, summary.loss.points[1])};
    std::optional<std::int64_t> step;
    if (const auto* bad = firstBad(summary.loss); bad != nullptr && bad != &summary.loss.points.front()) {
        reason += fmt::format("; the first bad step lies after {} and not after {}", (bad - 1)->step, bad->step);
        evidence = {evidenceOf(summary.loss, *(bad - 1)), evidenceOf(summary.loss, *bad)};
        step = bad->step;
    }
    return at(fired(Confidence::high, reason, evidence), step, summary.loss.rank);
}

/// Lines of the events that `wanted` picks, counted with their copies.
template <class Wanted>
std::pair<std::int64_t, std::vector<Evidence>> linesThat(const RunSummary& summary, const Wanted& wanted)
{
    std::pair<std::int64_t, std::vector<Evidence>> lines {0, {}};
    for (const auto* event : summary.events) {
        if (wanted(*event)) {
            lines.first += event->copies;
            addEvidence(lines.second, evidenceOf(*event));
        }
    }
    return lines;
}

bool namesPrinter(const Event& event)
{
    return event.kind == EventKind::skippedStep && event.says(Phrase::namesPrinter);
}

CardOutcome overflowRank(const RunSummary& summary)
{
    const auto [count, evidence] = linesThat(summary, namesPrinter);
    if (count == 0) {
        return hasConsole(summary.run) ? clear("no overflow line that names a rank") : notCheckable("no console log");
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

CardOutcome anomalyMode(const RunSummary& summary)
{
    auto [count, evidence] = linesThat(summary, isAnomalyLine);
    const auto* setting = settingNamed(summary.run, {"detect_anomaly", "anomaly_detection", "debug_nan"});
    if (setting != nullptr && truthOf(*setting) == true) {
        ++count;
        addEvidence(evidence, evidenceOf(*setting));
    }
    if (count == 0) {
        return hasConsole(summary.run) ? clear("nothing says that anomaly mode was on")
                                       : notCheckable("no console log");
    }
    return fired(Confidence::high, "anomaly mode was on: what it did not report may still be there", evidence);
}

bool isWarning(const Event& event)
{
    const bool counts = event.kind == EventKind::skippedStep || event.kind == EventKind::nanLoss;
    return counts && event.says(Phrase::pythonWarning);
}

CardOutcome warningOnce(const RunSummary& summary)
{
    const auto [count, evidence] = linesThat(summary, isWarning);
    if (count == 0) {
        return hasConsole(summary.run) ? clear("nothing is told by a Python warning") : notCheckable("no console log");
    }
    LinesOfRanks ofRanks;
    for (const auto* event : summary.events) {
        if (isWarning(*event)) {
            ofRanks.add(*event);
        }
    }
    return fired(Confidence::high,
        fmt::format("{} of Python's warnings {} of bad steps: there {} at least {}", howMany(count, "line"),
            count == 1 ? "tells" : "tell", ofRanks.most() == 1 ? "was" : "were", ofRanks.most()),
        evidence);
}

bool saysNotScanned(const Event& event)
{
    return event.says(Phrase::notScanned);
}

CardOutcome scanGaps(const RunSummary& summary)
{
    const auto [count, evidence] = linesThat(summary, saysNotScanned);
    if (count == 0) {
        return hasConsole(summary.run) ? clear("no scanner says that it left calls out")
                                       : notCheckable("no console log");
    }
    return fired(Confidence::high,
        fmt::format("{} of hipBLASLt's scanner {} products that it did not look at", howMany(count, "line"),
            count == 1 ? "names" : "name"),
        evidence);
}

CardOutcome captureGaps(const RunSummary& summary)
{
    const auto [count, evidence] =
        linesThat(summary, [](const Event& event) { return event.says(Phrase::callsNotSeen); });
    if (count == 0) {
        return hasConsole(summary.run) ? clear("no capture helper says that it left calls out")
                                       : notCheckable("no console log");
    }
    return fired(Confidence::high,
        "the capture helper did not look at all calls: those it did not see may have been bad", evidence);
}

/// What no line of a log can show, however honest; honestyCards() ends with them.
std::vector<Card> limitCards()
{
    return {
        {"log-interval", "Steps that are not logged", "info", "most lines are more than 1 step apart",
            {"a NaN, a spike or a skipped step between two lines leaves no trace: log every step while hunting one"},
            loggedInterval},
        {"log-overflow-rank", "Overflow lines that name the rank which prints", "info",
            "\"OVERFLOW! Rank 0\" (DeepSpeed prints it on rank 0, after a reduction over all)",
            {"which rank overflowed is in no such line: check each rank's gradients before they are reduced"},
            overflowRank},
        {"log-anomaly-mode", "Anomaly mode, which sees NaN in gradients only", "info",
            "a line or a setting of autograd's anomaly mode (PyTorch checks for NaN, not for Inf, and backward only)",
            {"it sees neither Inf nor a NaN of the forward pass: a clean run under it is no clean bill"}, anomalyMode},
        {"log-warning-once", "Python warnings that are printed once per process", "info",
            "a skipped step or NaN told by Python's warnings, which print the same text once per process",
            {"PYTHONWARNINGS=always shows every one of them; better, count them in the trainer"}, warningOnce},
        {"log-scan-gaps", "Matrix products that a scanner did not look at", "info",
            "hipBLASLt's HIPBLASLT_CHECK_NUMERICS says which matmul calls it did not scan",
            {"the first NaN it names may not be the first there was: HIPBLASLT_CHECK_NUMERICS_SCAN_FROM and "
             "_SCAN_UNTIL "
             "around it with _SCAN_EVERY=1 tell"},
            scanGaps},
        {"capture-gaps", "Calls that the capture helper did not look at", "info",
            "nanscope_capture.py says that it saw no call, or how many it left out",
            {"wrap() or patched() watch a function that it does not know, TORCH_COMPILE_DISABLE=1 one that is compiled "
             "as a part of another, NANSCOPE_CAPTURE_EVERY=1 all calls"},
            captureGaps},
    };
}

bool badAt(const Trace& trace, std::int64_t step)
{
    const auto* point = pointAt(trace, step);
    return point != nullptr && isNonFinite(point->state);
}

/// Hugging Face's Trainer puts a mean of earlier losses in the place of one that is not finite, 0 where there is none.
CardOutcome nanFilter(const RunSummary& summary)
{
    if (summary.loss.empty()) {
        return notCheckable(whyEmpty(summary, summary.loss));
    }
    std::vector<Evidence> evidence;
    std::int64_t zeros = 0;
    std::int64_t suspected = 0;
    std::optional<std::int64_t> first;
    for (const auto& point : summary.loss.points) {
        if (point.state != PointState::finite || point.value != 0) {
            continue;
        }
        ++zeros;
        if (badAt(summary.gradNorm, point.step)) {
            ++suspected;
            first = first.value_or(point.step);
            addEvidence(evidence, evidenceOf(summary.loss, point));
            addEvidence(evidence, evidenceOf(summary.gradNorm, *pointAt(summary.gradNorm, point.step)));
        }
    }
    if (suspected > 0) {
        return at(fired(Confidence::medium,
                      fmt::format("{} with a loss of exactly 0 beside a gradient norm that is not finite: suspected "
                                  "non-finite losses",
                          howMany(suspected, "step")),
                      evidence),
            first, summary.loss.rank);
    }
    if (zeros > 0 && summary.gradNorm.empty()) {
        return notCheckable(fmt::format("{} exactly 0 and no gradient norm beside", howMany(zeros, "loss value")));
    }
    return clear("no loss of exactly 0 beside a bad gradient norm");
}

/// A step that was left out has no loss to print.
bool leftOut(const Trace& skipped, std::int64_t step)
{
    const auto* point = pointAt(skipped, step);
    return point != nullptr && point->value > 0;
}

/// Megatron prints the average of the losses that are not NaN, and no field where there is none.
CardOutcome droppedLoss(const RunSummary& summary)
{
    const auto counter = traceOf(summary.run, "nan_iterations");
    for (const auto& point : counter.points) {
        if (point.state == PointState::finite && point.value > 0) {
            return at(fired(Confidence::high,
                          fmt::format("{:g} iterations up to step {} had a NaN loss that no line shows", point.value,
                              point.step),
                          {evidenceOf(counter, point)}),
                point.step, counter.rank);
        }
    }
    if (summary.loss.empty()) {
        return notCheckable(whyEmpty(summary, summary.loss));
    }
    const auto skipped = traceOf(summary.run, "skipped_iterations");
    std::int64_t missing = 0;
    for (const auto& point : summary.loss.points) {
        if (point.state != PointState::reported) {
            continue;
        }
        missing += leftOut(skipped, point.step) ? 0 : 1;
        if (badAt(summary.gradNorm, point.step)) {
            return at(fired(Confidence::high,
                          fmt::format("step {} was reported without a loss, beside a gradient norm that is not finite",
                              point.step),
                          {evidenceOf(summary.loss, point),
                              evidenceOf(summary.gradNorm, *pointAt(summary.gradNorm, point.step))}),
                point.step, summary.loss.rank);
        }
    }
    return missing > 0 && summary.gradNorm.empty()
        ? notCheckable(fmt::format("{} without a loss, and no gradient norm beside", howMany(missing, "step")))
        : clear("no step lost its loss beside a bad gradient norm");
}

/// Only nanochat prints "lrm", and its loss is a moving average.
bool isMovingAverage(const RunData& run, const Series& loss)
{
    return std::any_of(run.series.begin(), run.series.end(),
        [&](const Series& series) { return series.name == "lrm" && series.source == loss.source; });
}

/// Of every attempt by itself: a later one that is fine takes an earlier one's place in the trace.
CardOutcome smearedNan(const RunSummary& summary)
{
    bool streak = false;
    for (const auto& series : summary.run.series) {
        Trace loss;
        loss.name = series.name;
        loss.source = series.source;
        loss.points = series.name == "loss" ? series.points : std::vector<Point>();
        const auto* first = lastStreak(loss);
        streak = streak || first != nullptr;
        if (first != nullptr && isMovingAverage(summary.run, series)) {
            return at(
                fired(Confidence::high,
                    fmt::format("the loss is NaN from step {} on; it is a moving average, so {} after it say nothing "
                                "of their own steps",
                        first->step, howMany(&loss.points.back() - first, "value")),
                    {evidenceOf(loss, *first)}),
                first->step, series.rank);
        }
    }
    if (summary.loss.empty()) {
        return notCheckable(whyEmpty(summary, summary.loss));
    }
    return clear(streak ? "nothing marks the loss as a moving average" : "no run of NaN at the end of the loss");
}

using Ranks = std::map<int, Evidence>;

/// Ranks that a capture or a launcher names, and where.
Ranks namedRanks(const RunData& run)
{
    Ranks ranks;
    for (const auto& capture : run.captures) {
        if (capture.rank) {
            ranks.try_emplace(*capture.rank, evidenceOf(capture, fmt::format("a capture of rank {}", *capture.rank)));
        }
    }
    for (const auto& event : run.events) {
        if (event.rank && event.kind == EventKind::terminated) {
            ranks.try_emplace(*event.rank, evidenceOf(event));
        }
    }
    return ranks;
}

/// Without the ranks that printed a line of their own; a launcher's summary is not one.
Ranks silentRanks(const RunData& run, Ranks ranks)
{
    for (const auto& series : run.series) {
        ranks.erase(series.rank.value_or(-1));
    }
    for (const auto& event : run.events) {
        if (event.kind != EventKind::terminated) {
            ranks.erase(event.rank.value_or(-1));
        }
    }
    return ranks;
}

bool anyRankLogged(const RunData& run)
{
    return std::any_of(run.series.begin(), run.series.end(), [](const Series& s) { return s.rank.has_value(); })
        || std::any_of(run.events.begin(), run.events.end(),
            [](const Event& e) { return e.rank && e.kind != EventKind::terminated; });
}

const Event* fromAnotherRank(const RunData& run)
{
    const auto found = std::find_if(run.events.begin(), run.events.end(), [](const Event& event) {
        return event.kind == EventKind::nanLoss && event.facts.detector && event.facts.detector->otherRank;
    });
    return found == run.events.end() ? nullptr : &*found;
}

std::string listOf(const Ranks& ranks)
{
    constexpr std::size_t most = 8;
    std::string text;
    std::size_t shown = 0;
    for (const auto& [rank, line] : ranks) {
        if (++shown <= most) {
            text += fmt::format("{}{}", text.empty() ? "" : ", ", rank);
        }
    }
    return ranks.size() > most ? fmt::format("{} and {} more", text, ranks.size() - most) : text;
}

CardOutcome silent(const Ranks& ranks, Confidence sure, std::string_view words)
{
    std::vector<Evidence> evidence;
    for (const auto& [rank, line] : ranks) {
        addEvidence(evidence, line);
    }
    return fired(sure, fmt::format("{} rank {}", words, listOf(ranks)), std::move(evidence));
}

CardOutcome oneRank(const RunSummary& summary)
{
    if (const auto* event = fromAnotherRank(summary.run)) {
        return at(
            fired(Confidence::high, "a line says that another rank has NaN; which one, only its own log could tell",
                {evidenceOf(*event)}),
            event->step, std::nullopt);
    }
    const auto named = namedRanks(summary.run);
    if (named.empty() || summary.run.series.empty()) {
        return notCheckable(named.empty() ? "no rank is named" : "no log is there");
    }
    if (!anyRankLogged(summary.run)) {
        return named.size() < 2
            ? notCheckable("the log does not say whose lines it holds")
            : silent(named, Confidence::low, "the log does not say whose lines it holds, among those of");
    }
    const auto ranks = silentRanks(summary.run, named);
    return ranks.empty() ? clear("every rank that is named has lines of its own")
                         : silent(ranks, Confidence::medium, "no log line of");
}

} // namespace

std::vector<Card> honestyCards()
{
    std::vector<Card> cards {
        {"log-nan-filter", "Bad losses that may be logged as 0", "warning",
            "loss exactly 0 beside a gradient norm that is not finite (Hugging Face Trainer, logging_nan_inf_filter)",
            {"logging_nan_inf_filter=False shows the loss as it was; the default puts a mean in its place"}, nanFilter},
        {"log-dropped-loss", "NaN losses missing from the log", "warning",
            "a step without a loss beside a gradient norm that is not finite, or a count of NaN iterations "
            "(Megatron-LM)",
            {"Megatron averages only losses that are not NaN, and counts NaN only within skipped iterations"},
            droppedLoss},
        {"log-smeared-nan", "One NaN that fills the rest of the loss", "info",
            "NaN to the end in a loss that is a moving average (nanochat)",
            {"only the first of these steps is known to be bad; a gradient norm or another log tells of the others"},
            smearedNan},
        {"log-one-rank", "Ranks without a log", "info",
            "ranks of captures or of a launcher without a line of their own",
            {"many trainers print on rank 0 only: torchrun --tee 3 --log-dir logs keeps every rank's output",
                "absence of a line is no evidence that a rank was well"},
            oneRank},
    };
    for (auto& card : limitCards()) {
        cards.push_back(std::move(card));
    }
    return cards;
}

} // namespace nanscope::diagnose::cards
