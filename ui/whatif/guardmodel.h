// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <optional>
#include <vector>

#include <QAbstractTableModel>

#include "core/diagnose/whatif/guardwhatif.h"

namespace nanscope {

/// Which ranks would have left an update out, one row per cause and layout, one column per guard.
class GuardModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { update, layout, stack, local, group, full, NUM_COLUMNS };

    using QAbstractTableModel::QAbstractTableModel;

    void setWhatIf(diagnose::GuardWhatIf whatIf);
    const diagnose::GuardWhatIf& whatIf() const { return m_whatIf; }
    const diagnose::GuardStep* stepAt(int row) const;
    int causes() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    struct Row
    {
        std::size_t step = 0;
        std::optional<probe::Layout> layout {}; ///< none where every layout is ruled out
        std::array<const diagnose::GuardOutcome*, 3> outcomes {}; ///< by scope
    };

    QString text(const Row& row, int column) const;
    QString tip(const Row& row, int column) const;
    const Row* rowAt(int row) const;

    diagnose::GuardWhatIf m_whatIf;
    std::vector<Row> m_rows; ///< point into the above
};

} // namespace nanscope
