// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/diagnose/context/settings.h"

namespace nanscope::diagnose::cards {

namespace {

struct Entry
{
    std::string_view words; ///< all of them stand in the name, in this order
    Capability capability;
};

// developer.nvidia.com/cuda-gpus and /cuda-legacy-gpus, read 2026-11. The first entry that fits counts.
constexpr std::array entries {
    Entry {"Quadro RTX", {7, 5}},
    Entry {"RTX Ada", {8, 9}},
    Entry {"RTX PRO Blackwell", {12, 0}},
    Entry {"GB10", {12, 1}},
    Entry {"GeForce RTX 50", {12, 0}},
    Entry {"GB300", {10, 3}},
    Entry {"B300", {10, 3}},
    Entry {"GB200", {10, 0}},
    Entry {"B200", {10, 0}},
    Entry {"GH200", {9, 0}},
    Entry {"H200", {9, 0}},
    Entry {"H100", {9, 0}},
    Entry {"L4", {8, 9}},
    Entry {"L40", {8, 9}},
    Entry {"L40S", {8, 9}},
    Entry {"GeForce RTX 40", {8, 9}},
    Entry {"A40", {8, 6}},
    Entry {"A10", {8, 6}},
    Entry {"A16", {8, 6}},
    Entry {"A2", {8, 6}},
    Entry {"RTX A6000", {8, 6}},
    Entry {"RTX A5000", {8, 6}},
    Entry {"RTX A4000", {8, 6}},
    Entry {"RTX A3000", {8, 6}},
    Entry {"RTX A2000", {8, 6}},
    Entry {"GeForce RTX 30", {8, 6}},
    Entry {"A100", {8, 0}},
    Entry {"A30", {8, 0}},
    Entry {"T4", {7, 5}},
    Entry {"TITAN RTX", {7, 5}},
    Entry {"GeForce RTX 20", {7, 5}},
    Entry {"GeForce GTX 16", {7, 5}},
    Entry {"V100", {7, 0}},
    Entry {"GV100", {7, 0}},
    Entry {"TITAN V", {7, 0}},
    Entry {"P40", {6, 1}},
    Entry {"P4", {6, 1}},
    Entry {"GeForce GTX 10", {6, 1}},
    Entry {"P100", {6, 0}},
};

std::vector<std::string_view> nameWords(std::string_view text)
{
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of(" -_/"), text.size());
        if (end > 0) {
            words.push_back(text.substr(0, end));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

/// "50" stands for the series 5050 to 5090, with or without a suffix, every other word for itself.
bool fits(std::string_view word, std::string_view wanted)
{
    const bool series = wanted.size() == 2 && wanted.find_first_not_of("0123456789") == std::string_view::npos;
    return series ? word.size() >= 4 && word.starts_with(wanted) && word.find_first_not_of("0123456789") >= 4
                  : word == wanted;
}

bool holds(const std::vector<std::string_view>& name, const Entry& entry)
{
    auto from = name.begin();
    for (const auto wanted : nameWords(entry.words)) {
        from = std::find_if(from, name.end(), [&](std::string_view word) { return fits(word, wanted); });
        if (from == name.end()) {
            return false;
        }
        ++from;
    }
    return true;
}

/// "8.0", "(8, 0)" or "sm_80".
std::optional<Capability> parseCapability(const std::string& text)
{
    static const RE2 pair(R"(\D*(\d{1,2})\s*[.,]\s*(\d)\D*)", RE2::Latin1);
    static const RE2 architecture(R"(\D*sm_?(\d{1,2})(\d)\D*)", RE2::Latin1);
    Capability capability;
    const bool read = RE2::FullMatch(text, pair, &capability.major, &capability.minor)
        || RE2::FullMatch(text, architecture, &capability.major, &capability.minor);
    return read ? std::optional(capability) : std::nullopt;
}

bool isGpu(const Setting& setting, std::string_view part)
{
    const auto name = lowered(setting.name);
    return name == fmt::format("gpu.{}", part) || name.ends_with(fmt::format(".gpu.{}", part));
}

bool isName(const Setting& setting)
{
    const auto key = keyOf(setting);
    return isGpu(setting, "name") || key == "gpu_name" || key == "gpu_type";
}

bool isCapability(const Setting& setting)
{
    const auto key = keyOf(setting);
    return isGpu(setting, "capability") || key == "gpu_capability" || key == "compute_capability";
}

} // namespace

std::optional<Capability> capabilityOf(std::string_view gpuName)
{
    const auto name = nameWords(gpuName);
    const auto* found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return holds(name, e); });
    return found == entries.end() ? std::nullopt : std::optional(found->capability);
}

namespace {

/// In the answer of `nanscope env` a card goes by its place on the bus: "gpu.0000:41:00.0".
bool isOnBus(const Setting& setting)
{
    constexpr std::string_view group = "gpu.";
    return setting.name.starts_with(group) && std::count(setting.name.begin(), setting.name.end(), ':') == 2;
}

std::optional<Capability> capabilityIn(const Setting& setting)
{
    if (isCapability(setting)) {
        return parseCapability(setting.value);
    }
    // Behind the name stands the card's own number.
    if (isOnBus(setting)) {
        return capabilityOf(setting.value.substr(0, setting.value.find(',')));
    }
    return isName(setting) || keyOf(setting) == "gpu" ? capabilityOf(setting.value) : std::nullopt;
}

} // namespace

std::vector<Capability> gpusOf(const RunData& run)
{
    std::vector<Capability> all;
    for (const auto& setting : run.settings) {
        const auto capability = capabilityIn(setting);
        if (capability && std::find(all.begin(), all.end(), *capability) == all.end()) {
            all.push_back(*capability);
        }
    }
    return all;
}

std::optional<Gpu> leastGpu(const RunData& run)
{
    std::optional<Gpu> least;
    for (const auto& setting : run.settings) {
        const auto capability = capabilityIn(setting);
        if (capability && (!least || *capability < least->capability)) {
            least = Gpu {*capability, &setting};
        }
    }
    return least;
}

bool namesGpu(const RunData& run)
{
    return std::any_of(run.settings.begin(), run.settings.end(), isName);
}

std::string textOf(Capability capability)
{
    return fmt::format("{}.{}", capability.major, capability.minor);
}

} // namespace nanscope::diagnose::cards
