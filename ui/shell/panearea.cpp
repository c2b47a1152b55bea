// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/panearea.h"

#include <algorithm>
#include <utility>

#include <QAction>
#include <QCoreApplication>
#include <QDockWidget>
#include <QEvent>
#include <QMenu>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/model/verdict.h"
#include "ui/captures/capturespane.h"
#include "ui/cliff/cliffpane.h"
#include "ui/faulttree/faulttreepane.h"
#include "ui/film/filmpane.h"
#include "ui/film/framepane.h"
#include "ui/findings/findingspane.h"
#include "ui/gauges/gaugespane.h"
#include "ui/heatmap/heatview.h"
#include "ui/instruments/instrumentspane.h"
#include "ui/report/reportpane.h"
#include "ui/rollback/rollbackpane.h"
#include "ui/shared/theme.h"
#include "ui/shell/taborder.h"
#include "ui/sweep/sweeppane.h"
#include "ui/tensors/tensorspane.h"
#include "ui/timeline/timelinepane.h"
#include "ui/verdict/verdictpane.h"
#include "ui/whatif/whatifpane.h"

namespace nanscope {

namespace {

constexpr double timelineAlone = 0.45; ///< of the height, where only the tabs are above it

} // namespace

PaneArea::PaneArea(QWidget* parent)
    : QMainWindow(parent)
    , m_docks(*this)
{
    setWindowFlags(Qt::Widget);
    setCentralWidget(buildCentre());
    buildDocks();
    namePanes();
}

QWidget* PaneArea::buildCentre()
{
    m_panes.frameView = new HeatView(this);
    m_panes.verdict = new VerdictPane;
    m_panes.film = new FilmPane(m_panes.frameView);
    m_panes.film->setTitle({});
    m_panes.beside = new FilmPane(m_panes.frameView);
    m_panes.beside->setTitle({});
    m_panes.beside->setSecond();
    auto* films = new QSplitter(Qt::Vertical);
    films->setChildrenCollapsible(false);
    films->addWidget(m_panes.film);
    films->addWidget(m_panes.beside);
    m_panes.tensors = new TensorsPane;
    m_panes.tensors->setTitle({});
    m_panes.cliff = new CliffPane;
    m_panes.cliff->setTitle({});
    m_panes.instruments = new InstrumentsPane;
    m_panes.instruments->setTitle({});
    m_panes.findings = new FindingsPane;
    m_panes.findings->setTitle({});
    m_panes.rollback = new RollbackPane;
    m_panes.rollback->setTitle({});
    m_panes.whatIf = new WhatIfPane;
    m_panes.whatIf->setTitle({});
    m_panes.report = new ReportPane;
    m_panes.report->setTitle({});
    m_tabs = new QTabWidget;
    m_tabs->setDocumentMode(true);
    m_tabs->tabBar()->setAccessibleName(tr("Pictures"));
    m_tabs->addTab(films, tr("Film"));
    m_tabs->addTab(m_panes.tensors, tr("Tensors"));
    m_tabs->addTab(m_panes.cliff, tr("Cliff"));
    m_tabs->addTab(m_panes.instruments, tr("Instruments"));
    m_tabs->addTab(m_panes.findings, tr("Findings"));
    m_tabs->addTab(m_panes.rollback, tr("Rollback"));
    m_tabs->addTab(m_panes.whatIf, tr("What if"));
    m_tabs->addTab(m_panes.report, tr("Report"));
    m_bringBack = buildBringBack();
    m_bringBack->setParent(m_tabs);
    m_tabs->installEventFilter(this);
    connect(m_tabs, &QTabWidget::currentChanged, this, &PaneArea::shareCentre);
    auto* centre = new QWidget;
    auto* layout = new QVBoxLayout(centre);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid(2));
    layout->addWidget(m_panes.verdict);
    layout->addWidget(m_tabs, 1);
    return centre;
}

void PaneArea::setComparing(bool comparing)
{
    m_comparing = comparing;
    shareCentre();
}

void PaneArea::shareCentre()
{
    constexpr int roomForBoth = grid(240);
    // A report begins with the verdict, and wants to be read; a what-if has a table and what it rests on, a measurement
    // settings and a text.
    const QWidget* shown = m_tabs->currentWidget();
    const bool wanted = m_comparing || shown == m_panes.report || shown == m_panes.instruments
        || (shown == m_panes.whatIf && !m_logsOnly);
    m_panes.verdict->setVisible(!wanted || height() >= roomForBoth);
}

