// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "core/rpc/frameanswer.h"

namespace nanscope {

/// The part of the service that answers with pictures. It keeps the replays of the last two films whose frames were
/// asked for (FrameReplay says how large they may be), and the blocks of its answers until they are fetched. One thread
/// at a time.
class PictureService
{
public:
    explicit PictureService(const DeviceFactory& devices);

    /// Answers without their id.
    Result<nlohmann::ordered_json> film(const FilmRequest& request, const JobContext& job);
    Result<nlohmann::ordered_json> frame(const FrameRequest& request, const JobContext& job);

    /// Gives the memory of the kept replays back, for work that needs its own.
    void forget() { m_frames.forget(); }

    /// Lets go of the blocks that were fetched; true while others wait.
    bool tidy();

private:
    nlohmann::ordered_json keep(PackedAnswer answer);

    const DeviceFactory& m_devices;
    FrameReplay m_frames;
    std::deque<SharedBlock> m_blocks;
};

} // namespace nanscope
