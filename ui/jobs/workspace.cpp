// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/workspace.h"

#include <algorithm>
#include <utility>

#include "ui/jobs/cellchoice.h"
#include "ui/jobs/readrun.h"
#include "ui/models/capturemodel.h"
#include "ui/models/cellgridmodel.h"
#include "ui/text.h"

namespace nanscope {

namespace {

bool sameContents(const RunData& a, const RunData& b)
{
    const auto points = [](const RunData& run) {
        std::int64_t sum = 0;
        for (const Series& series : run.series) {
            sum += series.pointCount;
        }
        return sum;
    };
    return a.captures.size() == b.captures.size() && a.events.size() == b.events.size()
        && a.rejected.size() == b.rejected.size() && points(a) == points(b);
}

} // namespace

Workspace::Workspace(std::deque<ServiceProgram> programs, QObject* parent)
    : QObject(parent)
    , m_service(std::move(programs))
{
    m_notes.setMaxThreadCount(1);
    connectJobs();
    connectReporter();
}

Workspace::~Workspace()
{
    m_notes.waitForDone();
}

void Workspace::connectJobs()
{
    connect(&m_loader, &RunLoader::progressed, this, &Workspace::progressed);
    connect(&m_loader, &RunLoader::loaded, this, &Workspace::onLoaded);
    connect(&m_loader, &RunLoader::judged, this, &Workspace::onJudged);
    connect(&m_loader, &RunLoader::idle, this, [this] {
        m_judging = false;
        m_refreshing = false;
        Q_EMIT stateChanged();
        if (std::exchange(m_folderChanged, false)) {
            onFolderChanged();
        }
    });
    connect(&m_follower, &FolderFollower::changed, this, &Workspace::onFolderChanged);
    connect(&m_loader, &RunLoader::cancelled, this, [this] { Q_EMIT note(tr("Cancelled")); });
    connect(
        &m_loader, &RunLoader::failed, this, [this](const Error& error) { Q_EMIT problem(qstr(sentence(error)), {}); });
    connect(&m_tensors, &TensorLoader::loaded, this, &Workspace::picturesChanged);
    connect(&m_tensors, &TensorLoader::failed, this, &Workspace::picturesMissing);
    connect(&m_film, &CellFilm::changed, this, &Workspace::filmChanged);
    connect(&m_film, &CellFilm::missing, this, &Workspace::filmMissing);
    connect(&m_film, &CellFilm::changed, this, &Workspace::stateChanged);
    connect(&m_film, &CellFilm::missing, this, &Workspace::stateChanged);
    connect(&m_film, &CellFilm::progressed, this, &Workspace::progressed);
    connect(&m_cliff, &CliffLoader::ready, this, &Workspace::cliffReady);
    connect(&m_cliff, &CliffLoader::failed, this, &Workspace::cliffFailed);
    connect(&m_deep, &DeepJob::progressed, this, &Workspace::deepProgressed);
    connect(&m_deep, &DeepJob::measured, this, &Workspace::onDeep);
    connect(&m_deep, &DeepJob::ended, this, &Workspace::deepEnded);
    m_beside.setSweeping(false);
    connect(&m_beside, &CellFilm::progressed, this, &Workspace::progressed);
    connect(&m_service, &ReplayService::stateChanged, this, &Workspace::stateChanged);
    connect(&m_service, &ReplayService::progressed, this, &Workspace::progressed);
    connect(&m_service, &ReplayService::cellDone, this, &Workspace::onCell);
    connect(&m_service, &ReplayService::finished, this, [this] {
        Q_EMIT note(tr("Sweep done"));
        if (!m_film.showing()) {
            showDefaultCell();
        }
    });
    connect(&m_service, &ReplayService::cancelled, this, [this] { Q_EMIT note(tr("Cancelled")); });
    connect(&m_service, &ReplayService::failed, this, &Workspace::problem);
}

void Workspace::connectReporter()
{
    connect(this, &Workspace::runChanged, &m_reporter, &Reporter::subjectChanged);
    connect(this, &Workspace::selectionChanged, &m_reporter, &Reporter::subjectChanged);
    connect(this, &Workspace::cellAdded, &m_reporter, &Reporter::subjectChanged);
    connect(&m_reporter, &Reporter::problem, this, &Workspace::problem);
}

void Workspace::open(const QString& path)
{
    m_service.cancel();
    m_deep.cancel();
    m_ran.clear();
    m_refreshing = false;
    m_folderChanged = false;
    m_follower.stop();
    m_loader.open(path.toStdString());
    Q_EMIT stateChanged();
}

void Workspace::setFollowing(bool following)
{
    m_following = following;
    follow();
}

void Workspace::follow()
{
    std::error_code ignored;
    if (m_following && hasRun() && std::filesystem::is_directory(m_loaded.opened, ignored)) {
        m_follower.follow(m_loaded.opened);
    } else {
        m_follower.stop();
    }
}

// A judgement under way is not given up for a new line: a log that grows all the time would never see its end.
void Workspace::onFolderChanged()
{
    if (!m_following || !hasRun()) {
        return;
    }
    if (m_loader.busy()) {
        m_folderChanged = true;
        return;
    }
    m_refreshing = true;
    m_loader.open(m_loaded.opened);
}

void Workspace::rescan()
{
    if (hasRun()) {
        m_loader.open(m_loaded.opened, true);
        Q_EMIT stateChanged();
    }
}

void Workspace::setRan(const QStringList& ran)
{
    if (!hasRun()) {
        return;
    }
    m_ran = ran;
    std::vector<std::string> names;
    for (const QString& name : ran) {
        names.push_back(name.toStdString());
    }
    m_judging = true;
    m_loader.judge(m_loaded, names);
    Q_EMIT stateChanged();
}

void Workspace::setTicks(const QStringList& ticks)
{
    if (const Capture* shown = capture()) {
        std::vector<std::string>& kept = m_loaded.ticks[shown->file];
        kept.clear();
        for (const QString& tick : ticks) {
            kept.push_back(tick.toStdString());
        }
        m_reporter.subjectChanged();
    }
}

void Workspace::setObserved(const Observations& observed)
{
    m_loaded.observed = observed;
    m_reporter.subjectChanged();
    if (m_loaded.session.empty()) {
        return;
    }
    background(
        m_notes, this, [run = m_loaded, observed] { return storeObserved(run, observed); },
        [this](const Result<void>& stored) {
            if (!stored) {
                Q_EMIT problem(qstr(sentence(stored.error())), {});
            }
        });
}

QStringList Workspace::ticks() const
{
    QStringList names;
    const Capture* shown = capture();
    const auto kept = shown ? m_loaded.ticks.find(shown->file) : m_loaded.ticks.end();
    if (kept != m_loaded.ticks.end()) {
        for (const std::string& tick : kept->second) {
            names << qstr(tick);
        }
    }
    return names;
}

void Workspace::onLoaded(const LoadedRun& run, bool judging)
{
    if (m_refreshing && !judging && sameContents(*run.run, *m_loaded.run)) {
        return;
    }
    const bool elsewhere = run.opened != m_loaded.opened;
    m_loaded = run;
    if (elsewhere) {
        follow();
    }
    m_judging = judging;
    m_selected = -1;
    m_tensors.drop();
    m_film.clear();
    m_beside.clear();
    Q_EMIT runChanged();
    reportRejections();
    Q_EMIT stateChanged();
}

void Workspace::reportRejections()
{
    QStringList details;
    if (!m_loaded.sessionProblem.empty()) {
        details << tr("Nothing will be remembered of this run. %1").arg(qstr(m_loaded.sessionProblem));
    }
    if (m_loaded.run->rejected.empty()) {
        if (!details.isEmpty()) {
            Q_EMIT problem(details.constFirst(), {});
        }
        return;
    }
    for (const Rejection& rejection : m_loaded.run->rejected) {
        details << QStringLiteral("%1: %2").arg(qstr(rejection.reason), qstr(rejection.path));
    }
    const auto count = m_loaded.run->rejected.size();
    const QString rejected = count == 1 ? tr("1 file could not be used; everything else is open")
                                        : tr("%1 files could not be used; everything else is open").arg(count);
    Q_EMIT problem(
        m_loaded.sessionProblem.empty() ? rejected : tr("%1. Nothing will be remembered of this run").arg(rejected),
        details);
}

void Workspace::onJudged(std::shared_ptr<const Diagnosis> diagnosis)
{
    m_loaded.diagnosis = std::move(diagnosis);
    m_loaded.ticks.clear();
    Q_EMIT runChanged();
    Q_EMIT selectionChanged();
    if (capture() && !m_film.showing()) {
        showDefaultCell();
    }
}

void Workspace::select(int capture)
{
    if (capture == m_selected) {
        return;
    }
    m_selected = capture;
    Q_EMIT selectionChanged();
    const CaptureVerdict* judged = verdict();
    loadPictures(judged ? judged->damage.batch : 0);
    showDefaultCell();
}

void Workspace::showDefaultCell()
{
    const Capture* shown = capture();
    m_film.clear();
    m_film.setPlace(m_loaded.place(), shown ? shown->path : std::string());
    m_beside.clear(tr("The second cell follows the first"));
    m_beside.setPlace(m_loaded.place(), shown ? shown->path : std::string());
    const CaptureVerdict* judged = verdict();
    const int batch = judged ? judged->damage.batch : 0;
    const bool canReplay = shown && !m_loaded.session.empty() && m_service.available() && !sweeping();
    if (const Cell* cell = defaultCell()) {
        m_film.show(*cell, batch);
    } else if (const Variant* ran = canReplay ? quickReplay(*shown, judged) : nullptr) {
        m_film.replay(std::string(ran->name), ran->precision, batch);
    } else {
        m_film.clear(tr("Sweep this capture to see every step of its replay"));
    }
}

void Workspace::showCell(const Cell& cell, int batch)
{
    m_film.show(cell, batch);
}

void Workspace::showFilmBatch(int batch)
{
    m_film.showBatch(batch);
}

void Workspace::setFilmMode(FilmMode mode, const CellRequest& other)
{
    m_film.setMode(mode, other);
}

void Workspace::replayCliff(CliffRequest request)
{
    if (const Capture* shown = capture()) {
        request.capture = shown->path;
        m_cliff.request(request);
    }
}

void Workspace::dropCliff()
{
    m_cliff.drop();
}

const Cell* Workspace::defaultCell() const
{
    return firstToSee(cells(), variantOrder(verdict()));
}

void Workspace::showBatch(std::int64_t batch)
{
    loadPictures(batch);
}

void Workspace::loadPictures(std::int64_t batch)
{
    if (const Capture* shown = capture()) {
        m_tensors.load(shown->path, batch);
    } else {
        m_tensors.drop();
        Q_EMIT picturesMissing(QString());
    }
}

const Capture* Workspace::capture() const
{
    if (!m_loaded.run || m_selected < 0 || static_cast<std::size_t>(m_selected) >= m_loaded.run->captures.size()) {
        return nullptr;
    }
    return &m_loaded.run->captures[static_cast<std::size_t>(m_selected)];
}

const CaptureVerdict* Workspace::verdict() const
{
    const Capture* shown = capture();
    return shown && m_loaded.known() ? verdictOf(*m_loaded.known(), *shown) : nullptr;
}

int Workspace::causeOf(const CaptureVerdict& verdict) const
{
    const auto& captures = m_loaded.run->captures;
    const auto found = std::ranges::find(captures, verdict.causedBy, &Capture::file);
    return found == captures.end() ? -1 : static_cast<int>(found - captures.begin());
}

QStringList Workspace::variantsInOrder(int& identified) const
{
    VariantOrder order = variantOrder(verdict());
    identified = order.identified;
    return std::move(order.names);
}

std::vector<const Cell*> Workspace::cells() const
{
    const Capture* shown = capture();
    return shown ? cellsOf(m_loaded.cells, *shown) : std::vector<const Cell*> {};
}

void Workspace::sweepSelected()
{
    const Capture* shown = capture();
    if (!shown || sweeping()) {
        return;
    }
    int identified = 0;
    SweepOrder order;
    order.request.captures = {shown->path};
    for (const QString& variant : variantsInOrder(identified)) {
        order.request.variants.push_back(variant.toStdString());
    }
    order.request.precisions = sweepPrecisions();
    order.kept = m_loaded.place();
    m_swept = shown->file;
    m_service.sweep(order);
}

bool Workspace::sweepingSelected() const
{
    const Capture* shown = capture();
    return sweeping() && !m_film.replaying() && shown && shown->file == m_swept;
}

void Workspace::onCell(Cell cell)
{
    m_loaded.cells.push_back(std::move(cell));
    const Cell& added = m_loaded.cells.back();
    Q_EMIT cellAdded(added);
    m_film.offer(added);
}

Result<std::string> Workspace::deepCostOf(const Cell& cell) const
{
    const Capture* shown = capture();
    if (!shown) {
        return failure(ErrorKind::usage, "no capture is selected");
    }
    return deepCost(matrixShape(shown->input.shape), deepRequest(shown->path, cell).cell)
        .and_then([](const DeepCost& cost) -> Result<std::string> {
            return allowDeep(cost).map([&] { return deepCostText(cost); });
        });
}

void Workspace::measureDeep()
{
    const Capture* shown = capture();
    if (!shown || !m_film.cell() || m_deep.busy()) {
        return;
    }
    if (const auto cost = deepCostOf(*m_film.cell()); !cost) {
        Q_EMIT deepEnded(qstr(sentence(cost.error())));
        return;
    }
    m_deep.measure({deepRequest(shown->path, *m_film.cell()), m_loaded.place()});
}

/// Where the process is another than the one that swept the cell, what comes back is a cell of its own.
void Workspace::onDeep(const Cell& cell)
{
    m_loaded.cells.push_back(cell);
    Q_EMIT cellAdded(cell);
    const Capture* shown = capture();
    if (m_film.cell() && shown && shown->file == cell.capture) {
        const bool same = sameCell(*m_film.cell(), cell);
        m_film.update(cell);
        if (!same && m_film.cell()->variant == cell.variant && m_film.cell()->precision == cell.precision) {
            showCell(cell, worstBatch(cell));
        }
    }
    Q_EMIT deepMeasured(cell);
}

void Workspace::cancel()
{
    m_deep.cancel();
    m_loader.cancel();
    m_service.cancel();
    m_film.cancelReplay();
    m_beside.cancelReplay();
}

void Workspace::startService()
{
    m_service.start();
}

bool Workspace::busy() const
{
    return m_loader.busy() || m_service.running();
}

bool Workspace::settled() const
{
    return !busy() && !m_tensors.busy() && !m_film.busy() && !m_beside.busy() && !m_deep.busy() && !m_cliff.busy()
        && m_service.settled() && !m_reporter.busy();
}

ReportSubject Workspace::reportSubject() const
{
    const CaptureVerdict* judged = verdict();
    return {m_loaded, judged && judged->role == Role::birth ? judged->capture : std::string()};
}

} // namespace nanscope
