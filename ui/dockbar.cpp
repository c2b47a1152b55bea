// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dockbar.h"

#include <QAction>
#include <QBoxLayout>
#include <QCoreApplication>
#include <QDockWidget>
#include <QToolButton>

namespace nanscope {

namespace {

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::DockBar)
};

QAction* addEntry(QDockWidget& dock, QWidget& bar, const QString& text, const QString& tip)
{
    auto* action = new QAction(text, &dock);
    action->setStatusTip(tip);
    action->setToolTip(tip);
    bar.addAction(action);
    return action;
}

QToolButton* addButton(QWidget& bar, const QDockWidget& dock, QAction& again)
{
    auto* button = new QToolButton(&bar);
    button->setObjectName(QStringLiteral("chip"));
    button->setDefaultAction(&again);
    button->setAccessibleName(Words::tr("Dock again: %1").arg(dock.windowTitle()));
    button->setFocusPolicy(Qt::StrongFocus);
    bar.layout()->addWidget(button);
    button->hide();
    return button;
}

} // namespace

void setDockBar(QDockWidget& dock, QWidget& heading)
{
    dock.setTitleBarWidget(&heading);
    QAction* again = addEntry(dock, heading, Words::tr("Dock again"), Words::tr("Put this pane back into the window"));
    QAction* out = addEntry(dock, heading, Words::tr("Float"), Words::tr("Make this pane a window of its own"));
    QAction* hide = addEntry(dock, heading, Words::tr("Hide"), Words::tr("View ▸ Panes brings it back"));
    heading.setContextMenuPolicy(Qt::ActionsContextMenu);
    QToolButton* button = addButton(heading, dock, *again);
    again->setEnabled(false);
    QDockWidget* docked = &dock;
    QObject::connect(again, &QAction::triggered, docked, [docked] { docked->setFloating(false); });
    QObject::connect(out, &QAction::triggered, docked, [docked] { docked->setFloating(true); });
    QObject::connect(hide, &QAction::triggered, docked, &QWidget::hide);
    QObject::connect(docked, &QDockWidget::topLevelChanged, docked, [again, out, button](bool floating) {
        again->setEnabled(floating);
        out->setEnabled(!floating);
        button->setVisible(floating);
    });
}

} // namespace nanscope
