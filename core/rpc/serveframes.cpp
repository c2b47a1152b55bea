// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/serveframes.h"

#include <utility>

#include "core/rpc/serve.h"

namespace nanscope::rpc {

PictureService::PictureService(const replay::DeviceFactory& devices)
    : m_devices(devices)
    , m_frames(devices)
{ }

Result<nlohmann::ordered_json> PictureService::film(const replay::FilmRequest& request, const JobContext& job)
{
    // Two workspaces of its own are enough to ask for, without those of kept replays.
    forget();
    return replay::replayFilm(request, m_devices, job).and_then(packFilm).map([this](PackedAnswer answer) {
        return keep(std::move(answer));
    });
}

Result<nlohmann::ordered_json> PictureService::frame(const replay::FrameRequest& request, const JobContext& job)
{
    return m_frames.frame(request, job).and_then(packFrame).map([this](PackedAnswer answer) {
        return keep(std::move(answer));
    });
}

bool PictureService::tidy()
{
    std::erase_if(m_blocks, [](const platform::SharedBlock& block) { return block.taken(); });
    return !m_blocks.empty();
}

nlohmann::ordered_json PictureService::keep(PackedAnswer answer)
{
    tidy();
    if (m_blocks.size() == maxWaitingBlocks) {
        m_blocks.pop_front();
    }
    m_blocks.push_back(std::move(answer.block));
    return std::move(answer.json);
}

} // namespace nanscope::rpc
