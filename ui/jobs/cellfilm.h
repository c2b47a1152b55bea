// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>

#include <QObject>

#include "core/model/model.h"
#include "ui/film/film.h"
#include "ui/jobs/background.h"
#include "ui/jobs/frameloader.h"
#include "ui/jobs/replayservice.h"

namespace nanscope {

/// The film of the cell that is looked at: read from the session, replayed where the session has no pictures of it, or
/// replayed as a difference. Whatever was asked for last is answered, by `changed` or by `missing`. Of the film that is
/// shown, regions are replayed element by element.
class CellFilm : public QObject
{
    Q_OBJECT

public:
    /// What variants the catalogue names is asked at every replay.
    CellFilm(ReplayService& service, const replay::Catalogue& catalogue, QObject* parent = nullptr);

    /// Which capture, null for none, and where its cells come from. Without a session there are no stored pictures:
    /// what is shown is replayed then.
    void setPlace(const rpc::KeptIn& place, const Capture* capture);
    void show(const Cell& cell, int batch);
    /// Of a cell that is not stored yet: a sweep of it alone.
    void replay(const replay::CellRequest& cell, int batch);
    /// A cell that the session need not have; nothing of it is stored.
    void showReplayed(const replay::CellRequest& cell, int batch);
    void showBatch(int batch);
    /// A difference is replayed when asked for; `other` is what FilmMode::againstCell holds the cell against.
    void setMode(FilmMode mode, const replay::CellRequest& other = {});
    /// Of whatever cell is shown: replayed with this fault, or without one. Another capture has none.
    void setPlant(const std::optional<replay::PlantedFault>& plant);
    const std::optional<replay::PlantedFault>& plant() const { return m_subject.plant; }
    /// No cell; `why` is said in place of a film.
    void clear(const QString& why = {});
    /// More is known of this cell now; no new film for that.
    void update(const Cell& cell);
    /// A sweep has made this cell: if it was waited for, its film follows.
    void offer(const Cell& cell);
    /// Each shows what the other showed. Both have the same place.
    void exchange(CellFilm& other);

    /// Answered by `detailReady` or `detailMissing`, unless something else is asked for before; `op` as in FilmFrame.
    void requestDetail(int op, const replay::Region& region);
    void dropDetail();

    /// Off: what the session has no pictures of is replayed, and not swept for them.
    void setSweeping(bool sweeping) { m_sweeping = sweeping; }

    /// Something is shown or on its way.
    bool showing() const { return m_subject.request || m_subject.cell; }
    const std::optional<Cell>& cell() const { return m_subject.cell; }
    int batch() const { return m_subject.batch; }
    FilmMode mode() const { return m_subject.mode; }
    const replay::CellRequest& other() const { return m_subject.other; }
    /// The running sweep is of this cell alone, for its pictures.
    bool replaying() const { return m_replaying; }
    /// A replay was asked for and may take long.
    bool awaitsReplay() const { return m_replayed.busy(); }
    void cancelReplay();
    bool busy() const { return m_stored.busy() || m_replayed.busy(); }

Q_SIGNALS:
    void changed(std::shared_ptr<const nanscope::Film> film);
    void missing(const QString& sentence);
    void plantChanged();
    void progressed(const nanscope::Progress& progress);
    void detailReady(std::shared_ptr<const nanscope::replay::ReplayedFrame> frame);
    void detailMissing(const QString& sentence);

private:
    /// What is shown or on its way.
    struct Subject
    {
        std::optional<replay::CellRequest> request;
        std::optional<Cell> cell; ///< as the session has it
        int batch = 0;
        FilmMode mode = FilmMode::values;
        replay::CellRequest other;
        std::optional<replay::PlantedFault> plant;
    };

    void load();
    void readStored();
    void publish(Film film);
    void explain(const QString& why);
    void resume(bool loading);
    void replayPictures(const replay::CellRequest& cell);
    void requestReplay();
    void onReplayed(const replay::ReplayedFilm& film);
    replay::FilmRequest filmRequest() const;
    QString replayingSentence() const;

    ReplayService& m_service;
    const replay::Catalogue& m_catalogue;
    FrameLoader m_replayed;
    rpc::KeptIn m_place;
    CaptureRef m_capture;
    std::optional<double> m_epsilon; ///< of the capture
    Shape m_outputShape; ///< of the capture, empty where it has no output
    Subject m_subject;
    std::shared_ptr<const Film> m_film; ///< the last one told of
    QString m_why; ///< the last sentence, in place of a film
    bool m_sweeping = true;
    bool m_replaying = false;
    bool m_tried = false; ///< to replay its pictures
    NewestJob m_stored; ///< reads a film from the session
};

} // namespace nanscope
