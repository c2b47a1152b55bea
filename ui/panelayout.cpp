// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// How the panes lie: as the user left them, behind tabs where there is no room, and without those of captures where a
// run has none.
#include <utility>

#include <QEvent>
#include <QTabWidget>
#include <QToolButton>

#include "ui/panearea.h"
#include "ui/panes/cliffpane.h"
#include "ui/panes/filmpane.h"
#include "ui/panes/findingspane.h"
#include "ui/panes/instrumentspane.h"
#include "ui/panes/tensorspane.h"
#include "ui/panes/timelinepane.h"
#include "ui/panes/verdictpane.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

constexpr double timelineAlone = 0.45; ///< of the height, where only the tabs are above it

} // namespace

void PaneArea::layOut(const QByteArray& saved)
{
    if (m_laidOut) {
        return;
    }
    m_laidOut = true;
    m_docks.reset();
    m_docks.restore(saved);
    remember();
    adapt();
}

// How the panes lie depends on the window, and not on how many words a verdict takes.
QSize PaneArea::leastSize()
{
    m_panes.verdict->setInsisting(false);
    centralWidget()->updateGeometry();
    const QSize least = QMainWindow::minimumSizeHint();
    m_panes.verdict->setInsisting(true);
    centralWidget()->updateGeometry();
    return least;
}

// A window that is made small stays usable: what does not fit side by side goes behind tabs, until there is room again.
void PaneArea::adapt()
{
    if (m_put) {
        return;
    }
    const QSize least(grid(240), grid(130));
    const QSize needed = isStacked() ? m_wideNeeds : leastSize().expandedTo(least);
    const bool fits = width() >= needed.width() && height() >= needed.height();
    if (!m_laidOut || fits != isStacked()) {
        remember();
        return;
    }
    if (fits) {
        m_docks.restore(std::exchange(m_wide, {}));
        remember();
    } else {
        m_wideNeeds = needed;
        m_wide = m_remembered;
        m_docks.stack();
    }
}

// Once the area is too small, the panes are squeezed already: what to go back to is how they lay before.
void PaneArea::remember()
{
    if (m_laidOut && !isStacked() && !m_put) {
        m_remembered = m_docks.save();
    }
}

bool PaneArea::event(QEvent* event)
{
    const bool handled = QMainWindow::event(event);
    if (event->type() == QEvent::MouseButtonRelease) {
        remember();
    }
    return handled;
}

void PaneArea::resizeEvent(QResizeEvent* event)
{
    QMainWindow::resizeEvent(event);
    shareCentre();
    QMetaObject::invokeMethod(this, &PaneArea::adapt, Qt::QueuedConnection);
}

QByteArray PaneArea::saveLayout() const
{
    if (m_put) {
        return m_before;
    }
    if (isStacked()) {
        return m_wide;
    }
    return m_laidOut ? m_docks.save() : QByteArray();
}

// In a small area the panes stay behind their tabs: the layout is what they go back to.
bool PaneArea::applyLayout(const QByteArray& saved)
{
    if (!m_laidOut || !m_docks.restore(saved)) {
        return false;
    }
    m_wide.clear();
    m_remembered = saved;
    if (m_put) {
        // Who asks for a layout wants to see it.
        m_before = saved;
        m_bringBack->setChecked(true);
    }
    adapt();
    return true;
}

void PaneArea::resetLayout()
{
    m_wide.clear();
    m_docks.reset();
    if (m_put) {
        m_before = m_docks.save();
        m_docks.leaveOnly(*m_panes.timeline, timelineAlone);
    }
    remember();
    adapt();
}

QToolButton* PaneArea::buildBringBack()
{
    auto* button = new QToolButton;
    button->setObjectName(QStringLiteral("quiet"));
    button->setText(tr("Show panes of captures"));
    button->setToolTip(tr("This run has no captures, so the panes that only captures fill are put away: the list, the "
                          "fault tree, the film, the frame, the sweep and the gauges. They come back with the first "
                          "capture."));
    button->setCheckable(true);
    button->setFocusPolicy(Qt::StrongFocus);
    button->hide();
    connect(button, &QToolButton::toggled, this, [this, button](bool shown) {
        button->setText(shown ? tr("Put panes of captures away") : tr("Show panes of captures"));
        placeBringBack();
        putAwayOrBringBack();
    });
    return button;
}

// A corner widget of the tabs would come with a line above it.
bool PaneArea::eventFilter(QObject* object, QEvent* event)
{
    if (object == m_tabs && event->type() == QEvent::Resize) {
        placeBringBack();
    }
    return QMainWindow::eventFilter(object, event);
}

void PaneArea::placeBringBack()
{
    m_bringBack->adjustSize();
    m_bringBack->move(m_tabs->width() - m_bringBack->width(), 0);
}

void PaneArea::setLogsOnly(bool logsOnly)
{
    m_logsOnly = logsOnly;
    m_bringBack->setVisible(logsOnly);
    placeBringBack();
    putAwayOrBringBack();
}

void PaneArea::putAwayOrBringBack()
{
    const bool put = m_logsOnly && !m_bringBack->isChecked();
    if (!m_laidOut || put == m_put) {
        return;
    }
    if (put) {
        m_before = saveLayout();
        m_put = true;
        m_wide.clear();
        m_docks.leaveOnly(*m_panes.timeline, timelineAlone);
        showPictureTabs(false);
    } else {
        m_put = false;
        showPictureTabs(true);
        m_docks.restore(std::exchange(m_before, {}));
        remember();
        adapt();
    }
}

/// What the logs tell is in their place meanwhile.
void PaneArea::showPictureTabs(bool shown)
{
    const auto holds = [this](int tab, const QWidget* pane) {
        return m_tabs->widget(tab) == pane || m_tabs->widget(tab)->isAncestorOf(pane);
    };
    const auto isPicture = [&](int tab) {
        return holds(tab, m_panes.film) || holds(tab, m_panes.tensors) || holds(tab, m_panes.cliff)
            || holds(tab, m_panes.instruments);
    };
    if (!shown && isPicture(m_tabs->currentIndex())) {
        m_tabBefore = m_tabs->currentWidget();
        m_tabs->setCurrentWidget(m_panes.findings);
    }
    for (int tab = 0; tab < m_tabs->count(); ++tab) {
        m_tabs->setTabVisible(tab, shown || !isPicture(tab));
    }
    if (shown && m_tabBefore && m_tabs->currentWidget() == m_panes.findings) {
        m_tabs->setCurrentWidget(m_tabBefore);
    }
    m_tabBefore = shown ? nullptr : m_tabBefore;
}

} // namespace nanscope
