// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/whatif/detectormodel.h"

#include <algorithm>
#include <utility>

#include "core/diagnose/whatif/whatifwords.h"
#include "ui/shared/marks.h"
#include "ui/shared/roles.h"
#include "ui/shared/text.h"

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

QString text(const diagnose::DetectorReplay& replay, int column)
{
    switch (column) {
    case DetectorModel::process:
        return qstr(diagnose::detectorTitle(replay));
    case DetectorModel::action:
        return actionWord(replay);
    case DetectorModel::step:
        return replay.first ? QString::number(replay.first->step) : QStringLiteral("–");
    case DetectorModel::rollback:
        return rollbackWord(replay);
    case DetectorModel::leftOut:
        return QString::number(replay.total + std::ssize(replay.byGradients));
    default:
        return replay.first ? qstr(replay.first->message) : QString();
    }
}

QString tip(const diagnose::DetectorReplay& replay, int column)
{
    const bool whole = column == DetectorModel::process || column == DetectorModel::message;
    return whole ? text(replay, column) : sentenceCase(qstr(diagnose::detectorAnswer(replay)));
}

QString headingTip(int section)
{
    switch (section) {
    case DetectorModel::action:
        return DetectorModel::tr("What the detector does at the first step that is not finite");
    case DetectorModel::step:
        return DetectorModel::tr("As the detector counts: a trainer that prints behind its increment prints one more");
    case DetectorModel::rollback:
        return DetectorModel::tr("Where should_rollback turns true, and the trainer stops");
    case DetectorModel::leftOut:
        return DetectorModel::tr("Updates that are not made, up to the stop");
    case DetectorModel::message:
        return DetectorModel::tr("The line it writes then");
    default:
        return DetectorModel::tr("One process of the run: its counters start anew with every restart");
    }
}

} // namespace

void DetectorModel::setReplays(std::vector<diagnose::DetectorReplay> replays)
{
    beginResetModel();
    m_replays = std::move(replays);
    std::stable_partition(m_replays.begin(), m_replays.end(), diagnose::detectorSpeaks);
    endResetModel();
}

const diagnose::DetectorReplay* DetectorModel::replayAt(int row) const
{
    return row >= 0 && row < rowCount() ? &m_replays[static_cast<std::size_t>(row)] : nullptr;
}

int DetectorModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_replays.size());
}

int DetectorModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : NUM_COLUMNS;
}

QVariant DetectorModel::data(const QModelIndex& index, int role) const
{
    const diagnose::DetectorReplay* replay = index.isValid() ? replayAt(index.row()) : nullptr;
    if (!replay) {
        return {};
    }
    switch (role) {
    case Qt::DisplayRole:
        return text(*replay, index.column());
    case Qt::ToolTipRole:
        return plainTip(tip(*replay, index.column()));
    case StatusRole:
        return index.column() == process ? QVariant(static_cast<int>(markOf(*replay))) : QVariant();
    case Qt::AccessibleTextRole:
        return index.column() == process
            ? tr("%1: %2").arg(text(*replay, process), qstr(diagnose::detectorAnswer(*replay)))
            : QVariant();
    default:
        return {};
    }
}

QVariant DetectorModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::ToolTipRole) {
        return headingTip(section);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case process:
        return tr("Process");
    case action:
        return tr("First");
    case step:
        return tr("Step");
    case rollback:
        return tr("Should roll back");
    case leftOut:
        return tr("Left out");
    default:
        return tr("It says");
    }
}

} // namespace nanscope
