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
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QVBoxLayout>

#include "core/platform/platform.h"
#include "core/replay/variant.h"
#include "ui/about.h"
#include "ui/panes/capturespane.h"
#include "ui/panes/elidedlabel.h"
#include "ui/panes/messagebar.h"
#include "ui/panes/startpage.h"
#include "ui/panes/sweeppane.h"
#include "ui/panes/tensorspane.h"
#include "ui/panes/timelinepane.h"
#include "ui/panes/verdictpane.h"
#include "ui/plots/heatview.h"
#include "ui/text.h"

namespace nanscope {

namespace {

QSplitter* makeSplitter(Qt::Orientation orientation, const char* name)
{
    auto* splitter = new QSplitter(orientation);
    splitter->setObjectName(QLatin1String(name));
    splitter->setHandleWidth(grid(2));
    splitter->setChildrenCollapsible(false);
    return splitter;
}

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
        const QString path = QDir::cleanPath(program.filePath(QLatin1String(relative)));
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

QWidget* MainWindow::buildContents()
{
    m_captures = new CapturesPane;
    m_verdict = new VerdictPane;
    m_tensors = new TensorsPane;
    m_sweep = new SweepPane;
    m_timeline = new TimelinePane;
    m_messages = new MessageBar;
    m_details = makeSplitter(Qt::Horizontal, "details");
    m_details->addWidget(m_tensors);
    m_details->addWidget(m_sweep);
    m_details->setStretchFactor(0, 3);
    m_details->setStretchFactor(1, 2);
    m_rows = makeSplitter(Qt::Vertical, "rows");
    m_rows->addWidget(m_details);
    m_rows->addWidget(m_timeline);
    m_rows->setStretchFactor(0, 1);
    auto* right = new QWidget;
    auto* rightLayout = new QVBoxLayout(right);
    rightLayout->setContentsMargins(0, 0, 0, 0);
    rightLayout->setSpacing(grid(2));
    rightLayout->addWidget(m_verdict);
    rightLayout->addWidget(m_rows, 1);
    m_columns = makeSplitter(Qt::Horizontal, "columns");
    m_columns->addWidget(m_captures);
    m_columns->addWidget(right);
    m_columns->setStretchFactor(1, 1);
    m_start = new StartPage;
    m_stack = new QStackedWidget;
    m_stack->addWidget(m_start);
    m_stack->addWidget(m_columns);
    auto* contents = new QWidget;
    auto* layout = new QVBoxLayout(contents);
    layout->setContentsMargins(grid(2), grid(2), grid(2), grid(2));
    layout->setSpacing(grid(2));
    layout->addWidget(m_messages);
    layout->addWidget(m_stack, 1);
    return contents;
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
    on(m_actions.sweep, [this] { m_workspace.sweepSelected(); });
    on(m_actions.cancel, [this] { m_workspace.cancel(); });
    on(m_actions.exportReport, &MainWindow::chooseReport);
    on(m_actions.copyIssueText, [this] { m_workspace.copyIssueText(); });
    on(m_actions.filter, [this] { m_captures->focusFilter(); });
    on(m_actions.fitView, [this] { m_tensors->view()->fit(); });
    on(m_actions.themeSystem, [this] { setTheme(ThemeChoice::system); });
    on(m_actions.themeLight, [this] { setTheme(ThemeChoice::light); });
    on(m_actions.themeDark, [this] { setTheme(ThemeChoice::dark); });
    on(m_actions.resetLayout, [this] {
        m_settings.forgetLayout();
        defaultLayout();
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

void MainWindow::defaultLayout()
{
    const int wide = std::max(width(), 1024);
    constexpr int left = 396;
    m_columns->setSizes({left, wide - left});
    const int sweep = std::clamp((wide - left) / 2, 400, 640);
    m_details->setSizes({wide - left - sweep, sweep});
    const int tall = std::max(height(), 600);
    m_rows->setSizes({tall - tall * 22 / 100, tall * 22 / 100});
}

void MainWindow::restoreLayout()
{
    resize(1440, 900);
    defaultLayout();
    restoreGeometry(m_settings.state("geometry"));
    m_columns->restoreState(m_settings.state("columns"));
    m_details->restoreState(m_settings.state("details"));
    m_rows->restoreState(m_settings.state("rows"));
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    m_workspace.cancel();
    m_settings.setState("geometry", saveGeometry());
    m_settings.setState("columns", m_columns->saveState());
    m_settings.setState("details", m_details->saveState());
    m_settings.setState("rows", m_rows->saveState());
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
    const QString path =
        QFileDialog::getSaveFileName(this, tr("Export report"), suggestion, tr("Markdown (*.md);;JSON (*.json)"));
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
    m_stack->setCurrentWidget(m_columns);
    setWindowTitle(tr("%1 (%2) – Nanscope").arg(qstr(loaded.run->name), shortPath(qstr(loaded.opened.string()))));
    m_timeline->setRun(loaded.run.get(), loaded.known().get());
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
