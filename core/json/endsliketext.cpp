// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/json/endsliketext.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include <fmt/format.h>

namespace nanscope {

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

std::string endsLikeText(const CaptureVerdict& verdict)
{
    const auto& places = verdict.endsLike;
    if (verdict.endsLikeTried == 0) {
        return {};
    }
    const auto what = lead(verdict.facts.damage);
    const auto count = std::ssize(places);
    const auto of = fmt::format("{} of {} places", count, verdict.endsLikeTried);
    if (places.empty()) {
        return fmt::format("{}: none of {} places ends like this with one bad tile; code after the iteration, or more "
                           "than one fault",
            what, verdict.endsLikeTried);
    }
    if (verdict.facts.damage.shape == DamageShape::wholeElement) {
        return fmt::format("{}: {} can end like this; the picture excludes {}", what, of,
            count < verdict.endsLikeTried ? "only the late ones" : "none");
    }
    if (onlyLastWrite(places)) {
        return fmt::format("{}: only the last write or code after the iteration, {}", what, of);
    }
    return fmt::format("{}: only {}; {}", what, placesText(places), of);
}

} // namespace nanscope
