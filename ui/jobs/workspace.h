// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QObject>
#include <QStringList>

#include "core/model/fwd.h"
#include "core/replay/analysis/cliff.h"
#include "core/session/lockwait.h"
#include "ui/heatmap/matrixpicture.h"
#include "ui/jobs/cellfilm.h"
#include "ui/jobs/deepjob.h"
#include "ui/jobs/folderfollower.h"
#include "ui/jobs/measurejob.h"
#include "ui/jobs/replayservice.h"
#include "ui/jobs/reporter.h"
#include "ui/jobs/runloader.h"
#include "ui/jobs/sweepplan.h"
#include "ui/jobs/verifyjob.h"
#include "ui/jobs/whatifjob.h"
#include "ui/shared/viewhistory.h"

namespace nanscope {

/// What the window works on: the open run, the selected capture, and the jobs that fill them. No widgets.
class Workspace : public QObject
{
    Q_OBJECT

public:
    explicit Workspace(std::deque<ServiceProgram> programs, QObject* parent = nullptr);
    ~Workspace() override;

    /// With what `userContextOf` answers for the run's session, besides what the user says of it later.
    void open(const QString& path, const UserContextOf& userContextOf = {});
    void rescan();
    /// Files in which the user says what they know of the run. Read first: where one of them cannot be used none is
    /// taken, and userFileRefused() says why. Else userFilesChanged(), and the run is judged again.
    void addUserFiles(workflow::UserFileKind kind, const QStringList& paths);
    void removeUserFile(workflow::UserFileKind kind, const QString& path);
    /// Which findings the user does not want to hear of, and by which rule a loss spikes; as checked() gives them. A
    /// silence holds at once; another rule is asked of the points, once the run is judged. Reports follow.
    void chooseFindings(const diagnose::FindingChoices& choices);
    /// What is shown was not found by these choices.
    bool awaitsFindings() const;
    /// Imports what is added to the folder while it is open.
    void setFollowing(bool following);
    /// What the user says ran; empty for "I do not know". Judged again at once.
    void setRan(const QStringList& ran);
    void judgeAgain() { judge(false); }
    /// After a judging that was stopped: what it left, or all where another one came before.
    void judgeRest() { judge(true); }
    /// The variants ticked for the selected capture; empty for all. Remembered with the run; reports follow them.
    void setTicks(const QStringList& ticks);
    QStringList ticks() const;
    /// What they say of the other captures that ask the same.
    std::vector<KeptAnswer> answersAlike() const;
    /// How many were answered.
    std::size_t answerAlike();
    /// What the owner of the run saw; remembered with the run, and argued with in reports.
    void setObserved(const Observations& observed);
    /// What the user last said of this run, or took back, in this window. What ran takes replays.
    void undoAnswer();
    void redoAnswer();
    bool canUndoAnswer() const { return m_answerSteps.canGoBack(); }
    bool canRedoAnswer() const { return m_answerSteps.canGoForward(); }
    /// The same without some of what was said, answers included; the panes show it anew.
    void takeBack(const Observations& left);
    void select(int capture);
    void showBatch(std::int64_t batch);
    /// Loads the film of a cell of the selected capture; `batch` as in the capture.
    void showCell(const Cell& cell, int batch = 0);
    void showFilmBatch(int batch) { m_film.showBatch(batch); }
    /// Values, or the difference of every op to another replay of it, that of `other` for FilmMode::againstCell.
    void setFilmMode(FilmMode mode, const replay::CellRequest& other = {}) { m_film.setMode(mode, other); }
    /// Of the selected capture; the newest request stops the one before.
    void replayCliff(replay::CliffRequest request);
    void dropCliff() { m_cliff.drop(); }
    /// Replays the cells of the choice that are missing.
    void sweepSelected();
    /// Replays them all.
    void sweepAgain();
    void chooseSweep(const SweepChoice& choice);
    const SweepChoice& sweepChoice() const { return m_choice; }
    /// Sweeps show every variant, not just one of each schedule; also where a few were chosen.
    void setEveryVariant(bool every);
    /// What restOffered() spoke of.
    void replayRestOnCpu();
    /// One cell of the selected capture that is not there yet, and its film.
    void replayCell(const replay::CellRequest& cell);
    /// What replays run on from now on; none: every GPU, and the CPU where there is none.
    void chooseDevices(const QStringList& names) { m_service.chooseDevices(names); }
    /// Deep gauges of the cell that is shown; answered by deepMeasured() or deepEnded().
    void measureDeep();
    void cancelDeep() { m_deep.cancel(); }
    bool measuringDeep() const { return m_deep.busy(); }
    /// What they take, "about 4 seconds at ..", or why they are refused.
    Result<std::string> deepCostOf(const Cell& cell) const;
    /// As RunLoader::limitJudging().
    void limitJudging(std::optional<double> seconds) { m_loader.limitJudging(seconds); }
    /// What cancel() can stop, in the order in which it does: what was asked for last stands before the judgement that
    /// every run begins with.
    enum class Task { none, saving, sweep, film, secondFilm, reading, judging };
    /// What it stops next, and whose progress is told.
    Task foremost() const;
    void cancel();
    void cancelSweep() { m_service.cancel(); }
    /// For who leaves, everything: but a report that is being written still is.
    void cancelReplays();
    /// What the user said is stored, which may take this long where another program keeps the session locked.
    bool waitForNotes(int milliseconds) { return m_notes.waitForDone(milliseconds); }
    void startService() { m_service.start(); }

