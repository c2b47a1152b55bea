// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// One replay on every device of a machine: equal devices have to give equal bits, and the odd one out is the suspect.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/replay/engine/replay.h"
#include "core/replay/variants/catalogue.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::replay {

/// 128 bits of what a replay computed.
struct ReplayHash
{
    std::array<std::uint64_t, 2> words {};
    std::string hex() const;
    bool operator==(const ReplayHash&) const = default;
};

/// The hash that hex() wrote; none where the text is not one.
std::optional<ReplayHash> parseReplayHash(std::string_view hex);

/// Of the output's bits and of what the scan of every op counts: the iteration mends small errors, so that an output
/// alone could hide one. All NaN are one; sums, which a GPU may add in any order, are left out.
ReplayHash hashOf(const Replay& replay);

struct DeviceHashes
{
    std::string name; ///< "cuda:0"
    std::string hardware;
    std::vector<ReplayHash> hashes; ///< one per replay
    std::string uuid {}; ///< of the GPU, where it is known
    std::string problem {}; ///< why there are no more hashes, where not all replays that were asked for were made
};

struct Agreement
{
    std::vector<DeviceHashes> devices;
    std::optional<bool> agree; ///< none where nothing could be compared
    std::vector<std::string> odd; ///< devices that a majority of their like, or they themselves, speak against
    std::string text; ///< one sentence
};

/// Only devices of one model are held against each other: others may round differently. Of two that differ none is
/// accused. The text names those that gave nothing.
Agreement agreementOf(std::vector<DeviceHashes> devices);

struct AgreementRequest
{
    CaptureRef capture;
    std::string variant; ///< of the catalogue
    std::optional<Precision> precision; ///< else the variant's own
    int repeats = 3; ///< on each device
    Catalogue catalogue {};
};

/// Replays on one device, one matrix of the batch at a time: how many a device takes at once depends on what else is in
/// its memory, and bits depend on how many. Fails where the capture or the variant is not there, not where the device
/// cannot do it.
Result<DeviceHashes> replaysOn(const std::string& device, const AgreementRequest& request, const DeviceFactory& factory,
    const CancelToken& cancel = {});

/// The same on each device in turn.
Result<Agreement> replayEverywhere(const AgreementRequest& request, std::span<const std::string> devices,
    const DeviceFactory& factory, const CancelToken& cancel = {});

} // namespace nanscope::replay
