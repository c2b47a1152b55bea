// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/panearea.h"

#include <algorithm>
#include <utility>

#include <QAction>
#include <QApplication>
#include <QDataStream>
#include <QDockWidget>
#include <QEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QMenu>
#include <QSplitter>
#include <QStyle>
#include <QTabBar>
#include <QTabWidget>
#include <QTimer>
#include <QToolButton>

#include "core/model/verdict.h"
#include "ui/captures/capturespane.h"
#include "ui/cliff/cliffpane.h"
#include "ui/faulttree/faulttreepane.h"
#include "ui/film/filmpane.h"
#include "ui/film/filmstrip.h"
#include "ui/film/framepane.h"
#include "ui/findings/findingspane.h"
#include "ui/gauges/gaugespane.h"
#include "ui/heatmap/heatview.h"
#include "ui/instruments/instrumentspane.h"
#include "ui/report/reportpane.h"
#include "ui/rollback/rollbackpane.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/partsscroll.h"
#include "ui/shared/theme.h"
#include "ui/shell/actions.h"
#include "ui/shell/taborder.h"
#include "ui/sweep/sweeppane.h"
#include "ui/tensors/tensorspane.h"
#include "ui/timeline/timelinepane.h"
#include "ui/verdict/verdictpane.h"
#include "ui/whatif/whatifpane.h"

