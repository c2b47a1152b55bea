// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/mainwindow.h"

#include <algorithm>
#include <utility>

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QDesktopServices>
#include <QDir>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QIcon>
#include <QInputDialog>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QScreen>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolBar>
#include <QUrl>
#include <QVBoxLayout>

#include "core/model/verdict.h"
#include "core/platform/platform.h"
#include "core/workflow/userfiles.h"
#include "ui/captures/capturespane.h"
#include "ui/film/filmpane.h"
#include "ui/heatmap/heatview.h"
#include "ui/report/reportchoices.h"
#include "ui/report/reportpane.h"
#include "ui/runcomparison/runcomparison.h"
#include "ui/shared/folderquestion.h"
#include "ui/shared/saving.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/shell/comparelinks.h"
#include "ui/shell/findinglinks.h"
#include "ui/shell/keylist.h"
#include "ui/shell/layoutdialog.h"
#include "ui/shell/panelinks.h"
#include "ui/shell/parts/devicemenu.h"
#include "ui/shell/parts/messagebar.h"
#include "ui/shell/parts/readingpage.h"
#include "ui/shell/taborder.h"
#include "ui/shell/usercontextdialog.h"
#include "ui/shell/viewsteps.h"
#include "ui/shell/whatsthis.h"
#include "ui/tensors/tensorspane.h"
#include "ui/timeline/timelinepane.h"
#include "ui/verdict/verdictpane.h"
#include "ui/whatif/whatifpane.h"

namespace nanscope {

namespace {

struct MainWindowWords
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::About)
};

QString licences()
{
    const std::pair<const char*, const char*> rows[] = {{"nanscope, core, worker", "Apache-2.0"},
        {"this window (ui, nanscope-gui)", "GPL-3.0-or-later"}, {"QCustomPlot", "GPL-3.0-or-later"},
        {"Qt 6", "LGPL-3.0"}, {"SQLite", "public domain"}, {"Eigen", "MPL-2.0"}, {"simdjson", "Apache-2.0"},
        {"nlohmann-json, {fmt}", "MIT"}, {"RE2, CLI11", "BSD-3-Clause"}, {"zlib, Zstandard", "zlib, BSD-3-Clause"}};
    QString table;
    for (const auto& [what, licence] : rows) {
        table += QStringLiteral("<tr><td style='padding-right:24px'>%1</td><td>%2</td></tr>")
                     .arg(QLatin1String(what), QLatin1String(licence));
    }
    return QStringLiteral("<table>%1</table>").arg(table);
}

void showAboutDialog(QWidget& parent)
{
    const QString text = MainWindowWords::tr(
        "<h3>Nanscope %1</h3><p>Says what went non-finite first in a training run with a Newton-Schulz step, "
        "by whose fault, and what to do.</p><p>This window is free software: you may share and change it "
        "under the GNU General Public License, version 3 or later. It comes without any warranty.</p>")
                             .arg(QCoreApplication::applicationVersion());
    QMessageBox box(
        QMessageBox::NoIcon, MainWindowWords::tr("About Nanscope"), text + licences(), QMessageBox::Close, &parent);
    box.setIconPixmap(QGuiApplication::windowIcon().pixmap(grid(16)));
    box.exec();
}

QStringList localPaths(const QMimeData& data)
{
    QStringList paths;
    for (const QUrl& url : data.urls()) {
        if (url.isLocalFile()) {
            paths << url.toLocalFile();
        }
    }
    return paths;
}

bool isSavedLayout(const QAction* action)
{
    return action->data().isValid();
}

struct Asked
{
    workflow::UserFileKind kind;
    QString title;
    QString filter;
};

