// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cliff/cliffpicture.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>

#include "ui/shared/text.h"

namespace nanscope {

namespace {

struct CliffWords
{
    Q_DECLARE_TR_FUNCTIONS(Cliff)
};

CliffStep stepOf(const replay::ReplayedCliff& cliff, std::size_t k)
{
    const double sigma = cliff.replays.front().sigma[k];
    return {static_cast<int>(k) + 1, cliff.limits[k], true, std::isfinite(sigma) ? std::optional(sigma) : std::nullopt,
        replay::sigmaRange(cliff, k)};
}

QString rangeText(const CliffPicture& picture, const CliffStep& step)
{
    if (!step.range || picture.roundings < 2) {
        return {};
    }
    return CliffWords::tr(" (%1–%2 over %3 roundings)")
        .arg(roundNumber(step.range->low, 5), roundNumber(step.range->high, 5))
        .arg(picture.roundings);
}

} // namespace

std::optional<double> CliffStep::slackPercent() const
{
    return own && *own > 0 ? std::optional(100 * (limit / *own - 1)) : std::nullopt;
}

CliffPicture makeCliffPicture(
    const std::vector<replay::Coefficients>& schedule, const replay::ReplayedCliff* replayed, bool current)
{
    CliffPicture picture {schedule, {}, 0, current, false};
    if (replayed && replayed->limits.size() == schedule.size()) {
        // Only that form has a Q; a square matrix may take the standard loop of a variant that has both.
        picture.gram = std::ranges::any_of(
            replayed->replays.front().cell.gauges, [](const Gauge& gauge) { return gauge.absmaxQ.has_value(); });
        picture.roundings = static_cast<int>(replayed->replays.size());
        for (std::size_t k = 0; k < schedule.size(); ++k) {
            picture.steps.push_back(stepOf(*replayed, k));
        }
        return picture;
    }
    int step = 0;
    for (const double limit : replay::divergenceLimits(schedule)) {
        picture.steps.push_back({++step, limit, false, {}, {}});
    }
    return picture;
}

QString cliffStepText(const CliffPicture& picture, const CliffStep& step)
{
    const QString what = picture.gram && step.step > 1 ? CliffWords::tr("√λmax(R)") : CliffWords::tr("σ_max");
    QStringList parts;
    if (step.own) {
        parts << CliffWords::tr("step %1: %2 %3").arg(step.step).arg(what, roundNumber(*step.own, 5))
                + rangeText(picture, step);
    } else if (step.replayed) {
        parts << CliffWords::tr("step %1: the iterate is not finite any more").arg(step.step);
    } else {
        parts << CliffWords::tr("step %1: not replayed yet").arg(step.step);
    }
    parts << CliffWords::tr("limit %1").arg(roundNumber(step.limit, 5));
    const auto slack = step.slackPercent();
    if (slack && *step.own > 2 * step.limit) {
        parts << CliffWords::tr("%1 times that").arg(roundNumber(*step.own / step.limit));
    } else if (slack) {
        parts << (*slack >= 0
                ? CliffWords::tr("slack %1 %").arg(roundNumber(*slack))
                : CliffWords::tr("beyond it by %1 %").arg(roundNumber(100 * (*step.own / step.limit - 1))));
    }
    return parts.join(QStringLiteral(" · "));
}

QString cliffOutcomeText(const replay::ReplayedCliff& cliff)
{
    const Cell& own = cliff.replays.front().cell;
    QString text = outcomeWord(own.outcome);
    if (own.firstNonFinite) {
        text +=
            CliffWords::tr(", first %1 in %2").arg(classWord(own.firstNonFinite->kind), opLabel(*own.firstNonFinite));
    }
    const auto finite =
        std::ranges::count_if(cliff.replays, [](const replay::CliffReplay& each) { return !each.cell.firstNonFinite; });
    const auto all = static_cast<qlonglong>(cliff.replays.size());
    if (all > 1) {
        text += CliffWords::tr("; %1 of %2 replays stay finite").arg(finite).arg(all);
    }
    return text;
}

} // namespace nanscope
