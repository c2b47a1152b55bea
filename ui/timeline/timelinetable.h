// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QDialog>

#include "ui/shared/rowmodel.h"
#include "ui/timeline/timelinerows.h"

class QTableView;

namespace nanscope {

/// The values of one plot as a table: what a plot is to who does not see it.
/// NaN and the infinities stand behind the numbers, values that were not given behind those.
class TimelineTable : public QDialog
{
    Q_OBJECT

public:
    enum Column { step, line, value, state, place };

    /// `note` says what is left out.
    TimelineTable(const QString& title, const QString& note, std::vector<TimelineRow> rows, QWidget* parent = nullptr);

    QTableView* view() const { return m_view; }
    /// The selected rows, else all, as TSV to the clipboard.
    void copy() const;

private:
    RowModel<TimelineRow>* m_model;
    QTableView* m_view;
};

} // namespace nanscope
