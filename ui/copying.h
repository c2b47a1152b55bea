// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include <QString>
#include <QStringList>

class QAbstractItemModel;
class QMenu;
class QPixmap;
class QTableView;
class QWidget;

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

/// A line of headings, then one per row; tabs and line breaks within a cell become spaces.
QString asTsv(const TextTable& table);

/// An array of objects. Numbers stay numbers, an empty cell is null, what is not finite is "nan", "inf" or "-inf".
QString asJson(const TextTable& table);

/// Gives a table Ctrl+C and a context menu: the selected rows, or all, as TSV or JSON, and a picture. `title` names the
/// table for who reads the list of keys.
void makeCopyable(QTableView& view, const QString& title);

/// What a plot can hand out.
struct PlotCopies
{
    QString title;
    std::function<QString()> tsv;
    std::function<QPixmap()> picture;
};

/// "Copy values as TSV", "… as JSON", "Copy picture", "Show as a table…" at the end of a plot's menu.
void addCopyEntries(QMenu& menu, QWidget& plot, const PlotCopies& copies);

/// Gives a plot without a menu of its own the entries above and Ctrl+C for its values.
void makeCopyable(QWidget& plot, const PlotCopies& copies);

/// A plot's numbers as a table that can be sorted and copied; deletes itself when closed.
QTableView* showTable(QWidget& parent, const QString& title, const TextTable& table);

} // namespace nanscope
