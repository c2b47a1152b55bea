// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>

#include <QMainWindow>
#include <QPointer>

#include "ui/jobs/placecheck.h"
#include "ui/jobs/workspace.h"
#include "ui/shell/actions.h"
#include "ui/shell/panearea.h"
#include "ui/shell/parts/startpage.h"
#include "ui/shell/parts/statusline.h"
#include "ui/shell/settings.h"

class QLabel;
class QStackedWidget;

namespace nanscope {

class CompareLinks;
class DeviceMenu;
class UserContextDialog;
class MessageBar;
class ReadingPage;
class PaneLinks;
class RunComparisonWindow;

struct WindowOptions
{
    bool remember = true; ///< geometry, theme and recent files
    std::optional<ThemeChoice> theme; ///< overrides the remembered one
    std::optional<QByteArray> layout; ///< of the panes, instead of the remembered one
    bool resetLayout = false; ///< forget how the window and its panes lay
    QString filter; ///< of the captures
    workflow::UserFiles known; ///< told of the run that is opened first
    std::deque<ServiceProgram> programs = servicePrograms();
    PlaceCheck::Checker placeState = PlaceCheck::onDisk; ///< of a folder that was open before
};

/// The window: opens what it is given, and holds commands, panes and status line together.
class MainWindow : public QMainWindow
{
    Q_OBJECT

public:
    explicit MainWindow(const WindowOptions& options, QWidget* parent = nullptr);
    ~MainWindow() override;

    void openPath(const QString& path);
    /// Several files of one folder open that folder; of anything else the first is opened and the others are named.
    void openPaths(const QStringList& paths);
    void exportTo(const QString& path);
    /// The open run against another, in a window of its own.
    RunComparisonWindow* compareWith(const QString& path);
    /// The files in which the user says what they know of the open run.
    UserContextDialog* showKnown();
    Workspace& workspace() { return m_workspace; }

    const Panes& panes() const { return m_area->panes(); }
    MessageBar* messageBar() { return m_messages; }
    StartPage* startPage() { return m_start; }
    /// A dock by its name, or verdict, film, tensors; null where there is none of this name.
    QWidget* pane(const QString& name) { return m_area->pane(name); }
    const Actions& actions() const { return m_actions; }

protected:
    bool event(QEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    bool focusNextPrevChild(bool next) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void buildContents();
    void connectActions();
    void connectStart();
    void connectWorkspace();
    void linkPanes();
    void setTheme(ThemeChoice choice);
    void setComparing(bool comparing);
    void restoreLayout();
    void askLayoutName();
    void saveLayoutAs(const QString& given);
    void applyLayout(const QString& name);
    void manageLayouts();
    void fillLayouts();
    void chooseFolder();
    void chooseFile();
    void chooseOtherRun();
    void chooseReport();
    std::vector<StartPage::Place> places() const;
    void chooseBundle();
    void connectReport();
    void connectWhatIf();
    void connectKnown();
    void addDeviceMenu();
    void chooseKnown(workflow::UserFileKind kind);
    UserContextOf userContextOf(const workflow::UserFiles& first) const;
    void onUserFilesChanged();
    void fillKnown();
    void showSteps(); ///< whether an answer can be undone or redone
    void saveReportAs(const QString& title, const QString& ending, const QString& kinds);
    void checkPlaces();
    void fillRecent();
    void forgetLost();
    void pin(const QString& path, bool pinned);
    bool keepsOpenForNotes();
    void onRunChanged();
    void rememberPlace();
    void rememberOpened(const QString& path);
    void showListed();
    void onStateChanged();

    WindowSettings m_settings;
    Workspace m_workspace;
    Actions m_actions;
    StatusLine m_status;
    PlaceCheck m_places;
    QString m_shownRun; ///< key of its settings
    std::optional<QByteArray> m_firstLayout;
    workflow::UserFiles m_firstKnown;
    QPointer<UserContextDialog> m_known;
    QStackedWidget* m_stack = nullptr;
    StartPage* m_start = nullptr;
    QLabel* m_drop = nullptr; ///< while something that can be opened is dragged over the window
    ReadingPage* m_reading = nullptr; ///< while the first run is read
    MessageBar* m_messages = nullptr;
    DeviceMenu* m_devices = nullptr;
    PaneArea* m_area = nullptr;
    PaneLinks* m_links = nullptr;
    CompareLinks* m_compare = nullptr;
    bool m_toldOfNotes = false;
};

} // namespace nanscope
