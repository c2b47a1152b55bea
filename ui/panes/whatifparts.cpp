// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/whatifparts.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>

#include "ui/copying.h"
#include "ui/panes/statusdelegate.h"
#include "ui/theme.h"

namespace nanscope {

QLabel* makeAnswerLabel(QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setObjectName(QStringLiteral("headline"));
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setContentsMargins(grid(3), grid(1), grid(3), grid(2));
    return label;
}

void addSetting(QHBoxLayout& row, const QString& name, QWidget& setting, const QString& tip)
{
    auto* label = new QLabel(name, row.parentWidget());
    label->setBuddy(&setting);
    label->setToolTip(tip);
    setting.setToolTip(tip);
    setting.setAccessibleName(QString(name).remove(QLatin1Char('&')));
    row.addWidget(label);
    row.addWidget(&setting);
    row.addSpacing(grid(2));
}

QTableView* makeAnswerTable(
    QWidget* parent, QAbstractItemModel* model, const QString& title, const std::function<void(int)>& activate)
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
    heading->setResizeContentsPrecision(300);
    makeCopyable(*view, title);
    QObject::connect(view, &QTableView::clicked, view, [activate](const QModelIndex& index) { activate(index.row()); });
    QObject::connect(
        view, &QTableView::activated, view, [activate](const QModelIndex& index) { activate(index.row()); });
    return view;
}

} // namespace nanscope
