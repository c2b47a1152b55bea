// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/cliffhistory.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>

#include "ui/plots/cliffpicture.h"
#include "ui/text.h"

namespace nanscope {

namespace {

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(CliffHistory)
};

bool sameSetting(const ReplayedCliff& cliff, double scale, double safety)
{
    return cliff.scale == scale && cliff.safety == safety;
}

void addRows(std::vector<QStringList>& rows, const ReplayedCliff& cliff, bool exact)
{
    const Cell& own = cliff.replays.front().cell;
    const auto text = [exact](double value) { return exact ? exactNumber(value) : roundNumber(value, 6); };
    const auto number = [&](const auto& value) { return value ? text(*value) : QString(); };
    const CliffPicture picture = makeCliffPicture(std::vector<Coefficients>(cliff.limits.size()), &cliff, true);
    for (const CliffStep& step : picture.steps) {
        rows.push_back({exactNumber(cliff.scale), exactNumber(cliff.safety), QString::number(picture.roundings),
            qstr(name(own.outcome)), own.firstNonFinite ? opLabel(*own.firstNonFinite) : QString(),
            QString::number(step.step), number(step.own), step.range ? text(step.range->low) : QString(),
            step.range ? text(step.range->high) : QString(), text(step.limit), number(step.slackPercent())});
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

std::optional<double> expectedLimitScale(const ReplayedCliff& cliff, double limit)
{
    const double sigma = cliff.replays.front().sigma.front();
    return std::isfinite(sigma) && sigma > 0 ? std::optional(limit / sigma * cliff.scale) : std::nullopt;
}

QStringList cliffColumns()
{
    return {Words::tr("scale"), Words::tr("safety factor"), Words::tr("roundings"), Words::tr("outcome"),
        Words::tr("first non-finite"), Words::tr("step"), Words::tr("σ_max"), Words::tr("smallest"),
        Words::tr("largest"), Words::tr("limit"), Words::tr("slack %")};
}

std::vector<QStringList> cliffRows(const CliffHistory& history, bool exact)
{
    std::vector<QStringList> rows;
    for (const SharedCliff& cliff : history.all()) {
        addRows(rows, *cliff, exact);
    }
    return rows;
}

QString cliffTsv(const CliffHistory& history)
{
    QStringList lines {QStringLiteral("scale\tsafety_factor\troundings\toutcome\tfirst_nonfinite\tstep\tsigma_max\t"
                                      "sigma_low\tsigma_high\tlimit\tslack_percent")};
    for (const QStringList& row : cliffRows(history, true)) {
        lines << row.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace nanscope