    /// Reports of what is open, about the selected capture where that is a birth.
    Reporter& reporter() { return m_reporter; }

    /// What other settings would have done to what is open.
    WhatIfJob& whatIf() { return m_whatIf; }

    /// Reads the checkpoints that the run may go back to. It is to be judged, and in trouble.
    void verifyCheckpoints() { m_verify.start(m_loaded); }
    VerifyJob& verification() { return m_verify; }

    /// Instruments on one capture.
    MeasureJob& instruments() { return m_measure; }

    /// As the owner's observations and what was read of checkpoints have it by now.
    const std::optional<Rollback>& rollback() const;
    /// What to do where there is nothing to go back from; empty where there is, or before the run is judged.
    QString goOn() const;

    bool hasRun() const { return m_loaded.run != nullptr; }
    const LoadedRun& loaded() const { return m_loaded; }
    int selected() const { return m_selected; }
    const Capture* capture() const;
    const CaptureVerdict* verdict() const;
    /// The same over what is ticked of it; none where it is not judged.
    std::optional<CaptureVerdict> tickedVerdict() const;
    /// Every verdict over what is ticked of it; null while nothing is known.
    std::shared_ptr<const Diagnosis> tickedDiagnosis() const;
    /// Index of the capture a verdict names as its cause, or -1.
    int causeOf(const CaptureVerdict& verdict) const;
    QStringList ran() const;
    /// All variants, those of the plausible set of the selected capture first; `identified` says how many those are.
    QStringList variantsInOrder(int& identified) const;
    /// Those of them that a sweep looks at.
    QStringList variantsToSweep(int& identified) const;
    /// Those of them that a sweep looks at where the user did not choose any.
    QStringList usualVariants() const;
    /// Of the selected capture.
    SweepGrid grid() const;
    /// Stored and fresh cells of the selected capture, oldest first.
    std::vector<const Cell*> cells() const;
    /// Asks for one of them again.
    replay::CellRequest requestOf(const Cell& cell) const;
    /// What the running sweep replays of the selected capture.
    std::vector<replay::CellRequest> runningCells() const;

    /// The cell that is looked at, whether or not there is a film of it; and its matrix.
    const std::optional<Cell>& shownCell() const { return m_film.cell(); }
    /// No cell is shown or on its way, and a sweep would make some.
    bool sweepWouldShow() const;
    /// In a sentence; empty where the selected capture can be swept.
    QString whyNoSweep() const;
    int shownBatch() const { return m_film.batch(); }

    bool busy() const;
    /// There is something that cancel() stops.
    bool cancellable() const { return foremost() != Task::none; }
    /// The verdict of the selected capture is missing, and nobody is at it: its judging was cancelled.
    bool owesVerdict() const;
    /// The same while it is judged, too.
    bool lacksVerdict() const;
    bool judging() const { return m_judging; }
    bool sweeping() const { return m_service.running(); }
    bool sweepingSelected() const;
    /// Nothing is in flight that could still change what is shown.
    bool settled() const;
    const ReplayService& service() const { return m_service; }
    CellFilm& film() { return m_film; }
    /// Of a second cell of the selected capture; nothing until it is asked for.
    CellFilm& beside() { return m_beside; }

Q_SIGNALS:
    void runChanged();
    /// Some are judged while others are not; nothing else of the run changed.
    void verdictsArrived(bool ofSelected);
    /// The verdicts were weighed again.
    void advised(const std::optional<nanscope::Rollback>& rollback);
    void userFilesChanged();
    /// What the user says ran, or answered or tried, is another, whoever changed it.
    void answersChanged();
    void answersTakenBack();
    /// The findings, or what was chosen of them.
    void findingsChanged();
    void userFileRefused(const QString& sentence);
    void selectionChanged();
    void picturesChanged(const nanscope::TensorPictures& pictures);
    void picturesMissing(const QString& sentence);
    void cellAdded(const nanscope::Cell& cell);
    void filmChanged(std::shared_ptr<const nanscope::Film> film);
    void filmMissing(const QString& sentence);
    void cliffReady(std::shared_ptr<const nanscope::replay::ReplayedCliff> cliff);
    void cliffFailed(const QString& sentence);
    void deepProgressed(int done, int total);
    void deepMeasured(const nanscope::Cell& cell);
    void deepEnded(const QString& sentence); ///< empty after a cancel
    void stateChanged();
    void progressed(const nanscope::Progress& progress);
    void note(const QString& text); ///< short lived, for the status bar
    void problem(const QString& sentence, const QStringList& details);
    /// Of a run that goes on: a birth, or a first value that is not finite.
    void newsCame(const QString& sentence, const QStringList& others);
    void sweepChoiceChanged();
    /// Every cell of the choice is there; sweepAgain() replays them all the same.
    void nothingToSweep(int cells);
    /// A problem that replayRestOnCpu() gets around.
    void restOffered(const QString& sentence, const QStringList& details);

private:
    struct Said
    {
        Observations observed;
        std::vector<std::string> ran;
        bool operator==(const Said&) const = default;
    };

