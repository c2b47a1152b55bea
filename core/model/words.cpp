// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/words.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <ctime>
#include <map>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/model/verdict.h"

namespace nanscope {

namespace {

constexpr double tenfold = 10;

std::string_view kindText(ValueClass kind)
{
    switch (kind) {
    case ValueClass::nan:
        return "NaN";
    case ValueClass::posInf:
        return "Inf";
    case ValueClass::negInf:
        return "-Inf";
    default:
        return name(kind);
    }
}

std::string fitText(const Identification& variant)
{
    if (!variant.fit) {
        return {};
    }
    auto text = "off by " + percentText(*variant.fit);
    if (variant.runnerUp) {
        const auto& next = variant.runnerUpName.empty() ? "the next family" : variant.runnerUpName;
        text += fmt::format(", next {} at {}", next, percentText(*variant.runnerUp));
        if (*variant.fit > 0) {
            text += fmt::format(", ratio {:.3g}", *variant.runnerUp / *variant.fit);
        }
    }
    return text;
}

} // namespace

std::string classesText(const Scan& scan)
{
    std::string text;
    const auto add = [&text](std::int64_t count, std::string_view what) {
        if (count > 0) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", countText(count), what);
        }
    };
    add(scan.nan, "NaN");
    add(scan.posInf, "Inf");
    add(scan.negInf, "-Inf");
    return text.empty() ? "finite" : text;
}

std::vector<std::int64_t> indexIn(const Shape& shape, std::int64_t flat)
{
    const auto matrices = matrixShape(shape);
    if (flat < 0 || matrices.elements() <= 0) {
        return {};
    }
    const auto inside = flat % matrices.elements();
    std::vector<std::int64_t> index {inside / matrices.cols, inside % matrices.cols};
    if (shape.size() > 2) {
        index.insert(index.begin(), flat / matrices.elements());
    }
    return index;
}

std::string indexText(const std::vector<std::int64_t>& index)
{
    return fmt::format("[{}]", fmt::join(index, ","));
}

std::string percentText(double fraction)
{
    constexpr double twoDigits = 0.0995;
    if (std::abs(fraction) >= tenfold) {
        return fmt::format("{:.2g} times its size", fraction);
    }
    return std::abs(fraction) < twoDigits ? fmt::format("{:.2g} %", 100 * fraction)
                                          : fmt::format("{:.0f} %", 100 * fraction);
}

std::string offByText(double fraction)
{
    const auto text = percentText(fraction);
    return std::abs(fraction) >= tenfold ? "off by " + text : text + " off";
}

std::string nonFiniteText(const NonFinite& first)
{
    const auto step = first.iteration > 0 ? fmt::format("step {} ", first.iteration) : std::string {};
    return fmt::format(
        "{}{} {} {} {}", step, name(first.op), indexText(first.index), countText(first.count), kindText(first.kind));
}

std::string stepText(const CaptureVerdict& verdict)
{
    if (!verdict.step) {
        return "step not recorded";
    }
    const auto [after, before] = *verdict.step;
    const auto source = name(verdict.stepSource);
    if (after == before) {
        return fmt::format("step {} ({})", after, source);
    }
    return fmt::format("between the log lines of steps {} and {} ({})", after, before, source);
}

bool isHealthy(const CaptureVerdict& verdict)
{
    return verdict.role == Role::healthy && verdict.blame == Blame::undecided
        && (verdict.rule == RuleId::fits || verdict.rule == RuleId::fitsInPart || verdict.rule == RuleId::zeroInZeroOut
            || verdict.rule == RuleId::tooLittleToCompare);
}

std::string_view roleText(Role role)
{
    return role == Role::padding ? "zero input" : name(role);
}

std::vector<const Experiment*> untried(const CaptureVerdict& verdict)
{
    const auto& tried = verdict.facts.tried;
    std::vector<const Experiment*> left;
    for (const auto& next : verdict.next) {
        if (next.id.empty() || std::ranges::find(tried, next.id, &TriedExperiment::id) == tried.end()) {
            left.push_back(&next);
        }
    }
    return left;
}

std::string strengthText(const CaptureVerdict& verdict)
{
    if (verdict.speaksFor.empty() && verdict.speaksAgainst.empty() && verdict.notTestable.empty()) {
        return {};
    }
    return fmt::format("for {}, against {}, neither {}", verdict.speaksFor.size(), verdict.speaksAgainst.size(),
        verdict.notTestable.size());
}

std::string blameText(const CaptureVerdict& verdict)
{
    std::string detail = verdict.kind;
    if (!detail.empty() && (isHealthy(verdict) || verdict.role == Role::noOutput)) {
        return detail;
    }
    if (verdict.marginal) {
        detail += detail.empty() ? "marginal" : ", marginal";
    }
    return detail.empty() ? std::string(name(verdict.blame)) : fmt::format("{} ({})", name(verdict.blame), detail);
}