Asked asked(workflow::UserFileKind kind)
{
    const QString json = MainWindow::tr("JSON (*.json);;All files (*)");
    switch (kind) {
    case workflow::UserFileKind::variants:
        return {kind, MainWindow::tr("Add variants of your own"), json};
    case workflow::UserFileKind::parameters:
        return {kind, MainWindow::tr("Add names and shapes of the model's parameters"),
            MainWindow::tr("Lists of parameters (*.safetensors *.json *.txt *.pt);;All files (*)")};
    case workflow::UserFileKind::environment:
        return {kind, MainWindow::tr("Add what `nanscope env --json` wrote in the training environment"), json};
    case workflow::UserFileKind::advisories:
        break;
    }
    return {kind, MainWindow::tr("Add published problems of packages"), json};
}

bool severalOf(workflow::UserFileKind kind)
{
    return kind == workflow::UserFileKind::variants || kind == workflow::UserFileKind::advisories;
}

/// A run without a session is known by its folder.
QString keyOf(const LoadedRun& run)
{
    return exactText((run.session.empty() ? run.opened : run.session).string());
}

QString addedText(const std::vector<workflow::UserFile>& files)
{
    const auto all = std::ranges::count(files, false, &workflow::UserFile::always);
    const auto inForce = std::ranges::count_if(files, [](const auto& file) { return !file.always && !file.problem; });
    if (all == 0) {
        return {};
    }
    if (inForce < all) {
        return MainWindow::tr("%1 of %2 added files in force").arg(inForce).arg(all);
    }
    return all == 1 ? MainWindow::tr("1 file added") : MainWindow::tr("%1 files added").arg(all);
}

QString addedDetails(const std::vector<workflow::UserFile>& files)
{
    QStringList lines;
    for (const workflow::UserFile& file : files) {
        lines << QStringLiteral("%1: %2").arg(kindWord(file.kind), qstr(file.path));
    }
    return lines.join(QLatin1Char('\n'));
}

/// Folder of the sample run beside an installed or built program; empty when it is not there.
QString sampleFolder()
{
    const QDir program(exactText(platform::programFolder().string()));
    // Installed: bin beside share. Built: build/<preset>/bin below the source tree.
    for (const char* relative : {"../share/nanscope/sample", "../../../resources/sample"}) {
        QString path = QDir::cleanPath(program.filePath(QLatin1String(relative)));
        if (QFileInfo(path).isDir()) {
            return path;
        }
    }
    return {};
}

} // namespace

MainWindow::MainWindow(const WindowOptions& options, QWidget* parent)
    : QMainWindow(parent)
    , m_settings(options.remember)
    , m_workspace(options.programs)
    , m_actions(makeActions(*this))
    , m_status(*statusBar())
    , m_places(options.placeState)
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
    buildContents();
    addDeviceMenu();
    connectActions();
    connectStart();
    connectWorkspace();
    linkPanes();
    panes().captures->setFilterText(options.filter);
    connectReport();
    connectWhatIf();
    connectKnown();
    // A box for text would take what is dropped on it for text, or refuse it.
    for (QWidget* part : findChildren<QWidget*>()) {
        part->setAcceptDrops(false);
    }
    explainPanes(*m_area);
    explainCommands(m_actions);
    checkPlaces();
    fillLayouts();
    restoreLayout();
    onStateChanged();
}

MainWindow::~MainWindow() = default;

// From the outside in, as PaneArea::buildCentre().
void MainWindow::buildContents()
{
    auto* contents = new QWidget(this);
    setCentralWidget(contents);
    m_messages = new MessageBar(contents);
    m_stack = new QStackedWidget(contents);
    m_start = new StartPage(m_stack);
    m_reading = new ReadingPage(m_stack);
    m_area = new PaneArea(m_stack);
    m_area->fillMenu(*m_actions.panes);
    m_stack->addWidget(m_start);
    m_stack->addWidget(m_reading);
    m_stack->addWidget(m_area);
    auto* layout = new QVBoxLayout(contents);
    layout->setContentsMargins(grid(2), grid(2), grid(2), grid(2));
    layout->setSpacing(grid(2));
    layout->addWidget(m_messages);
    layout->addWidget(m_stack, 1);
    m_drop = new QLabel(tr("Drop to open"), this);
    m_drop->setObjectName(QStringLiteral("dropHere"));
    m_drop->setAlignment(Qt::AlignCenter);
    m_drop->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_drop->hide();
}

