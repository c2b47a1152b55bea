// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QByteArray>
#include <QList>
#include <QString>

class QDockWidget;
class QMainWindow;
class QMenu;

namespace nanscope {

class PaneFrame;

/// The panes around the centre of the window: they can be dragged, floated, stacked and closed. Their state is saved
/// with a version, so that a layout of an older window is not forced onto a newer one.
class Docks
{
public:
    /// `area` is a main window inside the window, so that panes keep a margin to its edges.
    explicit Docks(QMainWindow& area);

    QDockWidget* add(const char* name, const QString& title, PaneFrame* pane, Qt::DockWidgetArea area);

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
    /// All behind one row of tabs on the left: where there is no room for them side by side.
    void stack();
    void hideAll();

    /// In the order of all(); 0 for what is not in sight.
    QList<int> widths() const;
    /// As far as there is room.
    void setWidths(const QList<int>& widths);

private:
    struct Dock
    {
        QDockWidget* widget;
        Qt::DockWidgetArea area;
    };

    void takeAll();
    void share(Qt::DockWidgetArea area, double part);

    QMainWindow& m_area;
    std::vector<Dock> m_docks;
};

} // namespace nanscope
