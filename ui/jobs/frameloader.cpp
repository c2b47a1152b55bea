// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/frameloader.h"

#include <nlohmann/json.hpp>

#include "core/rpc/answers.h"
#include "core/rpc/requests.h"
#include "ui/jobs/background.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

std::string textOf(const Json& json)
{
    return json.is_string() ? json.get<std::string>() : std::string();
}

Progress progressOf(const Json& json)
{
    Progress progress;
    progress.job = textOf(rpc::member(json, "job"));
    progress.phase = textOf(rpc::member(json, "phase"));
    progress.unit = textOf(rpc::member(json, "unit"));
    progress.message = textOf(rpc::member(json, "message"));
    rpc::readInteger(rpc::member(json, "done"), progress.done);
    rpc::readInteger(rpc::member(json, "total"), progress.total);
    return progress;
}

} // namespace

struct FrameLoader::Film
{
    static constexpr const char* key = "film";
    static constexpr auto wanted = &FrameLoader::m_film;
    static constexpr auto ready = &FrameLoader::filmReady;
    static constexpr auto progressed = &FrameLoader::filmProgressed;
    static constexpr auto failed = &FrameLoader::filmFailed;
    static constexpr auto unpack = &rpc::unpackFilm;
    using Picture = replay::ReplayedFilm;
};

struct FrameLoader::Frame
{
    static constexpr const char* key = "frame";
    static constexpr auto wanted = &FrameLoader::m_frame;
    static constexpr auto ready = &FrameLoader::frameReady;
    static constexpr auto progressed = &FrameLoader::frameProgressed;
    static constexpr auto failed = &FrameLoader::frameFailed;
    static constexpr auto unpack = &rpc::unpackFrame;
    using Picture = replay::ReplayedFrame;
};

FrameLoader::FrameLoader(ReplayService* service, QObject* parent)
    : QObject(parent)
    , m_service(service)
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
    request<Film>(rpc::filmToJson(film));
}

void FrameLoader::requestFrame(const replay::FrameRequest& frame)
{
    request<Frame>(rpc::frameToJson(frame));
}

void FrameLoader::drop()
{
    stop(m_film);
    stop(m_frame);
}

void FrameLoader::dropFrame()
{
    stop(m_frame);
}

void FrameLoader::stop(Wanted& wanted)
{
    if (wanted.id != 0 && m_service) {
        m_service->stop(wanted.id);
    }
    wanted = {};
}

template <class Kind>
void FrameLoader::request(const Json& request)
{
    Wanted& wanted = this->*Kind::wanted;
    stop(wanted);
    if (!m_service) {
        return;
    }
    wanted.id = m_service->ask(request, [self = QPointer<FrameLoader>(this)](int id, const Json& answer) {
        if (self) {
            self->template take<Kind>(id, answer);
        } else {
            rpc::discardAnswer(answer);
        }
    });
}

template <class Kind>
void FrameLoader::take(int id, const Json& answer)
{
    Wanted& wanted = this->*Kind::wanted;
    if (id != wanted.id) {
        discard(answer);
    } else if (wanted.arrived) {
        // Whatever comes now cannot take it back.
    } else if (answer.contains("progress")) {
        Q_EMIT(this->*Kind::progressed)(progressOf(answer["progress"]));
    } else if (answer.contains(Kind::key)) {
        wanted.arrived = true;
        unpack<Kind>(id, answer);
    } else if (answer.contains("error")) {
        fail<Kind>(qstr(textOf(answer["error"])));
    } else {
        fail<Kind>(tr("The replay process ended the request without an answer"));
    }
}

template <class Kind>
void FrameLoader::unpack(int id, const Json& answer)
{
    background(
        m_pool, this, [answer] { return Kind::unpack(answer); },
        [this, id](Result<typename Kind::Picture> picture) {
            if (id != (this->*Kind::wanted).id) {
                return;
            }
            if (!picture) {
                fail<Kind>(qstr(sentence(picture.error())));
                return;
            }
            this->*Kind::wanted = {};
            Q_EMIT(this->*Kind::ready)(std::make_shared<const typename Kind::Picture>(std::move(*picture)));
        });
}

template <class Kind>
void FrameLoader::fail(const QString& sentence)
{
    this->*Kind::wanted = {};
    Q_EMIT(this->*Kind::failed)(sentence);
}

/// Freeing a large block takes its time, too.
void FrameLoader::discard(const Json& answer)
{
    if (answer.contains(Film::key) || answer.contains(Frame::key)) {
        m_pool.start([answer] { rpc::discardAnswer(answer); });
    }
}

} // namespace nanscope
