// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QAbstractItemModel;
class QTableView;
class QWidget;

namespace nanscope {

/// A table whose rows are the things: read only, one row selected, no grid, copied as text. Columns are as wide as what
/// is in their first rows; stretch the one that holds sentences.
QTableView* makeRowTable(QWidget* parent, QAbstractItemModel* model, const QString& title);

} // namespace nanscope
