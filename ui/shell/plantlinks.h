// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <QObject>
#include <QThreadPool>

#include "core/model/capture.h"
#include "core/replay/variants/catalogue.h"
#include "ui/jobs/background.h"

namespace nanscope::diagnose {
struct CandidateOrigins;
} // namespace nanscope::diagnose

namespace nanscope {

class CellFilm;
class FilmPane;

/// Which places of a variant a tile can have gone bad in, given how one matrix of a capture ended. Looked for on a
/// thread of its own; only the newest question is answered, and where a capture cannot be read there is no answer.
class EndingPlaces : public QObject
{
    Q_OBJECT

public:
    explicit EndingPlaces(QObject* parent = nullptr);
    ~EndingPlaces() override;

    void find(const CaptureRef& capture, int batch, const std::string& variant, const replay::Catalogue& catalogue);
    bool busy() const { return m_busy; }

Q_SIGNALS:
    void found(const nanscope::diagnose::CandidateOrigins& endings);

private:
    JobTracker m_jobs;
    bool m_busy = false;
    QThreadPool m_pool;
};

/// "What if this had gone bad": asks for a fault and has the film of a pane replayed with it.
class PlantLinks : public QObject
{
    Q_OBJECT

public:
    PlantLinks(FilmPane& pane, CellFilm& film, QObject* parent = nullptr);

    void ask();

private:
    FilmPane& m_pane;
    CellFilm& m_film;
    EndingPlaces m_endings;
};

} // namespace nanscope
