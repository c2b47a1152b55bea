// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the window opens: by its dialogs, dropped on it, or again from the list of recent ones.
#include <algorithm>
#include <utility>

#include <QAction>
#include <QDir>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMimeData>

#include "core/platform/platform.h"
#include "ui/mainwindow.h"
#include "ui/panes/messagebar.h"
#include "ui/runcomparison.h"
#include "ui/text.h"

namespace nanscope {

namespace {

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

} // namespace

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
    m_actions.openSample->setEnabled(!sampleFolder().isEmpty());
}

void MainWindow::openPath(const QString& path)
{
    if (path.isEmpty()) {
        return;
    }
    m_messages->hide();
    m_settings.addRecent(QFileInfo(path).absoluteFilePath());
    checkPlaces();
    m_workspace.open(QFileInfo(path).absoluteFilePath(), userContextOf(std::exchange(m_firstKnown, {})));
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

void MainWindow::chooseOtherRun()
{
    const QString path = QFileDialog::getExistingDirectory(this, tr("Compare with the run in this folder"));
    if (!path.isEmpty()) {
        compareWith(path);
    }
}

RunComparisonWindow* MainWindow::compareWith(const QString& path)
{
    auto* comparison = new RunComparisonWindow(this);
    comparison->setAttribute(Qt::WA_DeleteOnClose);
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
    for (const StartPage::Place& place : all) {
        if (std::exchange(pinned, place.pinned) != place.pinned) {
            m_actions.recent->addSeparator();
        }
        const QString text = shortPath(place.path);
        const bool gone = place.state == PlaceState::gone;
        QAction* action = m_actions.recent->addAction(gone ? tr("%1 – not there any more").arg(text) : text);
        action->setEnabled(!gone);
        action->setStatusTip(place.path);
        connect(action, &QAction::triggered, this, [this, path = place.path] { openPath(path); });
    }
    m_actions.recent->addSeparator();
    QAction* clear = m_actions.recent->addAction(tr("Clear this list"));
    clear->setStatusTip(tr("Forget what is not pinned"));
    connect(clear, &QAction::triggered, this, [this] {
        m_settings.clearRecent();
        fillRecent();
    });
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
        event->acceptProposedAction();
    }
}

void MainWindow::dropEvent(QDropEvent* event)
{
    openPaths(localPaths(*event->mimeData()));
}

} // namespace nanscope