void MainWindow::addDeviceMenu()
{
    m_devices = new DeviceMenu(m_workspace.service(), this);
    auto* bar = findChild<QToolBar*>(QStringLiteral("tools"));
    bar->insertWidget(m_actions.compare, m_devices);
    connect(m_devices, &DeviceMenu::devicesChosen, this, [this](const QStringList& names) {
        m_settings.setState("devices", names.join(QLatin1Char('\n')).toUtf8());
        m_workspace.chooseDevices(names);
    });
    m_workspace.chooseDevices(
        QString::fromUtf8(m_settings.state("devices")).split(QLatin1Char('\n'), Qt::SkipEmptyParts));
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
    on(m_actions.undoAnswer, [this] { m_workspace.undoAnswer(); });
    on(m_actions.redoAnswer, [this] { m_workspace.redoAnswer(); });
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
        panes().timeline->view()->showAll();
    });
    on(m_actions.shortcuts, [this] { showKeyList(*this); });
    on(m_actions.about, [this] { showAboutDialog(*this); });
    on(m_actions.quit, [this] { close(); });
}

bool MainWindow::event(QEvent* event)
{
    // A status tip takes the place of all that the bar says: of what runs and how far it is, too.
    if (event->type() == QEvent::StatusTip && m_workspace.busy()) {
        return true;
    }
    return QMainWindow::event(event);
}

void MainWindow::connectWorkspace()
{
    const auto say = [this](const QString& text) { m_status.say(text); };
    connect(&m_workspace, &Workspace::runChanged, this, &MainWindow::onRunChanged);
    connect(&m_workspace, &Workspace::selectionChanged, this, &MainWindow::onStateChanged);
    connect(&m_workspace, &Workspace::stateChanged, this, &MainWindow::onStateChanged);
    connect(&m_workspace, &Workspace::progressed, this,
        [this](const Progress& progress) { m_status.showProgress(progress, m_workspace.cancellable()); });
    connect(&m_workspace, &Workspace::progressed, m_reading, &ReadingPage::showProgress);
    connect(m_reading, &ReadingPage::cancelRequested, &m_workspace, &Workspace::cancel);
    connect(&m_workspace, &Workspace::note, this, say);
    connect(panes().captures, &CapturesPane::listChanged, this, [this] { showListed(); });
    connect(&m_workspace, &Workspace::problem, m_messages, &MessageBar::showMessage);
    connect(&m_workspace, &Workspace::newsCame, this, [this](const QString& sentence, const QStringList& others) {
        m_messages->showMessage(sentence, others);
        // Does nothing in the window that one works in.
        QApplication::alert(this);
    });
    connect(&m_workspace, &Workspace::restOffered, this, [this](const QString& sentence, const QStringList& details) {
        m_messages->showOffer(
            sentence, details, tr("Replay the rest on the CPU"), [this] { m_workspace.replayRestOnCpu(); });
    });
    connect(&m_workspace, &Workspace::nothingToSweep, this, [this](int cells) {
        m_area->bringToFront(QStringLiteral("sweep"));
        m_messages->showOffer(tr("All %n cells of this choice have been replayed already", nullptr, cells), {},
            tr("Replay them again"), [this, of = m_workspace.capture()->path] {
                if (m_workspace.capture() && m_workspace.capture()->path == of) {
                    m_workspace.sweepAgain();
                }
            });
    });
    m_workspace.chooseSweep(restoreChoice(m_settings.state("sweep")));
    connect(&m_workspace, &Workspace::sweepChoiceChanged, this,
        [this] { m_settings.setState("sweep", saveChoice(m_workspace.sweepChoice())); });
}

