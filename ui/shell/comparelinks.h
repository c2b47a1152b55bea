// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>

#include <QObject>

#include "ui/film/film.h"
#include "ui/shell/panearea.h"

namespace nanscope {

class FilmPane;
class Workspace;

/// Two cells of the selected capture side by side: a second film below the first, whose frame, cursor and zoom follow
/// it and lead it. Off until it is asked for.
class CompareLinks : public QObject
{
    Q_OBJECT

public:
    CompareLinks(const Panes& panes, Workspace& workspace, QObject* parent = nullptr);

    void setComparing(bool comparing);
    bool comparing() const { return m_comparing; }
    /// The first cell becomes the second and the reverse; the op that is looked at stays.
    void swap();
    /// Asks for the second cell.
    void chooseCell();
    void setCell(const replay::CellRequest& cell);

private:
    void connectFirst();
    void connectSecond();
    void showSecond();
    void onSecondFilm(std::shared_ptr<const Film> film);
    void onSecondMissing(const QString& sentence);
    void onSecondFrame(int frame);
    void follow(FilmPane& leader, FilmPane& follower);
    void shareScales();
    replay::CellRequest defaultCell(const Film& first) const;

    Panes m_panes;
    Workspace& m_workspace;
    bool m_comparing = false;
    bool m_following = false; ///< a frame is being set by the other film
    std::optional<replay::CellRequest> m_cell; ///< what the user chose
    std::shared_ptr<const Film> m_film; ///< the second
};

} // namespace nanscope
