// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/frameloader.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "core/rpc/answers.h"
#include "core/rpc/requests.h"
#include "ui/shared/text.h"

namespace nanscope {

FrameLoader::FrameLoader(ReplayService* service, QObject* parent)
    : QObject(parent)
    , m_film {ServiceRequest(service)}
    , m_frame {ServiceRequest(service)}
{
    m_pool.setMaxThreadCount(1);
}

FrameLoader::~FrameLoader()
{
    drop();
    m_pool.waitForDone();
}

void FrameLoader::requestFilm(const replay::FilmRequest& film)
{
    ask(m_film, rpc::filmToJson(film),
        Kind<replay::ReplayedFilm> {"film", rpc::unpackFilm, &FrameLoader::filmReady, &FrameLoader::filmFailed},
        [this](const Progress& progress) { Q_EMIT filmProgressed(progress); });
}

void FrameLoader::requestFrame(const replay::FrameRequest& frame)
{
    ask(m_frame, rpc::frameToJson(frame),
        Kind<replay::ReplayedFrame> {"frame", rpc::unpackFrame, &FrameLoader::frameReady, &FrameLoader::frameFailed});
}

void FrameLoader::drop()
{
    m_film.drop();
    m_frame.drop();
}

template <class Picture>
void FrameLoader::ask(Wanted& wanted, const nlohmann::ordered_json& request, const Kind<Picture>& kind,
    std::function<void(const Progress&)> progressed)
{
    wanted.drop();
    const auto show = [this, kind](Result<Picture> picture) {
        if (picture) {
            Q_EMIT(this->*kind.ready)(std::make_shared<const Picture>(std::move(*picture)));
        } else {
            Q_EMIT(this->*kind.failed)(qstr(sentence(picture.error())));
        }
    };
    const auto unpack = [this, &wanted, kind, show](const nlohmann::ordered_json& answer) -> Result<void> {
        background(
            m_pool, this, [answer, kind] { return kind.unpack(answer); },
            [&wanted, job = wanted.unpacking.begin(), show](Result<Picture> picture) {
                if (wanted.unpacking.end(job)) {
                    show(std::move(picture));
                }
            });
        return {};
    };
    const auto fail = [this, kind](const QString& why) { Q_EMIT(this->*kind.failed)(why); };
    wanted.request.ask(request, {kind.key, unpack, fail, std::move(progressed)});
}

} // namespace nanscope
