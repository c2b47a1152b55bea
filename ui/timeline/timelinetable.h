// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QAbstractTableModel>
#include <QDialog>

#include "ui/timeline/timelinerows.h"

class QTableView;

namespace nanscope {

/// The values of one plot as a table: what a plot is to who does not see it.
class TimelineTableModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { step, line, value, state, place, columns };

    explicit TimelineTableModel(std::vector<TimelineRow> rows, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    /// NaN and the infinities stand behind the numbers, values that were not given behind those.
    void sort(int column, Qt::SortOrder order) override;
    const TimelineRow& row(int index) const { return m_rows[static_cast<std::size_t>(index)]; }

private:
    std::vector<TimelineRow> m_rows;
};

class TimelineTable : public QDialog
{
    Q_OBJECT

public:
    /// `note` says what is left out.
    TimelineTable(const QString& title, const QString& note, std::vector<TimelineRow> rows, QWidget* parent = nullptr);

    QTableView* view() const { return m_view; }
    /// The selected rows, else all, as TSV to the clipboard.
    void copy() const;

private:
    TimelineTableModel* m_model;
    QTableView* m_view;
};

} // namespace nanscope
