// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "ui/jobs/background.h"

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
    /// Finds which places of the variant a tile can have gone bad in, given how the matrix of the capture ended. Where
    /// the capture cannot be read there is no answer.
    NewestJob m_endings;
};

} // namespace nanscope
