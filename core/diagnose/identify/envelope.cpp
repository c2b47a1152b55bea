// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/envelope.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/diagnose/verdict/margin.h"
#include "core/diagnose/verdict/thresholds.h"
#include "core/replay/analysis/forecast.h"
#include "core/replay/engine/outcome.h"
#include "core/replay/program/program.h"
#include "core/replay/variants/variant.h"

namespace nanscope::diagnose {

namespace {

replay::ReplayOptions optionsFor(const Member& member, const replay::Rounding& rounding, std::optional<double> epsilon)
{
    replay::ReplayOptions options;
    options.precision = member.precision;
    options.rounding = rounding;
    options.epsilon = epsilon;
    options.spectralNorms = true;
    return options;
}

bool finiteThroughout(const replay::Replay& replayed)
{
    return std::all_of(replayed.ops.begin(), replayed.ops.end(),
        [](const OpTrace& op) { return op.op == OpName::input || op.batches[0].finite(); });
}

// Magnitudes that live in the compute format: what comes before the cast of a normalise-first variant does not.
double largestComputed(const replay::Replay& replayed, const replay::Variant& variant)
{
    double largest = 0;
    for (const auto& op : replayed.ops) {
        const bool wide = variant.castOrder == replay::CastOrder::normalizeFirst
            && (op.op == OpName::norm || op.op == OpName::normalize);
        if (op.op != OpName::input && !wide) {
            largest = std::max(largest, op.batches[0].absmax);
        }
    }
    return largest;
}

std::optional<double> slackOf(const std::vector<double>& norms, const std::vector<double>& limits)
{
    std::optional<double> smallest;
    for (std::size_t k = 0; k < norms.size() && k < limits.size(); ++k) {
        if (std::isfinite(norms[k]) && norms[k] > 0) {
            const double slack = 100 * (limits[k] / norms[k] - 1);
            smallest = std::min(smallest.value_or(slack), slack);
        }
    }
    return smallest;
}

/// Ends the replay as the dump ends: with its damage, or silently zero.
bool endsAlike(const replay::Replay& replayed, const Element& element)
{
    const auto& output = replayed.ops.back().batches[0];
    return element.outputScan.finite() ? element.outputScan.allZero() && output.allZero()
                                       : !output.finite() && sameDamage(replayed.outputs[0], element.output);
}

std::optional<double> largestQ(const replay::Replay& replayed)
{
    std::optional<double> largest;
    for (const auto& op : replayed.ops) {
        if (op.op == OpName::q && op.iteration > 0) {
            largest = std::max(largest.value_or(0), op.batches[0].absmax);
        }
    }
    return largest;
}

void gather(MemberResult& result, const replay::Replay& replayed, const std::vector<double>& limits,
    const Member& member, const Element& element)
{
    ++result.roundings;
    const bool finite = finiteThroughout(replayed);
    result.finite += finite ? 1 : 0;
    result.reproducing += endsAlike(replayed, element) ? 1 : 0;
    if (!finite && result.firstBad.empty()) {
        const auto first = *replay::firstNonFinite(replayed, 0, false);
        result.firstBad = first.iteration == 0 ? std::string(name(first.op))
                                               : fmt::format("step {} {}", first.iteration, name(first.op));
    }
    if (const auto slack = slackOf(replayed.spectralNorms[0], limits)) {
        result.slackPercent = std::min(result.slackPercent.value_or(*slack), *slack);
    }
    if (const auto q = largestQ(replayed)) {
        result.absmaxQ = std::max(result.absmaxQ.value_or(0), *q);
    }
    const double largest = largestComputed(replayed, *member.variant);
    if (!finite) {
        result.headroomBinades = std::min(result.headroomBinades, 0.0);
    } else if (largest > 0) {
        const double headroom = std::log2(largestFinite(member.precision) / largest);
        result.headroomBinades = std::min(result.headroomBinades, headroom);
    }
}

/// The variant as this member has it run.
replay::Variant asRun(const Member& member)
{
    auto variant = *member.variant;
    variant.ignoresCallerEpsilon = variant.ignoresCallerEpsilon && !member.recordedEpsilon;
    return variant;
}

// The input moved by an ulp after the own rounding: they lie farthest apart.
std::vector<replay::Rounding> farthestFirst(std::vector<replay::Rounding> envelope)
{
    const auto moved =
        std::ranges::find_if(envelope, [](const replay::Rounding& rounding) { return rounding.inputUlps != 0; });
    std::rotate(envelope.begin() + 1, moved, moved + 1);
    return envelope;
}

bool isEnough(const MemberResult& result, Enough enough)
{
    if (result.roundings == 0) {
        return false;
    }
    const bool clear = verdict::isClear(result);
    if (enough == Enough::whole) {
        return clear && result.roundings >= 2;
    }
    const bool twiceFinite = result.roundings >= 2 && !verdict::blowsUp(result);
    return clear || twiceFinite || verdict::reproduces(result) || verdict::isClose(result);
}

} // namespace

std::vector<replay::Rounding> envelopeOf(const Member& member)
{
    return replay::envelopeOf(member.variant->lowering);
}

bool halfLosesInput(const Scan& input)
{
    // Half of its smallest subnormal rounds to zero, and half a step above its largest number to infinity.
    constexpr double halfVanishes = 0x1p-25;
    constexpr double halfOverflows = 65520;
    return !input.allZero() && (input.absmax >= halfOverflows || input.absmax <= halfVanishes);
}

MemberResult resultFor(const Member& member, const Scan& input)
{
    MemberResult result;
    result.variant = member.variant->name;
    result.precision = name(member.precision);
    result.headroomBinades = std::log2(largestFinite(member.precision));
    result.slackNeeded = verdict::slackNeeded(replay::slackOfSchedule(member.variant->steps), member.precision);
    result.published = member.variant->published;
    result.recordedEpsilon = member.recordedEpsilon;
    result.castsFirst = member.variant->castOrder == replay::CastOrder::castFirst;
    const bool vanishes = heldIn(member.precision) == Precision::fp16 && halfLosesInput(input);
    result.castLoses = vanishes || input.absmax > largestFinite(member.precision);
    return result;
}

Result<Values> outputOf(const Member& member, const replay::Rounding& rounding, const Element& element,
    std::optional<double> epsilon, replay::Device& device, const CancelToken& cancel, std::optional<int> steps)
{
    replay::ReplayOptions options;
    options.precision = member.precision;
    options.rounding = rounding;
    options.epsilon = epsilon;
    options.steps = steps;
    options.keepOutput = true;
    return replay::replay(*member.variant, element.shape, element.input, device, options, cancel)
        .map([](replay::Replay done) { return std::move(done.outputs[0]); });
}

Result<OwnReplay> replayOwn(const Member& member, const Element& element, std::optional<double> epsilon,
    replay::Device& device, const CancelToken& cancel)
{
    auto options = optionsFor(member, envelopeOf(member).front(), epsilon);
    options.keepOutput = true;
    auto replayed = TRY(replay::replay(asRun(member), element.shape, element.input, device, options, cancel));
    OwnReplay own {resultFor(member, element.inputScan), {}};
    gather(own.result, replayed, replay::divergenceLimits(replayed.program.steps), member, element);
    own.output = std::move(replayed.outputs[0]);
    return own;
}

Result<MemberResult> replayMember(const Member& member, const Element& element, std::optional<double> epsilon,
    Enough enough, replay::Device& device, const CancelToken& cancel, const MemberResult* begun)
{
    auto result = begun != nullptr ? *begun : resultFor(member, element.inputScan);
    const auto variant = asRun(member);
    const auto limits = replay::divergenceLimits(variant.steps);
    const auto envelope = farthestFirst(envelopeOf(member));
    for (auto i = static_cast<std::size_t>(result.roundings); i < envelope.size() && !isEnough(result, enough); ++i) {
        auto options = optionsFor(member, envelope[i], epsilon);
        options.keepDamaged = !element.outputScan.finite();
        const auto replayed = TRY(replay::replay(variant, element.shape, element.input, device, options, cancel));
        gather(result, replayed, limits, member, element);
    }
    return result;
}

bool keepsClear(const MemberResult& forecast)
{
    const bool farFromLimit = forecast.slackPercent.value_or(0) >= 2 * verdict::forecastError;
    return farFromLimit && verdict::isClear(forecast) && !forecast.castLoses;
}

namespace {

/// All that the replays of a member on this matrix depend on: members of equal work end alike, bit for bit.
std::string workOf(const Member& member, const Element& element, std::optional<double> epsilon)
{
    // Of magnitudes, those before the cast of a normalise-first variant are left out.
    std::string all(
        member.variant->castOrder == replay::CastOrder::normalizeFirst ? "normalized first\n" : "cast first\n");
    const auto variant = asRun(member);
    for (const auto& rounding : envelopeOf(member)) {
        replay::CompileOptions options;
        options.precision = member.precision;
        options.rounding = rounding;
        options.epsilon = epsilon;
        const auto program = replay::compileProgram(variant, element.shape, options);
        all += program ? replay::workOf(*program) : member.variant->name;
    }
    return all;
}

/// What its schedule tells of it without a replay: slack and headroom, of no roundings. Of a Gram form these are what
/// `sibling` showed, a replay of the same steps in the same format. Nothing where forecast() has none.
std::optional<MemberResult> forecastMember(
    const Member& member, const Element& element, std::optional<double> epsilon, const MemberResult* sibling)
{
    const auto& scan = element.inputScan;
    const replay::InputSize size {scan.absmax, std::sqrt(scan.sumSquares), element.shape.rows == element.shape.cols};
    const auto foretold = replay::forecast(asRun(member), member.precision, size, epsilon);
    if (!foretold) {
        return std::nullopt;
    }
    auto result = resultFor(member, scan);
    result.slackPercent = foretold->slackPercent;
    result.headroomBinades = std::log2(largestFinite(member.precision) / foretold->largest);
    if (!foretold->slackPercent && sibling != nullptr && !verdict::blowsUp(*sibling)) {
        result.slackPercent = sibling->slackPercent;
        result.absmaxQ = sibling->absmaxQ;
        result.headroomBinades = std::min(result.headroomBinades, sibling->headroomBinades);
    }
    return result;
}

/// True if the replay has the slack that was forecast, but for what roundings take.
bool agrees(const MemberResult& replayed, const MemberResult& forecast)
{
    return !verdict::blowsUp(replayed) && replayed.slackPercent && forecast.slackPercent
        && *replayed.slackPercent >= *forecast.slackPercent - verdict::forecastError;
}

bool sameGramSteps(const replay::Variant& a, const replay::Variant& b)
{
    return a.form == b.form && a.steps == b.steps && a.restarts == b.restarts;
}

} // namespace

MemberReplays::MemberReplays(const Bench& bench, Watch watch)
    : m_bench(bench)
    , m_watch(std::move(watch))
{ }

Result<std::vector<MemberResult>> MemberReplays::all(const std::vector<Member>& members)
{
    std::vector<std::size_t> order(members.size());
    std::iota(order.begin(), order.end(), std::size_t {0});
    std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return !foreseeable(members[i]); });
    std::vector<MemberResult> results(members.size());
    m_looked = 0;
    m_all = members.size();
    for (const auto i : order) {
        auto result = of(members[i]);
        ++m_looked;
        results[i] = TRY(std::move(result));
    }
    return results;
}

