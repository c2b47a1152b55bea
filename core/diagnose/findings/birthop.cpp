// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// P8 and P9: which operation made the first value that is not finite, as far as a log or a capture names it.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "core/diagnose/context/settings.h"
#include "core/diagnose/findings/nonfinite.h"
#include "core/diagnose/findings/story.h"

namespace nanscope::diagnose::cards {

namespace {

constexpr double fp16Max = 65504;

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

CardOutcome opOutcome(const Event& event)
{
    const auto& op = event.facts.operation;
    const auto* origin = originOf(op);
    const auto words = origin == nullptr ? std::string() : fmt::format(": {}", origin->words);
    return at(fired(origin == nullptr || origin->passesOn ? Confidence::low : Confidence::medium,
                  fmt::format("the first operation a checker names is {}{}", op, words), {evidenceOf(event)}),
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
        return fmt::format(
            "{} values are -Inf beside {} zeros and none is NaN: log(0) leaves that", scan.negInf, scan.zero);
    }
    return fmt::format(
        "{} values are infinite and none is NaN: an overflow leaves that, 0 / 0 does not", scan.nonFinite());
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
        return at(
            fired(sure, fmt::format("a captured input reaches {:.6g}: a cast to fp16 makes Inf of it", total.absmax),
                {evidenceOf(*capture, fmt::format("absmax {:.6g}", total.absmax))}),
            step, verdict.rank);
    }
    const auto words = verdict.role == Role::upstream ? classesSay(total) : std::string();
    return words.empty()
        ? std::nullopt
        : std::optional(at(fired(Confidence::low, words, {evidenceOf(*capture, "input")}), step, verdict.rank));
}

CardOutcome birthOperation(const Story& story)
{
    for (const auto& event : story.run.events) {
        if (!event.facts.operation.empty()) {
            return opOutcome(event);
        }
    }
    int looked = 0;
    const auto captures = byName(story.run);
    for (const auto& verdict : story.verdicts) {
        if (auto outcome = captureOutcome(captures, verdict)) {
            return *outcome;
        }
        looked += verdict.role == Role::birth || verdict.role == Role::upstream ? 1 : 0;
    }
    if (looked > 0) {
        return clear(fmt::format("of {}, no input is beyond fp16 or infinite without NaN", howMany(looked, "capture")));
    }
    return wentBad(story) || !couldGoBad(story) ? notCheckable("no traceback names an operation, no fault was captured")
                                                : clear("nothing went non-finite");
}

/// The innermost line of our own that a traceback ends in.
std::string lastFrame(std::string_view detail)
{
    const auto begin = detail.rfind("File \"");
    if (begin == std::string_view::npos) {
        return {};
    }
    return std::string(detail.substr(begin, detail.find('\n', begin) - begin));
}

CardOutcome located(const Story& story, const Event& event)
{
    std::vector<Evidence> evidence {evidenceOf(event)};
    const auto* forward = eventSaying(story.run, Phrase::forwardCall);
    auto frame = lastFrame(forward != nullptr ? forward->detail : event.detail);
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

CardOutcome locateOperation(const Story& story)
{
    if (const auto* event = eventSaying(story.run, Phrase::nanInBackward)) {
        return located(story, *event);
    }
    if (!wentBad(story) && couldGoBad(story)) {
        return clear("nothing went non-finite");
    }
    const bool failed = std::any_of(story.run.events.begin(), story.run.events.end(),
        [](const Event& event) { return event.kind == EventKind::diagnosticFailed; });
    return notCheckable(failed ? "anomaly mode itself failed" : "no line of anomaly mode is in the logs");
}

} // namespace

std::vector<Card> birthCards()
{
    return {
        {"P8", "What the first bad value was made by", "info",
            "an operation named by a checker; a captured input over 65,504 (fp16); infinities without NaN (seed 004, "
            "P8)",
            {"F.cross_entropy and F.log_softmax instead of log(softmax(x)); an epsilon inside of log, sqrt and the "
             "divisor",
                "clamp before the operation, not after it: the gradient at the edge is the problem"},
            birthOperation},
        {"P9", "Anomaly mode names the operation", "info",
            "\"Function '..Backward0' returned nan values\" (PyTorch, autograd anomaly mode)",
            {"anomaly mode looks for NaN in gradients only: it sees neither Inf nor a NaN of the forward pass",
                "a forward hook on every module finds the first module that gives a non-finite value; leave that one "
                "on",
                "turn anomaly mode off for the real run: it is many times slower"},
            locateOperation},
    };
}

} // namespace nanscope::diagnose::cards
