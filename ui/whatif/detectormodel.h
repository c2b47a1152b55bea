// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QAbstractTableModel>

#include "core/diagnose/whatif/detectorreplay.h"

namespace nanscope {

/// What a NaN detector would have done, one row per process; those with something to tell come first.
class DetectorModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { process, action, step, rollback, leftOut, message, NUM_COLUMNS };

    using QAbstractTableModel::QAbstractTableModel;

    void setReplays(std::vector<diagnose::DetectorReplay> replays);
    const std::vector<diagnose::DetectorReplay>& replays() const { return m_replays; }
    const diagnose::DetectorReplay* replayAt(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    std::vector<diagnose::DetectorReplay> m_replays;
};

} // namespace nanscope
