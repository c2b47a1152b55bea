// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/rollback/checkpointmodel.h"

#include <algorithm>

namespace nanscope {

namespace {

StatusMark markOf(CheckpointStatus status)
{
    switch (status) {
    case CheckpointStatus::safe:
        return StatusMark::good;
    case CheckpointStatus::suspect:
        return StatusMark::caution;
    case CheckpointStatus::poisoned:
        return StatusMark::bad;
    case CheckpointStatus::missing:
        return StatusMark::none;
    default:
        return StatusMark::unknown;
    }
}

QString proofText(const CheckpointAdvice& advice)
{
    QStringList lines;
    for (const EvidenceLine& line : advice.proof) {
        lines << (line.source.empty() ? qstr(line.text)
                                      : QStringLiteral("%1 [%2]").arg(qstr(line.text), qstr(line.source)));
    }
    return lines.join(QStringLiteral("; "));
}

} // namespace

QString checkpointWord(CheckpointStatus status)
{
    switch (status) {
    case CheckpointStatus::safe:
        return CheckpointModel::tr("safe");
    case CheckpointStatus::suspect:
        return CheckpointModel::tr("suspect");
    case CheckpointStatus::poisoned:
        return CheckpointModel::tr("poisoned");
    case CheckpointStatus::missing:
        return CheckpointModel::tr("missing");
    default:
        return CheckpointModel::tr("unverified");
    }
}

CheckpointModel::CheckpointModel(QObject* parent)
    : RowModel(parent)
{
    const auto recommended = [this](const CheckpointAdvice& advice) { return &advice == rowAt(m_recommended); };
    setColumns({
        {.title = tr("Checkpoint"),
            .text = [](const CheckpointAdvice& advice) { return QString::number(advice.step); },
            .bold = recommended},
        {.title = tr("Status"),
            .text = [](const CheckpointAdvice& advice) { return checkpointWord(advice.status); },
            .mark = [](const CheckpointAdvice& advice) { return markOf(advice.status); },
            .bold = recommended},
        {.title = tr("Why"), .text = [](const CheckpointAdvice& advice) { return qstr(advice.reason); }},
        {.title = tr("Proof"), .text = proofText},
        {.title = tr("Place"), .text = [](const CheckpointAdvice& advice) { return qstr(advice.path); }},
    });
}

void CheckpointModel::setRollback(const Rollback& rollback)
{
    const auto& all = rollback.checkpoints;
    const auto found = std::ranges::find(all, rollback.recommended, &CheckpointAdvice::step);
    m_recommended = found == all.end() ? -1 : static_cast<int>(found - all.begin());
    setRows(all);
}

int CheckpointModel::safeCount() const
{
    return static_cast<int>(std::ranges::count(rows(), CheckpointStatus::safe, &CheckpointAdvice::status));
}

} // namespace nanscope