std::string variantText(const Identification& variant)
{
    if (variant.matchesNone) {
        return "matches no known variant";
    }
    if (variant.names.empty() || variant.how == IdentifiedBy::unknown) {
        return "not identified";
    }
    const auto fit = fitText(variant);
    const auto how = variant.how == IdentifiedBy::fit && !fit.empty()
        ? fit
        : fmt::format("{}{}{}", name(variant.how), fit.empty() ? "" : "; ", fit);
    return fmt::format("{} ({})", fmt::join(variant.names, " or "), how);
}

std::string rankList(const std::vector<int>& ranks)
{
    return ranks.empty() ? "" : fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

std::string timeText(std::int64_t unixMilliseconds)
{
    constexpr std::int64_t lastOfYear9999 = 253402300799;
    const auto seconds = unixMilliseconds / 1000;
    if (unixMilliseconds < 0 || seconds > lastOfYear9999) {
        return "not recorded";
    }
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::optional<double> slackPercent(const Cell& cell)
{
    std::optional<double> least;
    for (const auto& gauge : cell.gauges) {
        if (!gauge.spectralBound || !gauge.spectralLimit || *gauge.spectralLimit <= 0 || *gauge.spectralBound <= 0) {
            continue;
        }
        const auto slack = (*gauge.spectralLimit / *gauge.spectralBound - 1) * 100;
        least = least ? std::min(*least, slack) : slack;
    }
    // A bound beyond the limit says nothing: the norm itself may still be well below.
    return least && *least >= 0 ? least : std::nullopt;
}

namespace {

/// Of one op: the iterations, and whether a kernel without mirror can have done it.
using Iterations = std::map<int, bool>;

/// "step 5", "steps 1-3 and 5".
std::string stepsText(const std::vector<int>& steps)
{
    std::string text;
    for (std::size_t i = 0; i < steps.size();) {
        auto last = i;
        while (last + 1 < steps.size() && steps[last + 1] == steps[last] + 1) {
            ++last;
        }
        const auto range = last == i ? fmt::format("{}", steps[i]) : fmt::format("{}-{}", steps[i], steps[last]);
        const bool final = last + 1 == steps.size();
        text += (text.empty() ? "" : final ? " and " : ", ") + range;
        i = last + 1;
    }
    return fmt::format("step{} {}", steps.size() == 1 ? "" : "s", text);
}

std::string opText(OpName op, const Iterations& iterations)
{
    std::string text;
    for (const bool plain : {true, false}) {
        std::vector<int> steps;
        for (const auto& [iteration, can] : iterations) {
            if (can == plain) {
                steps.push_back(iteration);
            }
        }
        if (!steps.empty()) {
            text += fmt::format(
                "{}{} of {}{}", text.empty() ? "" : ", ", name(op), stepsText(steps), plain ? "" : " (mirrored)");
        }
    }
    return text;
}

/// Of each variant, whose steps may be more or fewer than another's, one update and nothing else.
bool onlyLastWrite(std::span<const SpreadPlace> places)
{
    std::map<std::string_view, int> iterations;
    return std::all_of(places.begin(), places.end(), [&](const SpreadPlace& place) {
        const auto known = iterations.emplace(place.variant, place.iteration).first;
        return place.op == OpName::update && known->second == place.iteration;
    });
}

std::string lead(const DamagePattern& damage)
{
    if (damage.shape == DamageShape::wholeElement) {
        return damage.nan == damage.count ? "All NaN" : "Nothing finite";
    }
    auto text = damage.shape == DamageShape::none ? std::string("Damage") : std::string(name(damage.shape));
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text;
}

} // namespace

std::string placesText(std::span<const SpreadPlace> places)
{
    std::map<OpName, Iterations> ops;
    for (const auto& place : places) {
        ops[place.op][place.iteration] |= !place.mirrored;
    }
    std::string text;
    for (const auto& [op, iterations] : ops) {
        text += (text.empty() ? "" : ", ") + opText(op, iterations);
    }
    return text;
}

std::string originsText(const CaptureVerdict& verdict)
{
    const auto& places = verdict.origins;
    if (verdict.originsTried == 0) {
        return {};
    }
    const auto what = lead(verdict.facts.damage);
    const auto count = std::ssize(places);
    const auto tried = fmt::format("{} of {} simulated bad tiles{}", places.empty() ? "none" : std::to_string(count),
        verdict.originsTried, verdict.originVariants > 1 ? fmt::format(" in {} variants", verdict.originVariants) : "");
    if (places.empty()) {
        return fmt::format("{}: {} ends like this: code after the iteration, or more than one fault", what, tried);
    }
    if (verdict.facts.damage.shape == DamageShape::wholeElement) {
        return fmt::format("{}: {} end like this; {}", what, tried,
            count < verdict.originsTried ? "only faults in the last steps can be ruled out" : "none can be ruled out");
    }
    const bool last = onlyLastWrite(places);
    return fmt::format("{}: a bad tile in {} ends like this{} ({})", what, last ? "the last write" : placesText(places),
        last ? ", or code after the iteration" : "", tried);
}

} // namespace nanscope
