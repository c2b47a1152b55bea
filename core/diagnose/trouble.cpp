// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/trouble.h"

#include <algorithm>
#include <deque>
#include <limits>

#include <fmt/format.h>
#include <re2/re2.h>

namespace nanscope {

namespace {

constexpr double spikeFactor = 2;
constexpr std::size_t spikeWindow = 100;
constexpr std::size_t fewestBefore = 10;

void earliest(std::optional<Sign>& sign, Sign other)
{
    if (!sign || other.weights < sign->weights) {
        sign = std::move(other);
    }
}

Sign signOf(const Trace& trace, const Point& point, std::int64_t weights)
{
    const char* what = point.state == PointState::nan ? "NaN" : point.state == PointState::posInf ? "Inf" : "-Inf";
    return {weights, {fmt::format("{} is {} at step {}", trace.name, what, point.step), placeOf(trace, point)}};
}

bool leftOut(const RunData& run, std::int64_t step)
{
    return std::any_of(run.events.begin(), run.events.end(), [&](const Event& event) {
        return event.step == step && (event.kind == EventKind::skippedStep || event.kind == EventKind::nanLoss);
    });
}

/// NaN losses that no number follows: several batches have given them, so the weights do. One alone may be its batch.
void readLoss(const Trace& loss, Trouble& trouble)
{
    const Point* first = lastStreak(loss);
    if (first == nullptr) {
        return;
    }
    const bool alone = first == &loss.points.back();
    earliest(alone ? trouble.doubtFrom : trouble.poisonedFrom, signOf(loss, *first, first->step - stepBase(loss)));
}

/// Clipping spreads a norm that is not finite over every gradient, and the update is done all the same.
void readNorm(const RunData& run, const Trace& norm, Trouble& trouble)
{
    const Point* first = lastStreak(norm);
    if (first != nullptr && !leftOut(run, first->step)) {
        earliest(trouble.poisonedFrom, signOf(norm, *first, first->step - stepBase(norm) + 1));
    }
}

/// KempnerForge's detector counts attempts from 0, attempt n computes the loss of W(n), and prints nothing else of one
/// that failed.
std::vector<const Event*> attemptsThatFailed(const RunData& run)
{
    std::vector<const Event*> failed;
    for (const auto& event : run.events) {
        const bool counts = event.text.find("NaN/Inf loss at step") != std::string::npos
            || event.text.find("NaN/Inf detected on another rank at step") != std::string::npos;
        if (event.kind == EventKind::nanLoss && event.step && counts) {
            failed.push_back(&event);
        }
    }
    return failed;
}

EvidenceLine lineOf(const Event& event)
{
    return {event.text, fmt::format("{}:{}", event.source, event.line)};
}

void readDetector(const std::vector<const Event*>& failed, const Trace& loss, Trouble& trouble)
{
    const auto lastGood = loss.points.empty() ? -1 : loss.points.back().step - stepBase(loss);
    std::vector<const Event*> streak;
    std::copy_if(failed.begin(), failed.end(), std::back_inserter(streak),
        [&](const Event* event) { return *event->step > lastGood; });
    for (const auto* event : streak) {
        earliest(streak.size() == 1 ? trouble.doubtFrom : trouble.poisonedFrom, {*event->step, lineOf(*event)});
    }
}

/// "last_good_loss=6.4535 at step 36": the detector looks at every attempt, whatever the log's interval.
void readDetectorProof(const std::vector<const Event*>& failed, Trouble& trouble)
{
    static const RE2 pattern(R"(last_good_loss=[0-9][0-9.e+-]* at step (\d+)\))", RE2::Latin1);
    for (const auto* event : failed) {
        std::int64_t step = 0;
        if (RE2::PartialMatch(event->text, pattern, &step) && step < trouble.first()
            && (trouble.proofs.empty() || step > trouble.proofs.back().weights)) {
            trouble.proofs.push_back({step, lineOf(*event)});
        }
    }
}

bool raisedByOptimizer(const RunData& run)
{
    return std::any_of(run.events.begin(), run.events.end(), [](const Event& event) {
        return event.kind == EventKind::traceback && event.text.find("[dion NaN capture]") != std::string::npos;
    });
}

/// The update after the line of the first step made the damage, whether that line came before or after its own update.
void readBirths(const RunData& run, const std::vector<CaptureVerdict>& verdicts, std::int64_t base, Trouble& trouble)
{
    const bool raised = raisedByOptimizer(run);
    for (const auto& verdict : verdicts) {
        const bool bad = verdict.role == Role::birth || verdict.role == Role::upstream;
        if (!bad || !verdict.step) {
            continue;
        }
        const auto weights = verdict.step->first - base + 1;
        Sign sign {weights, {fmt::format("{} has a Newton-Schulz output that is not finite", verdict.capture), {}}};
        earliest(raised ? trouble.tornFrom : trouble.poisonedFrom, std::move(sign));
    }
}

void readClimb(const Trace& trace, Trouble& trouble)
{
    const auto before = trouble.first() + stepBase(trace);
    if (const Point* start = climbBefore(trace, before)) {
        earliest(trouble.climbingFrom,
            {start->step - stepBase(trace),
                {fmt::format("{} climbs from step {} on ({:.4g}, over twice the mean of the 100 before)", trace.name,
                     start->step, start->value),
                    placeOf(trace, *start)}});
    }
}

bool badNormAt(const Trace& norm, std::int64_t step)
{
    const auto at = std::lower_bound(norm.points.begin(), norm.points.end(), step,
        [](const Point& point, std::int64_t wanted) { return point.step < wanted; });
    return at != norm.points.end() && at->step == step && isNonFinite(at->state);
}

void readProofs(const Trace& loss, const Trace& norm, Trouble& trouble)
{
    for (const auto& point : loss.points) {
        const auto weights = point.step - stepBase(loss);
        if (point.state == PointState::finite && weights < trouble.first() && !badNormAt(norm, point.step)) {
            trouble.proofs.push_back(
                {weights, {fmt::format("loss is {:.4g} at step {}", point.value, point.step), placeOf(loss, point)}});
        }
    }
}

} // namespace

std::int64_t Trouble::first() const
{
    auto least = std::numeric_limits<std::int64_t>::max();
    for (const auto* sign : {&poisonedFrom, &doubtFrom, &tornFrom}) {
        least = *sign ? std::min(least, (*sign)->weights) : least;
    }
    return least;
}

const Sign* Trouble::proofOf(std::int64_t n) const
{
    const auto found = std::lower_bound(
        proofs.begin(), proofs.end(), n, [](const Sign& sign, std::int64_t wanted) { return sign.weights < wanted; });
    return found == proofs.end() ? nullptr : &*found;
}

std::int64_t stepBase(const Trace& trace)
{
    return !trace.points.empty() && trace.points.front().step == 0 ? 0 : 1;
}

const Point* climbBefore(const Trace& trace, std::int64_t step)
{
    std::deque<double> window;
    double sum = 0;
    const Point* start = nullptr;
    for (const auto& point : trace.points) {
        if (point.step >= step || point.state != PointState::finite) {
            continue;
        }
        const bool high = window.size() >= fewestBefore && sum > 0
            && point.value >= spikeFactor * sum / static_cast<double>(window.size());
        if (high) {
            start = start != nullptr ? start : &point;
            continue;
        }
        start = nullptr;
        window.push_back(point.value);
        sum += point.value;
        if (window.size() > spikeWindow) {
            sum -= window.front();
            window.pop_front();
        }
    }
    return start;
}

Trouble troubleOf(const RunData& run, const std::vector<CaptureVerdict>& verdicts)
{
    Trouble trouble;
    const auto loss = traceOf(run, "loss");
    const auto norm = traceOf(run, "grad_norm");
    // Where both concern the same weights, the norm was printed a step earlier.
    readNorm(run, norm, trouble);
    readLoss(loss, trouble);
    const auto failed = attemptsThatFailed(run);
    readDetector(failed, loss, trouble);
    readBirths(run, verdicts, stepBase(loss.empty() ? norm : loss), trouble);
    if (!trouble.none()) {
        readClimb(loss, trouble);
        readClimb(norm, trouble);
        readProofs(loss, norm, trouble);
        readDetectorProof(failed, trouble);
    }
    return trouble;
}

std::string troubleText(const RunData& run, const Trouble& trouble)
{
    if (trouble.poisonedFrom) {
        const auto& text = trouble.poisonedFrom->line.text;
        return text.substr(0, text.find(" (")) + ", and no number after it";
    }
    if (trouble.doubtFrom) {
        const auto& text = trouble.doubtFrom->line.text;
        return text.substr(0, text.find(" (")) + ", where the log ends";
    }
    if (trouble.tornFrom) {
        return "a step was broken off by an exception";
    }
    const auto loss = traceOf(run, "loss");
    if (loss.empty()) {
        return "no loss in the logs";
    }
    const auto bad = std::count_if(
        loss.points.begin(), loss.points.end(), [](const Point& point) { return isNonFinite(point.state); });
    return bad == 0 ? "every logged loss is finite"
                    : fmt::format("{} of {} logged losses {} not finite, and the run went on", bad, loss.points.size(),
                        bad == 1 ? "is" : "are");
}

} // namespace nanscope