namespace nanscope {

namespace {

constexpr double shareOfAnswer = 0.37; ///< of the height, at least
constexpr double mostOfAnswer = 0.55;
constexpr int lowestTab = grid(26);
constexpr double mostOfOpened = 0.75; ///< while something is open in it
constexpr int laterMs = 100;

/// A tab names its pane.
template <class Pane>
Pane* untitled(Pane* pane)
{
    pane->setTitle({});
    return pane;
}

/// In a low window the page scrolls as a whole: the answer above keeps its room.
PartsScroll* addScrolling(QTabWidget& tabs, QWidget* pane, const QString& title)
{
    auto* scroll = new PartsScroll(&tabs);
    scroll->setMinimumHeight(lowestTab);
    tabs.addTab(scroll, title);
    scroll->parts()->addWidget(pane);
    return scroll;
}

void keepInSight(PartsScroll& scroll, FilmStrip& strip)
{
    QObject::connect(&strip, &FilmStrip::currentChanged, &scroll, [&scroll, &strip](int frame) {
        const QRect rect = strip.frameRect(frame);
        const QPoint at = strip.mapTo(scroll.widget(), rect.center());
        scroll.ensureVisible(at.x(), at.y(), 0, rect.height());
    });
}

/// Qt 6 shows the page together with its tab, in front or not.
void showTab(QTabWidget& tabs, int tab, bool shown)
{
    tabs.setTabVisible(tab, shown);
    if (tab != tabs.currentIndex()) {
        tabs.widget(tab)->hide();
    }
}

/// As it is kept under a name or for the next start.
struct SavedLayout
{
    QByteArray docks;
    std::optional<int> answerHeight; ///< as the user dragged it
};

constexpr quint32 layoutMark = 0x4e534c31; // "NSL1": what lacks it holds docks alone

QByteArray packed(const SavedLayout& layout)
{
    QByteArray bytes;
    QDataStream out(&bytes, QIODevice::WriteOnly);
    out << layoutMark << layout.answerHeight.value_or(0) << layout.docks;
    return bytes;
}

SavedLayout unpacked(const QByteArray& bytes)
{
    QDataStream in(bytes);
    quint32 mark = 0;
    int height = 0;
    SavedLayout layout;
    in >> mark >> height >> layout.docks;
    if (mark != layoutMark || in.status() != QDataStream::Ok) {
        return {bytes, std::nullopt};
    }
    if (height > 0) {
        layout.answerHeight = height;
    }
    return layout;
}

QTabWidget* makeTabs(QWidget* parent, const QString& name)
{
    auto* tabs = new QTabWidget(parent);
    tabs->setDocumentMode(true);
    tabs->tabBar()->setAccessibleName(name);
    return tabs;
}

} // namespace

bool MostHeight::take(int needed, int at)
{
    const bool otherLines = std::exchange(width, at) != at;
    if (needed <= height && !otherLines) {
        return false;
    }
    height = needed;
    return true;
}

PaneArea::PaneArea(QWidget* parent)
    : QMainWindow(parent)
    , m_docks(*this)
{
    setWindowFlags(Qt::Widget);
    buildPanes();
    buildCentre();
    buildAnswer();
    buildDocks();
    namePanes();
}

void PaneArea::buildPanes()
{
    m_panes.frameView = new HeatView(this);
    m_panes.verdict = new VerdictPane;
    m_panes.tensors = new TensorsPane;
    m_panes.film = untitled(new FilmPane(m_panes.frameView));
    m_panes.beside = untitled(new FilmPane(m_panes.frameView));
    m_panes.beside->setSecond();
    m_panes.sweep = untitled(new SweepPane);
    m_panes.timeline = new TimelinePane;
    m_panes.findings = untitled(new FindingsPane);
    m_panes.gauges = untitled(new GaugesPane);
    m_panes.cliff = untitled(new CliffPane);
    m_panes.instruments = untitled(new InstrumentsPane);
    m_panes.whatIf = untitled(new WhatIfPane);
    m_panes.rollback = untitled(new RollbackPane);
    m_panes.report = untitled(new ReportPane);
    m_panes.captures = new CapturesPane;
    m_panes.faults = new FaultTreePane;
    m_panes.frame = new FramePane(m_panes.frameView);
}

void PaneArea::buildTools()
{
    m_tools = makeTabs(m_tabs, tr("Tools"));
    m_tabs->addTab(m_tools, tr("Tools"));
    addScrolling(*m_tools, m_panes.gauges, tr("Gauges"));
    addScrolling(*m_tools, m_panes.cliff, tr("Cliff"));
    addScrolling(*m_tools, m_panes.instruments, tr("Instruments"));
    addScrolling(*m_tools, m_panes.whatIf, tr("What if"));
    addScrolling(*m_tools, m_panes.rollback, tr("Rollback"));
}

// From the outside in: with a style sheet, Qt styles all below a widget again whenever that gets another parent.
void PaneArea::buildCentre()
{
    m_centre = new QSplitter(Qt::Vertical, this);
    m_centre->setChildrenCollapsible(false);
    setCentralWidget(m_centre);
    m_tabs = makeTabs(m_centre, tr("Pictures"));
    auto* films = new QSplitter(Qt::Vertical);
    films->setChildrenCollapsible(false);
    m_films = addScrolling(*m_tabs, films, tr("Film"));
    films->addWidget(m_panes.film);
    films->addWidget(m_panes.beside);
    keepInSight(*m_films, *m_panes.film->strip());
    keepInSight(*m_films, *m_panes.beside->strip());
    m_tabs->addTab(m_panes.sweep, tr("Sweep"));
    m_timelineTab = new QSplitter(m_tabs);
    m_tabs->addTab(m_timelineTab, tr("Timeline"));
    m_timelineTab->addWidget(m_panes.timeline);
    m_tabs->addTab(m_panes.findings, tr("Findings"));
    buildTools();
    m_tabs->addTab(m_panes.report, tr("Report"));
    for (const QTabWidget* tabs : {m_tabs, m_tools}) {
        connect(tabs, &QTabWidget::currentChanged, this, [this] { Q_EMIT frontChanged(front()); });
    }
    m_bringBack = buildBringBack();
    m_bringBack->setParent(m_tabs);
    m_tabs->installEventFilter(this);
}

// A dock, so that its lower edge can be dragged; but nothing closes or moves it.
void PaneArea::buildAnswer()
{
    m_answer = new QDockWidget(tr("Answer"), this);
    m_answer->setObjectName(QStringLiteral("answer"));
    m_answer->setFeatures(QDockWidget::NoDockWidgetFeatures);
    m_answer->setTitleBarWidget(new QWidget);
    auto* card = new QFrame(m_answer);
    card->setObjectName(QStringLiteral("pane"));
    auto* layout = new QHBoxLayout(card);
    layout->setContentsMargins(grid(3), grid(3), grid(3), grid(2));
    layout->setSpacing(grid(4));
    layout->addWidget(m_panes.tensors, 2);
    layout->addWidget(m_panes.verdict, 3);
    m_answer->setWidget(card);
    setCorner(Qt::TopLeftCorner, Qt::LeftDockWidgetArea);
    setCorner(Qt::TopRightCorner, Qt::TopDockWidgetArea);
    addDockWidget(Qt::TopDockWidgetArea, m_answer);
    connect(m_panes.verdict, &VerdictPane::heightNeeded, this, &PaneArea::onAnswerNeeds);
}

void PaneArea::setAnswerHeight(std::optional<int> wanted)
{
    m_answerHeight = wanted;
    fitAnswer();
}

void PaneArea::fitAnswer()
{
    if (!m_laidOut || m_put) {
        return;
    }
    // Not against a drag, which may be that of another edge: the lines of the answer break anew meanwhile.
    if (QGuiApplication::mouseButtons() != Qt::NoButton) {
        QTimer::singleShot(laterMs, this, &PaneArea::fitAnswer);
        return;
    }
    const int usual = static_cast<int>(height() * shareOfAnswer);
    // Asked for more than there is, QMainWindow gives less than it could.
    const int possible = height() - m_centre->minimumSizeHint().height()
        - style()->pixelMetric(QStyle::PM_DockWidgetSeparatorExtent, nullptr, this);
    const double share = m_answerOpened.height > 0 ? mostOfOpened : mostOfAnswer;
    const int most = std::min(static_cast<int>(height() * share), possible);
    const int needed = std::max({m_answerNeeds.height, m_answerOpened.height, usual});
    const int wanted = std::min(m_answerHeight.value_or(needed), most);
    if (wanted > 0 && m_answer->height() != wanted) {
        resizeDocks({m_answer}, {wanted}, Qt::Vertical);
        // Else it is a few pixels off until something else lays the docks out again.
        layout()->invalidate();
        layout()->activate();
    }
}

void PaneArea::setComparing(bool comparing)
{
    m_films->setMinimumHeight(comparing ? 0 : lowestTab);
    m_films->updateGeometry();
    if (!comparing) {
        // The middle asks for less only once each level of it has posted to the next to be laid out again.
        QTimer::singleShot(laterMs, this, &PaneArea::fitAnswer);
    }
}

void PaneArea::forgetAnswers()
{
    m_answerNeeds = {};
}

/// It grows with what is selected and does not shrink again: a card that moved with every capture would unsettle. What
/// the user opens in it gets its room for as long as it is open.
void PaneArea::onAnswerNeeds(int height, bool opened)
{
    constexpr int borders = 2;
    const QMargins around = m_answer->widget()->layout()->contentsMargins();
    const int needs = height + around.top() + around.bottom() + borders;
    const bool closed = !opened && std::exchange(m_answerOpened, {}).height > 0;
    if ((opened ? m_answerOpened : m_answerNeeds).take(needs, m_panes.verdict->width()) || closed) {
        QMetaObject::invokeMethod(this, &PaneArea::fitAnswer, Qt::QueuedConnection);
    }
}

void PaneArea::buildDocks()
{
    m_docks.add("captures", tr("Captures"), m_panes.captures, Qt::LeftDockWidgetArea);
    m_docks.add("faults", tr("Fault tree"), m_panes.faults, Qt::LeftDockWidgetArea);
    m_docks.add("frame", tr("Frame"), m_panes.frame, Qt::RightDockWidgetArea);
}

void PaneArea::showTabOf(const QWidget& pane)
{
    for (QTabWidget* tabs : {m_tabs, m_tools}) {
        for (int tab = 0; tab < tabs->count(); ++tab) {
            if (tabs->widget(tab) == &pane || tabs->widget(tab)->isAncestorOf(&pane)) {
                tabs->setTabVisible(tab, true);
                tabs->setCurrentIndex(tab);
            }
        }
    }
}

QString PaneArea::front() const
{
    const QWidget* shown = m_tabs->currentWidget() == m_tools ? m_tools->currentWidget() : m_tabs->currentWidget();
    const auto isIn = [shown](const NamedPane& named) {
        return shown && (shown == named.pane || shown->isAncestorOf(named.pane));
    };
    const auto found = std::ranges::find_if(m_named, isIn);
    return found == m_named.end() ? QString() : found->name;
}

void PaneArea::bringToFront(const QString& name)
{
    const auto found = std::ranges::find(m_named, name, &NamedPane::name);
    const auto holds = [&](QTabWidget& tabs, int tab) {
        return tabs.isTabVisible(tab)
            && (tabs.widget(tab) == found->pane || tabs.widget(tab)->isAncestorOf(found->pane));
    };
    for (QTabWidget* tabs : {m_tabs, m_tools}) {
        for (int tab = 0; found != m_named.end() && tab < tabs->count(); ++tab) {
            if (holds(*tabs, tab)) {
                tabs->setCurrentIndex(tab);
            }
        }
    }
}

void PaneArea::namePanes()
{
    for (QDockWidget* dock : m_docks.all()) {
        m_named.push_back({dock->objectName(), dock->windowTitle(), dock});
        connect(dock, &QDockWidget::topLevelChanged, this, &PaneArea::takeWidths, Qt::QueuedConnection);
    }
    m_named.push_back({QStringLiteral("verdict"), tr("Verdict"), m_panes.verdict});
    m_named.push_back({QStringLiteral("film"), tr("Film strip"), m_panes.film});
    m_named.push_back({QStringLiteral("sweep"), tr("Sweep"), m_panes.sweep});
    m_named.push_back({QStringLiteral("timeline"), tr("Timeline"), m_panes.timeline});
    m_named.push_back({QStringLiteral("findings"), tr("Findings"), m_panes.findings});
    m_named.push_back({QStringLiteral("report"), tr("Report"), m_panes.report});
    m_named.push_back({QStringLiteral("tensors"), tr("Input and output"), m_panes.tensors});
    m_named.push_back({QStringLiteral("gauges"), tr("Gauges"), m_panes.gauges});
    m_named.push_back({QStringLiteral("cliff"), tr("Cliff"), m_panes.cliff});
    m_named.push_back({QStringLiteral("instruments"), tr("Instruments"), m_panes.instruments});
    m_named.push_back({QStringLiteral("whatif"), tr("What if"), m_panes.whatIf});
    m_named.push_back({QStringLiteral("rollback"), tr("Rollback"), m_panes.rollback});
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
    if (found->isWindow()) {
        found->activateWindow();
    }
    // A pane that was behind a tab has its place only once the layout was done.
    QCoreApplication::sendPostedEvents(this, QEvent::LayoutRequest);
    QWidget* work = workplaceOf(*found);
    (work ? work : found)->setFocus(Qt::ShortcutFocusReason);
}

void PaneArea::goOn(int by)
{
    const auto holdsFocus = [](const NamedPane& named) {
        return named.pane->isAncestorOf(QApplication::focusWidget());
    };
    const auto current = std::ranges::find_if(m_named, holdsFocus);
    const auto count = std::ssize(m_named);
    auto at = current == m_named.end() ? (by > 0 ? -1 : count) : current - m_named.begin();
    for (auto tried = count; tried > 0; --tried) {
        at = (at + by + count) % count;
        const NamedPane& next = m_named[static_cast<std::size_t>(at)];
        // Behind a tab it has none.
        if (!next.pane->visibleRegion().isEmpty()) {
            goTo(next.name);
            return;
        }
    }
}

void PaneArea::addStep(QMenu& menu, const QString& text, QKeyCombination key, int by)
{
    QAction* action = menu.addAction(text);
    action->setShortcut(key);
    setTip(*action, tr("Put the keyboard into another pane that is visible"));
    connect(action, &QAction::triggered, this, [this, by] { goOn(by); });
}

void PaneArea::fillMenu(QMenu& menu)
{
    int key = Qt::Key_1;
    for (const NamedPane& named : m_named) {
        QAction* action = menu.addAction(named.title);
        if (key <= Qt::Key_9) {
            action->setShortcut(QKeyCombination(Qt::ControlModifier, static_cast<Qt::Key>(key++)));
        }
        setTip(*action, tr("Go to this pane: %1").arg(named.title));
        connect(action, &QAction::triggered, this, [this, name = named.name] { goTo(name); });
    }
    menu.addSeparator();
    addStep(menu, tr("&Next pane"), Qt::Key_F6, 1);
    addStep(menu, tr("&Previous pane"), Qt::SHIFT | Qt::Key_F6, -1);
    menu.addSeparator();
    QAction* ofCaptures = menu.addAction(tr("Show panes of captures"));
    setTip(*ofCaptures, tr("Those that only captures fill, which a run of logs alone has put away"));
    ofCaptures->setCheckable(true);
    ofCaptures->setVisible(false);
    connect(ofCaptures, &QAction::triggered, m_bringBack, &QToolButton::setChecked);
    connect(&menu, &QMenu::aboutToShow, ofCaptures, [this, ofCaptures] {
        ofCaptures->setVisible(m_logsOnly);
        ofCaptures->setChecked(m_bringBack->isChecked());
    });
    m_docks.fillMenu(*menu.addMenu(tr("&Show or hide")));
    QAction* dockAll = menu.addAction(tr("&Dock all floating panes"));
    setTip(*dockAll, tr("Put every pane that floats back into the window"));
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
    const SavedLayout layout = unpacked(saved);
    m_docks.reset();
    // In a small area both squeeze the docks: what a larger one goes back to is what was saved, or the usual layout.
    m_remembered = m_docks.restore(layout.docks) ? layout.docks : QByteArray();
    m_answerHeight = layout.answerHeight;
    fitAnswer();
    adapt();
}

void PaneArea::restore(const QByteArray& docks)
{
    if (!m_docks.restore(docks)) {
        m_docks.reset();
    }
}

// A window that is made small stays usable: what does not fit side by side goes behind tabs, until there is room again.
void PaneArea::adapt()
{
    if (m_put) {
        return;
    }
    const QSize least(grid(240), grid(130));
    const QSize needed = isStacked() ? m_wideNeeds : QMainWindow::minimumSizeHint().expandedTo(least);
    const bool fits = width() >= needed.width() && height() >= needed.height();
    if (!m_laidOut || fits != isStacked()) {
        remember();
        return;
    }
    if (fits) {
        setCorner(Qt::TopLeftCorner, Qt::LeftDockWidgetArea);
        restore(*std::exchange(m_wide, {}));
        m_docks.setWidths(m_widths);
        remember();
    } else {
        m_wideNeeds = needed;
        m_wide = m_remembered;
        // Beside a list the answer would be a narrow column, of which a small window shows the headline only.
        setCorner(Qt::TopLeftCorner, Qt::TopDockWidgetArea);
        m_docks.stack();
    }
    // Docks that were taken and added have their least sizes only once all that is posted to lay them out has come.
    QTimer::singleShot(0, this, &PaneArea::fitAnswer);
}

// A small window squeezes its docks, and a larger one would give the room to the middle alone.
void PaneArea::keepWidths()
{
    if (!m_laidOut || !isVisible() || isStacked() || m_put) {
        return;
    }
    if (m_widths.isEmpty()) {
        takeWidths();
    }
    m_docks.setWidths(m_widths);
}

void PaneArea::takeWidths()
{
    m_widths = m_docks.widths();
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
    if (event->type() == QEvent::MouseButtonPress) {
        m_pressed = m_docks.widths();
        m_pressedHeight = m_answer->height();
        m_isPressed = true;
    }
    const bool handled = QMainWindow::event(event);
    // Where a child took the press, nothing was dragged here, and what has changed since the last press is not the
    // user's.
    if (event->type() == QEvent::MouseButtonRelease && std::exchange(m_isPressed, false)) {
        // A drag ends here, and so does every click that nobody takes.
        if (m_docks.widths() != m_pressed) {
            takeWidths();
        } else if (!m_put && m_answer->height() != m_pressedHeight) {
            m_answerHeight = m_answer->height();
        }
        remember();
    }
    return handled;
}

void PaneArea::resizeEvent(QResizeEvent* event)
{
    QMainWindow::resizeEvent(event);
    QMetaObject::invokeMethod(
        this,
        [this] {
            keepWidths();
            adapt();
            fitAnswer();
        },
        Qt::QueuedConnection);
}

QByteArray PaneArea::saveLayout() const
{
    const QByteArray docks = m_put ? m_before : isStacked() ? *m_wide : m_laidOut ? m_docks.save() : QByteArray();
    return docks.isEmpty() && !isStacked() ? docks : packed({docks, m_answerHeight});
}

// In a small area the panes stay behind their tabs: the layout is what they go back to.
bool PaneArea::applyLayout(const QByteArray& saved)
{
    const SavedLayout layout = unpacked(saved);
    const bool usual = layout.docks.isEmpty() && !saved.isEmpty();
    if (!m_laidOut || !(usual || m_docks.restore(layout.docks))) {
        return false;
    }
    if (usual) {
        m_docks.reset();
    }
    m_wide.reset();
    setCorner(Qt::TopLeftCorner, Qt::LeftDockWidgetArea);
    takeWidths();
    m_answerHeight = layout.answerHeight;
    m_remembered = layout.docks;
    if (m_put) {
        // Who asks for a layout wants to see it.
        m_before = layout.docks;
        m_bringBack->setChecked(true);
    }
    adapt();
    fitAnswer();
    return true;
}

void PaneArea::resetLayout()
{
    m_wide.reset();
    setCorner(Qt::TopLeftCorner, Qt::LeftDockWidgetArea);
    m_docks.reset();
    setAnswerHeight({});
    takeWidths();
    if (m_put) {
        m_before = m_docks.save();
        m_docks.hideAll();
    }
    remember();
    adapt();
}

QToolButton* PaneArea::buildBringBack()
{
    auto* button = makeToolButton(nullptr, "quiet", tr("Show panes of captures"),
        tr("This run has no captures, so the panes that only captures fill are put away: the list, the fault tree, the "
           "film, the frame, the sweep and the gauges. They come back with the first capture."));
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
        m_before = isStacked() ? *m_wide : m_docks.save();
        m_put = true;
        m_wide.reset();
        m_docks.hideAll();
        showTabsOfCaptures(false);
        placeTimeline(true);
        resizeDocks({m_answer}, {1}, Qt::Vertical); // there are words alone
    } else {
        m_put = false;
        placeTimeline(false);
        showTabsOfCaptures(true);
        // In a small area the docks are squeezed at once: what to go back to is how they lay before.
        m_remembered = std::exchange(m_before, {});
        restore(m_remembered);
        fitAnswer();
        adapt();
    }
}

