// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/rejudge.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/diagnose/damage/candidateorigins.h"
#include "core/diagnose/identify/plausible.h"
#include "core/diagnose/verdict/decide.h"
#include "core/diagnose/verdict/explain.h"
#include "core/diagnose/verdict/rules.h"
#include "core/replay/variants/variantname.h"

namespace nanscope::diagnose {

namespace {

template <class Range, class Value>
bool contains(const Range& range, const Value& value)
{
    return std::find(range.begin(), range.end(), value) != range.end();
}

std::optional<double> fitOf(const Identification& id, const std::string& variant)
{
    const auto found =
        std::find_if(id.all.begin(), id.all.end(), [&](const VariantFit& fit) { return fit.variant == variant; });
    return found == id.all.end() ? std::nullopt : std::optional(found->fit);
}

// The bare name stands for every format, so it is a tick's name only where there is but one.
std::string tickName(const CaptureVerdict& judged, const std::string& variant, const std::string& precision,
    const replay::Catalogue& catalogue)
{
    const auto known = catalogue.find(variant);
    const bool own = known && name((*known)->precision) == precision;
    const bool alone = std::all_of(judged.facts.members.begin(), judged.facts.members.end(),
        [&](const MemberResult& m) { return m.variant != variant || m.precision == precision; });
    return own && alone ? variant : variant + ":" + precision;
}

Tick makeTick(const CaptureVerdict& judged, const std::string& variant, const std::string& precision,
    const replay::Catalogue& catalogue)
{
    return {tickName(judged, variant, precision, catalogue), variant, precision,
        fitOf(judged.facts.identified, variant), {}};
}

// A finite output is held against the variants themselves.
std::vector<Tick> ticksWithoutMembers(const CaptureVerdict& judged, const replay::Catalogue& catalogue)
{
    std::vector<Tick> ticks;
    auto names = judged.facts.identified.names;
    std::ranges::copy(judged.facts.fit.unlessRan, std::back_inserter(names));
    for (const auto& variant : names) {
        if (const auto known = catalogue.find(variant)) {
            ticks.push_back(makeTick(judged, variant, std::string(name((*known)->precision)), catalogue));
        }
    }
    return ticks;
}

bool means(const std::string& ticked, const Tick& tick)
{
    return ticked == tick.variant || ticked == tick.variant + ":" + tick.precision;
}

bool isVariant(const std::string& tick)
{
    return tick != nothingElse && tick != otherCode;
}

std::vector<std::string> variantsAmong(std::vector<std::string> ticked)
{
    std::erase_if(ticked, std::not_fn(isVariant));
    return ticked;
}

Result<void> allReplayed(const std::vector<Tick>& ticks, const std::vector<std::string>& ticked)
{
    for (const auto& one : ticked) {
        if (std::none_of(ticks.begin(), ticks.end(), [&](const Tick& tick) { return means(one, tick); })) {
            return failure(
                ErrorKind::usage, fmt::format("{} was not replayed for this capture: judge it again with --ran", one));
        }
    }
    return {};
}

std::vector<Tick> chosen(const std::vector<Tick>& ticks, const std::vector<std::string>& ticked)
{
    std::vector<Tick> kept;
    std::copy_if(ticks.begin(), ticks.end(), std::back_inserter(kept), [&](const Tick& tick) {
        return std::any_of(ticked.begin(), ticked.end(), [&](const std::string& one) { return means(one, tick); });
    });
    return kept;
}

std::vector<std::string> variantsOf(const std::vector<Tick>& ticks)
{
    std::vector<std::string> names;
    for (const auto& tick : ticks) {
        if (!contains(names, tick.variant)) {
            names.push_back(tick.variant);
        }
    }
    return names;
}

Result<void> answerable(
    const CaptureVerdict& judged, const std::vector<Tick>& ticks, const std::vector<Tick>& kept, bool saysMore)
{
    const auto& id = judged.facts.identified;
    if (kept.empty() && !saysMore && id.how == IdentifiedBy::given) {
        return failure(ErrorKind::usage, "only what you said ran was replayed: judge again without --ran");
    }
    if (kept.empty() || kept.size() == ticks.size()) {
        return {};
    }
    const auto& measured = judged.facts.fit.measured;
    if (!measured.empty() && !contains(variantsOf(kept), measured)) {
        return failure(ErrorKind::usage,
            fmt::format("the output was measured against {} only: judge it again with --ran", measured));
    }
    return {};
}

/// What is ticked stays so.
Answer answerBesides(
    const CaptureVerdict& judged, const std::vector<Tick>& ticks, Answer::Kind kind, std::string_view said)
{
    Answer answer;
    answer.kind = kind;
    answer.ticks = judged.facts.ran;
    if (answer.ticks.empty()) {
        std::ranges::transform(ticks, std::back_inserter(answer.ticks), &Tick::name);
    }
    answer.ticks.emplace_back(said);
    return answer;
}

Answer namedAnswer(bool numbers)
{
    Answer answer;
    answer.numbers = numbers;
    return answer;
}

Answer orderAnswer(const MemberResult& member, bool numbers)
{
    auto answer = namedAnswer(numbers);
    answer.kind = member.castsFirst ? Answer::Kind::castsFirst : Answer::Kind::normalizesFirst;
    answer.precision = member.castsFirst ? member.precision : std::string();
    return answer;
}

/// Another form may leave such a tile; the others do not.
std::vector<Answer> answersAboutForm(const CaptureVerdict& judged, const std::vector<Tick>& ticks)
{
    std::vector<Answer> answers {namedAnswer(true), namedAnswer(false)};
    for (const auto& tick : ticks) {
        answers[contains(judged.facts.fit.unlessRan, tick.variant) ? 0 : 1].ticks.push_back(tick.name);
    }
    return answers;
}

bool asksAlike(const CaptureVerdict& one, const CaptureVerdict& other)
{
    const auto& function = one.facts.scene.function;
    return one.capture != other.capture && one.facts.replayed && !one.question.empty() && one.rule == other.rule
        && function == other.facts.scene.function;
}

/// Those that another capture has, too. All of its own say as little as none.
std::vector<std::string> ticksShared(
    const CaptureVerdict& judged, const std::vector<std::string>& ticked, const replay::Catalogue& catalogue)
{
    const auto ticks = ticksOf(judged, catalogue);
    std::vector<std::string> shared;
    std::ranges::copy_if(ticked, std::back_inserter(shared), [&](const std::string& one) {
        return std::ranges::any_of(ticks, [&](const Tick& tick) { return means(one, tick); });
    });
    if (shared.size() == ticks.size()) {
        shared.clear();
    }
    std::ranges::copy_if(ticked, std::back_inserter(shared), std::not_fn(isVariant));
    return shared;
}

void addAnswer(std::vector<Answer>& answers, Answer answer, const std::string& tick)
{
    auto same = std::find_if(answers.begin(), answers.end(), [&](const Answer& a) {
        return a.kind == answer.kind && a.numbers == answer.numbers && a.precision == answer.precision;
    });
    if (same == answers.end()) {
        same = answers.insert(answers.end(), std::move(answer));
    }
    if (!contains(same->ticks, tick)) {
        same->ticks.push_back(tick);
    }
}

std::vector<Answer> answersAboutEpsilon(const CaptureVerdict& judged)
{
    constexpr std::size_t mostToReplay = 3;
    const auto& names = judged.variant.names;
    if (judged.rule != RuleId::zeroInAllBadOut || names.empty() || names.size() > mostToReplay) {
        return {};
    }
    Answer none;
    none.kind = Answer::Kind::noEpsilon;
    std::ranges::transform(
        names, std::back_inserter(none.ticks), [](const std::string& name) { return replay::withEpsilon(name, 0); });
    return {none};
}

std::vector<Answer> answersAboutSteps(const CaptureVerdict& judged)
{
    const auto ran = judged.facts.replayed && judged.blame == Blame::undecided
        ? verdict::ranInOtherSteps(verdict::consider(judged.facts))
        : std::nullopt;
    return ran ? std::vector {Answer {.kind = Answer::Kind::otherSteps, .ticks = {*ran}}} : std::vector<Answer>();
}

std::vector<Answer> answersTo(const verdict::Considered& c, const std::vector<Tick>& ticks)
{
    const auto concerned = verdict::dividing(c);
    const bool byCast = verdict::isCastFailing(c, concerned);
    std::vector<Answer> answers;
    for (const bool numbers : {true, false}) {
        for (const auto& member : c.members) {
            const auto tick =
                std::ranges::find_if(ticks, [&](const Tick& t) { return verdict::means(t.name, member); });
            if (concerned(member) == numbers && tick != ticks.end()) {
                addAnswer(answers, byCast ? orderAnswer(member, numbers) : namedAnswer(numbers), tick->name);
            }
        }
    }
    return answers;
}

} // namespace

std::vector<Tick> ticksOf(const CaptureVerdict& judged, const replay::Catalogue& catalogue)
{
    if (!judged.facts.replayed) {
        return {};
    }
    if (judged.facts.members.empty()) {
        return ticksWithoutMembers(judged, catalogue);
    }
    std::vector<Tick> ticks;
    for (std::size_t i = 0; i < judged.facts.members.size(); ++i) {
        const auto& member = judged.facts.members[i];
        auto tick = makeTick(judged, member.variant, member.precision, catalogue);
        auto same = std::find_if(ticks.begin(), ticks.end(), [&](const Tick& t) { return t.name == tick.name; });
        if (same == ticks.end()) {
            same = ticks.insert(ticks.end(), std::move(tick));
        }
        same->members.push_back(i);
    }
    return ticks;
}

bool asksWhatElseRan(const CaptureVerdict& judged)
{
    return judged.facts.replayed && judged.blame == Blame::undecided && !judged.facts.nothingElse
        && !judged.facts.otherCode && !asksWhatElseIsTaken(judged)
        && (verdict::asksWhetherOtherCode(judged.facts, judged.rule)
            || (verdict::answersOf(judged.rule) == verdict::Answers::epsilon && !asksEpsilon(judged)));
}

bool asksWhatElseIsTaken(const CaptureVerdict& judged)
{
    return judged.facts.replayed && judged.rule == RuleId::duplicateMayHaveOtherState && !judged.facts.otherCode;
}

Result<CaptureVerdict> rejudge(
    const CaptureVerdict& judged, const std::vector<std::string>& ticked, const replay::Catalogue& catalogue)
{
    if (!judged.facts.replayed) {
        return ticked.empty() ? Result<CaptureVerdict>(judged)
                              : failure(ErrorKind::unsupported,
                                  "this verdict does not hang on a variant, or is of an older version: judge it again");
    }
    const auto ticks = ticksOf(judged, catalogue);
    const auto variants = variantsAmong(ticked);
    TRY(allReplayed(ticks, variants));
    const auto kept = chosen(ticks, variants);
    TRY(answerable(judged, ticks, kept, variants.size() < ticked.size()));
    auto again = judged;
    again.facts.ran = kept.size() == ticks.size() ? std::vector<std::string>() : variants;
    if (contains(ticked, otherCode)) {
        again.facts.otherCode = true;
        again.facts.nothingElse = false;
    } else if (contains(ticked, nothingElse)) {
        again.facts.otherCode = false;
        again.facts.nothingElse = true;
    }
    verdict::judgeAgain(again);
    if (!again.facts.ran.empty()) {
        again.origins.clear();
        again.originsTried = 0;
        again.originVariants = 0;
        keepOrigins(again, judged, catalogue);
    }
    return again;
}

CaptureVerdict withAnswers(CaptureVerdict judged, const Observations& observed, const replay::Catalogue& catalogue)
{
    const auto said = std::ranges::find(observed.answers, judged.capture, &KeptAnswer::capture);
    if (said == observed.answers.end() || said->ticks.empty()) {
        return judged;
    }
    auto again = rejudge(judged, said->ticks, catalogue);
    return again ? std::move(*again) : std::move(judged);
}

Result<void> checkRan(const std::string& ran, const replay::Catalogue& catalogue)
{
    return parseRan(ran, catalogue).map([](const Member&) {});
}

void dropVariants(std::vector<KeptAnswer>& answers)
{
    for (auto& answer : answers) {
        std::erase_if(answer.ticks, isVariant);
    }
    std::erase_if(answers, [](const KeptAnswer& answer) { return answer.ticks.empty(); });
}

std::vector<KeptAnswer> answersAlike(const std::vector<CaptureVerdict>& captures, const KeptAnswer& said,
    const std::vector<KeptAnswer>& kept, const replay::Catalogue& catalogue)
{
    std::vector<KeptAnswer> alike;
    const auto subject = std::ranges::find(captures, said.capture, &CaptureVerdict::capture);
    if (subject == captures.end() || said.ticks.empty() || subject->question.empty()) {
        return alike;
    }
    for (const auto& other : captures) {
        const bool answered = std::ranges::find(kept, other.capture, &KeptAnswer::capture) != kept.end();
        if (!answered && asksAlike(other, *subject)) {
            auto answer = KeptAnswer {other.capture, ticksShared(other, said.ticks, catalogue)};
            if (!answer.ticks.empty() && rejudge(other, answer.ticks, catalogue)) {
                alike.push_back(std::move(answer));
            }
        }
    }
    return alike;
}

std::vector<Answer> answersOf(const CaptureVerdict& judged, const replay::Catalogue& catalogue)
{
    const auto ticks = ticksOf(judged, catalogue);
    if (asksWhatElseRan(judged) || asksWhatElseIsTaken(judged)) {
        const bool taken = asksWhatElseIsTaken(judged);
        return {answerBesides(judged, ticks, taken ? Answer::Kind::inputAlone : Answer::Kind::nothingElse, nothingElse),
            answerBesides(judged, ticks, taken ? Answer::Kind::takesMore : Answer::Kind::otherCode, otherCode)};
    }
    auto steps = answersAboutSteps(judged);
    if (judged.rule == RuleId::nameContradicted && !judged.facts.otherCode) {
        steps.push_back(answerBesides(judged, ticks, Answer::Kind::otherCode, otherCode));
    }
    if (!steps.empty()) {
        return steps;
    }
    if (judged.rule == RuleId::offUnlessAnotherForm) {
        return answersAboutForm(judged, ticks);
    }
    if (asksEpsilon(judged)) {
        return answersAboutEpsilon(judged);
    }
    if (!judged.facts.replayed || judged.facts.members.empty()) {
        return {};
    }
    const auto c = verdict::consider(judged.facts);
    const auto concerned = verdict::dividing(c);
    // What was changed in a function is no choice among those that were not.
    const bool changed = !c.saidToHaveRun() && !judged.facts.scene.namedLike.empty();
    if (changed && !(concerned != nullptr && verdict::isCastFailing(c, concerned))) {
        return {};
    }
    // Where every member could have done it, naming one of them settles nothing.
    const bool divided = concerned != nullptr && c.any(concerned) && !c.all(concerned);
    return divided ? answersTo(c, ticks) : std::vector<Answer>();
}

std::string questionAlone(const CaptureVerdict& judged)
{
    if (!judged.facts.replayed) {
        return judged.question;
    }
    const auto c = verdict::consider(judged.facts);
    return verdict::explain(c, verdict::decide(c)).question;
}

bool asksWhatRan(const CaptureVerdict& judged)
{
    const bool otherHalf = judged.facts.nothingElse && verdict::answersOf(judged.rule) == verdict::Answers::nothingElse;
    return judged.facts.identified.how != IdentifiedBy::sidecar && (otherHalf || verdict::asksForName(judged.rule));
}

bool asksEpsilon(const CaptureVerdict& judged)
{
    return judged.facts.replayed && judged.blame == Blame::undecided
        && verdict::answersOf(judged.rule) == verdict::Answers::epsilon
        && !verdict::asksAboutOtherCode(verdict::consider(judged.facts), judged.rule);
}

std::optional<std::string_view> callThatAnswers(const CaptureVerdict& judged)
{
    switch (judged.rule) {
    case RuleId::withoutMargin:
        return "kernels-off";
    case RuleId::functionUnknown:
        return "";
    default:
        return std::nullopt;
    }
}

} // namespace nanscope::diagnose