    Said said() const;
    void restore(Said next);
    void connectJobs();
    void connectReporter();
    void connectProgress();
    void onLoaded(const LoadedRun& run, bool judging);
    void onArrived(const std::vector<CaptureVerdict>& verdicts);
    void onJudged(std::shared_ptr<const Diagnosis> diagnosis);
    /// `goesOn`: what a judging that was stopped had replayed stays as it is.
    void judge(bool goesOn);
    void onFolderChanged();
    void follow();
    void reportRejections();
    void tellWhatCame();
    QString rescanText(const LoadedRun& run) const;
    QStringList userFileProblems() const;
    workflow::UserFiles userFilesSoon() const;
    void onVerified(const std::vector<Checkpoint>& checkpoints);
    void setUserFiles(const workflow::UserFiles& userFiles, bool strict);
    void onUserFilesRead(const workflow::UserFiles& userFiles, workflow::UserFacts known, bool strict);
    void askFindings();
    void onFindings(Result<std::vector<Finding>> findings, const std::string& rule);
    void setFindings(std::vector<Finding> findings);
    void adviseAgain();
    void keepObserved();
    void onAnswered();
    const KeptAnswer* keptAnswer() const; ///< of the selected capture; null for none
    void adviseAsObserved();
    SweepSubject sweepSubject(const Capture& capture) const;
    void startSweep(const CaptureRef& capture, std::vector<replay::CellRequest> cells);
    void onSweepDone();
    QString sweepText() const;
    void onServiceFailed(const QString& sentence, const QStringList& details);
    bool offerRest(const QString& sentence, const QStringList& details);
    std::string sweptCapture() const;
    void nameCapture(Cell& cell, const std::string& path) const;
    void onCell(Cell cell);
    void onDeep(Cell cell);
    void onCliff(replay::ReplayedCliff cliff);
    void showDefaultCell();
    void showNothing();
    bool showsExplanation() const;
    void followVerdict();
    void showAsBefore();
    ReportSubject reportSubject() const;

    std::optional<session::NoLockWait>
        m_leaving; ///< outlives every job, none of which may wait for a locked session then
    LoadedRun m_loaded;
    ViewHistory<Said> m_answerSteps;
    int m_selected = -1;
    std::string m_deepOf; ///< path of the capture whose deep gauges were asked for last
    std::string m_cliffOf; ///< and of the one whose cliff was
    bool m_judging = false;
    bool m_following = true;
    bool m_everyVariant = false;
    SweepChoice m_choice;
    CaptureRef m_sweepOf; ///< of the newest sweep of several cells, which may have ended
    std::vector<replay::CellRequest> m_sweep; ///< what it replays, while it runs
    QStringList m_failures; ///< why cells of it failed
    std::vector<replay::CellRequest> m_rest; ///< what it left out, on the CPU
    bool m_folderChanged = false; ///< while something else ran
    bool m_rescanning = false; ///< the user asked for it
    QString m_rescanned; ///< what reading the open run again brought, until it is told
    bool m_refreshing = false; ///< the loader reads what it has read before
    FolderFollower m_follower;
    RunLoader m_loader;
    NewestJob m_tensors;
    ReplayService m_service;
    CellFilm m_film {m_service, m_loaded.catalogue};
    bool m_chosenByUser = false; ///< the cell of that film
    bool m_refit = false; ///< it is of an answer that was taken back
    CellFilm m_beside {m_service, m_loaded.catalogue};
    ServiceRequest m_cliff {&m_service};
    DeepJob m_deep {m_service};
    QThreadPool m_notes; ///< one thread: what is said last is stored last
    WhatIfJob m_whatIf;
    VerifyJob m_verify;
    MeasureJob m_measure;
    Reporter m_reporter {[this] { return reportSubject(); }};
    workflow::UserFiles m_asked; ///< what is read of the user's files, or was last
    NewestJob m_userFiles;
    std::shared_ptr<const std::optional<Rollback>> m_advised; ///< null before it was asked anew
    NewestJob m_advice;
    diagnose::FindingChoices m_judgedBy; ///< of the judgement that is under way, or was last
    NewestJob m_findings;
};

} // namespace nanscope
