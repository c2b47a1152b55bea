// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>

#include <QObject>

#include "ui/film/film.h"
#include "ui/jobs/background.h"
#include "ui/shell/panearea.h"

namespace nanscope {

class Workspace;
struct Cell;
struct TensorPictures;
struct TimelineEvent;

/// Fills the panes with what the workspace has, and tells the workspace what is done in them.
class PaneLinks : public QObject
{
    Q_OBJECT

public:
    PaneLinks(const Panes& panes, Workspace& workspace, QObject* parent = nullptr);

Q_SIGNALS:
    void readoutChanged(const QString& text); ///< what is under the cursor
    void note(const QString& text); ///< short lived, for the status bar
    void problem(const QString& sentence);

private:
    void connectPanes();
    void connectFilm();
    void connectCliff();
    void connectInstruments();
    void connectTimeline();
    void connectReport();
    void connectWorkspace();
    void onRunChanged();
    void onVerdictsArrived(bool ofSelected);
    void onSelectionChanged();
    void onStateChanged();
    void onPictures(const TensorPictures& pictures);
    void onFilm(std::shared_ptr<const Film> film);
    void onFilmMissing(const QString& sentence);
    void onFrame(int frame);
    void onDeep(const Cell& cell);
    void onDeepEnded(const QString& sentence);
    void showGauges(const Cell& cell);
    void onTimelineEvent(const TimelineEvent& event);
    void showLogVerdict();
    void fillVerdict();
    void fillDamage();
    void showAnswers();
    void showTicked();
    void offerAlike();
    void fillPlausible();
    void markDamage();
    void showFilm();
    void showCaptureAlone();
    void fillSweep();
    void markShownCell();
    void chooseSweep();
    void compareGpus();
    void fillCliff(const QString& missing);
    void selectCause();
    void showHidden();

    Panes m_panes;
    Workspace& m_workspace;
    std::shared_ptr<const Film> m_film; ///< as it was replayed
    std::shared_ptr<const Film> m_shown; ///< the same with the captured output
    std::shared_ptr<const MatrixPicture> m_output; ///< captured; of m_outputBatch
    int m_outputBatch = 0;
    std::optional<DamagePattern> m_damage; ///< of that output
    std::string m_capture; ///< path of the one selected last
    std::string m_runRoot; ///< of the run that is shown
    bool m_judging = false;
    NewestJob m_ticking; ///< weighs the verdicts of a run of many captures by what was answered
    NewestJob m_alike; ///< counts what could be answered alike in it
};

} // namespace nanscope
