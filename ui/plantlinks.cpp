// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plantlinks.h"

#include "ui/jobs/cellfilm.h"
#include "ui/panes/filmpane.h"
#include "ui/panes/plantdialog.h"
#include "ui/plots/filmstrip.h"
#include "ui/plots/heatview.h"

namespace nanscope {

PlantLinks::PlantLinks(FilmPane& pane, CellFilm& film, QObject* parent)
    : QObject(parent)
    , m_pane(pane)
    , m_film(film)
{
    connect(&pane, &FilmPane::plantWanted, this, &PlantLinks::ask);
    connect(&pane, &FilmPane::plantUnwanted, this, [this] { m_film.setPlant({}); });
    connect(&film, &CellFilm::plantChanged, this, [this] { m_pane.showPlant(m_film.plant()); });
}

void PlantLinks::ask()
{
    const Film* shown = m_pane.strip()->film();
    if (!shown || shown->frames.empty() || shown->request.capture.empty()) {
        return;
    }
    auto* dialog = new PlantDialog(*shown, m_pane.strip()->current(), m_pane.strip()->cursor(), m_pane.window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    if (m_film.plant()) {
        dialog->choose(*m_film.plant());
    }
    connect(&m_endings, &EndingPlaces::found, dialog, &PlantDialog::setEndings);
    connect(dialog, &QDialog::accepted, this, [this, dialog] { m_film.setPlant(dialog->fault()); });
    m_endings.find(shown->request.capture, shown->batch, shown->request.cell.variant, shown->request.catalogue);
    dialog->open();
}

} // namespace nanscope