void MainWindow::linkPanes()
{
    m_links = new PaneLinks(panes(), m_workspace, this);
    auto* story = new FindingLinks(panes(), m_workspace, this);
    m_compare = new CompareLinks(panes(), m_workspace, this);
    new ViewSteps(panes(), m_actions.previousView, m_actions.nextView, this);
    panes().film->offer(m_actions.sweep);
    connect(m_links, &PaneLinks::note, this, [this](const QString& text) { m_status.say(text); });
    connect(story, &FindingLinks::note, this, [this](const QString& text) { m_status.say(text); });
    connect(m_links, &PaneLinks::readoutChanged, this, [this](const QString& text) { m_status.setReadout(text); });
    connect(
        m_links, &PaneLinks::problem, this, [this](const QString& sentence) { m_messages->showMessage(sentence, {}); });
    connect(m_area, &PaneArea::frontChanged, this, [this](const QString& name) {
        if (!m_shownRun.isEmpty()) {
            m_settings.setFront(m_shownRun, name);
        }
    });
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
    m_compare->setComparing(comparing);
    m_area->setComparing(comparing);
    m_actions.swapCells->setEnabled(comparing);
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
    rememberPlace();
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
    rememberOpened(exactText(loaded.opened.string()));
    m_stack->setCurrentWidget(m_area);
    const bool other = m_shownRun != keyOf(loaded);
    if (other) {
        // The timelines still show the run before.
        rememberPlace();
        m_shownRun = keyOf(loaded);
        panes().timeline->setNextPlace(m_settings.timelinePlace(m_shownRun));
    }
    // Before a tab that is put away makes another one the open one.
    const QString front = other ? m_settings.front(m_shownRun) : QString();
    if (other && panes().verdict->openList() != VerdictPane::List::none) {
        panes().verdict->setOpenList(VerdictPane::List::none);
    }
    if (other) {
        m_area->forgetAnswers();
    }
    layout()->activate();
    m_area->layOut(m_firstLayout.value_or(m_settings.state("docks")));
    setWindowTitle(tr("%1 (%2) – Nanscope").arg(qstr(loaded.run->name), shortPath(qstr(loaded.opened.string()))));
    m_status.setSession(qstr(loaded.session.string()));
    m_settings.setRan(keyOf(loaded), loaded.ran);
    onUserFilesChanged();
    m_area->setLogsOnly(loaded.run->captures.empty());
    m_area->bringToFront(front);
    showListed();
}

void MainWindow::rememberPlace()
{
    if (!m_shownRun.isEmpty()) {
        m_settings.setTimelinePlace(m_shownRun, panes().timeline->savePlace());
    }
}

void MainWindow::rememberOpened(const QString& path)
{
    if (m_settings.recent().value(0) != path) {
        m_settings.addRecent(path);
        checkPlaces();
    }
}

void MainWindow::showListed()
{
    if (m_workspace.hasRun()) {
        m_status.setListed(panes().captures->listed());
    }
}

namespace {

QString cancelTip(Workspace::Task task)
{
    switch (task) {
    case Workspace::Task::none:
        return MainWindow::tr("Stop what is running");
    case Workspace::Task::saving:
        return MainWindow::tr("Stop saving the report");
    case Workspace::Task::sweep:
        return MainWindow::tr("Stop the sweep");
    case Workspace::Task::film:
    case Workspace::Task::secondFilm:
        return MainWindow::tr("Stop the replay of the film");
    case Workspace::Task::reading:
        return MainWindow::tr("Stop reading");
    case Workspace::Task::judging:
        return MainWindow::tr("Stop judging");
    }
    return {};
}

} // namespace

