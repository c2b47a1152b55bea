// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>

#include <QMainWindow>

#include "ui/actions.h"
#include "ui/docks.h"
#include "ui/jobs/workspace.h"
#include "ui/settings.h"

class QLabel;
class QProgressBar;
class QTabWidget;
class QStackedWidget;

namespace nanscope {

class CapturesPane;
class FaultTreePane;
class FilmPane;
class FramePane;
class GaugesPane;
class HeatView;
class ElidedLabel;
class MessageBar;
class StartPage;
class SweepPane;
class TensorsPane;
class TimelinePane;
class VerdictPane;
struct TimelineEvent;

struct WindowOptions
{
    bool remember = true; ///< geometry, theme and recent files
    std::optional<ThemeChoice> theme; ///< overrides the remembered one
    std::deque<ServiceProgram> programs = servicePrograms();
};

/// Puts the panes together and carries messages between them and the workspace.
class MainWindow : public QMainWindow
{
    Q_OBJECT

public:
    explicit MainWindow(const WindowOptions& options, QWidget* parent = nullptr);
    ~MainWindow() override;

    void openPath(const QString& path);
    void exportTo(const QString& path);
    Workspace& workspace() { return m_workspace; }

    CapturesPane* capturesPane() { return m_captures; }
    VerdictPane* verdictPane() { return m_verdict; }
    TensorsPane* tensorsPane() { return m_tensors; }
    SweepPane* sweepPane() { return m_sweep; }
    TimelinePane* timelinePane() { return m_timeline; }
    FaultTreePane* faultTreePane() { return m_faults; }
    FilmPane* filmPane() { return m_film; }
    FramePane* framePane() { return m_frame; }
    GaugesPane* gaugesPane() { return m_gauges; }
    MessageBar* messageBar() { return m_messages; }
    const Actions& actions() const { return m_actions; }

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    QWidget* buildContents();
    QWidget* buildCentre();
    void buildDocks();
    void buildStatusBar();
    void connectActions();
    void connectPanes();
    void connectWorkspace();
    void setTheme(ThemeChoice choice);
    void restoreLayout();
    void showRun();
    void chooseFolder();
    void chooseFile();
    void chooseReport();
    void fillRecent();
    void showShortcuts();
    void showAbout();

    void onRunChanged();
    void onSelectionChanged();
    void onStateChanged();
    void onProgress(const Progress& progress);
    void onPictures(const TensorPictures& pictures);
    void onFilm(std::shared_ptr<const Film> film);
    void onFilmMissing(const QString& sentence);
    void onFrame(int frame);
    void onTimelineEvent(const TimelineEvent& event);
    void fillVerdict();
    void fillSweep();

    WindowSettings m_settings;
    Workspace m_workspace;
    Actions m_actions;
    QStackedWidget* m_stack = nullptr;
    StartPage* m_start = nullptr;
    MessageBar* m_messages = nullptr;
    CapturesPane* m_captures = nullptr;
    VerdictPane* m_verdict = nullptr;
    TensorsPane* m_tensors = nullptr;
    SweepPane* m_sweep = nullptr;
    TimelinePane* m_timeline = nullptr;
    FaultTreePane* m_faults = nullptr;
    FilmPane* m_film = nullptr;
    FramePane* m_frame = nullptr;
    GaugesPane* m_gauges = nullptr;
    HeatView* m_frameView = nullptr; ///< shared by the strip and the large frame
    QMainWindow* m_area = nullptr; ///< holds the docks
    QTabWidget* m_tabs = nullptr;
    std::optional<Docks> m_docks;
    bool m_laidOut = false;
    std::shared_ptr<const Film> m_shownFilm;
    QLabel* m_workerLabel = nullptr;
    QLabel* m_sessionLabel = nullptr;
    QLabel* m_phaseLabel = nullptr;
    QProgressBar* m_progress = nullptr;
    ElidedLabel* m_cursorLabel = nullptr;
};

/// Folder of the sample run beside an installed or built program; empty when it is not there.
QString sampleFolder();

} // namespace nanscope
