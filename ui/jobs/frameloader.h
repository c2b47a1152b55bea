// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>

#include <QObject>
#include <QThreadPool>

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
    void dropFrame() { m_frame.drop(); }
    bool busy() const { return m_film.busy() || m_frame.busy(); }

Q_SIGNALS:
    void filmReady(std::shared_ptr<const nanscope::replay::ReplayedFilm> film);
    void frameReady(std::shared_ptr<const nanscope::replay::ReplayedFrame> frame);
    void filmProgressed(const nanscope::Progress& progress);
    void filmFailed(const QString& sentence);
    void frameFailed(const QString& sentence);

private:
    /// A request that is wanted, until its answer is unpacked.
    struct Wanted
    {
        ServiceRequest request;
        JobTracker unpacking {};

        bool busy() const { return request.busy() || unpacking.busy(); }
        void drop()
        {
            request.drop();
            unpacking.drop();
        }
    };
    template <class Picture>
    struct Kind
    {
        const char* key;
        Result<Picture> (*unpack)(const nlohmann::ordered_json& answer);
        void (FrameLoader::*ready)(std::shared_ptr<const Picture> picture);
        void (FrameLoader::*failed)(const QString& sentence);
    };
    template <class Picture>
    void ask(Wanted& wanted, const nlohmann::ordered_json& request, const Kind<Picture>& kind,
        std::function<void(const Progress&)> progressed = {});

    Wanted m_film;
    Wanted m_frame;
    QThreadPool m_pool;
};

} // namespace nanscope
