// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/plantlinks.h"

#include <QPointer>

#include "core/diagnose/damage/candidateorigins.h"
#include "ui/film/filmpane.h"
#include "ui/film/filmstrip.h"
#include "ui/film/plantdialog.h"
#include "ui/heatmap/heatview.h"
#include "ui/jobs/cellfilm.h"

namespace nanscope {

namespace {

Result<diagnose::CandidateOrigins> endingsOf(
    const CaptureRef& capture, int batch, const std::string& variant, const replay::Catalogue& catalogue)
{
    return tensorfile::openCapture(capture).and_then([&](const tensorfile::CaptureFile& file) {
        return file.output ? diagnose::candidateOriginsOf(file, batch, {variant}, catalogue)
                           : Result<diagnose::CandidateOrigins>();
    });
}

} // namespace

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
    connect(dialog, &QDialog::accepted, this, [this, dialog] { m_film.setPlant(dialog->fault()); });
    m_endings.start(
        this,
        [request = shown->request, batch = shown->batch](const CancelToken& /*cancel*/) {
            return endingsOf(request.capture, batch, request.cell.variant, request.catalogue);
        },
        [dialog = QPointer(dialog)](const Result<diagnose::CandidateOrigins>& endings) {
            if (dialog && endings) {
                dialog->setEndings(*endings);
            }
        });
    dialog->open();
}

} // namespace nanscope
