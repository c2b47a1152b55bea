// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/cellfilm.h"

#include <utility>

#include "core/base/try.h"
#include "core/session/session.h"
#include "ui/jobs/deepjob.h"
#include "ui/jobs/sweepplan.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

replay::Against againstOf(FilmMode mode, const replay::CellRequest& cell, const replay::CellRequest& other)
{
    switch (mode) {
    case FilmMode::values:
        break;
    case FilmMode::againstFp64:
        return replay::againstFp64(cell);
    case FilmMode::againstOutput:
        return {replay::Against::Kind::output, {}};
    case FilmMode::againstCell:
        return {replay::Against::Kind::cell, other};
    }
    return {};
}

Result<std::vector<OpTrace>> tracesOf(const std::filesystem::path& path, const Cell& cell)
{
    const auto session = TRY(session::Session::open(path, session::OpenMode::readOnly));
    return session.findCell(cell).and_then([&](const std::optional<std::int64_t>& id) {
        return id ? session.opTraces(*id) : Result<std::vector<OpTrace>>();
    });
}

Result<Film> filmOf(const std::filesystem::path& path, const Cell& cell, int batch)
{
    return tracesOf(path, cell).map([&](const std::vector<OpTrace>& ops) { return makeFilm(cell, ops, batch); });
}

} // namespace

CellFilm::CellFilm(ReplayService& service, const replay::Catalogue& catalogue, QObject* parent)
    : QObject(parent)
    , m_service(service)
    , m_catalogue(catalogue)
    , m_replayed(&service)
{
    connect(&m_replayed, &FrameLoader::filmReady, this, [this](const auto& film) { onReplayed(*film); });
    connect(&m_replayed, &FrameLoader::filmFailed, this, &CellFilm::explain);
    connect(&m_replayed, &FrameLoader::filmProgressed, this, &CellFilm::progressed);
    connect(&m_replayed, &FrameLoader::frameReady, this, &CellFilm::detailReady);
    connect(&m_replayed, &FrameLoader::frameFailed, this, &CellFilm::detailMissing);
}

void CellFilm::setPlace(const rpc::KeptIn& place, const Capture* capture)
{
    m_place = place;
    m_capture = capture ? CaptureRef(*capture) : CaptureRef();
    m_epsilon = capture ? capture->epsilon : std::nullopt;
    m_outputShape = capture && capture->output ? capture->output->shape : Shape();
}

void CellFilm::show(const Cell& cell, int batch)
{
    m_subject.request = replay::requestOf(cell, m_epsilon, m_catalogue);
    m_subject.cell = cell;
    m_subject.batch = batch;
    m_tried = false;
    load();
}

void CellFilm::showReplayed(const replay::CellRequest& cell, int batch)
{
    m_subject.request = cell;
    m_subject.cell.reset();
    m_subject.batch = batch;
    m_tried = false;
    load();
}

void CellFilm::replay(const replay::CellRequest& cell, int batch)
{
    m_subject.request.reset();
    m_subject.cell.emplace();
    m_subject.cell->variant = cell.variant;
    m_subject.cell->precision = cell.precision;
    m_subject.cell->device = cell.device;
    m_subject.batch = batch;
    m_tried = false;
    replayPictures(cell);
}

void CellFilm::showBatch(int batch)
{
    m_subject.batch = batch;
    load();
}

void CellFilm::setMode(FilmMode mode, const replay::CellRequest& other)
{
    const bool same = m_subject.mode == mode && (mode != FilmMode::againstCell || m_subject.other == other);
    m_subject.mode = mode;
    m_subject.other = other;
    if (!same) {
        load();
    }
}

void CellFilm::setPlant(const std::optional<replay::PlantedFault>& plant)
{
    if (m_subject.plant != plant) {
        m_subject.plant = plant;
        Q_EMIT plantChanged();
        load();
    }
}

void CellFilm::clear(const QString& why)
{
    if (std::exchange(m_subject.plant, std::nullopt)) {
        Q_EMIT plantChanged();
    }
    m_subject.request.reset();
    m_subject.cell.reset();
    m_film.reset();
    m_replaying = false;
    m_stored.drop();
    m_replayed.drop();
    if (!why.isEmpty()) {
        explain(why);
    }
}

void CellFilm::offer(const Cell& cell)
{
    const auto& own = m_subject.cell;
    if (std::exchange(m_replaying, false) && own && cell.variant == own->variant && cell.precision == own->precision) {
        show(cell, m_subject.batch);
        m_tried = true;
    }
}

void CellFilm::exchange(CellFilm& other)
{
    dropDetail();
    other.dropDetail();
    const bool loading = busy();
    const bool otherLoading = other.busy();
    std::swap(m_subject, other.m_subject);
    std::swap(m_film, other.m_film);
    std::swap(m_why, other.m_why);
    std::swap(m_replaying, other.m_replaying);
    Q_EMIT plantChanged();
    Q_EMIT other.plantChanged();
    resume(otherLoading);
    other.resume(loading);
}

void CellFilm::resume(bool loading)
{
    m_stored.drop();
    m_replayed.drop();
    if (loading) {
        load();
    } else if (m_film) {
        Q_EMIT changed(m_film);
    } else {
        Q_EMIT missing(m_why);
    }
}

