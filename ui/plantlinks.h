// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "ui/jobs/endingplaces.h"

namespace nanscope {

class CellFilm;
class FilmPane;

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
