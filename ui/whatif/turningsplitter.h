// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSplitter>

class QTableView;

namespace nanscope {

/// A table and what it says of the selected row: beside each other where there is room, else one below the other.
class TurningSplitter : public QSplitter
{
    Q_OBJECT

public:
    TurningSplitter(QTableView* table, QWidget* detail, QWidget* parent = nullptr);

    /// The table has other rows: above the detail it takes no more than they need.
    void shareAgain();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QTableView* m_table;
    bool m_shared = false;
};

} // namespace nanscope
