// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>

#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include "core/base/result.h"

namespace nanscope {

inline std::string firstLine(const std::string& text)
{
    return text.substr(0, text.find('\n'));
}

/// Does the work with the device current and without autograd. Torch reports by exceptions; none leaves this room.
template <class F>
auto guarded(at::Device device, F work) -> decltype(work())
{
    try {
        const c10::InferenceMode inference;
        std::optional<c10::DeviceGuard> current;
        if (device.is_cuda()) {
            current.emplace(device);
        }
        return work();
    } catch (const c10::OutOfMemoryError&) {
        return failure(ErrorKind::refused, fmt::format("{} has not enough memory for this replay", device.str()));
    } catch (const c10::Error& error) {
        return failure(ErrorKind::internal, fmt::format("torch: {}", firstLine(error.what_without_backtrace())));
    } catch (const std::exception& error) {
        return failure(ErrorKind::internal, fmt::format("torch: {}", firstLine(error.what())));
    }
}

} // namespace nanscope
