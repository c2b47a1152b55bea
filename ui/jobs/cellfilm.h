// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include <QObject>

#include "core/model/model.h"
#include "ui/jobs/filmloader.h"
#include "ui/jobs/frameloader.h"
#include "ui/jobs/replayservice.h"

namespace nanscope {

/// The film of the cell that is looked at: read from the session, replayed where the session has no pictures of it, or
/// replayed as a difference. Whatever was asked for last is answered, by `changed` or by `missing`.
class CellFilm : public QObject
{
    Q_OBJECT

public:
    explicit CellFilm(ReplayService& service, QObject* parent = nullptr);

    /// Where captures and cells come from. `session` may be empty: there are no stored pictures then.
    void setPlace(const std::filesystem::path& session, const std::filesystem::path& capture);
    void show(const Cell& cell, int batch);
    /// Of a cell that is not stored yet: a sweep of it alone, in the format given.
    void replay(const std::string& variant, Precision precision, int batch);
    void showBatch(int batch);
    /// Values, or the difference of every op to another replay of it; a difference is replayed when asked for.
    void setMode(FilmMode mode);
    /// No cell; `why` is said in place of a film.
    void clear(const QString& why = {});
    /// More is known of this cell now; no new film for that.
    void update(const Cell& cell);
    /// A sweep has made this cell: if it was waited for, its film follows.
    void offer(const Cell& cell);

    const std::optional<Cell>& cell() const { return m_cell; }
    int batch() const { return m_batch; }
    /// The running sweep is of this cell alone, for its pictures.
    bool replaying() const { return m_replaying; }
    bool busy() const { return m_stored.busy() || m_replayed.busy(); }

Q_SIGNALS:
    void changed(std::shared_ptr<const nanscope::Film> film);
    void missing(const QString& sentence);
    void progressed(const nanscope::Progress& progress);

private:
    void load();
    void replayPictures();
    void requestDifference();
    void onDifference(const ReplayedFilm& film);

    ReplayService& m_service;
    FilmLoader m_stored;
    FrameLoader m_replayed;
    std::filesystem::path m_session;
    std::filesystem::path m_capture;
    std::optional<Cell> m_cell; ///< the cell whose film is shown or on its way
    int m_batch = 0;
    FilmMode m_mode = FilmMode::values;
    bool m_replaying = false;
};

} // namespace nanscope
