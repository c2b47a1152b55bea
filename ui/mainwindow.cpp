// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/mainwindow.h"

#include <utility>

#include <QAction>
#include <QCloseEvent>
#include <QStackedWidget>
#include <QStatusBar>
#include <QVBoxLayout>

#include "ui/about.h"
#include "ui/comparelinks.h"
#include "ui/keylist.h"
#include "ui/knowndialog.h"
#include "ui/panelinks.h"
#include "ui/panes/capturespane.h"
#include "ui/panes/messagebar.h"
#include "ui/panes/reportpane.h"
#include "ui/panes/tensorspane.h"
#include "ui/panes/timelinepane.h"
#include "ui/panes/whatifpane.h"
#include "ui/plots/heatview.h"
#include "ui/saving.h"
#include "ui/storylinks.h"
#include "ui/taborder.h"
#include "ui/text.h"
#include "ui/viewsteps.h"
#include "ui/whatsthis.h"

namespace nanscope {

MainWindow::MainWindow(const WindowOptions& options, QWidget* parent)
    : QMainWindow(parent)
    , m_settings(options.remember)
    , m_workspace(options.programs)
    , m_actions(makeActions(*this))
    , m_status(*statusBar())
    , m_places(options.isThere)
    , m_firstLayout(options.layout)
    , m_firstKnown(options.known)
{
    setAcceptDrops(true);
    setSaveFolder(m_settings.saveFolder());
    setWindowTitle(tr("Nanscope"));
    if (options.resetLayout) {
        m_settings.forgetLayout();
    }
    setTheme(options.theme.value_or(m_settings.theme()));
    setCentralWidget(buildContents());
    connectActions();
    connectStart();
    connectWorkspace();
    linkPanes();
    panes().captures->setFilterText(options.filter);
    connectReport();
    connectWhatIf();
    connectKnown();
    explainPanes(*m_area);
    explainCommands(m_actions);
    checkPlaces();
    fillLayouts();
    restoreLayout();
    onStateChanged();
}

MainWindow::~MainWindow() = default;

QWidget* MainWindow::buildContents()
{
    m_area = new PaneArea;
    m_area->fillMenu(*m_actions.panes);
    m_start = new StartPage;
    m_messages = new MessageBar;
    m_stack = new QStackedWidget;
    m_stack->addWidget(m_start);
    m_stack->addWidget(m_area);
    auto* contents = new QWidget;
    auto* layout = new QVBoxLayout(contents);
    layout->setContentsMargins(grid(2), grid(2), grid(2), grid(2));
    layout->setSpacing(grid(2));
    layout->addWidget(m_messages);
    layout->addWidget(m_stack, 1);
    return contents;
}

void MainWindow::connectActions()
{
    const auto on = [this](QAction* action, auto slot) { connect(action, &QAction::triggered, this, slot); };
    on(m_actions.openFolder, &MainWindow::chooseFolder);
    on(m_actions.openFile, &MainWindow::chooseFile);
    on(m_actions.openSample, [this] { openPath(sampleFolder()); });
    on(m_actions.rescan, [this] {
        m_messages->hide();
        m_workspace.rescan();
    });
    connect(m_actions.follow, &QAction::toggled, &m_workspace, &Workspace::setFollowing);
    on(m_actions.pin, [this](bool pinned) { pin(exactText(m_workspace.loaded().opened.string()), pinned); });
    on(m_actions.sweep, [this] { m_workspace.sweepSelected(); });
    on(m_actions.cancel, [this] { m_workspace.cancel(); });
    on(m_actions.exportReport, &MainWindow::chooseReport);
    on(m_actions.exportBundle, &MainWindow::chooseBundle);
    on(m_actions.copyIssueText, [this] { m_workspace.reporter().copyIssueText(); });
    on(m_actions.filter, [this] { panes().captures->focusFilter(); });
    on(m_actions.fitView, [this] {
        panes().tensors->view()->fit();
        panes().frameView->fit();
    });
    connect(m_actions.compare, &QAction::toggled, this, &MainWindow::setComparing);
    on(m_actions.compareRuns, [this] { chooseOtherRun(); });
    on(m_actions.swapCells, [this] { m_compare->swap(); });
    on(m_actions.themeSystem, [this] { setTheme(ThemeChoice::system); });
    on(m_actions.themeLight, [this] { setTheme(ThemeChoice::light); });
    on(m_actions.themeDark, [this] { setTheme(ThemeChoice::dark); });
    on(m_actions.saveLayout, &MainWindow::askLayoutName);
    on(m_actions.manageLayouts, &MainWindow::manageLayouts);
    on(m_actions.resetLayout, [this] {
        m_settings.forgetLayout();
        m_area->resetLayout();
    });
    on(m_actions.shortcuts, [this] { showKeyList(*this); });
    on(m_actions.about, [this] { showAboutDialog(*this); });
    on(m_actions.quit, [this] { close(); });
}

void MainWindow::connectWorkspace()
{
    const auto say = [this](const QString& text) { m_status.say(text); };
    connect(&m_workspace, &Workspace::runChanged, this, &MainWindow::onRunChanged);
    connect(&m_workspace, &Workspace::selectionChanged, this, &MainWindow::onStateChanged);
    connect(&m_workspace, &Workspace::stateChanged, this, &MainWindow::onStateChanged);
    connect(&m_workspace, &Workspace::progressed, this,
        [this](const Progress& progress) { m_status.showProgress(progress, m_workspace.busy()); });
    connect(&m_workspace, &Workspace::note, this, say);
    connect(panes().captures, &CapturesPane::listChanged, this, [this] { showListed(); });
    connect(&m_workspace, &Workspace::problem, m_messages, &MessageBar::showMessage);
}

void MainWindow::linkPanes()
{
    m_links = new PaneLinks(panes(), m_workspace, this);
    auto* story = new StoryLinks(panes(), m_workspace, this);
    m_compare = new CompareLinks(panes(), m_workspace, this);
    new ViewSteps(panes(), m_actions.previousView, m_actions.nextView, this);
    connect(m_links, &PaneLinks::note, this, [this](const QString& text) { m_status.say(text); });
    connect(story, &StoryLinks::note, this, [this](const QString& text) { m_status.say(text); });
    connect(m_links, &PaneLinks::readoutChanged, this, [this](const QString& text) { m_status.setReadout(text); });
    connect(
        m_links, &PaneLinks::problem, this, [this](const QString& sentence) { m_messages->showMessage(sentence, {}); });
    connect(panes().timeline, &TimelinePane::stateChanged, this,
        [this] { m_settings.setState("timeline", panes().timeline->saveState()); });
}

void MainWindow::connectWhatIf()
{
    connect(panes().whatIf, &WhatIfPane::questionChanged, this,
        [this](const WhatIfQuestion& question) { m_settings.setWhatIf(saveWhatIf(question)); });
    const WhatIfQuestion question = restoreWhatIf(m_settings.whatIf());
    panes().whatIf->setQuestion(question);
    m_workspace.whatIf().setQuestion(question);
}

void MainWindow::setTheme(ThemeChoice choice)
{
    applyTheme(choice);
    m_settings.setTheme(choice);
    m_actions.themeSystem->setChecked(choice == ThemeChoice::system);
    m_actions.themeLight->setChecked(choice == ThemeChoice::light);
    m_actions.themeDark->setChecked(choice == ThemeChoice::dark);
}

void MainWindow::setComparing(bool comparing)
{
    m_area->setComparing(comparing);
    m_compare->setComparing(comparing);
    m_actions.swapCells->setEnabled(comparing);
    m_settings.setState("compare", comparing ? QByteArray("on") : QByteArray());
}

// What the user said last is not given up without a word; who closes the window once more was told.
bool MainWindow::keepsOpenForNotes()
{
    constexpr int patienceMs = 300;
    if (m_workspace.waitForNotes(patienceMs) || std::exchange(m_toldOfNotes, true)) {
        return false;
    }
    m_messages->showMessage(tr("Another program keeps the session locked, and what you said last is not stored yet. "
                               "Close the window once more to close it without that."),
        {});
    return true;
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (keepsOpenForNotes()) {
        event->ignore();
        return;
    }
    m_workspace.cancelReplays();
    m_settings.setState("geometry", saveGeometry());
    m_settings.setSaveFolder(saveFolder());
    if (const QByteArray layout = m_area->saveLayout(); !layout.isEmpty()) {
        m_settings.setState("docks", layout);
    }
    QMainWindow::closeEvent(event);
}

bool MainWindow::focusNextPrevChild(bool next)
{
    return focusNextStop(*this, next);
}

void MainWindow::changeEvent(QEvent* event)
{
    // The desktop turned dark or light.
    if (event->type() == QEvent::ThemeChange && m_actions.themeSystem->isChecked()) {
        applyTheme(ThemeChoice::system);
    }
    QMainWindow::changeEvent(event);
}

void MainWindow::onRunChanged()
{
    const LoadedRun& loaded = m_workspace.loaded();
    m_stack->setCurrentWidget(m_area);
    layout()->activate();
    m_area->layOut(m_firstLayout.value_or(m_settings.state("docks")));
    setWindowTitle(tr("%1 (%2) – Nanscope").arg(qstr(loaded.run->name), shortPath(qstr(loaded.opened.string()))));
    m_status.setSession(qstr(loaded.session.string()));
    onUserFilesChanged();
    m_area->setLogsOnly(loaded.run->captures.empty());
    showListed();
}

void MainWindow::showListed()
{
    if (m_workspace.hasRun()) {
        m_status.setListed(panes().captures->listed());
    }
}

void MainWindow::onStateChanged()
{
    const bool run = m_workspace.hasRun();
    const bool sweeping = m_workspace.sweeping();
    const bool saving = m_workspace.reporter().saving();
    m_actions.rescan->setEnabled(run);
    m_actions.compareRuns->setEnabled(run);
    m_actions.saveLayout->setEnabled(run && m_settings.enabled());
    m_actions.pin->setEnabled(run);
    m_actions.pin->setChecked(run && m_settings.pinned().contains(exactText(m_workspace.loaded().opened.string())));
    m_actions.exportReport->setEnabled(run && !saving);
    m_actions.exportBundle->setEnabled(run && !saving);
    panes().report->setSaving(saving);
    for (QAction* action : {m_actions.addVariants, m_actions.addParameters, m_actions.addEnvironment,
             m_actions.addAdvisories, m_actions.showKnown}) {
        action->setEnabled(run);
    }
    if (m_known) {
        m_known->setJudging(m_workspace.judging());
    }
    m_actions.copyIssueText->setEnabled(run && m_workspace.capture());
    m_actions.sweep->setEnabled(m_workspace.capture() && !sweeping);
    m_actions.cancel->setEnabled(m_workspace.cancellable());
    const ReplayService& service = m_workspace.service();
    const QString worker = service.description();
    m_status.setWorker(service.available() ? tr("%1 · %2").arg(worker, sweeping ? tr("sweeping") : tr("idle")) : worker,
        service.notes().join(QLatin1Char('\n')));
    m_status.setBusy(m_workspace.busy());
}

} // namespace nanscope