void MainWindow::onStateChanged()
{
    const bool run = m_workspace.hasRun();
    if (!run) {
        m_stack->setCurrentWidget(m_workspace.busy() ? static_cast<QWidget*>(m_reading) : m_start);
    }
    const bool sweeping = m_workspace.sweeping();
    const bool saving = m_workspace.reporter().saving();
    m_actions.rescan->setEnabled(run);
    m_actions.compare->setEnabled(run && m_workspace.capture());
    m_actions.fitView->setEnabled(run);
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
    m_actions.copyIssueText->setEnabled(run);
    showSteps();
    const QString whyNoSweep = m_workspace.whyNoSweep();
    m_actions.sweep->setEnabled(whyNoSweep.isEmpty());
    setTip(*m_actions.sweep, whyNoSweep.isEmpty() ? sweepTip() : whyNoSweep);
    const Workspace::Task task = m_workspace.foremost();
    m_actions.cancel->setEnabled(task != Workspace::Task::none);
    setTip(*m_actions.cancel, cancelTip(task));
    const ReplayService& service = m_workspace.service();
    const QString worker = service.description();
    const QString work = sweeping ? tr("sweeping") : m_workspace.cancellable() ? QString() : tr("idle");
    m_status.setWorker(service.ready() && service.alive() && !work.isEmpty() ? tr("%1 · %2").arg(worker, work) : worker,
        service.notes().join(QLatin1Char('\n')));
    m_status.setBusy(m_workspace.busy(), m_workspace.cancellable());
    m_devices->showChosen();
}

// What the window opens: by its dialogs, dropped on it, or again from the list of recent ones.

void MainWindow::connectStart()
{
    connect(&m_places, &PlaceCheck::changed, this, &MainWindow::fillRecent);
    connect(m_start, &StartPage::openRequested, this, &MainWindow::chooseFolder);
    connect(m_start, &StartPage::sampleRequested, m_actions.openSample, &QAction::trigger);
    connect(m_start, &StartPage::recentRequested, this, &MainWindow::openPath);
    connect(m_start, &StartPage::pinRequested, this, &MainWindow::pin);
    connect(m_start, &StartPage::removeRequested, this, [this](const QString& path) {
        m_settings.removeRecent(path);
        pin(path, false);
    });
    m_start->setSampleAvailable(!sampleFolder().isEmpty());
    if (sampleFolder().isEmpty()) {
        m_actions.openSample->setEnabled(false);
        m_actions.openSample->setText(tr("Open the sample run (not installed)"));
        setTip(*m_actions.openSample,
            tr("The folder “sample” is installed in share/nanscope beside the program, and is not there"));
    }
}

void MainWindow::openPath(const QString& path)
{
    if (path.isEmpty()) {
        return;
    }
    m_messages->hide();
    m_reading->begin(shortPath(QFileInfo(path).absoluteFilePath()));
    m_workspace.open(QFileInfo(path).absoluteFilePath(), userContextOf(std::exchange(m_firstKnown, {})));
}

void MainWindow::chooseFolder()
{
    askForFolder(*this, tr("Open a folder with dumps, logs or both"), [this](const QString& path) { openPath(path); });
}

void MainWindow::chooseFile()
{
    openPath(QFileDialog::getOpenFileName(this, tr("Open a capture or a session"), {},
        tr("Captures and sessions (*.pt *.pth *.safetensors *.npy *.nanscope);;All files (*)")));
}

void MainWindow::chooseOtherRun()
{
    askForFolder(*this, tr("Compare with the run in this folder"), [this](const QString& path) { compareWith(path); });
}

RunComparisonWindow* MainWindow::compareWith(const QString& path)
{
    auto* comparison = new RunComparisonWindow(this);
    comparison->setAttribute(Qt::WA_DeleteOnClose);
    connect(&comparison->comparer(), &RunComparer::compared, this, [this, path] { rememberOpened(path); });
    comparison->compare(m_workspace.loaded(), path.toStdString());
    comparison->show();
    return comparison;
}

std::vector<StartPage::Place> MainWindow::places() const
{
    std::vector<StartPage::Place> places;
    const QStringList pinned = m_settings.pinned();
    for (const QString& path : pinned + m_settings.recent()) {
        const bool isPinned = pinned.contains(path);
        if (std::ranges::none_of(places, [&](const auto& place) { return place.path == path; })) {
            places.push_back({path, isPinned, m_places.state(path)});
        }
    }
    return places;
}

void MainWindow::checkPlaces()
{
    m_places.check(m_settings.pinned() + m_settings.recent());
    fillRecent();
}

