// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "core/rpc/frameanswer.h"

namespace nanscope::rpc {

/// The part of the service that answers with pictures. It keeps the replays of the last two films whose frames were
/// asked for (FrameReplay says how large they may be), and the blocks of its answers until they are fetched. One thread
/// at a time.
class PictureService
{
public:
    explicit PictureService(const replay::DeviceFactory& devices);

    /// Answers without their id.
    Result<nlohmann::ordered_json> film(const replay::FilmRequest& request, const JobContext& job);
    Result<nlohmann::ordered_json> frame(const replay::FrameRequest& request, const JobContext& job);

    /// Gives the memory of the kept replays back, for work that needs its own.
    void forget() { m_frames.forget(); }

    /// Lets go of the blocks that were fetched; true while others wait.
    bool tidy();

private:
    nlohmann::ordered_json keep(PackedAnswer answer);

    const replay::DeviceFactory& m_devices;
    replay::FrameReplay m_frames;
    std::deque<platform::SharedBlock> m_blocks;
};

} // namespace nanscope::rpc
