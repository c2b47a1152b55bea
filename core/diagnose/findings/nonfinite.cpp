// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// P8 and P9: which operation made the first value that is not finite, as far as a log or a capture names it. P10 and
// P11: values that go non-finite for the range of fp16, or for what a batch holds.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/context/settings.h"
#include "core/diagnose/findings/cardevidence.h"
#include "core/diagnose/findings/cards.h"
#include "core/diagnose/findings/skips.h"
#include "core/model/verdict.h"

namespace nanscope::diagnose::cards {

namespace {

struct Origin
{
    std::string_view op; ///< the name begins so, in small letters
    std::string_view words;
    bool passesOn = false; ///< as likely to pass on what it was given
};

// The longer names first. What each of them does at the edge of its domain.
constexpr std::array origins {
    Origin {"logsoftmax", "a row that is all -Inf, or Inf - Inf within it"},
    Origin {"logsumexp", "a row that is all -Inf, or Inf - Inf within it"},
    Origin {"log", "the logarithm of 0 or less"},
    Origin {"rsqrt", "1 / sqrt at 0 or below"},
    Origin {"sqrt", "sqrt of a negative value, or its gradient at 0, which is infinite"},
    Origin {"pow", "a power of a negative value, or its gradient at 0"},
    Origin {"div", "a division by 0"},
    Origin {"reciprocal", "a division by 0"},
    Origin {"exp", "exp beyond the range of the format, then Inf - Inf or Inf / Inf"},
    Origin {"linalgvectornorm", "the gradient of a norm at 0, which is 0 / 0"},
    Origin {"norm", "the gradient of a norm at 0, which is 0 / 0"},
    Origin {"std", "the gradient of a deviation at 0, which is infinite"},
    Origin {"nativelayernorm", "a variance near 0 without a large enough epsilon"},
    Origin {"nativebatchnorm", "a variance near 0 without a large enough epsilon"},
    Origin {"rmsnorm", "a mean square near 0 without a large enough epsilon"},
    Origin {"acos", "the gradient at 1 or -1, which is infinite"},
    Origin {"asin", "the gradient at 1 or -1, which is infinite"},
    Origin {"softmax", "a row that is all -Inf, such as one that is masked whole", true},
    Origin {"scaleddotproduct", "a row that is masked whole, or scores beyond the range of the format", true},
    Origin {"nllloss", "a target outside of the classes, or a probability of 0", true},
    Origin {"mm", "a product: beyond the range of the format, or passed on", true},
    Origin {"addmm", "a product: beyond the range of the format, or passed on", true},
    Origin {"bmm", "a product: beyond the range of the format, or passed on", true},
    Origin {"linear", "a product: beyond the range of the format, or passed on", true},
    Origin {"mul", "0 times Inf, or passed on", true},
};

/// "Log2" is a "Log", but "Expand" is no "Exp".
bool isCalled(std::string_view op, const Origin& origin)
{
    const auto rest = op.substr(std::min(origin.op.size(), op.size()));
    const bool goesOn = !rest.empty() && rest.front() >= 'a' && rest.front() <= 'z';
    return lowered(op).starts_with(origin.op) && !goesOn;
}

const Origin* originOf(std::string_view op)
{
    const auto* found = std::find_if(origins.begin(), origins.end(), [&](const Origin& o) { return isCalled(op, o); });
    return found == origins.end() ? nullptr : found;
}

/// For where the cause is an operation before the optimizer, and not what the optimizer casts.
CardOutcome withOperationAdvice(CardOutcome outcome)
{
    outcome.advice = {
        "F.cross_entropy and F.log_softmax instead of log(softmax(x)); an epsilon inside of log, sqrt and "
        "the divisor",
        "clamp before the operation, not after it: the gradient at the edge is the problem"};
    return outcome;
}

CardOutcome opOutcome(const Event& event)
{
    const auto& op = event.facts.operation;
    const auto* origin = originOf(op);
    const auto words = origin == nullptr ? std::string() : fmt::format(": {}", origin->words);
    const auto sure = origin == nullptr || origin->passesOn ? Confidence::low : Confidence::medium;
    return at(withOperationAdvice(fired(
                  sure, fmt::format("the first operation a checker names is {}{}", op, words), {evidenceOf(event)})),
        event.step, event.rank);
}

/// Captures by their names and numbers.
using CapturesByName = std::map<std::pair<std::string_view, std::int64_t>, const Capture*>;

CapturesByName byName(const RunData& run)
{
    CapturesByName captures;
    for (const auto& capture : run.captures) {
        captures.try_emplace({capture.file, capture.id}, &capture);
    }
    return captures;
}

/// What the classes of an input speak for that an earlier operation damaged; empty where they say nothing.
std::string classesSay(const Scan& scan)
{
    if (scan.nan > 0 || scan.nonFinite() == 0) {
        return {};
    }
    if (scan.posInf == 0 && scan.zero > 0) {
        return fmt::format("{} {} -Inf beside {} and none is NaN: log(0) leaves that", counted(scan.negInf, "value"),
            scan.negInf == 1 ? "is" : "are", counted(scan.zero, "zero"));
    }
    return fmt::format("{} {} infinite and none is NaN: an overflow leaves that, 0 / 0 does not",
        counted(scan.nonFinite(), "value"), scan.nonFinite() == 1 ? "is" : "are");
}

std::optional<CardOutcome> captureOutcome(const CapturesByName& captures, const CaptureVerdict& verdict)
{
    const auto found = captures.find({verdict.capture, verdict.captureId});
    const auto* capture = found == captures.end() ? nullptr : found->second;
    if (capture == nullptr || !capture->input.scanned()) {
        return std::nullopt;
    }
    const auto total = capture->input.total();
    const auto step = verdict.step ? std::optional(verdict.step->first) : std::nullopt;
    if (verdict.role == Role::birth && total.absmax > fp16Max) {
        const auto sure = verdict.blame == Blame::numerics ? Confidence::high : Confidence::low;
        auto outcome =
            fired(sure, fmt::format("a captured input reaches {:.6g}: a cast to fp16 turns it into Inf", total.absmax),
                {evidenceOf(*capture, fmt::format("absmax {:.6g}", total.absmax))});
        outcome.advice = {"normalise in fp32 before any cast to fp16, and look for what made the input that large: a "
                          "loss scale that was left in it, or a gradient that exploded"};
        return at(std::move(outcome), step, verdict.rank);
    }
    const auto words = verdict.role == Role::upstream ? classesSay(total) : std::string();
    if (words.empty()) {
        return std::nullopt;
    }
    auto outcome = withOperationAdvice(fired(Confidence::low, words, {evidenceOf(*capture, "input")}));
    return at(std::move(outcome), step, verdict.rank);
}

std::string_view instrumentOf(const Event& event)
{
    return event.says(Phrase::gemmScan)        ? "hipBLASLt's scanner of products"
        : event.says(Phrase::instructionCheck) ? "a checker of GPU instructions"
                                               : "Hugging Face's overflow tracer";
}

/// What an instrument saw first, among the calls, kernels or modules that it looks at.
CardOutcome siteOutcome(const Event& event)
{
    const auto words = fmt::format("{} saw the first bad value in {}", instrumentOf(event), event.facts.site);
    return at(withOperationAdvice(fired(Confidence::medium, words, {evidenceOf(event)})), event.step, event.rank);
}

bool namesSite(const Event& event)
{
    const bool instrument =
        event.says(Phrase::gemmScan) || event.says(Phrase::instructionCheck) || event.says(Phrase::overflowTrace);
    return event.kind == EventKind::nanLoss && instrument && !event.facts.site.empty();
}

CardOutcome birthOperation(const RunSummary& summary)
{
    for (const auto* event : summary.events) {
        if (!event->facts.operation.empty()) {
            return opOutcome(*event);
        }
        if (namesSite(*event)) {
            return siteOutcome(*event);
        }
    }
    int looked = 0;
    const auto captures = byName(summary.run);
    for (const auto& verdict : summary.verdicts) {
        if (auto outcome = captureOutcome(captures, verdict)) {
            return *outcome;
        }
        looked += verdict.role == Role::birth || verdict.role == Role::upstream ? 1 : 0;
    }
    if (looked > 0) {
        return clear(fmt::format("of {}, no input is beyond fp16 or infinite without NaN", howMany(looked, "capture")));
    }
    return wentBad(summary) || !couldGoBad(summary)
        ? notCheckable("no traceback names an operation, no fault was captured")
        : clear("nothing went non-finite");
}

CardOutcome located(const RunSummary& summary, const Event& event)
{
    std::vector<Evidence> evidence {evidenceOf(event)};
    const auto* forward = eventSaying(summary.run, Phrase::forwardCall);
    const auto& frame = event.facts.site;
    if (!frame.empty()) {
        const auto& source = forward != nullptr ? *forward : event;
        evidence.push_back({source.source, source.line, frame});
    }
    return at(fired(Confidence::high,
                  frame.empty()
                      ? "anomaly mode names the operation whose gradient was the first NaN"
                      : fmt::format("anomaly mode names the operation, and its line in the forward pass: {}", frame),
                  evidence),
        event.step, event.rank);
}

CardOutcome locateOperation(const RunSummary& summary)
{
    if (const auto* event = eventSaying(summary.run, Phrase::nanInBackward)) {
        return located(summary, *event);
    }
    if (!wentBad(summary) && couldGoBad(summary)) {
        return clear("nothing went non-finite");
    }
    const bool failed = std::any_of(summary.run.events.begin(), summary.run.events.end(),
        [](const Event& event) { return event.kind == EventKind::diagnosticFailed; });
    return notCheckable(failed ? "anomaly mode itself failed" : "no line of anomaly mode is in the logs");
}

/// P8 and P9, which nonFiniteCards() begins with.
std::vector<Card> birthCards()
{
    return {
        {"P8", "Origin of the first bad value", "info",
            "an operation, kernel, product or module named by a checker; a captured input over 65,504 (fp16); "
            "infinities without NaN",
            {"check for non-finite values right before and right after it: it is the origin where only the second "
             "check finds some"},
            birthOperation},
        {"P9", "Operation named by anomaly mode", "info",
            "\"Function '..Backward0' returned nan values\" (PyTorch, autograd anomaly mode)",
            {"anomaly mode looks for NaN in gradients only: it sees neither Inf nor a NaN of the forward pass",
                "a forward hook on every module finds the first module that gives a non-finite value; leave that one "
                "on",
                "turn anomaly mode off for the real run: it is many times slower"},
            locateOperation},
    };
}

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

CardOutcome overflowCollapse(const RunSummary& summary)
{
    constexpr std::int64_t most = 5;
    if (const auto* event = eventSaying(summary.run, Phrase::lossScaleAtMinimum)) {
        // Every rank says so; which of them overflowed, none does.
        return at(
            fired(Confidence::high, "the loss scale is at its minimum and steps still overflow", {evidenceOf(*event)}),
            event->step, std::nullopt);
    }
    const auto skips = skipsOf(summary);
    if (const auto* streak = longest(skips.streaks, false);
        skips.byScaler && streak != nullptr && streak->count >= most) {
        return collapsing(*streak, "steps left out");
    }
    const auto falls = scaleFalls(summary);
    if (const auto* streak = longest(falls, false); streak != nullptr && streak->count >= most) {
        return collapsing(*streak, "falls of the loss scale");
    }
    if (const auto* point = fallenToOne(summary.lossScale)) {
        return at(fired(Confidence::medium, fmt::format("the loss scale has fallen to {:g}", point->value),
                      {evidenceOf(summary.lossScale, *point)}),
            point->step, summary.lossScale.rank);
    }
    if (!skips.byScaler && summary.lossScale.empty()) {
        const auto formats = formatsOf(summary.run);
        return formats.known() && formats.fp16 == nullptr ? clear("the run does not compute in fp16")
                                                          : notCheckable(whyEmpty(summary, summary.lossScale));
    }
    return clear(fmt::format("{} left out for overflow, never {} in a row after the search for the scale",
        howMany(skips.total, "step"), most));
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

CardOutcome badData(const RunSummary& summary)
{
    if (summary.loss.empty()) {
        return notCheckable(whyEmpty(summary, summary.loss));
    }
    const auto attempts = wentBadLater(summary);
    if (attempts.empty()) {
        return wentBad(summary) ? notCheckable("one run alone cannot tell")
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
    const auto interval = intervalOf(summary.loss);
    const auto coarse = interval > 1 ? fmt::format(", as far as one line in {} steps shows", interval) : std::string();
    return at(
        fired(interval > 1 ? Confidence::low : Confidence::medium,
            fmt::format("two attempts have the same first bad step, {}{}: the batch, or anything else that repeats "
                        "exactly",
                *same->first.firstBad, coarse),
            {same->first.bad, same->second.bad}),
        same->first.firstBad, summary.loss.rank);
}

} // namespace

std::vector<Card> nonFiniteCards()
{
    auto cards = birthCards();
    cards.push_back({"P10", "fp16 overflow with a collapsing loss scale", "error",
        "at least 5 steps left out in a row after the search for a scale (Nanscope's own threshold), a scale down to "
        "1, or "
        "\"already at minimum\" (DeepSpeed)",
        {"bf16 instead of fp16, where the GPU has it: its range is that of fp32",
            "else compute attention scores, final logits and loss in fp32: torch.autocast(\"cuda\", enabled=False)",
            "z-loss (P15) and query-key norm (P16) keep logits from growing"},
        overflowCollapse});
    cards.push_back({"P11", "Same step going bad again", "warning",
        "equal first bad step in at least two attempts that were good before (Megatron-LM skips an iteration seen "
        "twice)",
        {"look at that batch: finite values, labels inside of the classes, no empty sequence",
            "another order of the data tells the batch from the weights: does the step move with it?",
            "assert torch.isfinite(x).all() where the batch enters, with its index in the message"},
        badData});
    return cards;
}

} // namespace nanscope::diagnose::cards