void MainWindow::fillRecent()
{
    const std::vector<StartPage::Place> all = places();
    m_start->setPlaces(all);
    m_actions.recent->clear();
    m_actions.recent->setEnabled(!all.empty());
    bool pinned = !all.empty() && all.front().pinned;
    bool lost = false;
    for (const StartPage::Place& place : all) {
        if (std::exchange(pinned, place.pinned) != place.pinned) {
            m_actions.recent->addSeparator();
        }
        const QString text = menuText(shortPath(place.path));
        const QString reason = reasonOf(place.state);
        lost = lost || !reason.isEmpty();
        QAction* action = m_actions.recent->addAction(reason.isEmpty() ? text : tr("%1 – %2").arg(text, reason));
        action->setEnabled(reason.isEmpty());
        action->setStatusTip(place.path);
        connect(action, &QAction::triggered, this, [this, path = place.path] { openPath(path); });
    }
    m_actions.recent->addSeparator();
    QAction* forget = m_actions.recent->addAction(tr("Forget what cannot be opened"), this, &MainWindow::forgetLost);
    forget->setStatusTip(tr("Take what is not there any more, or may not be read, off this list"));
    forget->setEnabled(lost);
    QAction* clear = m_actions.recent->addAction(tr("Clear this list"));
    clear->setStatusTip(tr("Forget what is not pinned"));
    connect(clear, &QAction::triggered, this, [this] {
        m_settings.clearRecent();
        fillRecent();
    });
}

void MainWindow::forgetLost()
{
    for (const StartPage::Place& place : places()) {
        if (!reasonOf(place.state).isEmpty()) {
            m_settings.removeRecent(place.path);
            m_settings.setPinned(place.path, false);
        }
    }
    fillRecent();
}

void MainWindow::pin(const QString& path, bool pinned)
{
    m_settings.setPinned(path, pinned);
    fillRecent();
    onStateChanged();
}

void MainWindow::openPaths(const QStringList& paths)
{
    if (paths.size() < 2) {
        openPath(paths.value(0));
        return;
    }
    QStringList missing;
    std::ranges::copy_if(
        paths, std::back_inserter(missing), [](const QString& path) { return !QFileInfo::exists(path); });
    if (!missing.isEmpty()) {
        const auto there = std::ranges::find_if(paths, [](const QString& path) { return QFileInfo::exists(path); });
        openPath(there == paths.end() ? paths.constFirst() : *there);
        m_messages->showMessage(tr("There is no such file or folder: %1").arg(missing.constFirst()), missing.mid(1));
        return;
    }
    const QFileInfo first(paths.constFirst());
    const bool together = std::ranges::all_of(paths, [&](const QString& path) {
        return QFileInfo(path).isFile() && QFileInfo(path).absolutePath() == first.absolutePath();
    });
    openPath(together ? first.absolutePath() : first.absoluteFilePath());
    if (together) {
        m_status.say(tr("Opened the folder that holds these %1 files").arg(paths.size()));
    } else {
        m_messages->showMessage(
            tr("One run is open at a time: %1. To see all %2 together, open the folder that holds them.")
                .arg(first.fileName())
                .arg(paths.size()),
            paths.mid(1));
    }
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (!localPaths(*event->mimeData()).isEmpty()) {
        // A file manager may propose to move, and would remove what was dropped here.
        event->setDropAction(Qt::CopyAction);
        event->accept();
        m_drop->setGeometry(centralWidget()->geometry());
        m_drop->raise();
        m_drop->show();
    }
}

void MainWindow::dragLeaveEvent(QDragLeaveEvent* event)
{
    m_drop->hide();
    QMainWindow::dragLeaveEvent(event);
}

void MainWindow::dropEvent(QDropEvent* event)
{
    m_drop->hide();
    event->setDropAction(Qt::CopyAction);
    event->accept();
    openPaths(localPaths(*event->mimeData()));
}

// How the panes of the window lie: remembered from one start to the next, and under names.

