// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/mainwindow.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QDir>
#include <QFileDialog>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QProgressBar>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabWidget>
#include <QVBoxLayout>

#include "core/platform/platform.h"
#include "core/replay/variant.h"
#include "ui/about.h"
#include "ui/panes/capturespane.h"
#include "ui/panes/elidedlabel.h"
#include "ui/panes/faulttreepane.h"
#include "ui/panes/filmpane.h"
#include "ui/panes/framepane.h"
#include "ui/panes/gaugespane.h"
#include "ui/panes/messagebar.h"
#include "ui/panes/startpage.h"
#include "ui/panes/sweeppane.h"
#include "ui/panes/tensorspane.h"
#include "ui/panes/timelinepane.h"
#include "ui/panes/verdictpane.h"
#include "ui/plots/filmstrip.h"
#include "ui/plots/heatview.h"
#include "ui/text.h"

namespace nanscope {

namespace {

QString progressText(const Progress& progress)
{
    QString text = qstr(progress.phase.empty() ? progress.job : progress.phase);
    if (progress.total > 0) {
        text += MainWindow::tr(" %1 of %2 %3")
                    .arg(countLabel(progress.done), countLabel(progress.total), qstr(progress.unit));
    }
    return text;
}

QString shortPath(const QString& path)
{
    const QString home = QDir::homePath();
    return path.startsWith(home + QLatin1Char('/')) ? QLatin1Char('~') + path.mid(home.size()) : path;
}

} // namespace

QString sampleFolder()
{
    const QDir program(qstr(programFolder().string()));
    // Installed: bin beside share. Built: build/<preset>/bin below the source tree.
    for (const char* relative : {"../share/nanscope/sample", "../../../resources/sample"}) {
        QString path = QDir::cleanPath(program.filePath(QLatin1String(relative)));
        if (QFileInfo(path).isDir()) {
            return path;
        }
    }
    return {};
}

MainWindow::MainWindow(const WindowOptions& options, QWidget* parent)
    : QMainWindow(parent)
    , m_settings(options.remember)
    , m_workspace(options.programs)
    , m_actions(makeActions(*this))
{
    setAcceptDrops(true);
    setWindowTitle(tr("Nanscope"));
    setTheme(options.theme.value_or(m_settings.theme()));
    setCentralWidget(buildContents());
    buildStatusBar();
    connectActions();
    connectPanes();
    connectWorkspace();
    fillRecent();
    restoreLayout();
    onStateChanged();
}

MainWindow::~MainWindow() = default;

QWidget* MainWindow::buildCentre()
{
    m_frameView = new HeatView(this);
    m_verdict = new VerdictPane;
    m_film = new FilmPane(m_frameView);
    m_film->setTitle({});
    m_tensors = new TensorsPane;
    m_tensors->setTitle({});
    m_tabs = new QTabWidget;
    m_tabs->setDocumentMode(true);
    m_tabs->addTab(m_film, tr("Film strip"));
    m_tabs->addTab(m_tensors, tr("Input and output"));
    auto* centre = new QWidget;
    auto* layout = new QVBoxLayout(centre);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid(2));
    layout->addWidget(m_verdict);
    layout->addWidget(m_tabs, 1);
    return centre;
}

