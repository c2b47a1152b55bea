// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/controls.h"

#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "core/diagnose/verdict/thresholds.h"

namespace nanscope::diagnose {

namespace {

/// Bit for bit before nearly, and any variant before none.
bool tellsMore(const ControlCall& a, const ControlCall& b)
{
    const auto key = [](const ControlCall& control) {
        const auto& id = control.identified;
        return std::tuple(id.matchesNone, control.exact.empty(), id.fit.value_or(1));
    };
    return key(a) < key(b);
}

} // namespace

Result<const ElementFit*> Controls::fitOf(
    const tensorfile::CaptureFile& file, const Capture& stored, std::int64_t batch)
{
    const Key key(stored.path, batch);
    auto known = m_known.find(key);
    if (known == m_known.end()) {
        const auto element = loadElement(file, batch);
        if (!element) {
            return tl::make_unexpected(element.error());
        }
        auto fit = identifyElement(*element, m_catalogue, stored.epsilon, m_device, m_cancel);
        if (!fit) {
            return tl::make_unexpected(fit.error());
        }
        known = m_known.emplace(key, std::move(*fit)).first;
    }
    return &known->second;
}

Result<std::vector<std::string>> Controls::variantsOf(const Capture& clean)
{
    const auto batch = healthyElement(clean, {});
    const auto file = tensorfile::openCapture(clean);
    if (!file || !batch) {
        return std::vector<std::string>();
    }
    return fitOf(*file, clean, *batch).map([](const ElementFit* fit) { return fit->identification.names; });
}

Result<std::optional<ControlCall>> Controls::identified(
    const tensorfile::CaptureFile& file, const Capture& stored, std::int64_t batch)
{
    const auto known = fitOf(file, stored, batch);
    if (!known) {
        return tl::make_unexpected(known.error());
    }
    const double norm = std::sqrt(stored.input.batches[static_cast<std::size_t>(batch)].sumSquares);
    // A call that fits in places only went wrong itself, and along a few directions alone other schedules fit as well.
    const auto& fit = **known;
    const bool close = !fit.exact.empty() || fit.identification.fit.value_or(1) <= verdict::closeFit;
    const bool good = fit.identification.how == IdentifiedBy::fit && !fit.localDamage && !fit.signalOnly && close;
    const bool stranger = fit.compared && fit.identification.matchesNone;
    return good || stranger ? std::optional(ControlCall {{}, false, norm, fit.identification, fit.exact})
                            : std::nullopt;
}

Result<std::optional<ControlCall>> Controls::inSameCall(
    const tensorfile::CaptureFile& file, const Capture& stored, std::int64_t damaged)
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

Result<std::optional<ControlCall>> Controls::inSameRun(const Capture& stored)
{
    // The same bits that ended otherwise: more than one function may have run, and no call tells which ran here.
    if (!m_captures.cleanWithInputOf(stored).empty()) {
        return std::nullopt;
    }
    constexpr std::size_t most = 3;
    std::optional<ControlCall> best;
    for (const auto* other : m_captures.controlsOf(stored, most)) {
        const auto file = tensorfile::openCapture(*other);
        if (!file) {
            continue;
        }
        auto control = identified(*file, *other, *healthyElement(*other, {}));
        if (!control) {
            return control;
        }
        if (*control) {
            (*control)->source = other->file;
            best = best && !tellsMore(**control, *best) ? best : std::move(*control);
        }
    }
    return best;
}

} // namespace nanscope::diagnose
