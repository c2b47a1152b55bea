// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/agreement.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/try.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::replay {

namespace {

std::uint64_t bitsOf(double value)
{
    return std::bit_cast<std::uint64_t>(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value);
}

void addScan(tensorfile::ContentHash& hash, const Scan& scan)
{
    for (const auto count : {scan.nan, scan.posInf, scan.negInf, scan.zero, scan.subnormal, scan.firstNonFinite}) {
        hash.add(static_cast<std::uint64_t>(count));
    }
    hash.add(bitsOf(scan.absmax));
    hash.add(bitsOf(scan.minNonzero));
}

bool agreesWithItself(const DeviceHashes& device)
{
    return std::all_of(device.hashes.begin(), device.hashes.end(),
        [&](const ReplayHash& hash) { return hash == device.hashes.front(); });
}

/// The hash that more than half of the devices have.
std::optional<ReplayHash> majority(const std::vector<const DeviceHashes*>& devices)
{
    for (const auto* candidate : devices) {
        const auto votes = std::count_if(devices.begin(), devices.end(),
            [&](const DeviceHashes* other) { return other->hashes.front() == candidate->hashes.front(); });
        if (2 * static_cast<std::size_t>(votes) > devices.size()) {
            return candidate->hashes.front();
        }
    }
    return std::nullopt;
}

/// What one model's devices say of each other.
struct Vote
{
    std::size_t compared = 0;
    std::vector<std::string> odd;
    std::vector<std::string> undecided; ///< they differ, and no majority says who is right
};

void voteAmong(const std::vector<const DeviceHashes*>& devices, Vote& vote)
{
    if (devices.size() < 2) {
        return;
    }
    vote.compared += devices.size();
    const auto right = majority(devices);
    for (const auto* device : devices) {
        if (!right) {
            vote.undecided.push_back(device->name);
        } else if (device->hashes.front() != *right) {
            vote.odd.push_back(device->name);
        }
    }
}

std::string verbFor(const std::vector<std::string>& names, std::string_view one, std::string_view several)
{
    return fmt::format("{} {}", fmt::join(names, ", "), names.size() == 1 ? one : several);
}

/// What was not compared is no reason to say that nothing was.
std::string compared(const Vote& vote, const std::vector<std::string>& unsteady, std::size_t devices)
{
    std::vector<std::string> parts;
    if (!unsteady.empty()) {
        parts.push_back(verbFor(unsteady, "does", "do") + " not give the same bits every time");
    }
    if (!vote.odd.empty()) {
        parts.push_back(verbFor(vote.odd, "gives", "give") + " other bits than most of the same model");
    }
    if (!vote.undecided.empty()) {
        parts.push_back(fmt::format("{} differ, and no majority says which is right", fmt::join(vote.undecided, ", ")));
    }
    if (!parts.empty()) {
        return fmt::format("{}", fmt::join(parts, "; "));
    }
    if (vote.compared > 0) {
        return fmt::format("{} devices of one model give the same bits", vote.compared);
    }
    return devices == 0 ? "there is no device to compare"
        : devices == 1  ? "there is one device only, and no other to hold it against"
                        : "no two devices are of one model, and others may round differently";
}

std::string sentenceOf(
    const Vote& vote, const std::vector<std::string>& unsteady, const std::vector<DeviceHashes>& devices)
{
    const auto answered =
        std::ranges::count_if(devices, [](const DeviceHashes& device) { return !device.hashes.empty(); });
    auto text = compared(vote, unsteady, static_cast<std::size_t>(answered));
    for (const auto& device : devices) {
        if (device.hashes.empty()) {
            text += fmt::format("; {} gave nothing", device.name);
        }
    }
    return text;
}

/// Until one fails.
Result<void> addHashes(DeviceHashes& into, Device& device, const Variant& variant, const MatrixShape& shape,
    ValueView input, const ReplayOptions& options, int repeats, const CancelToken& cancel)
{
    for (int i = 0; i < repeats; ++i) {
        const auto replayed = TRY(replay(variant, shape, input, device, options, cancel));
        into.hashes.push_back(hashOf(replayed));
    }
    return {};
}

Result<DeviceHashes> replaysOn(const std::string& name, const AgreementRequest& request,
    const tensorfile::CaptureFile& capture, ValueView input, const DeviceFactory& factory, const CancelToken& cancel)
{
    const auto variant = TRY(request.catalogue.find(request.variant));
    ReplayOptions options;
    options.precision = request.precision.value_or(variant->precision);
    options.rounding.lowering = variant->lowering;
    options.epsilon = capture.capture.epsilon;
    options.keepOutput = true;
    options.mostAtOnce = 1;
    DeviceHashes result {name, {}, {}};
    const auto done = factory(name).and_then([&](const std::unique_ptr<Device>& device) {
        result.hardware = device->environment().hardware;
        return addHashes(result, *device, *variant, capture.input.matrices(), input, options, request.repeats, cancel);
    });
    if (!done && done.error().kind == ErrorKind::cancelled) {
        return tl::make_unexpected(done.error());
    }
    if (!done) {
        result.problem = done.error().what;
    }
    return result;
}

} // namespace

