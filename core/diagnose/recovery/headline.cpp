// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/headline.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/diagnose/triage/steplink.h"

namespace nanscope::diagnose {

namespace {

Triage count(const std::vector<CaptureVerdict>& verdicts)
{
    Triage triage;
    triage.captures = static_cast<int>(verdicts.size());
    for (const auto& v : verdicts) {
        triage.births += v.role == Role::birth ? 1 : 0;
        triage.upstream += v.role == Role::upstream ? 1 : 0;
        triage.downstream += v.role == Role::downstream ? 1 : 0;
        triage.padding += v.role == Role::padding ? 1 : 0;
    }
    return triage;
}

std::string countText(int count, std::string_view noun)
{
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string place(const CaptureVerdict& v)
{
    return v.rank ? fmt::format("rank {}, {}", *v.rank, stepText(v.step)) : stepText(v.step);
}

std::string headlineOf(const Diagnosis& d)
{
    const auto& t = d.triage;
    if (t.captures == 0) {
        return "no captures";
    }
    auto text = countText(t.captures, "capture") + ", " + countText(t.births, "birth");
    if (!d.clusters.empty() && std::ssize(d.clusters) < t.births) {
        text += " in " + countText(static_cast<int>(d.clusters.size()), "cluster");
    }
    const auto first = std::find_if(d.captures.begin(), d.captures.end(),
        [](const CaptureVerdict& v) { return v.role == Role::birth || v.role == Role::upstream; });
    if (t.births == 0 && t.upstream > 0) {
        text += fmt::format(", {} upstream", t.upstream);
    }
    if (first != d.captures.end()) {
        text += ": " + place(*first);
    }
    if (t.births > 1) {
        text += fmt::format(" and {} more", t.births - 1);
    }
    return d.stopped.empty() ? text : fmt::format("{}; not all judged ({})", text, d.stopped);
}

} // namespace

void summarize(Diagnosis& diagnosis)
{
    diagnosis.triage = count(diagnosis.captures);
    diagnosis.headline = headlineOf(diagnosis);
}

} // namespace nanscope::diagnose
