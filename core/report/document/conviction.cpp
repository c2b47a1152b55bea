// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/document/conviction.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/model/scenewords.h"
#include "core/model/verdict.h"
#include "core/model/words.h"

namespace nanscope::report {

namespace {

std::string opText(OpName op)
{
    switch (op) {
    case OpName::norm:
        return "The norm";
    case OpName::normalize:
        return "The input over its norm";
    case OpName::gram:
        return "X Xᵀ";
    case OpName::polynomial:
        return "B = bA + cA²";
    case OpName::update:
        return "X = aX + BX";
    case OpName::z:
        return "Z = bR + cR²";
    case OpName::q:
        return "Q";
    case OpName::r:
        return "R";
    case OpName::restart:
        return "Q X";
    default:
        return fmt::format("The result of {}", name(op));
    }
}

std::string endText(Precision precision)
{
    return fmt::format("{} holds at most {}", name(precision), magnitudeText(largestFinite(precision)));
}

/// "2,048 NaN", "384 Inf", "3 NaN and 2 Inf"
std::string countsText(const DamagePattern& damage)
{
    const auto infinite = damage.count - damage.nan;
    if (infinite == 0) {
        return countText(damage.nan) + " NaN";
    }
    const auto text = countText(infinite) + " Inf";
    return damage.nan == 0 ? text : countText(damage.nan) + " NaN and " + text;
}

std::string placeText(const DamagePattern& damage)
{
    if (damage.shape == DamageShape::wholeElement) {
        return damage.nan == damage.count ? "the whole output" : "the whole output, nothing finite";
    }
    const auto area = (damage.rowEnd - damage.rowBegin) * (damage.colEnd - damage.colBegin);
    const auto* within = damage.count == area ? "" : "places within ";
    return fmt::format(
        "{}rows {}–{} × columns {}–{}", within, damage.rowBegin, damage.rowEnd - 1, damage.colBegin, damage.colEnd - 1);
}

/// What the replays of the same input gave, forecasts left out.
struct Replays
{
    int count = 0;
    int finite = 0;
    double largest = 0; ///< magnitude that any of them met
    std::set<Precision> formats;

    bool allFinite() const { return finite == count; }
};

Replays replaysOf(const std::vector<MemberResult>& members)
{
    Replays all;
    for (const auto& member : members) {
        const auto precision = parsePrecision(member.precision);
        if (member.roundings == 0 || !precision) {
            continue;
        }
        all.count += member.roundings;
        all.finite += member.finite;
        all.formats.insert(*precision);
        all.largest = std::max(all.largest, largestFinite(*precision) / std::exp2(member.headroomBinades));
    }
    return all;
}

std::string replaysText(const Replays& replays)
{
    const auto count = fmt::format("{} of {} replays of this input", replays.finite, replays.count);
    if (!replays.allFinite()) {
        return fmt::format("; {} stay finite", count);
    }
    const auto end = replays.formats.size() == 1 ? "; " + endText(*replays.formats.begin()) : std::string();
    return fmt::format(
        ", where {} are finite, with no intermediate value above {}{}", count, magnitudeText(replays.largest), end);
}

std::string damageText(const CaptureVerdict& verdict)
{
    const auto& damage = verdict.facts.damage;
    auto text = fmt::format("{} in {}", countsText(damage), placeText(damage));
    if (verdict.facts.inputZero) {
        return text + ", where every value of the input is zero.";
    }
    if (const auto replays = replaysOf(verdict.members); replays.count > 0) {
        text += replaysText(replays);
    }
    return text + ".";
}

std::string badBeforeText(const Scene& scene)
{
    switch (scene.badBefore()) {
    case BadBefore::weights:
        return " " + asSentence(weightsBeforeText(*scene.weightsBefore));
    case BadBefore::gradients:
        return " A gradient was bad before the step began.";
    case BadBefore::states:
        return " What the optimizer keeps was bad before the step began.";
    case BadBefore::nothing:
        return " No weight, gradient or momentum of this shape was bad before the step began.";
    case BadBefore::notKnown:
        break;
    }
    return {};
}

std::string damagedInputText(const Capture& capture)
{
    const auto scan = capture.input.total();
    return fmt::format("{} in the input already, of {} values, the first at {}.{}", classesText(scan),
        countText(scan.count), indexText(indexIn(capture.input.shape, scan.firstNonFinite)),
        badBeforeText(capture.scene));
}

bool castMayDecide(const CaptureVerdict& verdict)
{
    const auto loses = [](const MemberResult& member) { return member.castLoses && member.castsFirst; };
    return (verdict.blame == Blame::undecided || verdict.blame == Blame::numerics)
        && std::any_of(verdict.members.begin(), verdict.members.end(), loses);
}

/// "Z = bR + cR² of gns-gram reaches 80,384 at step 2; fp16 holds at most 65,504."
std::string overflowText(const Overflow& overflow)
{
    const auto reaches = magnitudeText(overflow.reaches);
    if (overflow.op == OpName::input || overflow.op == OpName::cast) {
        return fmt::format("The input reaches {}, and {} casts it to {}, which holds at most {}.", reaches,
            overflow.variant, name(overflow.precision), magnitudeText(largestFinite(overflow.precision)));
    }
    const auto start = fmt::format("{} of {} reaches {}", opText(overflow.op), overflow.variant, reaches);
    const auto step = overflow.iteration > 0 ? fmt::format(" at step {}", overflow.iteration) : std::string();
    if (overflow.exact) {
        return fmt::format("{} in {}{} and overflows, where it is at most {} in fp64; {}.", start,
            name(overflow.precision), step, magnitudeText(*overflow.exact), endText(overflow.precision));
    }
    return fmt::format("{}{}; {}.", start, step, endText(overflow.precision));
}

} // namespace

std::string magnitudeText(double magnitude)
{
    constexpr double fromHere = 1e4;
    constexpr double toHere = 1e9;
    return magnitude >= fromHere && magnitude < toHere ? countText(std::llround(magnitude)) : numberText(magnitude);
}

std::string castText(const CaptureTensor& input)
{
    const auto scan = input.total();
    if (!scan.finite() || scan.absmax <= largestFinite(Precision::fp16)) {
        return {};
    }
    return fmt::format("The input reaches {}; {}. A cast to fp16 before the norm turns it into Inf.",
        magnitudeText(scan.absmax), endText(Precision::fp16));
}

std::string convictingText(
    const Capture& capture, const CaptureVerdict& verdict, const std::optional<Overflow>& overflow)
{
    if (overflow && verdict.blame == Blame::numerics) {
        return overflowText(*overflow);
    }
    if (capture.input.scanned() && !capture.input.total().finite()) {
        return damagedInputText(capture);
    }
    if (castMayDecide(verdict)) {
        if (auto text = castText(capture.input); !text.empty()) {
            return text;
        }
    }
    return verdict.facts.damage.count > 0 ? damageText(verdict) : std::string();
}

} // namespace nanscope::report
