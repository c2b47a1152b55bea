// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <vector>

#include <QAbstractTableModel>

#include "core/model/model.h"

namespace nanscope {

/// Captures of a run with what was judged of them; births first once a diagnosis is there.
class CaptureModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { RoleColumn, RankColumn, StepColumn, ShapeColumn, VerdictColumn, NUM_COLUMNS };

    using QAbstractTableModel::QAbstractTableModel;

    void setRun(std::shared_ptr<const RunData> run, std::shared_ptr<const Diagnosis> diagnosis);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

    /// Row of a capture given as index into RunData::captures, or -1.
    int rowOf(int capture) const;

private:
    struct Row
    {
        int capture = 0;
        const CaptureVerdict* verdict = nullptr;
    };

    QString text(const Row& row, int column) const;
    QString verdictText(const Row& row) const;
    QVariant sortValue(const Row& row, int column) const;
    QString toolTip(const Row& row) const;
    QString filterText(const Row& row) const;
    const Capture& captureOf(const Row& row) const;

    std::shared_ptr<const RunData> m_run;
    std::shared_ptr<const Diagnosis> m_diagnosis;
    std::vector<Row> m_rows;
};

/// The verdict that belongs to a capture, by id where both have one, else by file name.
const CaptureVerdict* verdictOf(const Diagnosis& diagnosis, const Capture& capture);

} // namespace nanscope