void CellFilm::update(const Cell& cell)
{
    if (m_subject.cell && sameCell(*m_subject.cell, cell)) {
        m_subject.cell = cell;
    }
}

void CellFilm::load()
{
    m_replayed.drop();
    m_stored.drop();
    if (!m_subject.request) {
        return;
    }
    const bool stored = m_subject.mode == FilmMode::values && !m_subject.plant;
    if (stored && m_subject.cell && !m_place.session.empty()) {
        readStored();
    } else {
        requestReplay();
    }
}

void CellFilm::readStored()
{
    m_stored.start(
        this,
        [session = m_place.session, cell = *m_subject.cell, batch = m_subject.batch](
            const CancelToken& /*cancel*/) { return filmOf(session, cell, batch); },
        [this](Result<Film> film) {
            if (!film) {
                explain(qstr(sentence(film.error())));
            } else if (film->frames.empty()) {
                // The session knows the cell, but no pictures of it.
                replayPictures(*m_subject.request);
            } else {
                publish(std::move(*film));
            }
        });
}

replay::FilmRequest CellFilm::filmRequest() const
{
    const replay::CellRequest& cell = *m_subject.request;
    return {m_capture, cell, m_subject.batch, againstOf(m_subject.mode, cell, m_subject.other), m_subject.plant,
        m_catalogue};
}

void CellFilm::publish(Film film)
{
    film.request = filmRequest();
    film.request.batch = film.batch;
    m_film = std::make_shared<const Film>(std::move(film));
    m_why.clear();
    Q_EMIT changed(m_film);
}

void CellFilm::explain(const QString& why)
{
    m_film.reset();
    m_why = why;
    Q_EMIT missing(why);
}

QString CellFilm::replayingSentence() const
{
    if (m_service.running()) {
        return tr("Waiting for the sweep to end, then replaying…");
    }
    const QString cell = tr("%1 in %2").arg(qstr(m_subject.request->variant), qstr(name(m_subject.request->precision)));
    if (m_subject.mode != FilmMode::values) {
        return tr("Replaying %1 for the difference…").arg(cell);
    }
    return m_subject.plant ? tr("Replaying %1 with the fault…").arg(cell) : tr("Replaying %1…").arg(cell);
}

void CellFilm::requestReplay()
{
    if (!m_service.available()) {
        explain(m_subject.plant ? tr("A planted fault takes a replay, and there is no program to replay with")
                : m_subject.mode == FilmMode::values
                ? tr("There are no pictures of this cell, and no program to replay it with")
                : tr("A difference takes a replay, and there is no program to replay with"));
        return;
    }
    m_replayed.requestFilm(filmRequest());
    explain(replayingSentence());
}

void CellFilm::cancelReplay()
{
    if (m_replayed.busy()) {
        m_replayed.drop();
        explain(tr("Cancelled; choose the cell again to replay it"));
    }
}

void CellFilm::onReplayed(const replay::ReplayedFilm& film)
{
    // How the stored cell ended says nothing of a replay with a fault.
    const bool judged = m_subject.cell && !m_subject.plant;
    Cell cell = judged ? *m_subject.cell : film.cell;
    cell.capture = m_subject.cell ? m_subject.cell->capture : cell.capture;
    cell.environment = film.cell.environment;
    cell.native = film.cell.native;
    Film made = makeFilm(cell, film.ops, 0, m_subject.mode);
    made.judged = judged;
    made.batch = static_cast<int>(film.batch);
    made.batches = static_cast<int>(film.batches);
    for (FilmFrame& frame : made.frames) {
        const auto op = static_cast<std::size_t>(frame.op);
        frame.distance = op < film.distances.size() ? film.distances[op] : std::nullopt;
    }
    if (made.frames.empty()) {
        const QString ends =
            film.ops.empty() ? tr("nothing") : matrixLabel({film.ops.back().rows, film.ops.back().cols});
        explain(tr("The captured output is %1, and no op of this replay is: it ends with %2")
                    .arg(matrixLabel(m_outputShape), ends));
        return;
    }
    publish(std::move(made));
}

void CellFilm::replayPictures(const replay::CellRequest& cell)
{
    if (!m_sweeping) {
        requestReplay();
        return;
    }
    if (!m_subject.cell || m_service.running() || !m_service.available()) {
        explain(tr("There are no pictures of this cell; sweep it to see its steps"));
        return;
    }
    if (m_tried) {
        explain(tr("The replay stored no pictures in the session; is it still there, and may it be written?"));
        return;
    }
    m_replaying = true;
    m_service.sweep(orderOf(m_capture, {cell}, m_catalogue, m_place));
    explain(tr("Replaying %1 in %2 for its pictures…").arg(qstr(cell.variant), qstr(name(cell.precision))));
}

void CellFilm::requestDetail(int op, const replay::Region& region)
{
    if (!m_film || m_film->request.capture.empty()) {
        return;
    }
    if (!m_service.available()) {
        Q_EMIT detailMissing(tr("Exact values take a replay, and there is no program to replay with"));
        return;
    }
    m_replayed.requestFrame({m_film->request, static_cast<std::size_t>(op), region});
}

void CellFilm::dropDetail()
{
    m_replayed.dropFrame();
}

} // namespace nanscope
