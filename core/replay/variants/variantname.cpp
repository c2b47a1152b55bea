// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/variantname.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/base/try.h"

namespace nanscope::replay {

namespace {

constexpr char mark = '@'; // no name of a variant has one
constexpr char times = 'x'; // begins the steps of a count, which begins with a digit: no address of e-mail looks so

/// The parts of a name, as they are written; empty where there is none.
struct Parts
{
    std::string_view base;
    std::string_view steps;
    std::string_view epsilon;
};

bool isSteps(std::string_view part)
{
    return part.find(times) != std::string_view::npos;
}

Parts partsOf(std::string_view name)
{
    const auto first = name.find(mark);
    if (first == std::string_view::npos) {
        return {name, {}, {}};
    }
    const auto numbers = name.substr(first + 1);
    const auto second = numbers.find(mark);
    const auto steps = numbers.substr(0, second);
    if (!isSteps(steps)) {
        return {name.substr(0, first), {}, numbers};
    }
    const auto rest = second == std::string_view::npos ? std::string_view() : numbers.substr(second + 1);
    return {name.substr(0, first), steps, rest};
}

/// "6" of "keller-jordan@6": it is left open whether that is steps.
bool looksLikeCount(std::string_view text)
{
    const auto count = numberIn<int>(text);
    return count && checkSteps(*count);
}

/// Never one that looks like a count.
std::string epsilonText(double epsilon)
{
    auto text = fmt::format("{}", epsilon);
    return looksLikeCount(text) ? text + ".0" : text;
}

Result<double> parseEpsilon(std::string_view text)
{
    if (looksLikeCount(text)) {
        return failure(ErrorKind::usage,
            fmt::format("'{0}' may be steps or an epsilon: write @{0}x for steps, @{0}.0 for an epsilon", text));
    }
    const auto value = numberIn<double>(text);
    return value && std::isfinite(*value) && *value >= 0
        ? Result<double>(*value)
        : failure(ErrorKind::usage,
            fmt::format("'{}' is no epsilon and no number of steps: after '@' comes a finite number from 0 on, as in "
                        "keller-jordan@1e-7, or a count and 'x', as in keller-jordan@6x",
                text));
}

std::vector<std::string_view> split(std::string_view text, char at)
{
    std::vector<std::string_view> parts;
    for (auto end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    parts.push_back(text);
    return parts;
}

Result<Coefficients> parseTriple(std::string_view text)
{
    constexpr double most = 1e15; // larger ones are written with the "+" that joins steps
    Coefficients triple {};
    const auto numbers = split(text, '_');
    bool good = numbers.size() == triple.size();
    for (std::size_t i = 0; good && i < triple.size(); ++i) {
        const auto value = numberIn<double>(numbers[i]);
        triple[i] = value.value_or(NAN);
        good = std::abs(triple[i]) < most;
    }
    return good
        ? Result<Coefficients>(triple)
        : failure(ErrorKind::usage,
            fmt::format("'{}' is neither a variant nor the coefficients of a step, as in torch-muon@5xdion-ns5 and "
                        "torch-muon@5x2_-1.5_0.5",
                text));
}

/// `count` steps with the coefficients of `text`: a built-in variant's by its name, or digits, of which the last
/// repeats.
Result<std::vector<Coefficients>> parseCoefficients(std::string_view text, int count)
{
    Variant schedule;
    if (const auto* known = builtInVariant(text)) {
        schedule = *known;
    } else {
        for (const auto triple : split(text, '+')) {
            schedule.steps.push_back(TRY(parseTriple(triple)));
        }
    }
    TRY(checkSteps(schedule, count));
    return stepsOf(schedule, count, std::nullopt);
}

bool isScheduleOf(const Variant& one, const std::vector<Coefficients>& steps)
{
    const auto count = static_cast<int>(steps.size());
    return checkSteps(one, count) && stepsOf(one, count, std::nullopt) == steps;
}

std::string digitsOf(std::vector<Coefficients> steps)
{
    while (steps.size() > 1 && steps.back() == steps[steps.size() - 2]) {
        steps.pop_back();
    }
    std::vector<std::string> triples;
    for (const auto& step : steps) {
        triples.push_back(fmt::format("{}", fmt::join(step, "_")));
    }
    return fmt::format("{}", fmt::join(triples, "+"));
}

/// Gives the variant these steps, and a name that says so where they are not its own.
void setSteps(Variant& variant, std::vector<Coefficients> steps)
{
    if (variant.steps == steps) {
        return;
    }
    const auto known = variants();
    const auto other = std::ranges::find_if(known, [&](const Variant& one) { return isScheduleOf(one, steps); });
    const bool longer = isScheduleOf(variant, steps);
    variant.steps = std::move(steps);
    auto coefficients = std::string();
    if (!longer) {
        coefficients = other != known.end() ? other->name : digitsOf(variant.steps);
        variant.safetyFactor = other != known.end() ? other->safetyFactor : 1;
    }
    variant.name += fmt::format("{}{}{}{}", mark, variant.steps.size(), times, coefficients);
}

Result<void> takeSteps(Variant& variant, std::string_view text)
{
    const auto end = text.find(times);
    const auto count = numberIn<int>(text.substr(0, end));
    if (!count) {
        return failure(ErrorKind::usage,
            fmt::format("'{}' is no number of steps: after '@' comes a count and 'x', as in keller-jordan@6x", text));
    }
    TRY(checkSteps(*count));
    const auto coefficients = text.substr(end + 1);
    if (coefficients.empty()) {
        TRY(checkSteps(variant, *count));
        setSteps(variant, stepsOf(variant, *count, std::nullopt));
    } else {
        setSteps(variant, TRY(parseCoefficients(coefficients, *count)));
    }
    return {};
}

} // namespace

std::string_view baseOf(std::string_view name)
{
    return partsOf(name).base;
}

std::string_view withoutEpsilon(std::string_view name)
{
    const auto parts = partsOf(name);
    return name.substr(0, parts.base.size() + (parts.steps.empty() ? 0 : 1 + parts.steps.size()));
}

std::string withEpsilon(std::string_view name, double epsilon)
{
    return fmt::format("{}{}{}", withoutEpsilon(name), mark, epsilonText(epsilon));
}

std::string withSteps(std::string_view name, int count)
{
    const auto parts = partsOf(name);
    const auto coefficients = parts.steps.substr(parts.steps.empty() ? 0 : parts.steps.find(times) + 1);
    return fmt::format(
        "{}{}{}{}{}{}", parts.base, mark, count, times, coefficients, name.substr(withoutEpsilon(name).size()));
}

Result<Variant> withNumbers(Variant base, std::string_view name)
{
    const auto parts = partsOf(name);
    if (!parts.steps.empty()) {
        TRY(takeSteps(base, parts.steps));
    }
    if (withoutEpsilon(name) != name) {
        base.epsilon = TRY(parseEpsilon(parts.epsilon));
        base.ignoresCallerEpsilon = true;
        base.name = withEpsilon(base.name, base.epsilon);
    }
    return base;
}

} // namespace nanscope::replay
