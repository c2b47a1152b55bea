// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/controls.h"

#include <fmt/format.h>

namespace nanscope {

std::optional<std::int64_t> healthyElement(const Capture& capture, std::optional<std::int64_t> except)
{
    if (!capture.output) {
        return std::nullopt;
    }
    const auto count = std::min(capture.input.batches.size(), capture.output->batches.size());
    for (std::size_t i = 0; i < count; ++i) {
        const auto& in = capture.input.batches[i];
        const auto& out = capture.output->batches[i];
        const bool healthy = in.finite() && out.finite() && !in.allZero() && !out.allZero();
        if (healthy && except != static_cast<std::int64_t>(i)) {
            return static_cast<std::int64_t>(i);
        }
    }
    return std::nullopt;
}

bool isControlOf(const Capture& healthy, const Capture& damaged)
{
    if (!healthy.output || !damaged.output || !healthy.part.empty() || healthy.path == damaged.path) {
        return false;
    }
    const bool alike = healthy.input.shape == damaged.input.shape && healthy.input.dtype == damaged.input.dtype
        && healthy.output->dtype == damaged.output->dtype && healthy.epsilon == damaged.epsilon;
    const bool sameRank = healthy.rank == damaged.rank;
    const bool sameProcess = healthy.pid && healthy.pid == damaged.pid;
    return alike && (sameRank ? sameProcess : healthy.rank && damaged.rank) && healthy.output->total().finite()
        && healthyElement(healthy, {});
}

Result<std::optional<Control>> Controls::identified(const CaptureFile& file, const Capture& stored, std::int64_t batch)
{
    const Key key(stored.path, batch);
    auto known = m_known.find(key);
    if (known == m_known.end()) {
        const auto element = loadElement(file, batch);
        if (!element) {
            return tl::make_unexpected(element.error());
        }
        auto fit = identifyElement(*element, stored.epsilon, m_device, m_cancel);
        if (!fit) {
            return tl::make_unexpected(fit.error());
        }
        known = m_known.emplace(key, std::move(*fit)).first;
    }
    // A call that fits in places only went wrong itself, and along a few directions alone other schedules fit as well.
    const auto& fit = known->second;
    const bool good = fit.identification.how == IdentifiedBy::fit && !fit.localDamage && !fit.signalOnly;
    return good ? std::optional(Control {fit, {}, false}) : std::nullopt;
}

Result<std::optional<Control>> Controls::inSameCall(
    const CaptureFile& file, const Capture& stored, std::int64_t damaged)
{
    const auto batch = healthyElement(stored, damaged);
    if (!batch) {
        return std::nullopt;
    }
    auto control = identified(file, stored, *batch);
    if (control && *control) {
        (*control)->source = fmt::format("element {} of this call", *batch);
        (*control)->sameCall = true;
    }
    return control;
}

Result<std::optional<Control>> Controls::inSameRun(const Capture& stored)
{
    constexpr int most = 3;
    int tried = 0;
    for (const auto& other : m_run.captures) {
        if (tried == most || !isControlOf(other, stored)) {
            continue;
        }
        const auto file = openCapture(other.path);
        if (!file) {
            continue;
        }
        ++tried;
        auto control = identified(*file, other, *healthyElement(other, {}));
        if (!control) {
            return control;
        }
        if (*control) {
            (*control)->source = other.file;
            return control;
        }
    }
    return std::nullopt;
}

} // namespace nanscope
