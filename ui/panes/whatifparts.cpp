// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/whatifparts.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/panes/rowtable.h"
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
    auto* view = makeRowTable(parent, model, title);
    view->horizontalHeader()->setResizeContentsPrecision(300);
    QObject::connect(view, &QTableView::clicked, view, [activate](const QModelIndex& index) { activate(index.row()); });
    QObject::connect(
        view, &QTableView::activated, view, [activate](const QModelIndex& index) { activate(index.row()); });
    return view;
}

SettingsBar makeSettingsBar(QWidget* parent)
{
    auto* bar = new QWidget(parent);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(grid(3), 0, grid(3), grid(1));
    row->setSpacing(grid(2));
    return {bar, row};
}

void layOutAnswer(QWidget& view, QWidget& settings, QLabel& headline, QWidget& below)
{
    auto* layout = new QVBoxLayout(&view);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(&settings);
    layout->addWidget(&headline);
    layout->addWidget(&below, 1);
    layout->addStretch();
    below.hide();
}

} // namespace nanscope
