// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <QObject>

#include "ui/film/film.h"
#include "ui/shell/panearea.h"

namespace nanscope {

class FilmPane;
class Workspace;

/// Two cells of the selected capture side by side: a second film below the first, whose frame, cursor and zoom follow
/// it and lead it. Off until it is asked for. Asks for the cell of a difference, too.
class CompareLinks : public QObject
{
    Q_OBJECT

public:
    CompareLinks(const Panes& panes, Workspace& workspace, QObject* parent = nullptr);

    void setComparing(bool comparing);
    /// The first cell becomes the second and the reverse; the op that is looked at stays.
    void swap();

private:
    using TakeCell = std::function<void(const replay::CellRequest& cell)>;

    void connectFirst();
    void connectSecond();
    void showSecond();
    /// Asks for a cell of the capture, beginning with `first` where that names one.
    void choose(const QString& title, const replay::CellRequest& first, const TakeCell& take);
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
