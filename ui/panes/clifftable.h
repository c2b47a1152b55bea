// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include "ui/panes/cliffhistory.h"

class QTableWidget;

namespace nanscope {

/// Everything that was replayed of one cell, as a table: what the cliff plots are to who does not see them.
class CliffTable : public QDialog
{
    Q_OBJECT

public:
    explicit CliffTable(const CliffHistory& history, QWidget* parent = nullptr);

    QTableWidget* table() const { return m_table; }

private:
    QTableWidget* m_table;
};

} // namespace nanscope
