// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <set>
#include <vector>

#include <QAbstractTableModel>

#include "core/model/finding.h"
#include "core/model/model.h"

namespace nanscope {

/// The finding cards of a run, those of the chosen states; what fired comes first, the gravest on top.
class FindingModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { title, id, step, rank, confidence, NUM_COLUMNS };

    using QAbstractTableModel::QAbstractTableModel;

    void setFindings(std::vector<Finding> findings);
    void setShown(std::set<FindingState> states);
    int count(FindingState state) const;
    const Finding* findingAt(int row) const;
    int rowOf(const QString& id) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    void choose();

    std::vector<Finding> m_all;
    std::vector<std::size_t> m_rows;
    std::set<FindingState> m_shown {FindingState::fired};
};

QString findingStateWord(FindingState state);

} // namespace nanscope
