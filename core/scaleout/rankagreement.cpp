// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/rankagreement.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/scaleout/meeting.h"

namespace nanscope::scaleout {

namespace {

std::string onOneLine(std::string text)
{
    std::ranges::replace(text, '\n', ' ');
    return text;
}

/// Device, hardware, UUID, problem and hashes, each on a line of its own.
std::string textOf(const replay::DeviceHashes& device)
{
    auto text = fmt::format("{}\n{}\n{}\n{}\n", device.name, device.hardware, device.uuid, onOneLine(device.problem));
    for (const auto& hash : device.hashes) {
        text += hash.hex() + '\n';
    }
    return text;
}

replay::DeviceHashes deviceOf(const std::string& text, int rank)
{
    std::istringstream lines(text);
    replay::DeviceHashes device;
    std::getline(lines, device.name);
    std::getline(lines, device.hardware);
    std::getline(lines, device.uuid);
    std::getline(lines, device.problem);
    for (std::string line; std::getline(lines, line);) {
        device.hashes.push_back(replay::parseReplayHash(line).value_or(replay::ReplayHash {}));
    }
    device.name = fmt::format("rank {}, {}", rank, device.name);
    return device;
}

/// Of rank 0: what each rank gave, in their order, and which gave nothing.
Result<RankAgreement> collected(Meeting& meeting, Meeting::Clock::time_point until, std::vector<int>& came)
{
    RankAgreement result;
    std::vector<replay::DeviceHashes> devices;
    for (int rank = 0; rank < meeting.launch().processes; ++rank) {
        const auto text = TRY(meeting.hear(std::to_string(rank), until));
        if (!text) {
            result.missing.push_back(rank);
            continue;
        }
        devices.push_back(deviceOf(*text, rank));
        if (rank != 0) {
            came.push_back(rank);
        }
    }
    if (meeting.cancel().cancelled()) {
        return failure(ErrorKind::cancelled, "comparing the ranks was cancelled");
    }
    result.agreement = replay::agreementOf(std::move(devices));
    return result;
}

} // namespace

Result<RankAgreement> agreeOverRanks(const replay::DeviceHashes& mine, const Launch& launch, KeyValueStore& store,
    std::chrono::milliseconds patience, const CancelToken& cancel)
{
    Meeting meeting(launch, store, "agree", cancel);
    const auto until = Meeting::Clock::now() + patience;
    TRY(meeting.say(std::to_string(launch.rank), textOf(mine)));
    if (launch.rank != 0) {
        return meeting.hear("end", until).and_then([&](const std::optional<std::string>& ended) {
            return meeting.leave({}).map([&] { return ended ? RankAgreement {} : RankAgreement {{}, {0}}; });
        });
    }
    std::vector<int> came;
    auto result = collected(meeting, until, came);
    TRY(meeting.say("end", "."));
    if (result) {
        // That one of them is gone by now takes nothing from the answer.
        meeting.leave(came);
    }
    return result;
}

} // namespace nanscope::scaleout
