// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/whatif/detectormodel.h"

#include <algorithm>
#include <utility>

#include "core/diagnose/whatif/whatifwords.h"

namespace nanscope {

namespace {

StatusMark markOf(const diagnose::DetectorReplay& replay)
{
    if (replay.stop) {
        return replay.afterwards.outcome == diagnose::Afterwards::recovered ? StatusMark::caution : StatusMark::bad;
    }
    if (!diagnose::detectorSpeaks(replay)) {
        return StatusMark::good;
    }
    return replay.checkable && replay.suspected.empty() ? StatusMark::none : StatusMark::unknown;
}

QString actionWord(const diagnose::DetectorReplay& replay)
{
    if (!replay.first) {
        return DetectorModel::tr("none");
    }
    switch (replay.options.action) {
    case probe::NanAction::warn:
        return DetectorModel::tr("warns");
    case probe::NanAction::skip:
        return DetectorModel::tr("skips");
    case probe::NanAction::raise:
        break;
    }
    return DetectorModel::tr("raises");
}

QString rollbackWord(const diagnose::DetectorReplay& replay)
{
    if (replay.options.action == probe::NanAction::raise) {
        return replay.stop ? DetectorModel::tr("raises before") : DetectorModel::tr("no");
    }
    if (replay.stop) {
        return DetectorModel::tr("at step %1").arg(replay.stop->step);
    }
    const bool known = !diagnose::detectorSpeaks(replay) || (replay.checkable && replay.suspected.empty());
    return known ? DetectorModel::tr("no") : DetectorModel::tr("not checkable");
}

QString titleOf(const diagnose::DetectorReplay& replay)
{
    return qstr(diagnose::detectorTitle(replay));
}

QString answerTip(const diagnose::DetectorReplay& replay)
{
    return sentenceCase(qstr(diagnose::detectorAnswer(replay)));
}

QString firstStep(const diagnose::DetectorReplay& replay)
{
    return replay.first ? QString::number(replay.first->step) : QStringLiteral("–");
}

QString leftOutCount(const diagnose::DetectorReplay& replay)
{
    return QString::number(replay.total + std::ssize(replay.byGradients));
}

QString firstMessage(const diagnose::DetectorReplay& replay)
{
    return replay.first ? qstr(replay.first->message) : QString();
}

QString spokenTitle(const diagnose::DetectorReplay& replay)
{
    return DetectorModel::tr("%1: %2").arg(titleOf(replay), qstr(diagnose::detectorAnswer(replay)));
}

} // namespace

DetectorModel::DetectorModel(QObject* parent)
    : RowModel(parent)
{
    setColumns({
        {.title = tr("Process"),
            .text = titleOf,
            .headingTip = tr("One process of the run: its counters start anew with every restart"),
            .mark = markOf,
            .spoken = spokenTitle},
        {.title = tr("First"),
            .text = actionWord,
            .headingTip = tr("What the detector does at the first step that is not finite"),
            .tip = answerTip},
        {.title = tr("Step"),
            .text = firstStep,
            .headingTip = tr("As the detector counts: a trainer that prints behind its increment prints one more"),
            .tip = answerTip},
        {.title = tr("Roll back at"),
            .text = rollbackWord,
            .headingTip = tr("Where should_rollback turns true, and the trainer stops"),
            .tip = answerTip},
        {.title = tr("Updates skipped"),
            .text = leftOutCount,
            .headingTip = tr("Updates that are not made, up to the stop"),
            .tip = answerTip},
        {.title = tr("It says"), .text = firstMessage, .headingTip = tr("The line it writes then")},
    });
}

void DetectorModel::setReplays(std::vector<diagnose::DetectorReplay> replays)
{
    std::stable_partition(replays.begin(), replays.end(), diagnose::detectorSpeaks);
    setRows(std::move(replays));
}

} // namespace nanscope
