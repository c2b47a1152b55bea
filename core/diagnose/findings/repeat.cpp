// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// P19: what a run says of being repeatable. Facts only: what a difference means is not for a log to say.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/diagnose/context/settings.h"
#include "core/diagnose/findings/cardevidence.h"

namespace nanscope::diagnose::cards {

namespace {

struct Knobs
{
    const Setting* seed = nullptr;
    const Setting* deterministic = nullptr;
    const Setting* benchmark = nullptr;

    bool off() const
    {
        return (deterministic != nullptr && truthOf(*deterministic) == false)
            || (benchmark != nullptr && truthOf(*benchmark) == true);
    }
    bool set() const
    {
        return seed != nullptr && deterministic != nullptr && truthOf(*deterministic) == true && !off();
    }
};

Knobs knobsOf(const RunData& run)
{
    return {settingNamed(run, {"seed", "random_seed", "manual_seed"}),
        settingNamed(run, {"deterministic", "full_determinism", "use_deterministic_algorithms", "deterministic_mode"}),
        settingNamed(run, {"benchmark", "cudnn_benchmark"})};
}

std::string knobText(const Knobs& knobs)
{
    const auto one = [](const Setting* setting, std::string_view name) {
        return setting != nullptr ? cards::textOf(*setting) : fmt::format("{} not in the configuration", name);
    };
    auto text = fmt::format("{}; {}", one(knobs.seed, "seed"), one(knobs.deterministic, "deterministic kernels"));
    return knobs.benchmark != nullptr ? fmt::format("{}; {}", text, cards::textOf(*knobs.benchmark)) : text;
}

std::vector<Evidence> knobEvidence(const Knobs& knobs)
{
    std::vector<Evidence> evidence;
    for (const auto* setting : {knobs.seed, knobs.deterministic, knobs.benchmark}) {
        if (setting != nullptr) {
            evidence.push_back(cards::evidenceOf(*setting));
        }
    }
    return evidence;
}

/// Steps that two attempts both have, and the first at which their losses differ.
struct Comparison
{
    std::int64_t common = 0;
    std::int64_t equal = 0; ///< before the first difference
    const Point* first = nullptr;
    const Point* second = nullptr;
};

Comparison compare(const Series& a, const Series& b)
{
    Comparison comparison;
    auto other = b.points.begin();
    for (const auto& point : a.points) {
        other = std::find_if(other, b.points.end(), [&](const Point& p) { return p.step >= point.step; });
        if (other == b.points.end()) {
            break;
        }
        if (other->step != point.step) {
            continue;
        }
        ++comparison.common;
        comparison.equal += comparison.first == nullptr && point.sameValue(*other) ? 1 : 0;
        if (comparison.first == nullptr && !point.sameValue(*other)) {
            comparison.first = &point;
            comparison.second = &*other;
        }
    }
    return comparison;
}

bool slightly(const Comparison& comparison)
{
    constexpr double share = 0.01;
    return comparison.first != nullptr
        && std::abs(comparison.first->value - comparison.second->value) <= share * std::abs(comparison.first->value);
}

CardOutcome differing(
    const RunSummary& summary, const Comparison& comparison, const Series& a, const Series& b, const Knobs& knobs)
{
    auto evidence = std::vector<Evidence> {
        {a.source, comparison.first->line,
            fmt::format("loss is {:.8g} at step {}", comparison.first->value, comparison.first->step)},
        {b.source, comparison.second->line,
            fmt::format("loss is {:.8g} at step {}", comparison.second->value, comparison.second->step)}};
    return at(fired(Confidence::high,
                  fmt::format("if two attempts here are one run repeated, their losses first differ at step {} of {} "
                              "in common, as printed ({})",
                      comparison.first->step, comparison.common, knobText(knobs)),
                  evidence),
        comparison.first->step, summary.loss.rank);
}

/// Two that differ from their first common step on, or by much where they first do, are other runs: a sweep in one log.
std::optional<CardOutcome> repeated(const RunSummary& summary, const Knobs& knobs)
{
    const auto attempts = attemptsOf(summary);
    for (std::size_t i = 1; i < attempts.size(); ++i) {
        const auto& a = *attempts[i - 1].loss;
        const auto& b = *attempts[i].loss;
        const auto comparison = compare(a, b);
        if (comparison.equal > 0 && slightly(comparison)) {
            return differing(summary, comparison, a, b, knobs);
        }
        if (comparison.equal > 0 && comparison.first == nullptr) {
            return clear(
                fmt::format("two attempts print the same loss at {} in common, which is no proof of equal bits "
                            "({})",
                    howMany(comparison.common, "step"), knobText(knobs)));
        }
    }
    return std::nullopt;
}

CardOutcome repeatability(const RunSummary& summary)
{
    const auto knobs = knobsOf(summary.run);
    if (const auto outcome = repeated(summary, knobs)) {
        return *outcome;
    }
    if (knobs.off()) {
        return fired(Confidence::high, knobText(knobs), knobEvidence(knobs));
    }
    return knobs.set() ? clear(knobText(knobs))
                       : notCheckable(!hasSettings(summary.run) ? missingSetting(summary.run, "") : knobText(knobs));
}

} // namespace

std::vector<Card> repeatCards()
{
    return {
        {"P19", "Repeatability of this run", "info",
            "settings as logged; the first step at which two attempts that began alike print different losses, by at "
            "most 1 % (Nanscope's own threshold): a fact, no verdict",
            {"for a run that must repeat: seeds of torch, numpy and random, torch.use_deterministic_algorithms(True), "
             "cudnn.benchmark off, CUBLAS_WORKSPACE_CONFIG=:4096:8",
                "equal printed values are not equal bits, and a difference alone is no fault"},
            repeatability},
    };
}

} // namespace nanscope::diagnose::cards
