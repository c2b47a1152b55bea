// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/docks.h"

#include <algorithm>
#include <iterator>

#include <QAction>
#include <QBoxLayout>
#include <QCoreApplication>
#include <QDockWidget>
#include <QMainWindow>
#include <QMenu>
#include <QTabBar>
#include <QToolButton>

#include "ui/shared/copying.h"
#include "ui/shared/paneframe.h"
#include "ui/shared/theme.h"
#include "ui/shell/actions.h"

namespace nanscope {

namespace {

struct DocksWords
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::Docks)
};

QToolButton* addButton(QWidget& bar, const QDockWidget& dock, QAction& again)
{
    auto* button = new QToolButton(&bar);
    button->setObjectName(QStringLiteral("chip"));
    button->setDefaultAction(&again);
    button->setAccessibleName(DocksWords::tr("Dock again: %1").arg(dock.windowTitle()));
    button->setFocusPolicy(Qt::StrongFocus);
    bar.layout()->addWidget(button);
    button->hide();
    return button;
}

/// Gives a dock its title bar: `heading`, a button that docks it again while it floats, and a menu. Dragging a floating
/// dock back is not possible everywhere: not on Wayland before Qt 6.7.
void setDockBar(QDockWidget& dock, QWidget& heading)
{
    dock.setTitleBarWidget(&heading);
    QDockWidget* docked = &dock;
    QAction* again = addCommand(heading, DocksWords::tr("Dock again"),
        DocksWords::tr("Put this pane back into the window"), {}, [docked] { docked->setFloating(false); });
    QAction* out = addCommand(heading, DocksWords::tr("Float"), DocksWords::tr("Make this pane a window of its own"),
        {}, [docked] { docked->setFloating(true); });
    addCommand(heading, DocksWords::tr("Hide"), DocksWords::tr("View ▸ Panes brings it back"), {},
        [docked] { docked->hide(); });
    heading.setContextMenuPolicy(Qt::ActionsContextMenu);
    QToolButton* button = addButton(heading, dock, *again);
    again->setEnabled(false);
    QObject::connect(docked, &QDockWidget::topLevelChanged, docked, [again, out, button](bool floating) {
        again->setEnabled(floating);
        out->setEnabled(!floating);
        button->setVisible(floating);
    });
}

constexpr int layoutVersion = 3;

} // namespace

Docks::Docks(QMainWindow& area)
    : m_area(area)
{
    m_area.setDockNestingEnabled(true);
    m_area.setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    m_area.setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    m_area.setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
}

QDockWidget* Docks::add(const char* name, const QString& title, PaneFrame* pane, Qt::DockWidgetArea area)
{
    auto* dock = new QDockWidget(title, &m_area);
    dock->setObjectName(QLatin1String(name));
    dock->setWidget(pane);
    // A pane's own heading is what one drags it by; a second line with the same words above it would be noise.
    setDockBar(*dock, *pane->takeHeader());
    m_area.addDockWidget(area, dock);
    m_docks.push_back({dock, area});
    return dock;
}

std::vector<QDockWidget*> Docks::all() const
{
    std::vector<QDockWidget*> docks;
    std::ranges::transform(m_docks, std::back_inserter(docks), &Dock::widget);
    return docks;
}

void Docks::dockAll()
{
    for (const Dock& dock : m_docks) {
        dock.widget->setFloating(false);
    }
}

void Docks::fillMenu(QMenu& menu) const
{
    for (const Dock& dock : m_docks) {
        QAction* action = dock.widget->toggleViewAction();
        setTip(*action, DocksWords::tr("Show or hide this pane: %1").arg(dock.widget->windowTitle()));
        menu.addAction(action);
    }
}

QByteArray Docks::save() const
{
    return m_area.saveState(layoutVersion);
}

bool Docks::restore(const QByteArray& state)
{
    return m_area.restoreState(state, layoutVersion);
}

void Docks::share(Qt::DockWidgetArea area, double part)
{
    QList<QDockWidget*> docks;
    for (const Dock& dock : m_docks) {
        if (dock.area == area) {
            docks << dock.widget;
        }
    }
    m_area.resizeDocks(docks, QList<int>(docks.size(), static_cast<int>(m_area.width() * part)), Qt::Horizontal);
}

void Docks::takeAll()
{
    for (const Dock& dock : m_docks) {
        dock.widget->setFloating(false);
        m_area.removeDockWidget(dock.widget);
    }
}

void Docks::reset()
{
    takeAll();
    for (const Dock& dock : m_docks) {
        m_area.addDockWidget(dock.area, dock.widget);
        dock.widget->show();
    }
    // The words of the list are whole in so many pixels.
    constexpr double listed = grid(82);
    share(Qt::LeftDockWidgetArea, std::clamp(listed / std::max(1, m_area.width()), 0.22, 0.255));
    share(Qt::RightDockWidgetArea, 0.22);
}

void Docks::stack()
{
    takeAll();
    QDockWidget* side = m_docks.front().widget;
    m_area.addDockWidget(Qt::LeftDockWidgetArea, side);
    for (const Dock& dock : m_docks) {
        if (dock.widget != side) {
            m_area.tabifyDockWidget(side, dock.widget);
        }
        dock.widget->show();
    }
    // Half a word would name none of them.
    for (QTabBar* bar : m_area.findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) {
        bar->setElideMode(Qt::ElideNone);
        bar->setUsesScrollButtons(true);
        bar->setAccessibleName(DocksWords::tr("Panes"));
    }
    side->raise();
    m_area.resizeDocks({side}, {m_area.width() * 2 / 5}, Qt::Horizontal);
}

QList<int> Docks::widths() const
{
    QList<int> widths;
    for (const Dock& dock : m_docks) {
        widths << (dock.widget->isVisible() && !dock.widget->isFloating() ? dock.widget->width() : 0);
    }
    return widths;
}

void Docks::setWidths(const QList<int>& widths)
{
    QList<QDockWidget*> docks;
    QList<int> given;
    for (std::size_t i = 0; i < m_docks.size() && static_cast<qsizetype>(i) < widths.size(); ++i) {
        QDockWidget* dock = m_docks[i].widget;
        if (!dock->isHidden() && !dock->isFloating() && widths[static_cast<qsizetype>(i)] > 0) {
            docks << dock;
            given << widths[static_cast<qsizetype>(i)];
        }
    }
    m_area.resizeDocks(docks, given, Qt::Horizontal);
}

void Docks::hideAll()
{
    for (const Dock& dock : m_docks) {
        dock.widget->hide();
    }
}

} // namespace nanscope
