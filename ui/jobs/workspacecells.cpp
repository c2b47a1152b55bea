// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Replays of the selected capture: which cell is seen, and what is asked of the replay process about it.
#include "ui/jobs/workspace.h"

#include <algorithm>
#include <utility>

#include "ui/jobs/cellchoice.h"
#include "ui/models/cellgridmodel.h"
#include "ui/text.h"

namespace nanscope {

namespace {

/// Those that lack a cell in some format.
QStringList withoutCells(const QStringList& variants, const std::vector<const Cell*>& cells)
{
    QStringList missing;
    for (const QString& variant : variants) {
        const auto has = [&](Precision precision) {
            return std::ranges::any_of(cells, [&](const Cell* cell) {
                return qstr(cell->variant) == variant && cell->precision == precision && cell->error.empty();
            });
        };
        if (!std::ranges::all_of(sweepPrecisions(), has)) {
            missing << variant;
        }
    }
    return missing;
}

} // namespace

void Workspace::showDefaultCell()
{
    const Capture* shown = capture();
    m_film.clear();
    m_film.setPlace(m_loaded.place(), shown ? CaptureRef(*shown) : CaptureRef());
    m_beside.clear(tr("The second cell follows the first"));
    m_beside.setPlace(m_loaded.place(), shown ? CaptureRef(*shown) : CaptureRef());
    const CaptureVerdict* judged = verdict();
    const int batch = judged ? judged->facts.damage.batch : 0;
    const bool canReplay = shown && m_service.available() && !sweeping();
    if (const Cell* cell = defaultCell()) {
        m_film.show(*cell, batch);
    } else if (const replay::Variant* ran = canReplay ? quickReplay(*shown, judged, m_loaded.catalogue) : nullptr) {
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

void Workspace::setFilmMode(FilmMode mode, const replay::CellRequest& other)
{
    m_film.setMode(mode, other);
}

void Workspace::replayCliff(replay::CliffRequest request)
{
    if (const Capture* shown = capture()) {
        request.capture = *shown;
        request.catalogue = m_loaded.catalogue;
        m_cliffOf = shown->path;
        m_cliff.request(request);
    }
}

void Workspace::onCliff(const std::shared_ptr<const replay::ReplayedCliff>& replayed)
{
    replay::ReplayedCliff cliff = *replayed;
    for (replay::CliffReplay& replay : cliff.replays) {
        nameCapture(replay.cell, m_cliffOf);
    }
    Q_EMIT cliffReady(std::make_shared<const replay::ReplayedCliff>(std::move(cliff)));
}

void Workspace::dropCliff()
{
    m_cliff.drop();
}

const Cell* Workspace::defaultCell() const
{
    return firstToSee(cells(), variantOrder(verdict(), m_loaded.catalogue), m_loaded.catalogue);
}

QStringList Workspace::variantsInOrder(int& identified) const
{
    VariantOrder order = variantOrder(verdict(), m_loaded.catalogue);
    identified = order.identified;
    return std::move(order.names);
}

QStringList Workspace::variantsToSweep(int& identified) const
{
    const VariantOrder order = variantOrder(verdict(), m_loaded.catalogue);
    identified = order.identified;
    return m_everyVariant ? order.names : worthSweeping(order, cells(), m_loaded.catalogue);
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
    rpc::SweepOrder order;
    order.request.captures = {*shown};
    const QStringList shownVariants = variantsToSweep(identified);
    const QStringList missing = withoutCells(shownVariants, cells());
    for (const QString& variant : missing.isEmpty() ? shownVariants : missing) {
        order.request.variants.push_back(variant.toStdString());
    }
    order.request.precisions = sweepPrecisions();
    order.request.catalogue = m_loaded.catalogue;
    order.kept = m_loaded.place();
    m_service.sweep(order);
}

bool Workspace::sweepingSelected() const
{
    const Capture* shown = capture();
    return sweeping() && !m_film.replaying() && shown && sweptCapture() == shown->path;
}

/// A sweep of the window's is of one capture.
std::string Workspace::sweptCapture() const
{
    const rpc::SweepOrder* order = m_service.order();
    return order && !order->request.captures.empty() ? order->request.captures.front().path : std::string();
}

/// The replay process calls a capture what its session does; without one, as its file is called, which several of a run
/// may share.
void Workspace::nameCapture(Cell& cell, const std::string& path) const
{
    const auto& captures = m_loaded.run->captures;
    if (const auto found = std::ranges::find(captures, path, &Capture::path); found != captures.end()) {
        cell.capture = found->file;
    }
}

void Workspace::onCell(Cell cell)
{
    if (m_loaded.session.empty()) {
        nameCapture(cell, sweptCapture());
    }
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
    return replay::deepCost(matrixShape(shown->input.shape), deepRequest(*shown, cell).cell, m_loaded.catalogue)
        .and_then([](const replay::DeepCost& cost) -> Result<std::string> {
            return replay::allowDeep(cost).map([&] { return replay::deepCostText(cost); });
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
    m_deepOf = shown->path;
    auto request = deepRequest(*shown, *m_film.cell());
    request.catalogue = m_loaded.catalogue;
    m_deep.measure({std::move(request), m_loaded.place()});
}

/// Where the process is another than the one that swept the cell, what comes back is a cell of its own.
void Workspace::onDeep(Cell cell)
{
    if (m_loaded.session.empty()) {
        nameCapture(cell, m_deepOf);
    }
    m_loaded.cells.push_back(cell);
    Q_EMIT cellAdded(cell);
    const Capture* shown = capture();
    if (m_film.cell() && shown && shown->file == cell.capture) {
        const bool same = sameCell(*m_film.cell(), cell);
        m_film.update(cell);
        if (!same && m_film.cell()->variant == cell.variant && m_film.cell()->precision == cell.precision) {
            showCell(cell, replay::worstBatch(cell));
        }
    }
    Q_EMIT deepMeasured(cell);
}

} // namespace nanscope
