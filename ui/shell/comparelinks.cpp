// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/comparelinks.h"

#include <algorithm>
#include <utility>

#include <QScopedValueRollback>

#include "ui/film/cellchooser.h"
#include "ui/film/filmpane.h"
#include "ui/film/filmstrip.h"
#include "ui/film/framemap.h"
#include "ui/film/framepane.h"
#include "ui/jobs/workspace.h"
#include "ui/shell/plantlinks.h"
#include "ui/sweep/sweeppane.h"

namespace nanscope {

namespace {

/// The newest stored cell that is asked for like this, or none.
const Cell* storedCell(const Workspace& workspace, const replay::CellRequest& request)
{
    const Cell* found = nullptr;
    for (const Cell* cell : workspace.cells()) {
        found = cell->error.empty() && workspace.requestOf(*cell) == request ? cell : found;
    }
    return found;
}

} // namespace

CompareLinks::CompareLinks(const Panes& panes, Workspace& workspace, QObject* parent)
    : QObject(parent)
    , m_panes(panes)
    , m_workspace(workspace)
{
    connectFirst();
    connectSecond();
    for (FilmPane* pane : {m_panes.film, m_panes.beside}) {
        connect(pane->strip(), &FilmStrip::filmChanged, this, &CompareLinks::shareScales);
    }
    setComparing(false);
}

void CompareLinks::connectFirst()
{
    const auto showWhereMissing = [this] {
        if (m_comparing && !m_workspace.beside().showing()) {
            showSecond();
        }
    };
    connect(&m_workspace, &Workspace::filmChanged, this, showWhereMissing);
    connect(m_panes.film, &FilmPane::frameChanged, this, [this] { follow(*m_panes.film, *m_panes.beside); });
    connect(m_panes.film, &FilmPane::otherWanted, this, [this] {
        choose(tr("Difference to another cell"), m_panes.film->other(),
            [this](const replay::CellRequest& cell) { m_panes.film->setOther(cell); });
    });
    connect(m_panes.film, &FilmPane::batchRequested, this, [this](int batch) {
        if (m_comparing) {
            m_workspace.beside().showBatch(batch);
        }
    });
}

void CompareLinks::connectSecond()
{
    FilmPane* pane = m_panes.beside;
    CellFilm& film = m_workspace.beside();
    FrameMap* map = m_panes.frame->map(Side::second);
    connect(pane, &FilmPane::frameChanged, this, &CompareLinks::onSecondFrame);
    connect(pane, &FilmPane::cellWanted, this, [this] {
        choose(tr("Second cell"), m_film ? m_film->request.cell : replay::CellRequest(),
            [this](const replay::CellRequest& cell) {
                m_cell = cell;
                showSecond();
            });
    });
    connect(m_panes.sweep, &SweepPane::secondWanted, this, [this](const replay::CellRequest& cell) {
        m_cell = cell;
        showSecond();
    });
    connect(pane, &FilmPane::swapWanted, this, &CompareLinks::swap);
    connect(pane, &FilmPane::modeChanged, this, [&film, pane](FilmMode mode) { film.setMode(mode, pane->other()); });
    new PlantLinks(*pane, film, this);
    connect(&film, &CellFilm::changed, this, &CompareLinks::onSecondFilm);
    connect(&film, &CellFilm::missing, this, &CompareLinks::onSecondMissing);
    connect(map, &FrameMap::detailWanted, &film, &CellFilm::requestDetail);
    connect(map, &FrameMap::detailDropped, &film, &CellFilm::dropDetail);
    connect(&film, &CellFilm::detailReady, map, &FrameMap::setDetail);
    connect(&film, &CellFilm::detailMissing, map, &FrameMap::setDetailMissing);
}

void CompareLinks::setComparing(bool comparing)
{
    m_comparing = comparing;
    m_panes.film->setLetter(comparing ? tr("A") : QString());
    m_panes.beside->setVisible(comparing);
    m_panes.frame->setComparing(comparing);
    m_panes.sweep->setComparing(comparing);
    if (comparing) {
        showSecond();
    } else {
        m_workspace.beside().clear();
        onSecondMissing({});
    }
    shareScales();
}

/// The same colour means the same magnitude in both; a difference keeps its own colours.
void CompareLinks::shareScales()
{
    FilmStrip* first = m_panes.film->strip();
    FilmStrip* second = m_panes.beside->strip();
    std::optional<FilmScales> scales;
    if (m_comparing && canShareScale(first->film(), second->film())) {
        scales = united(first->ownScales(), second->ownScales());
    }
    first->setShared(scales);
    second->setShared(scales);
}

/// What it should have been: the same in fp64, or, of that, the same as it is run.
replay::CellRequest CompareLinks::defaultCell(const Film& first) const
{
    replay::CellRequest cell = first.request.cell;
    const auto variant = m_workspace.loaded().catalogue.find(cell.variant);
    const bool exact = cell.precision == Precision::fp64;
    cell.precision = exact && variant ? (*variant)->precision : Precision::fp64;
    return cell;
}

void CompareLinks::showSecond()
{
    const Film* first = m_panes.film->strip()->film();
    if (!m_cell && !first) {
        onSecondMissing(tr("The second cell follows the first"));
        return;
    }
    const replay::CellRequest cell = m_cell ? *m_cell : defaultCell(*first);
    const int batch = first ? first->batch : 0;
    const Cell* stored = storedCell(m_workspace, cell);
    if (stored && !m_workspace.loaded().session.empty()) {
        m_workspace.beside().show(*stored, batch);
    } else {
        m_workspace.beside().showReplayed(cell, batch);
    }
}

void CompareLinks::choose(const QString& title, const replay::CellRequest& first, const TakeCell& take)
{
    if (!m_workspace.capture()) {
        return;
    }
    int identified = 0;
    auto* chooser = new CellChooser(
        title, m_workspace.cells(), [this](const Cell& cell) { return m_workspace.requestOf(cell); },
        m_workspace.variantsInOrder(identified), m_panes.film->window());
    chooser->setAttribute(Qt::WA_DeleteOnClose);
    if (!first.variant.empty()) {
        chooser->choose(first);
    }
    connect(chooser, &QDialog::accepted, this, [chooser, take] { take(chooser->chosen()); });
    chooser->open();
}

void CompareLinks::swap()
{
    const Film* first = m_panes.film->strip()->film();
    if (!m_comparing || !first) {
        return;
    }
    const int current = m_panes.film->strip()->current();
    const FilmFrame looked = first->frames[static_cast<std::size_t>(std::max(0, current))];
    m_cell = first->request.cell;
    m_workspace.film().exchange(m_workspace.beside());
    m_panes.film->showMode(m_workspace.film().mode(), m_workspace.film().other());
    m_panes.beside->showMode(m_workspace.beside().mode(), m_workspace.beside().other());
    const Film* shown = m_panes.film->strip()->film();
    const int same = shown ? counterpartOf(looked, *shown) : -1;
    if (current >= 0 && same >= 0) {
        m_panes.film->strip()->setCurrent(same);
    }
}

void CompareLinks::onSecondFilm(std::shared_ptr<const Film> film)
{
    m_film = std::move(film);
    {
        // It follows, wherever its own values go wrong.
        const QScopedValueRollback quietly(m_following, true);
        m_panes.beside->setFilm(m_film);
    }
    m_panes.sweep->markSecond(m_film->request.cell);
    follow(*m_panes.film, *m_panes.beside);
}

void CompareLinks::onSecondMissing(const QString& sentence)
{
    m_film = nullptr;
    m_panes.beside->showMessage(sentence);
    m_panes.sweep->markSecond(m_comparing ? m_cell : std::nullopt);
}

void CompareLinks::onSecondFrame(int frame)
{
    m_panes.frame->setFrame(m_comparing ? m_film : nullptr, frame, Side::second);
    follow(*m_panes.beside, *m_panes.film);
}

/// The same op of the same step, or none where the other has no such op.
void CompareLinks::follow(FilmPane& leader, FilmPane& follower)
{
    const Film* led = leader.strip()->film();
    const Film* other = follower.strip()->film();
    const int frame = leader.strip()->current();
    if (!m_comparing || m_following || !led || !other || frame < 0) {
        return;
    }
    const QScopedValueRollback quietly(m_following, true);
    follower.strip()->setCurrent(counterpartOf(led->frames[static_cast<std::size_t>(frame)], *other));
}

} // namespace nanscope
