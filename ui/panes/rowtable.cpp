// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/rowtable.h"

#include <QHeaderView>
#include <QTableView>

#include "ui/copying.h"
#include "ui/panes/statusdelegate.h"
#include "ui/theme.h"

namespace nanscope {

QTableView* makeRowTable(QWidget* parent, QAbstractItemModel* model, const QString& title)
{
    auto* view = new QTableView(parent);
    view->setModel(model);
    view->setItemDelegate(new StatusDelegate(view));
    view->setAccessibleName(title);
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setSelectionMode(QAbstractItemView::SingleSelection);
    view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    view->setShowGrid(false);
    view->setTabKeyNavigation(false);
    view->setWordWrap(false);
    view->verticalHeader()->hide();
    view->verticalHeader()->setDefaultSectionSize(grid(7));
    auto* heading = view->horizontalHeader();
    heading->setHighlightSections(false);
    heading->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    heading->setSectionResizeMode(QHeaderView::ResizeToContents);
    makeCopyable(*view, title);
    return view;
}

} // namespace nanscope