void MainWindow::restoreLayout()
{
    // Wayland moves nothing into sight, and leaves the frame to the window.
    const QSize frame(grid(2), grid(6));
    resize(QSize(1440, 900).boundedTo(screen()->availableSize() - frame));
    restoreGeometry(m_settings.state("geometry"));
    panes().timeline->restoreState(m_settings.state("timeline"));
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
        auto* action = new QAction(menuText(name), m_actions.layouts);
        action->setData(name);
        setTip(*action, tr("Lay the panes as they were saved: %1").arg(name));
        connect(action, &QAction::triggered, this, [this, name] { applyLayout(name); });
        m_actions.layouts->insertAction(m_actions.saveLayout, action);
    }
    if (!names.isEmpty()) {
        QAction* line = m_actions.layouts->insertSeparator(m_actions.saveLayout);
        line->setData(QString());
    }
    m_actions.manageLayouts->setEnabled(!names.isEmpty());
}

// What the user says of the open run beside what it left: chosen, told to the workspace, remembered.

void MainWindow::connectKnown()
{
    const std::pair<QAction*, workflow::UserFileKind> adders[] = {
        {m_actions.addVariants, workflow::UserFileKind::variants},
        {m_actions.addParameters, workflow::UserFileKind::parameters},
        {m_actions.addEnvironment, workflow::UserFileKind::environment},
        {m_actions.addAdvisories, workflow::UserFileKind::advisories}};
    for (const auto& [action, kind] : adders) {
        connect(action, &QAction::triggered, this, [this, which = kind] { chooseKnown(which); });
    }
    connect(m_actions.showKnown, &QAction::triggered, this, [this] { showKnown(); });
    connect(&m_workspace, &Workspace::userFilesChanged, this, &MainWindow::onUserFilesChanged);
    connect(&m_workspace, &Workspace::answersChanged, this, [this] {
        fillKnown();
        showSteps();
    });
    connect(&m_workspace, &Workspace::findingsChanged, this,
        [this] { m_settings.setFindingChoices(keyOf(m_workspace.loaded()), m_workspace.loaded().choices); });
    connect(&m_workspace, &Workspace::userFileRefused, this, [this](const QString& sentence) {
        if (m_known) {
            m_known->showProblem(sentence);
        } else {
            m_messages->showMessage(sentence, {});
        }
    });
}

void MainWindow::chooseKnown(workflow::UserFileKind kind)
{
    QWidget* asking = m_known ? static_cast<QWidget*>(m_known) : this;
    const Asked question = asked(kind);
    const QStringList paths = severalOf(kind)
        ? QFileDialog::getOpenFileNames(asking, question.title, {}, question.filter)
        : QStringList {QFileDialog::getOpenFileName(asking, question.title, {}, question.filter)};
    if (!paths.join(QString()).isEmpty()) {
        m_messages->hide();
        m_workspace.addUserFiles(kind, paths);
    }
}

UserContextDialog* MainWindow::showKnown()
{
    if (!m_known) {
        m_known = new UserContextDialog(
            {m_actions.addVariants, m_actions.addParameters, m_actions.addEnvironment, m_actions.addAdvisories}, this);
        m_known->setAttribute(Qt::WA_DeleteOnClose);
        connect(m_known, &UserContextDialog::removeRequested, &m_workspace, &Workspace::removeUserFile);
        connect(m_known, &UserContextDialog::ranUnwanted, &m_workspace, [this] { m_workspace.setRan({}); });
        connect(m_known, &UserContextDialog::observedChanged, &m_workspace, &Workspace::takeBack);
    }
    fillKnown();
    m_known->setJudging(m_workspace.judging());
    m_known->show();
    m_known->raise();
    m_known->activateWindow();
    return m_known;
}

UserContextOf MainWindow::userContextOf(const workflow::UserFiles& first) const
{
    return [settings = m_settings, first](const std::filesystem::path& session) {
        const QString key = exactText(session.string());
        return UserContext {
            workflow::joined(settings.known(key), first), settings.findingChoices(key), settings.ran(key)};
    };
}