std::string ReplayHash::hex() const
{
    return fmt::format("{:016x}{:016x}", words[0], words[1]);
}

std::optional<ReplayHash> parseReplayHash(std::string_view hex)
{
    constexpr std::size_t half = 16;
    ReplayHash hash;
    bool good = hex.size() == 2 * half;
    for (std::size_t i = 0; good && i < hash.words.size(); ++i) {
        const auto* const first = hex.data() + i * half;
        good = std::from_chars(first, first + half, hash.words.at(i), half).ptr == first + half;
    }
    return good ? std::optional(hash) : std::nullopt;
}

ReplayHash hashOf(const Replay& replay)
{
    tensorfile::ContentHash hash;
    for (const auto& op : replay.ops) {
        for (const auto& scan : op.batches) {
            addScan(hash, scan);
        }
    }
    for (const auto& output : replay.outputs) {
        for (const double value : output) {
            hash.add(bitsOf(value));
        }
    }
    return parseReplayHash(hash.hex()).value_or(ReplayHash {});
}

Agreement agreementOf(std::vector<DeviceHashes> devices)
{
    std::map<std::string, std::vector<const DeviceHashes*>> models;
    std::vector<std::string> unsteady;
    for (const auto& device : devices) {
        if (device.hashes.empty() || agreesWithItself(device)) {
            models[device.hardware].push_back(&device);
        } else {
            unsteady.push_back(device.name);
        }
    }
    Vote vote;
    for (auto& [hardware, members] : models) {
        std::erase_if(members, [](const DeviceHashes* device) { return device->hashes.empty(); });
        voteAmong(members, vote);
    }
    Agreement result;
    result.text = sentenceOf(vote, unsteady, devices);
    const bool differ = !unsteady.empty() || !vote.odd.empty() || !vote.undecided.empty();
    if (differ || vote.compared > 0) {
        result.agree = !differ;
    }
    result.odd = std::move(unsteady);
    result.odd.insert(result.odd.end(), vote.odd.begin(), vote.odd.end());
    result.devices = std::move(devices);
    return result;
}

Result<DeviceHashes> replaysOn(
    const std::string& device, const AgreementRequest& request, const DeviceFactory& factory, const CancelToken& cancel)
{
    const auto capture = TRY(tensorfile::openCapture(request.capture));
    const auto input = TRY(capture.input.values(0, capture.input.matrices().batch));
    return replaysOn(device, request, capture, input, factory, cancel);
}

Result<Agreement> replayEverywhere(const AgreementRequest& request, std::span<const std::string> devices,
    const DeviceFactory& factory, const CancelToken& cancel)
{
    const auto capture = TRY(tensorfile::openCapture(request.capture));
    const auto input = TRY(capture.input.values(0, capture.input.matrices().batch));
    std::vector<DeviceHashes> all;
    for (const auto& name : devices) {
        all.push_back(TRY(replaysOn(name, request, capture, input, factory, cancel)));
    }
    return agreementOf(std::move(all));
}

} // namespace nanscope::replay
