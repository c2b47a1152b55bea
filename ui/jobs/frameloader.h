// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QObject>
#include <QPointer>
#include <QThreadPool>

#include <nlohmann/json_fwd.hpp>

#include "core/replay/engine/frame.h"
#include "ui/jobs/replayservice.h"

namespace nanscope {

/// Films and frames from the replay process: what no session stores. Of each kind only the newest request is answered,
/// the one before it is stopped; two cells side by side take two loaders of one service. What arrives is unpacked on a
/// thread of its own.
class FrameLoader : public QObject
{
    Q_OBJECT

public:
    explicit FrameLoader(ReplayService* service, QObject* parent = nullptr);
    ~FrameLoader() override;

    void requestFilm(const replay::FilmRequest& request);
    void requestFrame(const replay::FrameRequest& request);
    /// Nothing that was asked for is wanted any more.
    void drop();
    void dropFrame();
    bool busy() const { return m_film.id != 0 || m_frame.id != 0; }

Q_SIGNALS:
    void filmReady(std::shared_ptr<const nanscope::replay::ReplayedFilm> film);
    void frameReady(std::shared_ptr<const nanscope::replay::ReplayedFrame> frame);
    void filmProgressed(const nanscope::Progress& progress);
    void frameProgressed(const nanscope::Progress& progress);
    void filmFailed(const QString& sentence);
    void frameFailed(const QString& sentence);

private:
    /// The request that is wanted.
    struct Wanted
    {
        int id = 0;
        bool arrived = false; ///< is being unpacked
    };

    struct Film;
    struct Frame;
    template <class Kind>
    void request(const nlohmann::ordered_json& request);
    template <class Kind>
    void take(int id, const nlohmann::ordered_json& answer);
    template <class Kind>
    void unpack(int id, const nlohmann::ordered_json& answer);
    template <class Kind>
    void fail(const QString& sentence);
    void discard(const nlohmann::ordered_json& answer);
    void stop(Wanted& wanted);

    QPointer<ReplayService> m_service;
    Wanted m_film;
    Wanted m_frame;
    QThreadPool m_pool;
};

} // namespace nanscope