QWidget* MainWindow::buildContents()
{
    m_area = new QMainWindow;
    m_area->setWindowFlags(Qt::Widget);
    m_area->setCentralWidget(buildCentre());
    buildDocks();
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

void MainWindow::buildDocks()
{
    m_docks.emplace(*m_area);
    m_captures = new CapturesPane;
    m_faults = new FaultTreePane;
    m_frame = new FramePane(m_frameView);
    m_sweep = new SweepPane;
    m_gauges = new GaugesPane;
    m_timeline = new TimelinePane;
    m_docks->add("captures", tr("Captures"), m_captures, Qt::LeftDockWidgetArea);
    m_docks->add("faults", tr("Fault tree"), m_faults, Qt::LeftDockWidgetArea);
    m_docks->add("frame", tr("Frame"), m_frame, Qt::RightDockWidgetArea);
    m_docks->add("sweep", tr("Sweep"), m_sweep, Qt::RightDockWidgetArea);
    m_docks->add("gauges", tr("Gauges"), m_gauges, Qt::BottomDockWidgetArea);
    m_docks->add("timeline", tr("Timeline"), m_timeline, Qt::BottomDockWidgetArea);
    m_docks->fillMenu(*m_actions.panes);
}

void MainWindow::buildStatusBar()
{
    m_workerLabel = new QLabel;
    m_sessionLabel = new QLabel;
    m_phaseLabel = new QLabel;
    m_progress = new QProgressBar;
    m_progress->setTextVisible(false);
    m_progress->setFixedWidth(grid(40));
    m_progress->setAccessibleName(tr("Progress"));
    m_cursorLabel = new ElidedLabel;
    m_cursorLabel->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    statusBar()->setSizeGripEnabled(false);
    statusBar()->addWidget(m_workerLabel);
    statusBar()->addWidget(m_sessionLabel);
    statusBar()->addWidget(m_phaseLabel);
    statusBar()->addWidget(m_progress);
    statusBar()->addWidget(m_cursorLabel, 1);
}

void MainWindow::connectActions()
{
    const auto on = [this](QAction* action, auto slot) { connect(action, &QAction::triggered, this, slot); };
    on(m_actions.openFolder, &MainWindow::chooseFolder);
    on(m_actions.openFile, &MainWindow::chooseFile);
    on(m_actions.openSample, [this] { openPath(sampleFolder()); });
    on(m_actions.rescan, [this] { m_workspace.rescan(); });
    connect(m_actions.follow, &QAction::toggled, &m_workspace, &Workspace::setFollowing);
    on(m_actions.sweep, [this] { m_workspace.sweepSelected(); });
    on(m_actions.cancel, [this] { m_workspace.cancel(); });
    on(m_actions.exportReport, &MainWindow::chooseReport);
    on(m_actions.copyIssueText, [this] { m_workspace.copyIssueText(); });
    on(m_actions.filter, [this] { m_captures->focusFilter(); });
    on(m_actions.fitView, [this] {
        m_tensors->view()->fit();
        m_frameView->fit();
    });
    on(m_actions.themeSystem, [this] { setTheme(ThemeChoice::system); });
    on(m_actions.themeLight, [this] { setTheme(ThemeChoice::light); });
    on(m_actions.themeDark, [this] { setTheme(ThemeChoice::dark); });
    on(m_actions.resetLayout, [this] {
        m_settings.forgetLayout();
        m_docks->reset();
    });
    on(m_actions.shortcuts, [this] { showShortcuts(); });
    on(m_actions.about, [this] { showAbout(); });
    on(m_actions.quit, [this] { close(); });
}

void MainWindow::connectPanes()
{
    connect(m_start, &StartPage::openRequested, this, &MainWindow::chooseFolder);
    connect(m_start, &StartPage::sampleRequested, m_actions.openSample, &QAction::trigger);
    connect(m_start, &StartPage::recentRequested, this, &MainWindow::openPath);
    m_start->setSampleAvailable(!sampleFolder().isEmpty());
    m_actions.openSample->setEnabled(!sampleFolder().isEmpty());
    connect(m_captures, &CapturesPane::captureSelected, &m_workspace, &Workspace::select);
    connect(m_faults, &FaultTreePane::captureActivated, m_captures, &CapturesPane::selectCapture);
    connect(m_verdict, &VerdictPane::ticksChanged, &m_workspace, &Workspace::setTicks);
    connect(m_verdict, &VerdictPane::experimentCopied, m_phaseLabel, &QLabel::setText);
    connect(m_verdict, &VerdictPane::copyRequested, m_actions.copyIssueText, &QAction::trigger);
    connect(m_verdict, &VerdictPane::ranChanged, &m_workspace, &Workspace::setRan);
    connect(m_verdict, &VerdictPane::causeRequested, this, [this] {
        if (const CaptureVerdict* verdict = m_workspace.verdict()) {
            m_captures->selectCapture(m_workspace.causeOf(*verdict));
        }
    });
    connect(m_tensors, &TensorsPane::batchRequested, &m_workspace, &Workspace::showBatch);
    connect(m_tensors, &TensorsPane::readoutChanged, m_cursorLabel, &ElidedLabel::setFullText);
    connect(m_sweep, &SweepPane::sweepRequested, m_actions.sweep, &QAction::trigger);
    connect(m_sweep, &SweepPane::cancelRequested, m_actions.cancel, &QAction::trigger);
    connect(m_sweep, &SweepPane::cellSelected, this, [this](const Cell& cell) { m_workspace.showCell(cell); });
    connect(m_film, &FilmPane::frameChanged, this, &MainWindow::onFrame);
    connect(m_film, &FilmPane::batchRequested, &m_workspace, &Workspace::showFilmBatch);
    connect(m_film, &FilmPane::modeChanged, &m_workspace, &Workspace::setFilmMode);
    connect(m_frame, &FramePane::readoutChanged, m_cursorLabel, &ElidedLabel::setFullText);
    connect(m_timeline, &TimelinePane::eventActivated, this, &MainWindow::onTimelineEvent);
    connect(m_timeline, &TimelinePane::readoutChanged, m_cursorLabel, &ElidedLabel::setFullText);
    connect(m_timeline, &TimelinePane::problem, this,
        [this](const QString& sentence) { m_messages->showMessage(sentence, {}); });
    connect(m_timeline, &TimelinePane::stateChanged, this,
        [this] { m_settings.setState("timeline", m_timeline->saveState()); });
    connect(m_gauges->plot(), &GaugePlot::iterationActivated, m_film, &FilmPane::goToIteration);
}

void MainWindow::connectWorkspace()
{
    connect(&m_workspace, &Workspace::runChanged, this, &MainWindow::onRunChanged);
    connect(&m_workspace, &Workspace::selectionChanged, this, &MainWindow::onSelectionChanged);
    connect(&m_workspace, &Workspace::stateChanged, this, &MainWindow::onStateChanged);
    connect(&m_workspace, &Workspace::progressed, this, &MainWindow::onProgress);
    connect(&m_workspace, &Workspace::picturesChanged, this, &MainWindow::onPictures);
    connect(&m_workspace, &Workspace::picturesMissing, m_tensors, &TensorsPane::showMessage);
    connect(&m_workspace, &Workspace::cellAdded, this, [this](const Cell& cell) {
        if (const Capture* shown = m_workspace.capture(); shown && shown->file == cell.capture) {
            m_sweep->putCell(cell);
        }
    });
    connect(&m_workspace, &Workspace::filmChanged, this, &MainWindow::onFilm);
    connect(&m_workspace, &Workspace::filmMissing, this, &MainWindow::onFilmMissing);
    connect(&m_workspace, &Workspace::note, this, [this](const QString& text) { m_phaseLabel->setText(text); });
    connect(&m_workspace, &Workspace::problem, m_messages, &MessageBar::showMessage);
    connect(&m_workspace, &Workspace::reportWritten, this,
        [this](const QString& path) { m_phaseLabel->setText(tr("Report written: %1").arg(shortPath(path))); });
    connect(&m_workspace, &Workspace::issueText, this, [this](const QString& text) {
        QApplication::clipboard()->setText(text);
        m_phaseLabel->setText(tr("Issue text copied, %1 characters").arg(text.size()));
    });
}

void MainWindow::setTheme(ThemeChoice choice)
{
    applyTheme(choice);
    m_settings.setTheme(choice);
    m_actions.themeSystem->setChecked(choice == ThemeChoice::system);
    m_actions.themeLight->setChecked(choice == ThemeChoice::light);
    m_actions.themeDark->setChecked(choice == ThemeChoice::dark);
}

void MainWindow::restoreLayout()
{
    resize(1440, 900);
    restoreGeometry(m_settings.state("geometry"));
    m_timeline->restoreState(m_settings.state("timeline"));
}

void MainWindow::showRun()
{
    m_stack->setCurrentWidget(m_area);
    if (m_laidOut) {
        return;
    }
    // Shares can only be given once the area has its size.
    m_laidOut = true;
    layout()->activate();
    m_docks->reset();
    m_docks->restore(m_settings.state("docks"));
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    m_workspace.cancel();
    m_settings.setState("geometry", saveGeometry());
    if (m_laidOut) {
        m_settings.setState("docks", m_docks->save());
    }
    QMainWindow::closeEvent(event);
}

void MainWindow::openPath(const QString& path)
{
    if (path.isEmpty()) {
        return;
    }
    m_messages->hide();
    m_settings.addRecent(QFileInfo(path).absoluteFilePath());
    fillRecent();
    m_workspace.open(QFileInfo(path).absoluteFilePath());
}

void MainWindow::exportTo(const QString& path)
{
    m_workspace.exportReport(path);
}

void MainWindow::chooseFolder()
{
    openPath(QFileDialog::getExistingDirectory(this, tr("Open a folder with dumps, logs or both")));
}

void MainWindow::chooseFile()
{
    openPath(QFileDialog::getOpenFileName(this, tr("Open a capture or a session"), {},
        tr("Captures and sessions (*.pt *.pth *.safetensors *.npy *.nanscope);;All files (*)")));
}

void MainWindow::chooseReport()
{
    if (!m_workspace.hasRun()) {
        return;
    }
    const QString suggestion = qstr(m_workspace.loaded().run->name) + QStringLiteral("-report.md");
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Export report"), suggestion, tr("Markdown (*.md);;Web page (*.html);;JSON (*.json)"));
    if (!path.isEmpty()) {
        exportTo(path);
    }
}

void MainWindow::fillRecent()
{
    const QStringList paths = m_settings.recent();
    m_start->setRecent(paths);
    m_actions.recent->clear();
    m_actions.recent->setEnabled(!paths.isEmpty());
    for (const QString& path : paths) {
        connect(
            m_actions.recent->addAction(shortPath(path)), &QAction::triggered, this, [this, path] { openPath(path); });
    }
    m_actions.recent->addSeparator();
    connect(m_actions.recent->addAction(tr("Clear this list")), &QAction::triggered, this, [this] {
        m_settings.clearRecent();
        fillRecent();
    });
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    const QMimeData* data = event->mimeData();
    if (data->hasUrls() && data->urls().constFirst().isLocalFile()) {
        event->acceptProposedAction();
    }
}

void MainWindow::dropEvent(QDropEvent* event)
{
    const QList<QUrl> urls = event->mimeData()->urls();
    if (!urls.isEmpty()) {
        openPath(urls.constFirst().toLocalFile());
    }
}

void MainWindow::onRunChanged()
{
    const LoadedRun& loaded = m_workspace.loaded();
    showRun();
    setWindowTitle(tr("%1 (%2) – Nanscope").arg(qstr(loaded.run->name), shortPath(qstr(loaded.opened.string()))));
    m_timeline->setRun(loaded.run.get(), loaded.known().get(), loaded.session);
    m_faults->setRun(loaded.run, loaded.known());
    m_captures->setRun(loaded.run, loaded.known());
    m_sessionLabel->setText(loaded.session.empty() ? tr("No session") : tr("Session saved"));
    m_sessionLabel->setToolTip(qstr(loaded.session.string()));
    if (loaded.run->captures.empty()) {
        onSelectionChanged();
    }
    m_captures->view()->setFocus();
}

void MainWindow::onSelectionChanged()
{
    m_tensors->setCapture(m_workspace.capture());
    m_faults->setSelected(m_workspace.selected());
    fillVerdict();
    fillSweep();
    onStateChanged();
}

void MainWindow::fillVerdict()
{
    const Capture* capture = m_workspace.capture();
    const CaptureVerdict* verdict = m_workspace.verdict();
    if (!capture) {
        m_verdict->showMessage(tr("No captures here"),
            tr("The logs are shown below. Captures are .pt, .safetensors or .npy files that hold "
               "the input and output of a Newton-Schulz call."));
    } else if (!verdict || verdict->summary.empty()) {
        m_verdict->showMessage(m_workspace.judging() ? tr("Judging…") : tr("Not judged yet"),
            tr("Every plausible variant is replayed under several roundings: seconds for a small matrix, minutes for "
               "a large one. Rescan (F5) judges again."));
    } else {
        m_verdict->showVerdict(*capture, *verdict);
        m_verdict->showTicks(m_workspace.ticks());
    }
    QStringList names;
    for (const Variant& variant : variants()) {
        names << qstr(variant.name);
    }
    m_verdict->setRan(names, m_workspace.ran());
    const bool damaged = verdict && verdict->damage.rowEnd > verdict->damage.rowBegin;
    m_tensors->setDamage(damaged ? std::optional<DamagePattern>(verdict->damage) : std::nullopt);
}

void MainWindow::fillSweep()
{
    if (!m_workspace.capture()) {
        m_sweep->setGrid({}, 0);
        return;
    }
    int identified = 0;
    const QStringList names = m_workspace.variantsInOrder(identified);
    m_sweep->setGrid(names, identified);
    m_sweep->setRunning(m_workspace.sweepingSelected());
    for (const Cell* cell : m_workspace.cells()) {
        m_sweep->putCell(*cell);
    }
}

void MainWindow::onPictures(const TensorPictures& pictures)
{
    m_tensors->setPictures(pictures);
    const CaptureVerdict* verdict = m_workspace.verdict();
    const bool here =
        verdict && verdict->damage.rowEnd > verdict->damage.rowBegin && verdict->damage.batch == pictures.batch;
    m_tensors->setDamage(here ? std::optional<DamagePattern>(verdict->damage) : std::nullopt);
}

void MainWindow::onFilm(std::shared_ptr<const Film> film)
{
    m_shownFilm = std::move(film);
    m_gauges->setCell(&m_shownFilm->cell);
    m_film->setFilm(m_shownFilm);
}

void MainWindow::onFilmMissing(const QString& sentence)
{
    m_shownFilm = nullptr;
    m_gauges->setCell(nullptr);
    m_film->showMessage(sentence);
}

void MainWindow::onTimelineEvent(const TimelineEvent& event)
{
    const auto& captures = m_workspace.loaded().run->captures;
    const auto found = std::ranges::find(captures, event.capture.toStdString(), &Capture::file);
    if (!event.capture.isEmpty() && found != captures.end()) {
        m_captures->selectCapture(static_cast<int>(found - captures.begin()));
    }
    if (!event.source.isEmpty()) {
        m_phaseLabel->setText(QStringLiteral("%1:%2").arg(event.source).arg(event.line));
    }
}

void MainWindow::onFrame(int frame)
{
    m_frame->setFrame(m_shownFilm, frame);
    const bool there = m_shownFilm && frame >= 0 && frame < static_cast<int>(m_shownFilm->frames.size());
    m_gauges->setIteration(there ? m_shownFilm->frames[static_cast<std::size_t>(frame)].iteration : -1);
}

void MainWindow::onStateChanged()
{
    const bool run = m_workspace.hasRun();
    const bool sweeping = m_workspace.sweeping();
    const bool busy = m_workspace.busy();
    m_actions.rescan->setEnabled(run);
    m_actions.exportReport->setEnabled(run);
    m_actions.copyIssueText->setEnabled(run && m_workspace.capture());
    m_actions.sweep->setEnabled(m_workspace.capture() && !sweeping);
    m_actions.cancel->setEnabled(busy);
    m_sweep->setSweepEnabled(m_workspace.capture() && (!sweeping || m_workspace.sweepingSelected()));
    if (m_sweep->isRunning() != m_workspace.sweepingSelected()) {
        m_sweep->setRunning(m_workspace.sweepingSelected());
    }
    const QString worker = m_workspace.service().description();
    m_workerLabel->setText(
        m_workspace.service().available() ? tr("%1 · %2").arg(worker, sweeping ? tr("sweeping") : tr("idle")) : worker);
    m_workerLabel->setToolTip(m_workspace.service().notes().join(QLatin1Char('\n')));
    if (!busy && !m_progress->isHidden()) {
        m_phaseLabel->clear();
    }
    m_progress->setVisible(busy);
    if (run && !m_workspace.verdict()) {
        fillVerdict();
    }
}

void MainWindow::onProgress(const Progress& progress)
{
    m_phaseLabel->setText(progressText(progress));
    m_progress->setRange(0, static_cast<int>(std::min<std::int64_t>(progress.total, 1 << 30)));
    m_progress->setValue(static_cast<int>(std::min<std::int64_t>(progress.done, 1 << 30)));
    m_progress->setVisible(m_workspace.busy());
}

void MainWindow::showShortcuts()
{
    showShortcutsDialog(*this);
}

void MainWindow::showAbout()
{
    showAboutDialog(*this);
}

} // namespace nanscope