void MainWindow::onUserFilesChanged()
{
    const LoadedRun& loaded = m_workspace.loaded();
    m_settings.setKnown(keyOf(loaded), loaded.userFiles);
    m_status.setKnown(addedText(loaded.userFilesAsRead), addedDetails(loaded.userFilesAsRead));
    fillKnown();
}

namespace {

/// By their ids: as the verdicts of a run propose them.
QHash<QString, QString> experimentTexts(const Diagnosis& diagnosis)
{
    QHash<QString, QString> texts;
    for (const CaptureVerdict& verdict : diagnosis.captures) {
        for (const Experiment& experiment : verdict.next) {
            texts.insert(qstr(experiment.id), qstr(experiment.what));
        }
    }
    return texts;
}

} // namespace

void MainWindow::showSteps()
{
    m_actions.undoAnswer->setEnabled(m_workspace.canUndoAnswer());
    m_actions.redoAnswer->setEnabled(m_workspace.canRedoAnswer());
}

void MainWindow::fillKnown()
{
    if (m_known) {
        const LoadedRun& loaded = m_workspace.loaded();
        m_known->setFiles(
            loaded.userFilesAsRead, qstrs(loaded.kept.added(), [](const auto& variant) { return variant->name; }));
        m_known->setAnswers(
            {m_workspace.ran(), loaded.observed, experimentTexts(*loaded.known()), !loaded.session.empty()});
    }
}

// How a report leaves the window.

void MainWindow::connectReport()
{
    Reporter* reporter = &m_workspace.reporter();
    connect(reporter, &Reporter::written, this, [this](const QString& path, const QString& note) {
        const QString text = tr("Report written: %1").arg(shortPath(path));
        m_status.offer(note.isEmpty() ? text : tr("%1; %2").arg(text, note), tr("Open it"), [this, path] {
            if (!QDesktopServices::openUrl(QUrl::fromLocalFile(path))) {
                m_messages->showMessage(tr("This desktop names no program that opens %1").arg(path), {});
            }
        });
    });
    connect(reporter, &Reporter::issueText, this, [this](const QString& text) {
        QApplication::clipboard()->setText(text);
        m_status.say(tr("Issue text copied, %1 characters").arg(text.size()));
    });
    connect(panes().report, &ReportPane::saveRequested, this, &MainWindow::chooseReport);
    connect(panes().report, &ReportPane::bundleRequested, this, &MainWindow::chooseBundle);
    connect(panes().report, &ReportPane::cancelRequested, reporter, &Reporter::cancel);
    const report::BundleOptions options = restoreReportOptions(m_settings.report());
    panes().report->setOptions(options);
    reporter->setOptions(options);
    connect(panes().report, &ReportPane::optionsChanged, this,
        [this](const report::BundleOptions& changed) { m_settings.setReport(saveReportOptions(changed)); });
}

void MainWindow::exportTo(const QString& path)
{
    m_workspace.reporter().save(path);
}

void MainWindow::chooseReport()
{
    saveReportAs(tr("Export report"), QStringLiteral(".md"), tr("Markdown (*.md);;Web page (*.html);;JSON (*.json)"));
}

void MainWindow::chooseBundle()
{
    saveReportAs(tr("Export report bundle"), QStringLiteral(".zip"), tr("Bundle (*.zip)"));
}

void MainWindow::saveReportAs(const QString& title, const QString& ending, const QString& kinds)
{
    if (!m_workspace.hasRun()) {
        return;
    }
    const QString stem = QFileInfo(qstr(suggestedReportName(*m_workspace.loaded().run))).completeBaseName();
    const QString folder = saveFolder();
    const QString suggested = folder.isEmpty() ? stem + ending : QDir(folder).filePath(stem + ending);
    const QString path = QFileDialog::getSaveFileName(this, title, suggested, kinds);
    if (!path.isEmpty()) {
        setSaveFolder(QFileInfo(path).absolutePath());
        exportTo(QFileInfo(path).suffix().isEmpty() ? path + ending : path);
    }
}

} // namespace nanscope
