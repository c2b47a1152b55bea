// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/margin.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "core/replay/scheduleslack.h"
#include "core/replay/variant.h"

namespace nanscope {

namespace {

// Margins without which "all replays are finite" is luck; user_view.md section 1, rule 2, and decision 0007.
constexpr double slackNeeded = 1.0; // percent
constexpr double partOfOwnSlack = 0.5; ///< of what the authors left a schedule, rounding may use up
constexpr double roundingSteps = 0.6; ///< of the format: less slack than one rounding is none
constexpr double absmaxQAllowed = 100;
constexpr double headroomNeeded = 4; // binades

double slackNeededFor(const Variant& variant, const std::string& format)
{
    static std::mutex guard;
    static std::map<std::string, double> known;
    const std::scoped_lock lock(guard);
    const auto found = known.try_emplace(variant.name, 0.0);
    if (found.second) {
        found.first->second = slackOfSchedule(variant.steps);
    }
    const double rounding = 100 * roundingSteps * epsilonOf(parsePrecision(format).value_or(variant.precision));
    return std::max(rounding, std::min(slackNeeded, partOfOwnSlack * found.first->second));
}

// Past its limit a schedule runs away in a step more, or in another order of sums (decision 0008).
bool runsAway(const MemberResult& m)
{
    return (m.slackPercent && *m.slackPercent < 0) || (m.absmaxQ && *m.absmaxQ >= absmaxQAllowed);
}

bool hasScheduleOf(const MemberResult& member, const std::vector<std::string>& ran)
{
    const auto variant = findVariant(member.variant);
    return variant && std::ranges::any_of(ran, [&](const std::string& name) {
        const auto other = findVariant(name);
        return other && (*other)->steps == (*variant)->steps;
    });
}

} // namespace

bool reproduces(const MemberResult& m)
{
    return m.reproducing > 0;
}

bool blowsUp(const MemberResult& m)
{
    return m.finite < m.roundings;
}

bool isPublished(const MemberResult& m)
{
    const auto variant = findVariant(m.variant);
    return variant && (*variant)->published;
}

// Without margin a finite replay is luck. Forms that nobody recommends never have any; they count once they are past
// their limit.
bool lacksMargin(const MemberResult& m)
{
    const auto variant = findVariant(m.variant);
    if (!variant || !(*variant)->published) {
        return runsAway(m);
    }
    const bool close = m.slackPercent && *m.slackPercent <= slackNeededFor(**variant, m.precision);
    return close || runsAway(m) || lacksHeadroom(m);
}

bool lacksHeadroom(const MemberResult& m)
{
    return m.headroomBinades < headroomNeeded;
}

bool hasLittleSlack(const MemberResult& m)
{
    return m.slackPercent && *m.slackPercent <= slackNeeded;
}

bool couldFail(const MemberResult& m)
{
    return blowsUp(m) || lacksMargin(m);
}

// Whether both ran the same function is not recorded; where it matters, the twin proves nothing. A form that might run
// away matters where it has the schedule of what gave the clean output: the naive Gram form, tried again in the
// standard one.
bool numbersCould(const CaptureVerdict& verdict, const std::vector<std::string>& ran)
{
    return std::ranges::any_of(verdict.members, [&](const MemberResult& member) {
        return reproduces(member) || blowsUp(member)
            || (couldFail(member) && (ran.empty() || hasScheduleOf(member, ran)));
    });
}

EnvelopeTotals totalsOf(const std::vector<MemberResult>& results)
{
    EnvelopeTotals totals;
    totals.headroomBinades = INFINITY;
    for (const auto& r : results) {
        totals.roundings += r.roundings;
        totals.finite += r.finite;
        if (r.slackPercent) {
            totals.slackPercent = std::min(totals.slackPercent.value_or(*r.slackPercent), *r.slackPercent);
        }
        if (r.absmaxQ) {
            totals.absmaxQ = std::max(totals.absmaxQ.value_or(0), *r.absmaxQ);
        }
        totals.headroomBinades = std::min(totals.headroomBinades, r.headroomBinades);
    }
    return totals;
}

std::string totalsText(const EnvelopeTotals& t)
{
    auto text = fmt::format("{} of {} finite", t.finite, t.roundings);
    if (t.slackPercent) {
        constexpr double most = 1000; // of an input that its epsilon outweighs
        text += *t.slackPercent > most ? ", slack over 1000 %" : fmt::format(", slack {:.1f} %", *t.slackPercent);
    }
    if (t.absmaxQ) {
        text += fmt::format(", max|Q| {:.3g}", *t.absmaxQ);
    }
    return text + fmt::format(", headroom {:.0f} binades", std::floor(t.headroomBinades));
}

} // namespace nanscope
