// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/cellfilm.h"

#include <utility>

#include "ui/jobs/deepjob.h"
#include "ui/text.h"

namespace nanscope {

namespace {

FilmRequest differenceRequest(const std::filesystem::path& capture, const Cell& cell, int batch, FilmMode mode)
{
    FilmRequest request;
    request.capture = capture;
    request.cell.variant = cell.variant;
    request.cell.precision = cell.precision;
    request.cell.lowering = cell.lowering;
    request.cell.epsilon = cell.epsilon;
    request.cell.device = cell.device;
    request.batch = batch;
    if (mode == FilmMode::againstFp64) {
        request.against = againstFp64(request.cell);
    } else {
        request.against.kind = Against::Kind::output;
    }
    return request;
}

} // namespace

CellFilm::CellFilm(ReplayService& service, QObject* parent)
    : QObject(parent)
    , m_service(service)
    , m_replayed(&service)
{
    connect(&m_stored, &FilmLoader::loaded, this, &CellFilm::changed);
    connect(&m_stored, &FilmLoader::failed, this, &CellFilm::missing);
    connect(&m_stored, &FilmLoader::unpictured, this, &CellFilm::replayPictures);
    connect(&m_replayed, &FrameLoader::filmReady, this, [this](const auto& film) { onDifference(*film); });
    connect(&m_replayed, &FrameLoader::filmFailed, this, &CellFilm::missing);
    connect(&m_replayed, &FrameLoader::filmProgressed, this, &CellFilm::progressed);
}

void CellFilm::setPlace(const std::filesystem::path& session, const std::filesystem::path& capture)
{
    m_session = session;
    m_capture = capture;
}

void CellFilm::show(const Cell& cell, int batch)
{
    if (m_session.empty()) {
        Q_EMIT missing(tr("Pictures of the steps are kept in the session, and this run has none"));
        return;
    }
    m_cell = cell;
    m_batch = batch;
    load();
}

void CellFilm::replay(const std::string& variant, Precision precision, int batch)
{
    m_cell.emplace();
    m_cell->variant = variant;
    m_cell->precision = precision;
    m_batch = batch;
    replayPictures();
}

void CellFilm::showBatch(int batch)
{
    if (m_cell) {
        m_batch = batch;
        load();
    }
}

void CellFilm::setMode(FilmMode mode)
{
    if (std::exchange(m_mode, mode) != mode && m_cell) {
        load();
    }
}

void CellFilm::clear(const QString& why)
{
    m_cell.reset();
    m_replaying = false;
    m_stored.drop();
    m_replayed.drop();
    if (!why.isEmpty()) {
        Q_EMIT missing(why);
    }
}

void CellFilm::offer(const Cell& cell)
{
    if (std::exchange(m_replaying, false) && m_cell && cell.variant == m_cell->variant
        && cell.precision == m_cell->precision) {
        show(cell, m_batch);
    }
}

void CellFilm::update(const Cell& cell)
{
    if (m_cell && sameCell(*m_cell, cell)) {
        m_cell = cell;
    }
}

void CellFilm::load()
{
    m_replayed.drop();
    if (m_mode == FilmMode::values) {
        m_stored.load(m_session, *m_cell, m_batch);
    } else {
        m_stored.drop();
        requestDifference();
    }
}

void CellFilm::requestDifference()
{
    if (!m_service.available()) {
        Q_EMIT missing(tr("A difference takes a replay, and there is no program to replay with"));
        return;
    }
    m_replayed.requestFilm(differenceRequest(m_capture, *m_cell, m_batch, m_mode));
    Q_EMIT missing(m_service.running()
            ? tr("Waiting for the sweep to end, then replaying the difference…")
            : tr("Replaying %1 in %2 for the difference…").arg(qstr(m_cell->variant), qstr(name(m_cell->precision))));
}

void CellFilm::onDifference(const ReplayedFilm& film)
{
    if (!m_cell) {
        return;
    }
    Film made = makeFilm(*m_cell, film.ops, 0, m_mode);
    made.batch = static_cast<int>(film.batch);
    made.batches = static_cast<int>(film.batches);
    for (FilmFrame& frame : made.frames) {
        const auto op = static_cast<std::size_t>(frame.op);
        frame.distance = op < film.distances.size() ? film.distances[op] : std::nullopt;
    }
    if (made.frames.empty()) {
        Q_EMIT missing(tr("Nothing in this replay has the size of what it would be held against"));
        return;
    }
    Q_EMIT changed(std::make_shared<const Film>(std::move(made)));
}

void CellFilm::replayPictures()
{
    if (!m_cell || m_service.running() || !m_service.available()) {
        Q_EMIT missing(tr("There are no pictures of this cell; sweep it to see its steps"));
        return;
    }
    SweepOrder order;
    order.captures = {qstr(m_capture.string())};
    order.variants = {qstr(m_cell->variant)};
    order.precisions = {m_cell->precision};
    order.session = qstr(m_session.string());
    m_replaying = true;
    m_service.sweep(order);
    Q_EMIT missing(
        tr("Replaying %1 in %2 for its pictures…").arg(qstr(m_cell->variant), qstr(name(m_cell->precision))));
}

} // namespace nanscope
