// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A report is about one birth; its reader has to know of those that are judged otherwise.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/model/words.h"
#include "core/platform/platform.h"
#include "core/report/document/conviction.h"
#include "core/report/document/sections.h"
#include "core/report/input/reportinput.h"

namespace nanscope::report {

namespace {

/// The first of those that are judged alike, and how many they are.
struct Alike
{
    const CaptureVerdict* first = nullptr;
    std::int64_t count = 0;
};

bool judgedAlike(const CaptureVerdict& a, const CaptureVerdict& b)
{
    return a.blame == b.blame && a.rule == b.rule;
}

/// Births that are judged otherwise than the one the report is about.
std::vector<Alike> judgedOtherwise(const ReportFacts& facts)
{
    std::vector<Alike> others;
    for (const auto& verdict : facts.input.diagnosis.captures) {
        const bool own = verdict.capture == facts.verdict->causedBy;
        if (verdict.role != Role::birth || own || judgedAlike(verdict, *facts.verdict)) {
            continue;
        }
        auto known =
            std::ranges::find_if(others, [&](const Alike& alike) { return judgedAlike(*alike.first, verdict); });
        if (known == others.end()) {
            known = others.insert(others.end(), {&verdict, 0});
        }
        ++known->count;
    }
    return others;
}

std::string whyText(const RunData& run, const CaptureVerdict& verdict)
{
    const auto capture = std::ranges::find(run.captures, verdict.capture, &Capture::file);
    const auto number = capture == run.captures.end() ? std::string() : convictingText(*capture, verdict, std::nullopt);
    return number.empty() ? asSentence(verdict.summary) : number;
}

Phrase alikeText(const RunData& run, const Alike& alike)
{
    const auto& verdict = *alike.first;
    const auto rank = verdict.rank ? fmt::format("rank {}, ", *verdict.rank) : std::string();
    const auto head = alike.count == 1
        ? own(fmt::format("another birth, {}{}: ", rank, stepText(verdict)))
        : own(fmt::format("{} other births, the first {}{}: ", alike.count, rank, stepText(verdict)));
    return head + strong(blameText(verdict)) + own(". ") + foreign(whyText(run, verdict))
        + own(" For a report about it: ") + code("--capture " + platform::shellQuoted(verdict.capture)) + own(".");
}

} // namespace

Blocks otherBirths(const ReportFacts& facts)
{
    if (facts.verdict == nullptr) {
        return {};
    }
    constexpr std::size_t most = 3;
    const auto others = judgedOtherwise(facts);
    ItemList list;
    for (std::size_t i = 0; i < std::min(most, others.size()); ++i) {
        list.items.push_back({"also", alikeText(facts.input.run, others[i])});
    }
    if (others.size() > most) {
        list.items.push_back({"also",
            own(fmt::format(
                "births of {}", counted(std::ssize(others) - static_cast<std::int64_t>(most), "more verdict")))});
    }
    return list.items.empty() ? Blocks {} : Blocks {std::move(list)};
}

} // namespace nanscope::report
