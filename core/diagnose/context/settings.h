// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What configurations say of a run, under the many names they give it.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.h"

namespace nanscope::diagnose::cards {

/// In small letters, with underscores for dashes.
std::string lowered(std::string_view text);

/// The last part of a dotted name, in small letters and with underscores: "max_norm" of "optim.max-norm", "fp16" of
/// "fp16.enabled".
std::string keyOf(const Setting& setting);

using Names = std::initializer_list<std::string_view>;

/// Any of a configuration, beside what readers know of their logs.
bool hasSettings(const RunData& run);

/// `what` is missing: or there is no configuration at all.
std::string missingSetting(const RunData& run, std::string_view what);

/// All settings whose key is one of the names.
std::vector<const Setting*> settingsNamed(const RunData& run, Names names);
/// The first of them that has a value; null where there is none.
const Setting* settingNamed(const RunData& run, Names names);

std::optional<bool> truthOf(const Setting& setting);
std::optional<double> numberOf(const Setting& setting);

/// The number formats a run computes in, each with the setting that says so; null where none does.
struct Formats
{
    const Setting* fp32 = nullptr;
    const Setting* bf16 = nullptr;
    const Setting* fp16 = nullptr;
    const Setting* fp8 = nullptr;

    bool known() const { return fp32 != nullptr || bf16 != nullptr || fp16 != nullptr || fp8 != nullptr; }
};

Formats formatsOf(const RunData& run);

/// NVIDIA's compute capability.
struct Capability
{
    int major = 0;
    int minor = 0;

    bool operator==(const Capability&) const = default;
    bool operator<(const Capability& other) const
    {
        return major != other.major ? major < other.major : minor < other.minor;
    }
};

struct Gpu
{
    Capability capability;
    const Setting* setting = nullptr;
};

/// By name, from NVIDIA's lists; none for a card that is not in them.
std::optional<Capability> capabilityOf(std::string_view gpuName);
/// The least capable GPU that the settings name.
std::optional<Gpu> leastGpu(const RunData& run);
/// Every capability that the settings name or know a card of.
std::vector<Capability> gpusOf(const RunData& run);
/// True if a GPU is named, whether or not it is known.
bool namesGpu(const RunData& run);

std::string textOf(Capability capability);

} // namespace nanscope::diagnose::cards
