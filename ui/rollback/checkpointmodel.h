// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QAbstractTableModel>

#include "core/model/finding.h"
#include "core/model/model.h"

namespace nanscope {

/// The checkpoints of a run with what speaks for and against each, newest first.
class CheckpointModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { step, status, reason, proof, path, NUM_COLUMNS };

    using QAbstractTableModel::QAbstractTableModel;

    void setRollback(const Rollback& rollback);
    /// Row of the one to go back to, or -1.
    int recommendedRow() const { return m_recommended; }
    int safeCount() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    Rollback m_rollback;
    int m_recommended = -1;
};

QString checkpointWord(CheckpointStatus status);

} // namespace nanscope
