// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/rankagreement.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace nanscope::scaleout {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto longestGoodbye = 5s;

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

replay::ReplayHash hashOf(const std::string& hex)
{
    replay::ReplayHash hash;
    if (hex.size() == 32) {
        std::from_chars(hex.data(), hex.data() + 16, hash.words[0], 16);
        std::from_chars(hex.data() + 16, hex.data() + 32, hash.words[1], 16);
    }
    return hash;
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
        device.hashes.push_back(hashOf(line));
    }
    device.name = fmt::format("rank {}, {}", rank, device.name);
    return device;
}

class Exchange
{
public:
    Exchange(const Launch& launch, KeyValueStore& store, Clock::time_point until, const CancelToken& cancel)
        : m_launch(launch)
        , m_store(store)
        , m_until(until)
        , m_cancel(cancel)
    { }

    Result<RankAgreement> run(const replay::DeviceHashes& mine);

private:
    std::string key(const std::string& what) const { return fmt::format("nanscope/agree/{}/{}", m_launch.start, what); }
    bool onTime() const { return Clock::now() < m_until && !m_cancel.cancelled(); }
    Result<bool> isThere(const std::string& what);
    Result<RankAgreement> waitForEnd();
    void waitForOthers(const RankAgreement& result);
    Result<RankAgreement> collected();

    const Launch& m_launch;
    KeyValueStore& m_store;
    Clock::time_point m_until;
    const CancelToken& m_cancel;
};

Result<RankAgreement> Exchange::run(const replay::DeviceHashes& mine)
{
    if (const auto said = m_store.append(key(std::to_string(m_launch.rank)), textOf(mine)); !said) {
        return tl::make_unexpected(said.error());
    }
    if (m_launch.rank != 0) {
        return waitForEnd();
    }
    auto result = collected();
    if (const auto ended = m_store.append(key("end"), "."); !ended) {
        return tl::make_unexpected(ended.error());
    }
    if (m_launch.keepsStore && result) {
        waitForOthers(*result);
    }
    return result;
}

Result<RankAgreement> Exchange::waitForEnd()
{
    return isThere("end").and_then([this](bool ended) {
        return m_store.append(key(fmt::format("left/{}", m_launch.rank)), ".").map([ended] {
            return ended ? RankAgreement {} : RankAgreement {{}, {0}};
        });
    });
}

/// The store goes with this process, and those that answered are about to look.
void Exchange::waitForOthers(const RankAgreement& result)
{
    m_until = Clock::now() + longestGoodbye;
    for (int rank = 1; rank < m_launch.processes; ++rank) {
        if (std::find(result.missing.begin(), result.missing.end(), rank) == result.missing.end()) {
            isThere(fmt::format("left/{}", rank));
        }
    }
}

Result<bool> Exchange::isThere(const std::string& what)
{
    for (;;) {
        auto there = m_store.has(key(what));
        if (!there || *there || !onTime()) {
            return there;
        }
        std::this_thread::sleep_for(50ms);
    }
}

Result<RankAgreement> Exchange::collected()
{
    RankAgreement result;
    std::vector<replay::DeviceHashes> devices;
    for (int rank = 0; rank < m_launch.processes; ++rank) {
        const auto there = isThere(std::to_string(rank));
        if (!there) {
            return tl::make_unexpected(there.error());
        }
        if (!*there) {
            result.missing.push_back(rank);
            continue;
        }
        const auto text = m_store.get({key(std::to_string(rank))});
        if (!text) {
            return tl::make_unexpected(text.error());
        }
        devices.push_back(deviceOf(text->front(), rank));
    }
    if (m_cancel.cancelled()) {
        return failure(ErrorKind::cancelled, "comparing the ranks was cancelled");
    }
    result.agreement = replay::agreementOf(std::move(devices));
    return result;
}

} // namespace

Result<RankAgreement> agreeOverRanks(const replay::DeviceHashes& mine, const Launch& launch, KeyValueStore& store,
    std::chrono::milliseconds patience, const CancelToken& cancel)
{
    return Exchange(launch, store, Clock::now() + patience, cancel).run(mine);
}

} // namespace nanscope::scaleout
