// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QString>
#include <QStringList>

class QAbstractItemModel;

namespace nanscope {

/// A table as it leaves the window: machine words, an unknown value is empty.
struct TextTable
{
    QStringList columns;
    std::vector<QStringList> rows;
};

/// These rows with every column, hidden ones too; CopyRole goes before what is displayed. Row headings that are words
/// come first, in a column without a name.
TextTable tableOf(const QAbstractItemModel& model, const std::vector<int>& rows);

/// Tab-separated lines, the first of them headings.
TextTable tableFromTsv(const QString& tsv);

/// One line of the forms below.
QString tsvLine(const QStringList& cells);
QString csvLine(const QStringList& cells);
/// One object of the array below, as it stands there.
QString jsonObject(const QStringList& columns, const QStringList& row);

/// A line of headings, then one per row; tabs and line breaks within a cell become spaces.
QString asTsv(const TextTable& table);

/// An array of objects. Numbers stay numbers, an empty cell is null, what is not finite is "nan", "inf" or "-inf".
QString asJson(const TextTable& table);

} // namespace nanscope
