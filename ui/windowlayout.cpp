// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// How the panes of the window lie: remembered from one start to the next, and under names.
#include <algorithm>

#include <QAction>
#include <QInputDialog>
#include <QMenu>

#include "ui/layoutdialog.h"
#include "ui/mainwindow.h"
#include "ui/panes/messagebar.h"
#include "ui/panes/timelinepane.h"

namespace nanscope {

namespace {

bool isSavedLayout(const QAction* action)
{
    return action->data().isValid();
}

} // namespace

void MainWindow::restoreLayout()
{
    resize(1440, 900);
    restoreGeometry(m_settings.state("geometry"));
    panes().timeline->restoreState(m_settings.state("timeline"));
    m_actions.compare->setChecked(!m_settings.state("compare").isEmpty());
}

void MainWindow::askLayoutName()
{
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Save layout"));
    dialog->setLabelText(tr("Name of the layout; one that has this name already is replaced"));
    dialog->setOkButtonText(tr("Save"));
    connect(dialog, &QInputDialog::textValueSelected, this, &MainWindow::saveLayoutAs);
    dialog->open();
}

void MainWindow::saveLayoutAs(const QString& given)
{
    const QString name = given.trimmed();
    if (!name.isEmpty()) {
        m_settings.setLayout(name, m_area->saveLayout());
        fillLayouts();
        m_status.say(tr("Layout saved: %1").arg(name));
    }
}

void MainWindow::applyLayout(const QString& name)
{
    if (!m_area->applyLayout(m_settings.layout(name))) {
        m_messages->showMessage(
            tr("This layout was saved by another version of the window and cannot be applied: %1").arg(name), {});
    }
}

void MainWindow::manageLayouts()
{
    auto* dialog = new LayoutDialog(m_settings, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &LayoutDialog::changed, this, &MainWindow::fillLayouts);
    dialog->open();
}

void MainWindow::fillLayouts()
{
    for (QAction* action : m_actions.layouts->actions()) {
        if (isSavedLayout(action)) {
            delete action;
        }
    }
    const QStringList names = m_settings.layoutNames();
    for (const QString& name : names) {
        auto* action = new QAction(QString(name).replace(QLatin1Char('&'), QLatin1String("&&")), m_actions.layouts);
        action->setData(name);
        action->setStatusTip(tr("Lay the panes as they were saved: %1").arg(name));
        action->setToolTip(action->statusTip());
        connect(action, &QAction::triggered, this, [this, name] { applyLayout(name); });
        m_actions.layouts->insertAction(m_actions.saveLayout, action);
    }
    if (!names.isEmpty()) {
        QAction* line = m_actions.layouts->insertSeparator(m_actions.saveLayout);
        line->setData(QString());
    }
    m_actions.manageLayouts->setEnabled(!names.isEmpty());
}

} // namespace nanscope