/// A replay of another form or schedule will do for it.
bool MemberReplays::foreseeable(const Member& member) const
{
    const auto forecast = foretold(member, nullptr);
    return forecast && keepsClear(*forecast);
}

Result<MemberResult> MemberReplays::of(const Member& member)
{
    const auto work = workOf(member, m_bench.element, m_bench.epsilon);
    auto same = m_done.find(work);
    if (same == m_done.end()) {
        auto result = TRY(replayed(member));
        same = m_done.emplace(work, std::move(result)).first;
    }
    auto result = same->second;
    result.variant = member.variant->name;
    result.published = member.variant->published;
    result.recordedEpsilon = member.recordedEpsilon;
    return result;
}

Result<MemberResult> MemberReplays::replayed(const Member& member)
{
    const auto* sibling = m_bench.forecasts ? siblingOf(member) : nullptr;
    auto forecast = foretold(member, sibling);
    if (forecast && sibling != nullptr && keepsClear(*forecast)) {
        forecast->forecastBy = sibling->variant;
        return std::move(*forecast);
    }
    m_watch(member, m_looked, m_all);
    const auto begun = m_bench.own.find(member.variant);
    const bool ownFormat = member.precision == member.variant->precision && !member.recordedEpsilon;
    auto result = replayMember(member, m_bench.element, m_bench.epsilon, m_bench.enough, m_bench.device, m_bench.cancel,
        ownFormat && begun != m_bench.own.end() ? &begun->second : nullptr);
    if (result && (isGram(member) || forecast)) {
        m_replayed.push_back({member, isGram(member) || agrees(*result, *forecast), *result});
    }
    return result;
}

/// A replay that the forecast for this member may go by: for a Gram form one of the same steps, else any that came
/// out as it was forecast, as long as none of its format did not.
const MemberResult* MemberReplays::siblingOf(const Member& member) const
{
    const auto alike = [&](const Done& done) {
        const auto& other = done.member;
        const bool sameForm = isGram(other) == isGram(member) && other.precision == member.precision;
        return sameForm && (!isGram(member) || sameGramSteps(*other.variant, *member.variant));
    };
    const MemberResult* found = nullptr;
    for (const auto& done : m_replayed) {
        if (alike(done)) {
            if (!done.held) {
                return nullptr;
            }
            found = found == nullptr ? &done.result : found;
        }
    }
    return found;
}

std::optional<MemberResult> MemberReplays::foretold(const Member& member, const MemberResult* sibling) const
{
    return m_bench.forecasts ? forecastMember(member, m_bench.element, m_bench.epsilon, sibling) : std::nullopt;
}

bool MemberReplays::isGram(const Member& member) const
{
    return replay::isGramForm(*member.variant, m_bench.element.shape.rows == m_bench.element.shape.cols);
}

} // namespace nanscope::diagnose
