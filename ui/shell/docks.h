// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QByteArray>
#include <QString>

class QDockWidget;
class QMainWindow;
class QMenu;
class QWidget;

namespace nanscope {

/// The panes around the centre of the window: they can be dragged, floated, stacked and closed. Their state is saved
/// with a version, so that a layout of an older window is not forced onto a newer one.
class Docks
{
public:
    /// `area` is a main window inside the window, so that panes keep a margin to its edges.
    explicit Docks(QMainWindow& area);

    QDockWidget* add(const char* name, const QString& title, QWidget* pane, Qt::DockWidgetArea area);

    /// In the order they were added.
    std::vector<QDockWidget*> all() const;
    /// Actions that show and hide each pane.
    void fillMenu(QMenu& menu) const;
    /// Puts every floating pane back.
    void dockAll();

    QByteArray save() const;
    /// False where the state is of another version or damaged; nothing is changed then.
    bool restore(const QByteArray& state);
    /// Every pane where it was made for, with its share of the area.
    void reset();
    /// The panes at the sides behind one row of tabs and those below behind another, in a low area all behind one:
    /// where there is no room for all of them side by side.
    void stack();
    /// Hides all but this one, which goes below the centre with its part of the height.
    void leaveOnly(const QWidget& pane, double part);

private:
    struct Dock
    {
        QDockWidget* widget;
        Qt::DockWidgetArea area;
    };

    void takeAll();
    void share(Qt::DockWidgetArea area, double part);
    void shareRow();

    QMainWindow& m_area;
    std::vector<Dock> m_docks;
};

} // namespace nanscope
