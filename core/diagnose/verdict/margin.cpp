// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/verdict/margin.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/diagnose/verdict/thresholds.h"

namespace nanscope::diagnose::verdict {

double slackNeeded(double slackOfSchedule, Precision precision)
{
    const double rounding = 100 * roundingSteps * epsilonOf(precision);
    return std::max(rounding, std::min(slackEnough, partOfOwnSlack * slackOfSchedule));
}

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
    return m.published;
}

bool isForecast(const MemberResult& m)
{
    return !m.forecastBy.empty();
}

bool hasLargeQ(const MemberResult& m)
{
    return m.absmaxQ && *m.absmaxQ >= absmaxQAllowed;
}

// Without margin a finite replay is luck. Unpublished forms never have any; they count once they are past
// their limit.
bool lacksMargin(const MemberResult& m)
{
    const bool close = m.slackPercent && *m.slackPercent <= m.slackNeeded;
    const bool past = m.slackPercent && *m.slackPercent < 0;
    return hasLargeQ(m) || past || (m.published && (close || lacksHeadroom(m)));
}

bool lacksHeadroom(const MemberResult& m)
{
    return m.headroomBinades < headroomNeeded;
}

bool hasLittleSlack(const MemberResult& m)
{
    return m.slackPercent && *m.slackPercent <= slackEnough;
}

bool couldFail(const MemberResult& m)
{
    return blowsUp(m) || lacksMargin(m);
}

bool isClear(const MemberResult& m)
{
    const bool farFromLimit = m.slackPercent && *m.slackPercent >= clearTimes * m.slackNeeded;
    const bool calm = m.absmaxQ.value_or(0) * clearTimes <= absmaxQAllowed;
    return !blowsUp(m) && farFromLimit && calm && m.headroomBinades >= headroomNeeded + 1;
}

bool isClose(const MemberResult& m)
{
    return !blowsUp(m) && (lacksMargin(m) || (!m.published && hasLittleSlack(m)));
}

std::string_view memberNoun(const std::vector<MemberResult>& members, std::ptrdiff_t count)
{
    std::set<std::string_view> variants;
    std::set<std::pair<std::string_view, std::string_view>> pairs;
    for (const auto& member : members) {
        variants.insert(member.variant);
        pairs.emplace(member.variant, member.precision);
    }
    const bool one = count == 1;
    if (variants.size() == members.size()) {
        return one ? "variant" : "variants";
    }
    if (pairs.size() == members.size()) {
        return one ? "pair of variant and format" : "pairs of variant and format";
    }
    return one ? "combination of variant, format and epsilon" : "combinations of variant, format and epsilon";
}

EnvelopeTotals totalsOf(const std::vector<MemberResult>& results)
{
    EnvelopeTotals totals;
    totals.headroomBinades = INFINITY;
    for (const auto& r : results) {
        totals.replays += r.roundings;
        totals.finite += r.finite;
        totals.reproducing += r.reproducing;
        totals.forecast += isForecast(r) ? 1 : 0;
        if (r.slackPercent) {
            totals.slackPercent = std::min(totals.slackPercent.value_or(*r.slackPercent), *r.slackPercent);
        }
        if (r.absmaxQ) {
            totals.absmaxQ = std::max(totals.absmaxQ.value_or(0), *r.absmaxQ);
        }
        totals.headroomBinades = std::min(totals.headroomBinades, r.headroomBinades);
    }
    totals.forecastNoun = memberNoun(results, totals.forecast);
    return totals;
}

namespace {

/// `percent` is limit / norm - 1, the least of all steps. Of the iterate, not of the input, which is normalised.
std::string slackText(double percent)
{
    constexpr double most = 1000; // of an input that its epsilon outweighs
    if (percent > most) {
        return "the limit of convergence lies more than tenfold above the spectral norm";
    }
    return percent < 0
        ? fmt::format(
            "the spectral norm exceeds the limit of convergence by {:.3g} %", 100 * (1 / (1 + percent / 100) - 1))
        : fmt::format("the limit of convergence lies at least {:.1f} % above the spectral norm", percent);
}

} // namespace

std::string totalsText(const EnvelopeTotals& t)
{
    auto text = fmt::format("{} of {} replays finite", t.finite, t.replays);
    if (t.forecast > 0) {
        text += fmt::format(", {} {} only estimated", t.forecast, t.forecastNoun);
    }
    if (t.slackPercent) {
        text += ", " + slackText(*t.slackPercent);
    }
    // Where nothing stayed finite, the largest finite Q and the room above it say nothing.
    if (t.absmaxQ && (t.finite > 0 || t.replays == 0)) {
        text += fmt::format(", largest |Q| {:.3g}", *t.absmaxQ);
    }
    return t.finite < t.replays
        ? text
        : text + fmt::format(", all values 2^{:.0f} or more below overflow", std::floor(t.headroomBinades));
}

} // namespace nanscope::diagnose::verdict
