// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include <QString>

#include "ui/shared/picture.h"
#include "ui/shared/table/texttable.h"

class QAbstractItemModel;
class QAction;
class QKeySequence;
class QMenu;
class QTableView;
class QWidget;

namespace nanscope {

/// Gives a table Ctrl+C, keys to save it, and a context menu: the selected rows, or all, as TSV or JSON, and a picture.
/// `title` names the table for who reads the list of keys, `subject` what it is of for who names files.
void makeCopyable(QTableView& view, const QString& title, const std::function<QString()>& subject = {});

/// What a plot can hand out.
struct PlotCopies
{
    QString title;
    std::function<QString()> tsv;
    std::function<Picture()> picture;
    std::function<PictureCaption()> caption = {}; ///< above the picture; without it the title
    std::function<QString()> sheet = {}; ///< all that is shown, where that is too much to copy
};

/// "Copy values as TSV", "… as JSON", "Copy picture", "Save values…", "Save picture…", "Show as a table…" at the end of
/// a plot's menu. What there is nothing of cannot be chosen.
void addCopyEntries(QMenu& menu, QWidget& plot, const PlotCopies& copies);

/// Gives a plot without a menu of its own the entries above, Ctrl+C for its values and keys to save.
void makeCopyable(QWidget& plot, const PlotCopies& copies);

/// A command of one table or plot, taken while the focus is in it; the list of keys has it.
QAction* addCommand(QWidget& widget, const QString& text, const QString& tip, const QKeySequence& keys,
    const std::function<void()>& slot);
QKeySequence savePictureKeys();
QKeySequence saveValuesKeys();

/// Ask for a file.
void savePictureOf(QWidget& plot, const PlotCopies& copies);
void saveValuesOf(QWidget& plot, const PlotCopies& copies);

/// A table whose rows are the things: they are selected as a whole, there is no grid, and Tab leaves it.
QTableView* makeListOfRows(QWidget* parent, QAbstractItemModel* model, const QString& title);

/// A view of a table that can be sorted, copied and saved; fillTableView() gives it other rows.
QTableView* makeTableView(QWidget* parent, const QString& title);
void fillTableView(QTableView& view, const TextTable& table);

/// A plot's numbers as a table that can be sorted and copied; deletes itself when closed.
QTableView* showTable(QWidget& parent, const QString& title, const TextTable& table);

} // namespace nanscope
