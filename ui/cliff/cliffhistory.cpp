// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cliff/cliffhistory.h"

#include <algorithm>
#include <cmath>

#include "ui/cliff/cliffpicture.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

bool sameSetting(const replay::ReplayedCliff& cliff, double scale, double safety)
{
    return cliff.scale == scale && cliff.safety == safety;
}

void addLines(QStringList& lines, const replay::ReplayedCliff& cliff)
{
    const Cell& own = cliff.replays.front().cell;
    const auto number = [](const auto& value) { return value ? exactNumber(*value) : QString(); };
    const CliffPicture picture = makeCliffPicture(std::vector<replay::Coefficients>(cliff.limits.size()), &cliff, true);
    for (const CliffStep& step : picture.steps) {
        const QStringList cells {exactNumber(cliff.scale), exactNumber(cliff.safety),
            QString::number(picture.roundings), qstr(name(own.outcome)),
            own.firstNonFinite ? opLabel(*own.firstNonFinite) : QString(), QString::number(step.step), number(step.own),
            step.range ? exactNumber(step.range->low) : QString(),
            step.range ? exactNumber(step.range->high) : QString(), exactNumber(step.limit),
            number(step.slackPercent())};
        lines << cells.join(QLatin1Char('\t'));
    }
}

} // namespace

void CliffHistory::add(SharedCliff cliff)
{
    const auto same = std::ranges::find_if(
        m_all, [&](const SharedCliff& each) { return sameSetting(*each, cliff->scale, cliff->safety); });
    if (same != m_all.end()) {
        if ((*same)->replays.size() <= cliff->replays.size()) {
            *same = std::move(cliff);
        }
        return;
    }
    if (m_all.size() == mostSettings) {
        m_all.erase(m_all.begin());
    }
    m_all.push_back(std::move(cliff));
}

SharedCliff CliffHistory::find(double scale, double safety) const
{
    const auto found =
        std::ranges::find_if(m_all, [&](const SharedCliff& each) { return sameSetting(*each, scale, safety); });
    return found == m_all.end() ? nullptr : *found;
}

std::vector<SharedCliff> CliffHistory::along(double safety) const
{
    std::vector<SharedCliff> line;
    std::ranges::copy_if(
        m_all, std::back_inserter(line), [safety](const SharedCliff& each) { return each->safety == safety; });
    std::ranges::sort(line, {}, [](const SharedCliff& each) { return each->scale; });
    return line;
}

std::optional<double> expectedLimitScale(const replay::ReplayedCliff& cliff, double limit)
{
    const double sigma = cliff.replays.front().sigma.front();
    return std::isfinite(sigma) && sigma > 0 ? std::optional(limit / sigma * cliff.scale) : std::nullopt;
}

QString cliffTsv(const CliffHistory& history)
{
    QStringList lines {QStringLiteral("scale\tsafety_factor\troundings\toutcome\tfirst_nonfinite\tstep\tsigma_max\t"
                                      "sigma_low\tsigma_high\tlimit\tslack_percent")};
    for (const SharedCliff& cliff : history.all()) {
        addLines(lines, *cliff);
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace nanscope