void PaneArea::buildDocks()
{
    m_panes.captures = new CapturesPane;
    m_panes.faults = new FaultTreePane;
    m_panes.frame = new FramePane(m_panes.frameView);
    m_panes.sweep = new SweepPane;
    m_panes.gauges = new GaugesPane;
    m_panes.timeline = new TimelinePane;
    m_docks.add("captures", tr("Captures"), m_panes.captures, Qt::LeftDockWidgetArea);
    m_docks.add("faults", tr("Fault tree"), m_panes.faults, Qt::LeftDockWidgetArea);
    m_docks.add("frame", tr("Frame"), m_panes.frame, Qt::RightDockWidgetArea);
    m_docks.add("sweep", tr("Sweep"), m_panes.sweep, Qt::RightDockWidgetArea);
    m_docks.add("gauges", tr("Gauges"), m_panes.gauges, Qt::BottomDockWidgetArea);
    m_docks.add("timeline", tr("Timeline"), m_panes.timeline, Qt::BottomDockWidgetArea);
}

void PaneArea::showTabOf(const QWidget& pane)
{
    for (int tab = 0; tab < m_tabs->count(); ++tab) {
        if (m_tabs->widget(tab) == &pane || m_tabs->widget(tab)->isAncestorOf(&pane)) {
            m_tabs->setTabVisible(tab, true);
            m_tabs->setCurrentIndex(tab);
        }
    }
}

void PaneArea::namePanes()
{
    for (QDockWidget* dock : m_docks.all()) {
        m_named.push_back({dock->objectName(), dock->windowTitle(), dock});
    }
    m_named.push_back({QStringLiteral("verdict"), tr("Verdict"), m_panes.verdict});
    m_named.push_back({QStringLiteral("film"), tr("Film strip"), m_panes.film});
    m_named.push_back({QStringLiteral("tensors"), tr("Input and output"), m_panes.tensors});
    m_named.push_back({QStringLiteral("cliff"), tr("Cliff"), m_panes.cliff});
    m_named.push_back({QStringLiteral("instruments"), tr("Instruments"), m_panes.instruments});
    m_named.push_back({QStringLiteral("findings"), tr("Findings"), m_panes.findings});
    m_named.push_back({QStringLiteral("rollback"), tr("Rollback"), m_panes.rollback});
    m_named.push_back({QStringLiteral("whatif"), tr("What if"), m_panes.whatIf});
    m_named.push_back({QStringLiteral("report"), tr("Report"), m_panes.report});
}

QWidget* PaneArea::pane(const QString& name)
{
    const auto found = std::ranges::find(m_named, name, &NamedPane::name);
    if (found == m_named.end()) {
        return nullptr;
    }
    if (auto* dock = qobject_cast<QDockWidget*>(found->pane)) {
        dock->show();
        dock->raise();
    } else {
        showTabOf(*found->pane);
    }
    return found->pane;
}

void PaneArea::goTo(const QString& name)
{
    QWidget* found = isVisible() ? pane(name) : nullptr;
    if (!found) {
        return;
    }
    // The verdict may have made room for something else; who asks for it wants it more.
    found->show();
    if (found->isWindow()) {
        found->activateWindow();
    }
    // A pane that was behind a tab has its place only once the layout was done.
    QCoreApplication::sendPostedEvents(this, QEvent::LayoutRequest);
    QWidget* work = workplaceOf(*found);
    (work ? work : found)->setFocus(Qt::ShortcutFocusReason);
}

void PaneArea::fillMenu(QMenu& menu)
{
    int key = Qt::Key_1;
    for (const NamedPane& named : m_named) {
        QAction* action = menu.addAction(named.title);
        action->setStatusTip(tr("Go to this pane: %1").arg(named.title));
        action->setToolTip(action->statusTip());
        if (key <= Qt::Key_9) {
            action->setShortcut(QKeyCombination(Qt::ControlModifier, static_cast<Qt::Key>(key++)));
        }
        connect(action, &QAction::triggered, this, [this, name = named.name] { goTo(name); });
    }
    menu.addSeparator();
    m_docks.fillMenu(*menu.addMenu(tr("&Show or hide")));
    QAction* dockAll = menu.addAction(tr("&Dock all floating panes"));
    dockAll->setStatusTip(tr("Put every pane that floats back into the window"));
    dockAll->setToolTip(dockAll->statusTip());
    connect(dockAll, &QAction::triggered, this, [this] { m_docks.dockAll(); });
}

QSize PaneArea::minimumSizeHint() const
{
    return {grid(140), grid(90)};
}

// How the panes lie: as the user left them, behind tabs where there is no room, and without those of captures where a
// run has none.

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