void PaneArea::showTabsOfCaptures(bool shown)
{
    const auto isOfCaptures = [this](const QWidget* tab) {
        const auto holds = [tab](const QWidget* pane) { return tab == pane || tab->isAncestorOf(pane); };
        return tab != m_tools
            && (holds(m_panes.film) || holds(m_panes.sweep) || tab == m_timelineTab || holds(m_panes.gauges)
                || holds(m_panes.cliff) || holds(m_panes.instruments));
    };
    if (!shown && isOfCaptures(m_tabs->currentWidget())) {
        m_tabBefore = m_tabs->currentWidget();
        m_tabs->setCurrentWidget(m_panes.findings);
    }
    for (QTabWidget* tabs : {m_tabs, m_tools}) {
        for (int tab = 0; tab < tabs->count(); ++tab) {
            showTab(*tabs, tab, shown || !isOfCaptures(tabs->widget(tab)));
        }
    }
    m_panes.tensors->setVisible(shown);
    if (shown && m_tabBefore && m_tabs->currentWidget() == m_panes.findings) {
        m_tabs->setCurrentWidget(m_tabBefore);
    }
    m_tabBefore = shown ? nullptr : m_tabBefore;
}

/// Where there are logs alone, the curves are what there is to see.
void PaneArea::placeTimeline(bool alone)
{
    if (alone) {
        m_centre->insertWidget(0, m_panes.timeline);
        m_centre->setSizes({height() * 3, height() * 2});
    } else {
        m_timelineTab->addWidget(m_panes.timeline);
    }
}

} // namespace nanscope
