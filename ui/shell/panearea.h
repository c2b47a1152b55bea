// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QMainWindow>

#include "ui/shell/docks.h"

class QDockWidget;
class QMenu;
class QSplitter;
class QTabWidget;
class QToolButton;

namespace nanscope {

class CapturesPane;
class CliffPane;
class FaultTreePane;
class FilmPane;
class FindingsPane;
class FramePane;
class GaugesPane;
class HeatView;
class InstrumentsPane;
class PartsScroll;
class ReportPane;
class RollbackPane;
class SweepPane;
class TensorsPane;
class TimelinePane;
class VerdictPane;
class WhatIfPane;

/// Every pane of the window. All live as long as the area that holds them.
struct Panes
{
    CapturesPane* captures = nullptr;
    VerdictPane* verdict = nullptr;
    TensorsPane* tensors = nullptr;
    SweepPane* sweep = nullptr;
    TimelinePane* timeline = nullptr;
    FaultTreePane* faults = nullptr;
    FilmPane* film = nullptr;
    FindingsPane* findings = nullptr;
    RollbackPane* rollback = nullptr;
    WhatIfPane* whatIf = nullptr;
    InstrumentsPane* instruments = nullptr;
    ReportPane* report = nullptr;
    FilmPane* beside = nullptr; ///< of a second cell, while two are compared
    FramePane* frame = nullptr;
    GaugesPane* gauges = nullptr;
    CliffPane* cliff = nullptr;
    HeatView* frameView = nullptr; ///< shared by the strip and the large frame
};

struct NamedPane
{
    QString name; ///< for programs: "captures"
    QString title;
    QWidget* pane = nullptr; ///< the dock it is in, where it is in one
};

/// The most that was needed as long as the width stayed the same.
struct MostHeight
{
    int height = 0;
    int width = 0;

    /// False where it changes nothing.
    bool take(int needed, int at);
};

/// What an open run is seen in: the answer above, which no tab and no layout hides, tabs in the middle and docks around
/// them. A main window inside the window, so that docks keep a margin to its edges.
class PaneArea : public QMainWindow
{
    Q_OBJECT

public:
    explicit PaneArea(QWidget* parent = nullptr);

    const Panes& panes() const { return m_panes; }
    /// The card with what was captured and the verdict on it.
    QDockWidget* answer() const { return m_answer; }
    /// As the user dragged it; none while it follows what the answer needs.
    std::optional<int> answerHeight() const { return m_answerHeight; }
    void setAnswerHeight(std::optional<int> height);
    /// Two films below each other take their room from the answer; a single one scrolls before it does.
    void setComparing(bool comparing);
    /// Of the run that was open: its card need be no higher than the answers of the next.
    void forgetAnswers();
    /// The name of the pane whose tab is open.
    QString front() const;
    /// Opens its tab; not where that is put away.
    void bringToFront(const QString& name);
    /// By the name in named(), and shown if it was behind a tab. Null where there is none of this name.
    QWidget* pane(const QString& name);
    /// Every pane by its title, the first nine with a key; then what shows, hides and docks them.
    void fillMenu(QMenu& menu);
    /// In the order of the menu.
    const std::vector<NamedPane>& named() const { return m_named; }
    /// Brings a pane to the front, shown or floating, and puts the keyboard into it.
    void goTo(const QString& name);
    /// To the next pane in sight, in the order of the menu, or with -1 to the one before.
    void goOn(int by);
    /// In a run of logs alone, what only captures fill is put away, and the timeline lies below the tabs. A button
    /// beside the tabs brings it back, and so does a run that has captures: as it lay before.
    void setLogsOnly(bool logsOnly);
    QToolButton* capturePanesButton() { return m_bringBack; }

    /// The layout as saved, or the one each pane was made for. Wants the area to have its size; once is enough.
    void layOut(const QByteArray& saved);
    /// Empty before the panes were laid out.
    QByteArray saveLayout() const;
    /// False where it is of another version or damaged; nothing is changed then. Wants layOut() before.
    bool applyLayout(const QByteArray& saved);
    void resetLayout();
    /// The panes lie in tabs because the area is too small for them side by side.
    bool isStacked() const { return m_wide.has_value(); }

    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void frontChanged(const QString& name);

protected:
    bool event(QEvent* event) override;
    bool eventFilter(QObject* object, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    /// Gives the answer its height again, where something else took it.
    void fitAnswer();
    void addStep(QMenu& menu, const QString& text, QKeyCombination key, int by);
    void showTabOf(const QWidget& pane);
    void buildPanes();
    void buildTools();
    void buildCentre();
    void buildAnswer();
    void buildDocks();
    void namePanes();
    void onAnswerNeeds(int height, bool opened);
    void adapt();
    void keepWidths();
    void takeWidths();
    void remember();
    /// Or the usual layout, where these are none.
    void restore(const QByteArray& docks);
    QToolButton* buildBringBack();
    void placeBringBack();
    void putAwayOrBringBack();
    void showTabsOfCaptures(bool shown);
    void placeTimeline(bool below);

    Panes m_panes;
    std::vector<NamedPane> m_named;
    QTabWidget* m_tabs = nullptr;
    QTabWidget* m_tools = nullptr; ///< one of the tabs
    PartsScroll* m_films = nullptr; ///< one of the tabs
    QSplitter* m_timelineTab = nullptr; ///< holds the timeline, but for runs of logs alone
    QSplitter* m_centre = nullptr; ///< the tabs, and in a run of logs alone the timeline below them
    QDockWidget* m_answer = nullptr;
    std::optional<int> m_answerHeight;
    MostHeight m_answerNeeds; ///< of any capture that was selected
    MostHeight m_answerOpened; ///< while something is open in it
    Docks m_docks;
    bool m_laidOut = false;
    std::optional<QByteArray> m_wide; ///< while stacked: the layout to go back to; empty for the usual one
    QByteArray m_remembered; ///< the layout when it last had its room
    QSize m_wideNeeds;
    QList<int> m_widths; ///< of the docks, as they were given
    QList<int> m_pressed; ///< when the mouse was pressed: a drag changes them
    int m_pressedHeight = 0; ///< of the answer, likewise
    bool m_isPressed = false;
    QToolButton* m_bringBack = nullptr;
    bool m_logsOnly = false;
    bool m_put = false; ///< away, while a run has no captures
    QByteArray m_before; ///< the layout meanwhile
    QWidget* m_tabBefore = nullptr; ///< the one shown then
};

} // namespace nanscope
