// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/panelinks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/diagnose/recovery/missingdumps.h"
#include "core/diagnose/rejudge.h"
#include "core/model/verdict.h"
#include "core/model/words.h"
#include "core/platform/platform.h"
#include "core/replay/variants/catalogue.h"
#include "ui/captures/capturespane.h"
#include "ui/cliff/cliffpane.h"
#include "ui/faulttree/faulttreepane.h"
#include "ui/film/filmpane.h"
#include "ui/film/filmstrip.h"
#include "ui/film/framemap.h"
#include "ui/film/framepane.h"
#include "ui/findings/findingspane.h"
#include "ui/gauges/gaugespane.h"
#include "ui/instruments/instrumentspane.h"
#include "ui/jobs/readrun.h"
#include "ui/jobs/workspace.h"
#include "ui/report/reportpane.h"
#include "ui/shared/text.h"
#include "ui/shell/plantlinks.h"
#include "ui/sweep/agreedialog.h"
#include "ui/sweep/cellgridmodel.h"
#include "ui/sweep/sweepoptions.h"
#include "ui/sweep/sweeppane.h"
#include "ui/tensors/tensorspane.h"
#include "ui/timeline/timelinepane.h"
#include "ui/verdict/verdictpane.h"

namespace nanscope {

namespace {

QString rankText(const CaptureVerdict& verdict)
{
    return verdict.rank ? PaneLinks::tr("rank %1").arg(*verdict.rank) : PaneLinks::tr("an unknown rank");
}

VerdictPane::Consequences consequencesOf(const Diagnosis& diagnosis, const CaptureVerdict& verdict)
{
    VerdictPane::Consequences result;
    const CaptureVerdict* first = nullptr;
    int births = 0;
    std::map<QString, int> others; // births, by where they are
    for (const CaptureVerdict& each : diagnosis.captures) {
        if (each.role != Role::birth) {
            continue;
        }
        ++births;
        first = first ? first : &each;
        if (const QString cause = blameWord(each.blame); !result.causes.contains(cause)) {
            result.causes << cause;
        }
        const bool shown = each.captureId == verdict.captureId && each.capture == verdict.capture;
        if (verdict.role == Role::birth && !shown && each.step && each.step == verdict.step) {
            ++result.together;
            ++others[rankText(each)];
        }
    }
    QStringList places;
    for (const auto& [place, count] : others) {
        places << (count == 1 ? PaneLinks::tr("one of %1").arg(place)
                              : PaneLinks::tr("%1 of %2").arg(count).arg(place));
    }
    result.others = places.join(QStringLiteral(", "));
    const bool ordered = (verdict.step && result.together == 1) || births == 1;
    result.first = ordered && first && first->captureId == verdict.captureId && first->capture == verdict.capture;
    result.downstream =
        static_cast<int>(std::ranges::count(diagnosis.captures, verdict.capture, &CaptureVerdict::causedBy));
    result.captures = static_cast<int>(diagnosis.captures.size());
    return result;
}

/// A line for each of several logs, the most of them in one number.
QString logLines(const std::vector<EvidenceLine>& logs)
{
    if (logs.size() == 1) {
        return {}; // the headline is of it
    }
    constexpr std::size_t most = 6;
    QString lines;
    for (std::size_t i = 0; i < std::min(logs.size(), most); ++i) {
        lines += QStringLiteral("%1: %2\n").arg(qstr(logs[i].source), qstr(logs[i].text));
    }
    return logs.size() > most ? lines + PaneLinks::tr("%1 more logs\n").arg(logs.size() - most) : lines;
}

/// An undecided capture takes a fifth of a millisecond to be judged again, and a window must answer at once.
bool isLarge(const LoadedRun& run)
{
    constexpr std::size_t judgedAtOnce = 200;
    return run.known() && run.known()->captures.size() > judgedAtOnce;
}

bool logsNonFinite(const RunData& run)
{
    return std::ranges::any_of(run.series, [](const Series& series) {
        return series.nan + series.posInf + series.negInf > 0;
    }) || std::ranges::any_of(run.events, [](const Event& event) { return event.kind == EventKind::nanLoss; });
}

} // namespace

PaneLinks::PaneLinks(const Panes& panes, Workspace& workspace, QObject* parent)
    : QObject(parent)
    , m_panes(panes)
    , m_workspace(workspace)
{
    connectPanes();
    connectFilm();
    connectCliff();
    connectInstruments();
    connectTimeline();
    connectReport();
    connectWorkspace();
}

void PaneLinks::connectPanes()
{
    connect(m_panes.captures, &CapturesPane::captureSelected, &m_workspace, &Workspace::select);
    connect(m_panes.captures, &CapturesPane::causeRequested, this, &PaneLinks::selectCause);
    connect(m_panes.faults, &FaultTreePane::captureActivated, m_panes.captures, &CapturesPane::selectCapture);
    connect(m_panes.verdict, &VerdictPane::ticksChanged, &m_workspace, &Workspace::setTicks);
    connect(&m_workspace, &Workspace::answersChanged, this, &PaneLinks::showAnswers);
    connect(m_panes.verdict, &VerdictPane::alikeWanted, this, [this] {
        const std::size_t others = m_workspace.answerAlike();
        Q_EMIT note(
            others == 1 ? tr("Answered another capture alike") : tr("Answered %1 other captures alike").arg(others));
    });
    connect(m_panes.verdict, &VerdictPane::experimentCopied, this, &PaneLinks::note);
    connect(m_panes.verdict, &VerdictPane::nowCopied, this, &PaneLinks::note);
    connect(&m_workspace, &Workspace::advised, this, [this](const std::optional<Rollback>& rollback) {
        m_panes.verdict->setRollback(rollback, m_workspace.goOn());
        if (!m_workspace.capture()) {
            showLogVerdict();
        }
    });
    connect(m_panes.verdict, &VerdictPane::observedChanged, &m_workspace, &Workspace::setObserved);
    connect(m_panes.verdict, &VerdictPane::ranChanged, &m_workspace, &Workspace::setRan);
    connect(m_panes.verdict, &VerdictPane::causeRequested, this, &PaneLinks::selectCause);
    connect(m_panes.verdict, &VerdictPane::judgingRequested, &m_workspace, &Workspace::judgeRest);
    connect(m_panes.verdict, &VerdictPane::filterUnwanted, m_panes.captures,
        [this] { m_panes.captures->setFilterText({}); });
    connect(m_panes.captures, &CapturesPane::listChanged, this, &PaneLinks::showHidden);
    connect(m_panes.captures, &CapturesPane::captureSelected, this, &PaneLinks::showHidden);
    connect(m_panes.tensors, &TensorsPane::batchRequested, &m_workspace, &Workspace::showBatch);
    connect(m_panes.tensors, &TensorsPane::readoutChanged, this, &PaneLinks::readoutChanged);
    connect(m_panes.sweep, &SweepPane::sweepRequested, &m_workspace, &Workspace::sweepSelected);
    connect(m_panes.sweep, &SweepPane::everyVariantToggled, &m_workspace, &Workspace::setEveryVariant);
    connect(m_panes.sweep, &SweepPane::optionsWanted, this, &PaneLinks::chooseSweep);
    connect(m_panes.sweep, &SweepPane::agreeWanted, this, &PaneLinks::compareGpus);
    connect(&m_workspace, &Workspace::sweepChoiceChanged, this, &PaneLinks::fillSweep);
    connect(m_panes.sweep, &SweepPane::cancelRequested, &m_workspace, &Workspace::cancelSweep);
    connect(m_panes.sweep, &SweepPane::cellSelected, &m_workspace,
        [this](const Cell& cell) { m_workspace.showCell(cell); });
    connect(m_panes.sweep, &SweepPane::replayRequested, &m_workspace, &Workspace::replayCell);
}

void PaneLinks::connectFilm()
{
    connect(m_panes.film, &FilmPane::frameChanged, this, &PaneLinks::onFrame);
    connect(m_panes.film, &FilmPane::batchRequested, &m_workspace, &Workspace::showFilmBatch);
    connect(m_panes.film, &FilmPane::modeChanged, this,
        [this](FilmMode mode) { m_workspace.setFilmMode(mode, m_panes.film->other()); });
    CellFilm& film = m_workspace.film();
    new PlantLinks(*m_panes.film, film, this);
    FrameMap* map = m_panes.frame->map();
    connect(map, &FrameMap::detailWanted, &film, &CellFilm::requestDetail);
    connect(map, &FrameMap::detailDropped, &film, &CellFilm::dropDetail);
    connect(&film, &CellFilm::detailReady, map, &FrameMap::setDetail);
    connect(&film, &CellFilm::detailMissing, map, &FrameMap::setDetailMissing);
    connect(m_panes.frame, &FramePane::readoutChanged, this, &PaneLinks::readoutChanged);
    connect(m_panes.gauges, &GaugesPane::iterationActivated, m_panes.film, &FilmPane::goToIteration);
    connect(m_panes.gauges, &GaugesPane::deepRequested, this, [this] {
        m_workspace.measureDeep();
        m_panes.gauges->setMeasuring(m_workspace.measuringDeep());
    });
    connect(m_panes.gauges, &GaugesPane::deepCancelled, &m_workspace, &Workspace::cancelDeep);
    connect(&m_workspace, &Workspace::deepProgressed, m_panes.gauges, &GaugesPane::showProgress);
    connect(&m_workspace, &Workspace::deepMeasured, this, &PaneLinks::onDeep);
    connect(&m_workspace, &Workspace::deepEnded, this, &PaneLinks::onDeepEnded);
    connect(&m_workspace, &Workspace::filmChanged, this, &PaneLinks::onFilm);
    connect(&m_workspace, &Workspace::filmMissing, this, &PaneLinks::onFilmMissing);
}

void PaneLinks::connectCliff()
{
    connect(m_panes.cliff, &CliffPane::replayRequested, &m_workspace, &Workspace::replayCliff);
    connect(m_panes.cliff, &CliffPane::replayUnwanted, &m_workspace, &Workspace::dropCliff);
    connect(&m_workspace, &Workspace::cliffReady, m_panes.cliff, &CliffPane::setReplay);
    connect(&m_workspace, &Workspace::cliffFailed, m_panes.cliff, &CliffPane::setFailure);
}

void PaneLinks::connectInstruments()
{
    MeasureJob& job = m_workspace.instruments();
    InstrumentsPane* pane = m_panes.instruments;
    connect(pane, &InstrumentsPane::measureRequested, &job, [this, &job](MeasureOrder order) {
        order.cell.catalogue = m_workspace.loaded().catalogue;
        if (order.impl) {
            order.impl->catalogue = m_workspace.loaded().catalogue;
        }
        job.start(order);
    });
    connect(&m_workspace.service(), &ReplayService::stateChanged, pane,
        [this, pane] { pane->replayOn(m_workspace.service().firstGpu()); });
    connect(pane, &InstrumentsPane::cancelRequested, &job, &MeasureJob::cancel);
    connect(pane, &InstrumentsPane::copied, this, &PaneLinks::note);
    connect(&job, &MeasureJob::started, pane, [pane] { pane->setRunning(true); });
    connect(&job, &MeasureJob::progressed, pane, &InstrumentsPane::showProgress);
    connect(&job, &MeasureJob::answered, pane, &InstrumentsPane::showResult);
    connect(&job, &MeasureJob::failed, pane, &InstrumentsPane::showProblem);
    connect(&job, &MeasureJob::cancelled, pane, [this, pane] {
        pane->setRunning(false);
        Q_EMIT note(tr("Measurement cancelled"));
    });
}

void PaneLinks::connectTimeline()
{
    connect(m_panes.timeline, &TimelinePane::eventActivated, this, &PaneLinks::onTimelineEvent);
    connect(m_panes.timeline, &TimelinePane::readoutChanged, this, &PaneLinks::readoutChanged);
    connect(m_panes.timeline, &TimelinePane::problem, this, &PaneLinks::problem);
}

void PaneLinks::connectReport()
{
    Reporter& reporter = m_workspace.reporter();
    connect(m_panes.report, &ReportPane::optionsChanged, &reporter, &Reporter::setOptions);
    connect(m_panes.report, &ReportPane::watchedChanged, &reporter, &Reporter::setWatched);
    connect(m_panes.report, &ReportPane::copyRequested, &reporter, &Reporter::copyIssueText);
    connect(&reporter, &Reporter::previewed, m_panes.report, &ReportPane::setPreview);
}

void PaneLinks::connectWorkspace()
{
    connect(&m_workspace, &Workspace::runChanged, this, &PaneLinks::onRunChanged);
    connect(&m_workspace, &Workspace::verdictsArrived, this, &PaneLinks::onVerdictsArrived);
    connect(&m_workspace, &Workspace::selectionChanged, this, &PaneLinks::onSelectionChanged);
    connect(&m_workspace, &Workspace::stateChanged, this, &PaneLinks::onStateChanged);
    connect(&m_workspace, &Workspace::userFilesChanged, this, &PaneLinks::onSelectionChanged);
    connect(&m_workspace, &Workspace::answersTakenBack, this, [this] {
        m_panes.verdict->setObserved(m_workspace.loaded().observed);
        onVerdictsArrived(true);
    });
    connect(&m_workspace, &Workspace::picturesChanged, this, &PaneLinks::onPictures);
    connect(&m_workspace, &Workspace::picturesMissing, this, [this](const QString& sentence) {
        onPictures({});
        m_panes.tensors->showMessage(sentence);
    });
    connect(&m_workspace, &Workspace::cellAdded, this, [this](const Cell& cell) {
        if (const Capture* shown = m_workspace.capture(); shown && shown->file == cell.capture) {
            if (!m_panes.sweep->putCell(cell, m_workspace.requestOf(cell))) {
                fillSweep();
            }
        }
    });
}

void PaneLinks::showHidden()
{
    m_panes.verdict->setHiddenByFilter(m_panes.captures->hidesSelected());
}

void PaneLinks::selectCause()
{
    if (const CaptureVerdict* verdict = m_workspace.verdict()) {
        m_panes.captures->selectCapture(m_workspace.causeOf(*verdict));
    }
}

void PaneLinks::onRunChanged()
{
    const LoadedRun& loaded = m_workspace.loaded();
    if (std::exchange(m_runRoot, loaded.run->root) != loaded.run->root) {
        m_panes.report->showMessage(tr("The report of this run is being made"));
    }
    m_panes.verdict->setObserved(loaded.observed);
    m_panes.verdict->setRollback(m_workspace.rollback(), m_workspace.goOn());
    m_panes.verdict->setReplayedOn(loaded.diagnosis ? qstr(loaded.diagnosis->replayedOn) : QString());
    m_panes.timeline->setRun(loaded.run.get(), loaded.known().get(), loaded.session);
    m_panes.faults->setRun(loaded.run, loaded.known());
    m_panes.captures->setRun(loaded.run, isLarge(loaded) ? loaded.known() : m_workspace.tickedDiagnosis());
    if (isLarge(loaded)) {
        showTicked();
    } else {
        m_ticking.drop();
    }
    if (loaded.run->captures.empty()) {
        onSelectionChanged();
    }
    (loaded.run->captures.empty() ? m_panes.findings->view() : m_panes.captures->view())->setFocus();
}

void PaneLinks::onVerdictsArrived(bool ofSelected)
{
    if (m_workspace.judging() && isLarge(m_workspace.loaded())) {
        // The others follow soon, and the end of it weighs them all.
        m_ticking.drop();
        m_panes.captures->setVerdicts(m_workspace.loaded().known());
    } else {
        showTicked();
    }
    if (ofSelected) {
        fillVerdict();
    }
}

void PaneLinks::onSelectionChanged()
{
    const Capture* capture = m_workspace.capture();
    if (capture && std::exchange(m_capture, capture->path) != capture->path) {
        m_panes.film->forgetOther();
    }
    m_panes.tensors->setCapture(m_workspace.capture());
    m_panes.faults->setSelected(m_workspace.selected());
    fillVerdict();
    int identified = 0;
    const QStringList names = m_workspace.variantsInOrder(identified);
    m_panes.instruments->setCapture(m_workspace.capture(), names, identified);
    fillSweep();
    onStateChanged();
}

void PaneLinks::onStateChanged()
{
    // Also where the judging was cancelled.
    if (std::exchange(m_judging, m_workspace.judging()) && !m_judging && isLarge(m_workspace.loaded())) {
        showTicked();
    }
    const bool sweepingSelected = m_workspace.sweepingSelected();
    m_panes.sweep->setWhyNoSweep(sweepingSelected ? QString() : m_workspace.whyNoSweep());
    m_panes.sweep->setHasGpus(m_workspace.capture()
        && std::ranges::any_of(m_workspace.service().devices(),
            [](const ReplayDevice& device) { return device.name != QLatin1String("cpu"); }));
    if (m_panes.sweep->model()->grid() != m_workspace.grid()) {
        fillSweep();
    }
    if (m_panes.sweep->isRunning() != sweepingSelected) {
        m_panes.sweep->setRunning(sweepingSelected, m_workspace.runningCells());
    }
    if (m_workspace.hasRun() && (!m_workspace.verdict() || m_workspace.lacksVerdict())) {
        fillVerdict();
    }
    m_panes.verdict->offerJudging(m_workspace.hasRun() && m_workspace.owesVerdict());
}

/// Without captures there is nobody to judge; what the logs tell is news all the same.
void PaneLinks::showLogVerdict()
{
    const Diagnosis& known = *m_workspace.loaded().known();
    const RunData& run = *m_workspace.loaded().run;
    const QString story = qstr(known.headline).section(QStringLiteral("; "), 1);
    const QString howToTake = diagnose::helperMissedCalls(run)
        ? tr("see the finding “Calls that the capture helper did not look at”.")
        : tr("write “nanscope capture --print > nanscope_capture.py”, put “newton_schulz = "
             "nanscope_capture.wrap(newton_schulz)” into the trainer and start it with NANSCOPE_CAPTURE=1.");
    const QString captures = !diagnose::unreadDumpsOf(run).empty()
        ? tr("Copy the dump again, or, if the disk was full when it was written, to have another one, %1")
        : logsNonFinite(run)
        ? tr("No captures here: files that hold the input and output of a Newton-Schulz call would tell whose fault it "
             "is. To take them, %1")
        : tr("To have captures, the files that tell the cause if a NaN comes, %1");
    if (m_workspace.loaded().holdsNothing()) {
        m_panes.verdict->showMessage(tr("Nothing to read here"),
            tr("“%1” holds no capture (.pt, .safetensors, .npy), no log and no checkpoint. Rescan looks again; with "
               "Follow, what a run writes there is read at once.")
                .arg(qstr(m_workspace.loaded().opened.filename().string())));
        return;
    }
    const auto& rollback = m_workspace.rollback();
    const QString tonight =
        rollback ? tr("Tonight: %1").arg(windowText(rollback->tonight)) + QLatin1Char('\n') : QString();
    m_panes.verdict->showMessage(!story.isEmpty() ? sentenceCase(story)
            : m_workspace.judging()               ? tr("Judging what the logs tell…")
                                                  : tr("No captures here"),
        tonight + logLines(known.logs) + captures.arg(howToTake));
}

void PaneLinks::fillVerdict()
{
    const Capture* capture = m_workspace.capture();
    const CaptureVerdict* verdict = m_workspace.verdict();
    m_panes.verdict->setCatalogue(m_workspace.loaded().catalogue);
    if (!capture && !m_workspace.loaded().run->captures.empty()) {
        m_panes.verdict->showMessage(tr("The filter shows no capture"),
            tr("The answer is about the capture that is selected. Empty the filter above the list to see all %n.",
                nullptr, static_cast<int>(m_workspace.loaded().run->captures.size())));
    } else if (!capture) {
        showLogVerdict();
    } else if (!verdict || m_workspace.lacksVerdict()) {
        const QString text = tr("Each plausible variant is replayed with the roundings of several kernels: seconds for "
                                "a small matrix, minutes for a large one.");
        const QString stopped = verdict ? qstr(m_workspace.loaded().known()->stopped) : QString();
        const QString seen = verdict ? qstr(verdict->facts.damage.text) : QString();
        m_panes.verdict->showMessage(m_workspace.judging() ? tr("Judging…")
                : stopped.isEmpty()                        ? tr("Not judged")
                                                           : tr("Not judged (%1)").arg(stopped),
            seen.isEmpty() ? text : QStringLiteral("%1: %2. %3").arg(placeSentence(*capture, *verdict), seen, text));
    } else {
        m_panes.verdict->setConsequences(consequencesOf(*m_workspace.loaded().known(), *verdict));
        m_panes.verdict->showVerdict(*capture, *verdict, m_workspace.ticks());
    }
    offerAlike();
    m_panes.verdict->offerJudging(m_workspace.owesVerdict());
    m_panes.film->strip()->setCapturedNote(verdict ? qstr(originsText(*verdict)) : QString());
    fillPlausible();
    m_panes.verdict->setRan(m_workspace.ran());
    fillDamage();
}

void PaneLinks::showAnswers()
{
    showTicked();
    offerAlike();
    fillPlausible();
}

void PaneLinks::showTicked()
{
    const LoadedRun& loaded = m_workspace.loaded();
    if (!isLarge(loaded) || loaded.observed == Observations()) {
        m_ticking.drop();
        m_panes.captures->setVerdicts(m_workspace.tickedDiagnosis());
        return;
    }
    m_ticking.start(
        this, [run = loaded](const CancelToken& /*cancel*/) { return tickedOf(run); },
        [this](const std::shared_ptr<const Diagnosis>& ticked) { m_panes.captures->setVerdicts(ticked); });
}

void PaneLinks::offerAlike()
{
    const LoadedRun& loaded = m_workspace.loaded();
    const QStringList ticks = m_workspace.ticks();
    if (!isLarge(loaded) || ticks.isEmpty()) {
        m_alike.drop();
        m_panes.verdict->offerAlike(m_workspace.answersAlike().size());
        return;
    }
    m_panes.verdict->offerAlike(0);
    m_alike.start(
        this,
        [run = loaded, said = KeptAnswer {m_workspace.capture()->file, stringsOf(ticks)}](
            const CancelToken& /*cancel*/) {
            return diagnose::answersAlike(run.known()->captures, said, run.observed.answers, run.catalogue).size();
        },
        [this](std::size_t others) { m_panes.verdict->offerAlike(others); });
}

/// After the user's answers, too.
void PaneLinks::fillPlausible()
{
    const auto verdict = m_workspace.tickedVerdict();
    for (FilmPane* pane : {m_panes.film, m_panes.beside}) {
        pane->setPlausible(verdict ? verdict->variant.names : std::vector<std::string>());
    }
}

/// Marks the damage the verdict speaks of, where the pictures shown are of its matrix.
void PaneLinks::fillDamage()
{
    const CaptureVerdict* verdict = m_workspace.verdict();
    const bool damaged = verdict && verdict->facts.damage.rowEnd > verdict->facts.damage.rowBegin
        && verdict->facts.damage.batch == m_outputBatch;
    m_damage = damaged ? std::optional(verdict->facts.damage) : std::nullopt;
    m_panes.tensors->setDamage(m_damage);
    markDamage();
}

/// In the large frame, where that is the captured output.
void PaneLinks::markDamage()
{
    FrameMap& map = *m_panes.frame->map();
    const bool captured = map.frame() && map.frame()->captured;
    map.setDamage(captured ? m_damage : std::nullopt, false);
}

void PaneLinks::fillSweep()
{
    m_panes.sweep->showChoice(choiceText(m_workspace.sweepChoice()));
    m_panes.sweep->setGrid(m_workspace.grid());
    m_panes.sweep->setRunning(m_workspace.sweepingSelected(), m_workspace.runningCells());
    for (const Cell* cell : m_workspace.cells()) {
        m_panes.sweep->putCell(*cell, m_workspace.requestOf(*cell));
    }
    markShownCell();
}

void PaneLinks::markShownCell()
{
    const auto& shown = m_workspace.shownCell();
    const Capture* capture = m_workspace.capture();
    const bool isHere = shown && capture && shown->capture == capture->file;
    m_panes.sweep->markShown(isHere ? std::optional(m_workspace.requestOf(*shown)) : std::nullopt);
}

void PaneLinks::chooseSweep()
{
    const Capture* capture = m_workspace.capture();
    if (!capture) {
        return;
    }
    int identified = 0;
    const QStringList names = m_workspace.variantsInOrder(identified);
    auto* options = new SweepOptions({names, identified, m_workspace.usualVariants(), capture->epsilon},
        m_workspace.sweepChoice(), m_workspace.loaded().catalogue, m_panes.sweep->window());
    options->setAttribute(Qt::WA_DeleteOnClose);
    connect(options, &QDialog::accepted, this, [this, options] { m_workspace.chooseSweep(options->chosen()); });
    options->open();
}

/// Of what is shown, where that is a replay.
void PaneLinks::compareGpus()
{
    const Capture* capture = m_workspace.capture();
    if (!capture) {
        return;
    }
    const std::deque<ServiceProgram> programs = servicePrograms();
    const bool worker = !programs.empty() && programs.front().worker;
    const auto& shown = m_workspace.shownCell();
    auto* dialog = new AgreeDialog(
        {exactText((platform::programFolder() / "nanscope").string()), worker ? programs.front().program : QString()},
        exactText(capture->path), shown ? m_workspace.requestOf(*shown) : replay::CellRequest(),
        m_workspace.loaded().catalogue, m_panes.sweep->window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void PaneLinks::onPictures(const TensorPictures& pictures)
{
    m_panes.tensors->setPictures(pictures);
    m_output = pictures.output;
    m_outputBatch = static_cast<int>(pictures.batch);
    fillDamage();
    showFilm();
}

void PaneLinks::onFilm(std::shared_ptr<const Film> film)
{
    m_film = std::move(film);
    markShownCell();
    showGauges(m_film->cell);
    fillCliff({});
    showFilm();
}

/// What was captured stands below what was replayed of the same matrix; a difference has nothing to stand below.
void PaneLinks::showFilm()
{
    if (!m_film) {
        showCaptureAlone();
        return;
    }
    const bool comparable = m_output && m_film->mode == FilmMode::values && m_film->batch == m_outputBatch;
    m_shown = comparable ? std::make_shared<const Film>(withCapturedOutput(*m_film, m_output)) : m_film;
    m_panes.film->setFilm(m_shown);
}

/// Until there is a replay, the frame shows the captured output.
void PaneLinks::showCaptureAlone()
{
    m_shown = m_output ? std::make_shared<const Film>(withCapturedOutput({}, m_output)) : nullptr;
    onFrame(m_shown ? 0 : -1);
}

void PaneLinks::showGauges(const Cell& cell)
{
    m_panes.gauges->setCell(&cell, m_workspace.requestOf(cell), m_film && m_film->request.plant);
    const auto cost = m_workspace.deepCostOf(cell);
    m_panes.gauges->setDeepOffer(cost ? tr("Replays this cell and the same in fp64 side by side: %1").arg(qstr(*cost))
                                      : qstr(sentence(cost.error())));
}

void PaneLinks::onDeep(const Cell& cell)
{
    m_panes.gauges->setMeasuring(false);
    if (m_film && !m_film->request.plant && sameCell(m_film->cell, cell)) {
        showGauges(cell);
    }
    Q_EMIT note(tr("Deep gauges measured"));
}

void PaneLinks::onDeepEnded(const QString& sentence)
{
    m_panes.gauges->setMeasuring(false);
    if (!sentence.isEmpty()) {
        Q_EMIT problem(sentence);
    }
}

void PaneLinks::onFilmMissing(const QString& sentence)
{
    m_film = nullptr;
    markShownCell();
    m_panes.gauges->setCell(nullptr);
    m_panes.film->showMessage(sentence);
    m_panes.film->setOffered(m_workspace.sweepWouldShow());
    showCaptureAlone();
    fillCliff(sentence);
}

// A cell can be there without a film of it; one that is only on its way names no capture yet.
void PaneLinks::fillCliff(const QString& missing)
{
    const auto& cell = m_workspace.shownCell();
    if (cell && !cell->capture.empty() && m_workspace.capture()) {
        m_panes.cliff->setCell(*cell, m_workspace.shownBatch(), m_workspace.loaded().catalogue,
            overridesText(m_workspace.requestOf(*cell)), *m_workspace.capture());
    } else {
        m_panes.cliff->showMessage(missing);
    }
}

void PaneLinks::onFrame(int frame)
{
    const bool there = m_shown && frame >= 0 && frame < static_cast<int>(m_shown->frames.size());
    m_panes.frame->setFrame(m_shown, frame);
    markDamage();
    m_panes.gauges->setIteration(there ? m_shown->frames[static_cast<std::size_t>(frame)].iteration : -1);
}

void PaneLinks::onTimelineEvent(const TimelineEvent& event)
{
    const auto& captures = m_workspace.loaded().run->captures;
    const auto found = std::ranges::find(captures, event.capture.toStdString(), &Capture::file);
    if (!event.capture.isEmpty() && found != captures.end()) {
        m_panes.captures->selectCapture(static_cast<int>(found - captures.begin()));
    }
    if (!event.source.isEmpty()) {
        Q_EMIT note(QStringLiteral("%1:%2").arg(event.source).arg(event.line));
    }
}

} // namespace nanscope
