// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <vector>

#include <QAbstractTableModel>

#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope {

/// Captures of a run with what was judged of them; births first once a diagnosis is there.
class CaptureModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { RoleColumn, RankColumn, StepColumn, ShapeColumn, VerdictColumn, FileColumn, NUM_COLUMNS };

    using QAbstractTableModel::QAbstractTableModel;

    void setRun(std::shared_ptr<const RunData> run, std::shared_ptr<const Diagnosis> diagnosis);

    /// Of the same run; the rows stay where they are.
    void setVerdicts(std::shared_ptr<const Diagnosis> diagnosis);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

    /// Row of a capture given as index into RunData::captures, or -1.
    int rowOf(int capture) const;
    const Capture& captureAt(int row) const { return captureOf(m_rows[static_cast<std::size_t>(row)]); }
    const CaptureVerdict* verdictAt(int row) const { return m_rows[static_cast<std::size_t>(row)].verdict; }
    QString text(int row, int column) const { return text(m_rows[static_cast<std::size_t>(row)], column); }
    /// Everything a plain filter word may match, in lower case.
    const QString& searchText(int row) const;
    /// What sorting goes by, without a QVariant in between: a hundred thousand rows are sorted while one looks.
    bool less(int left, int right, int column) const;

private:
    struct Row
    {
        int capture = 0;
        const CaptureVerdict* verdict = nullptr;
        QString judged; ///< shared by all rows that say the same
        mutable QString search; ///< filled when first searched
    };

    void addRows();
    QString text(const Row& row, int column) const;
    QVariant copyValue(const Row& row, int column) const;
    QString toolTip(const Row& row, int column) const;
    QString filterText(const Row& row) const;
    const Capture& captureOf(const Row& row) const;

    std::shared_ptr<const RunData> m_run;
    std::shared_ptr<const Diagnosis> m_diagnosis;
    std::vector<Row> m_rows;
    std::vector<int> m_rowOfCapture;
};

/// The verdict that belongs to a capture, by id where both have one, else by file name.
const CaptureVerdict* verdictOf(const Diagnosis& diagnosis, const Capture& capture);

} // namespace nanscope
