// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/rollback/checkpointmodel.h"

#include <algorithm>

#include <QFont>

#include "ui/shared/marks.h"
#include "ui/shared/roles.h"
#include "ui/shared/text.h"

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

QString text(const CheckpointAdvice& advice, int column)
{
    switch (column) {
    case CheckpointModel::step:
        return QString::number(advice.step);
    case CheckpointModel::status:
        return checkpointWord(advice.status);
    case CheckpointModel::reason:
        return qstr(advice.reason);
    case CheckpointModel::proof:
        return proofText(advice);
    default:
        return qstr(advice.path);
    }
}

QString heading(int section)
{
    switch (section) {
    case CheckpointModel::step:
        return CheckpointModel::tr("Checkpoint");
    case CheckpointModel::status:
        return CheckpointModel::tr("Status");
    case CheckpointModel::reason:
        return CheckpointModel::tr("Why");
    case CheckpointModel::proof:
        return CheckpointModel::tr("Proof");
    default:
        return CheckpointModel::tr("Place");
    }
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

void CheckpointModel::setRollback(const Rollback& rollback)
{
    beginResetModel();
    m_rollback = rollback;
    const auto& all = m_rollback.checkpoints;
    const auto found = std::ranges::find_if(
        all, [&](const CheckpointAdvice& advice) { return advice.step == m_rollback.recommended; });
    m_recommended = found == all.end() ? -1 : static_cast<int>(found - all.begin());
    endResetModel();
}

int CheckpointModel::safeCount() const
{
    return static_cast<int>(
        std::ranges::count(m_rollback.checkpoints, CheckpointStatus::safe, &CheckpointAdvice::status));
}

int CheckpointModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rollback.checkpoints.size());
}

int CheckpointModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : NUM_COLUMNS;
}

QVariant CheckpointModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const CheckpointAdvice& advice = m_rollback.checkpoints[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return text(advice, index.column());
    case Qt::ToolTipRole:
        return plainTip(text(advice, index.column()));
    case StatusRole:
        return index.column() == status ? QVariant(static_cast<int>(markOf(advice.status))) : QVariant();
    case Qt::FontRole: {
        QFont font;
        font.setBold(index.row() == recommendedRow() && index.column() <= status);
        return font;
    }
    default:
        return {};
    }
}

QVariant CheckpointModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    return orientation == Qt::Horizontal && role == Qt::DisplayRole ? heading(section) : QVariant();
}

} // namespace nanscope
