// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/rejudge.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "core/diagnose/endslike.h"
#include "core/diagnose/judge.h"
#include "core/diagnose/plausible.h"
#include "core/diagnose/rules.h"
#include "core/diagnose/twins.h"
#include "core/replay/variant.h"

namespace nanscope {

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
std::string tickName(const CaptureVerdict& judged, const std::string& variant, const std::string& precision)
{
    const auto known = findVariant(variant);
    const bool own = known && name((*known)->precision) == precision;
    const bool alone = std::all_of(judged.members.begin(), judged.members.end(),
        [&](const MemberResult& m) { return m.variant != variant || m.precision == precision; });
    return own && alone ? variant : variant + ":" + precision;
}

Tick makeTick(const CaptureVerdict& judged, const std::string& variant, const std::string& precision)
{
    return {tickName(judged, variant, precision), variant, precision, fitOf(judged.variant, variant), {}};
}

// A finite output is held against the variants themselves.
std::vector<Tick> ticksWithoutMembers(const CaptureVerdict& judged)
{
    std::vector<Tick> ticks;
    for (const auto& variant : judged.variant.names) {
        if (const auto known = findVariant(variant)) {
            ticks.push_back(makeTick(judged, variant, std::string(name((*known)->precision))));
        }
    }
    return ticks;
}

bool means(const std::string& ticked, const Tick& tick)
{
    return ticked == tick.variant || ticked == tick.variant + ":" + tick.precision;
}

std::vector<std::string> withoutNothingElse(std::vector<std::string> ticked)
{
    std::erase(ticked, nothingElse);
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

/// The rules read the scans of an element, never its values.
Element elementOf(const Weighed& weighed)
{
    Element element;
    element.shape = {1, weighed.rows, weighed.cols};
    const auto count = weighed.rows * weighed.cols;
    element.inputScan.count = count;
    element.inputScan.zero = weighed.inputZero ? count : 0;
    element.inputScan.absmax = weighed.inputAbsmax;
    element.outputScan.count = count;
    element.outputScan.zero = weighed.outputZero ? count : 0;
    element.outputScan.nan = weighed.outputFinite ? 0 : 1;
    return element;
}

Case caseOf(const CaptureVerdict& judged, const Element& element)
{
    const auto& weighed = *judged.weighed;
    Case c;
    c.element = &element;
    c.damage = judged.damage;
    c.identification = judged.variant;
    c.fit = weighed.fit;
    c.masked = judged.kind == maskedKind;
    c.deliberate = judged.kind == deliberateKind;
    c.misplaced = judged.kind == corruptKind;
    c.besides = judged.kind == besidesKind;
    c.faint = judged.kind == faintKind;
    c.likeACast = judged.kind == castKind;
    c.epsilonUnknown = judged.kind == unknownEpsilonKind;
    c.deadLines = judged.kind == deadLinesKind;
    return c;
}

Result<void> addMember(Case& c, const MemberResult& result)
{
    const auto variant = findVariant(result.variant);
    const auto precision = parsePrecision(result.precision);
    if (!variant || !precision) {
        return failure(ErrorKind::unsupported,
            fmt::format(
                "{} in {} is not known to this version: judge the capture again", result.variant, result.precision));
    }
    c.members.push_back({*variant, *precision});
    c.results.push_back(result);
    return {};
}

bool holds(const std::vector<Tick>& ticks, std::size_t member)
{
    return std::any_of(ticks.begin(), ticks.end(), [&](const Tick& tick) { return contains(tick.members, member); });
}

Result<void> addMembers(Case& c, const CaptureVerdict& judged, const std::vector<Tick>& ticks)
{
    for (std::size_t i = 0; i < judged.members.size(); ++i) {
        if (!holds(ticks, i)) {
            continue;
        }
        if (auto added = addMember(c, judged.members[i]); !added) {
            return added;
        }
    }
    return {};
}

void narrow(Identification& id, std::vector<std::string> names)
{
    const bool unknownFunction = id.matchesNone && names.size() > 1;
    // A sidecar names the function and leaves the format open: a tick can only choose among its formats.
    sayRan(id, std::move(names), id.how == IdentifiedBy::sidecar ? id.how : IdentifiedBy::given);
    id.matchesNone = unknownFunction;
}

// Only a finite output that looked corrupt makes a birth of a healthy capture; without that word it is one again.
Role roleBefore(const CaptureVerdict& judged)
{
    const auto& weighed = *judged.weighed;
    const bool promoted = judged.role == Role::birth && weighed.outputFinite && !weighed.inputZero;
    return promoted ? Role::healthy : judged.role;
}

// What was found in bytes, in other calls and in what ranks left holds whatever ran.
bool holdsWhateverRan(const EvidenceLine& line)
{
    return line.source == "bytes" || line.source == "control" || line.source == "ranks";
}

void keepFacts(CaptureVerdict& verdict, const CaptureVerdict& judged)
{
    std::ranges::copy_if(judged.speaksFor, std::back_inserter(verdict.speaksFor), holdsWhateverRan);
    std::ranges::copy_if(judged.notTestable, std::back_inserter(verdict.notTestable), holdsWhateverRan);
}

Result<CaptureVerdict> judgeOver(const CaptureVerdict& judged, const std::vector<Tick>& kept)
{
    const auto element = elementOf(*judged.weighed);
    auto c = caseOf(judged, element);
    narrow(c.identification, variantsOf(kept));
    if (auto added = addMembers(c, judged, kept); !added) {
        return tl::make_unexpected(added.error());
    }
    auto verdict = judged;
    verdict.role = roleBefore(judged);
    conclude(verdict, c, judge(c), *judged.weighed);
    keepEndsLike(verdict, judged);
    keepFacts(verdict, judged);
    letTwinSpeakAgain(verdict, judged);
    return verdict;
}

Result<void> answerable(const CaptureVerdict& judged, const std::vector<Tick>& ticks, const std::vector<Tick>& kept)
{
    const auto& id = judged.variant;
    if (kept.empty() && id.how == IdentifiedBy::given) {
        return failure(ErrorKind::usage, "only what you said ran was replayed: judge again without --ran");
    }
    if (kept.empty() || kept.size() == ticks.size()) {
        return {};
    }
    const auto& measured = judged.weighed->fit.measured;
    if (!measured.empty() && !contains(variantsOf(kept), measured)) {
        return failure(ErrorKind::usage,
            fmt::format("the output was measured against {} only: judge it again with --ran", measured));
    }
    return {};
}

bool asksWhetherAlone(const CaptureVerdict& judged)
{
    return asksWhatElseRan(judged) || asksWhatElseIsTaken(judged);
}

Answer aloneAnswer(const std::vector<Tick>& ticks, Answer::Kind kind)
{
    Answer answer;
    answer.kind = kind;
    for (const auto& tick : ticks) {
        answer.ticks.push_back(tick.name);
    }
    answer.ticks.emplace_back(nothingElse);
    return answer;
}

Answer namedAnswer(bool numbers)
{
    Answer answer;
    answer.numbers = numbers;
    return answer;
}

Answer orderAnswer(const Member& member, bool numbers)
{
    auto answer = namedAnswer(numbers);
    const bool casts = member.variant->castOrder == CastOrder::castFirst;
    answer.kind = casts ? Answer::Kind::castsFirst : Answer::Kind::normalizesFirst;
    answer.precision = casts ? std::string(name(member.precision)) : std::string();
    return answer;
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

std::vector<Answer> answersTo(const Division& division, const Case& c, const std::vector<Tick>& ticks)
{
    std::vector<Answer> answers;
    const auto add = [&](const std::vector<std::size_t>& members, bool numbers) {
        for (const auto i : members) {
            auto answer = division.byCast ? orderAnswer(c.members[i], numbers) : namedAnswer(numbers);
            const auto tick =
                std::find_if(ticks.begin(), ticks.end(), [&](const Tick& t) { return contains(t.members, i); });
            addAnswer(answers, std::move(answer), tick->name);
        }
    };
    add(division.can, true);
    add(division.cannot, false);
    return answers;
}

} // namespace

std::vector<Tick> ticksOf(const CaptureVerdict& judged)
{
    if (!judged.weighed) {
        return {};
    }
    if (judged.members.empty()) {
        return ticksWithoutMembers(judged);
    }
    std::vector<Tick> ticks;
    for (std::size_t i = 0; i < judged.members.size(); ++i) {
        auto tick = makeTick(judged, judged.members[i].variant, judged.members[i].precision);
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
    constexpr std::array<std::string_view, 4> kinds {besidesKind, castKind, faintKind, unsaidKind};
    return judged.weighed && judged.blame == Blame::undecided && contains(kinds, judged.kind);
}

bool asksWhatElseIsTaken(const CaptureVerdict& judged)
{
    return judged.weighed && judged.blame == Blame::undecided && judged.kind == otherOutputKind;
}

Result<CaptureVerdict> rejudge(const CaptureVerdict& judged, const std::vector<std::string>& ticked)
{
    if (!judged.weighed) {
        return ticked.empty() ? Result<CaptureVerdict>(judged)
                              : failure(ErrorKind::unsupported,
                                  "this verdict does not hang on a variant, or is of an older version: judge it again");
    }
    const auto ticks = ticksOf(judged);
    const auto variants = withoutNothingElse(ticked);
    const bool alone = variants.size() < ticked.size() && asksWhetherAlone(judged);
    if (auto replayed = allReplayed(ticks, variants); !replayed) {
        return tl::make_unexpected(replayed.error());
    }
    const auto kept = alone && variants.empty() ? ticks : chosen(ticks, variants);
    if (auto can = answerable(judged, ticks, kept); !can) {
        return tl::make_unexpected(can.error());
    }
    if (!alone && (kept.empty() || kept.size() == ticks.size())) {
        return judged;
    }
    return judgeOver(judged, kept);
}

std::vector<Answer> answersOf(const CaptureVerdict& judged)
{
    if (asksWhetherAlone(judged)) {
        const auto kind = asksWhatElseRan(judged) ? Answer::Kind::nothingElse : Answer::Kind::inputAlone;
        return {aloneAnswer(ticksOf(judged), kind)};
    }
    if (!judged.weighed || judged.members.empty()) {
        return {};
    }
    const auto element = elementOf(*judged.weighed);
    const auto ticks = ticksOf(judged);
    auto c = caseOf(judged, element);
    if (!addMembers(c, judged, ticks)) {
        return {};
    }
    const auto division = divisionOf(c);
    // Where every member could have done it, naming one of them settles nothing.
    return division.can.empty() || division.cannot.empty() ? std::vector<Answer>() : answersTo(division, c, ticks);
}

} // namespace nanscope
