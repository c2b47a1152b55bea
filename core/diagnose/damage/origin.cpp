// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/damage/origin.h"

#include <fmt/format.h>

#include "core/diagnose/damage/provenance.h"

namespace nanscope::diagnose {

namespace {

std::string inSameCall(const Element& element, const Region& region, const tensorfile::CaptureFile& file)
{
    for (std::int64_t batch = 0; batch < file.input.matrices().batch; ++batch) {
        if (batch == element.batch) {
            continue;
        }
        const auto other = loadElement(file, batch);
        auto origin = other ? recursIn(element, region, other->output, fmt::format("the output of element {}", batch))
                            : std::string();
        if (!origin.empty()) {
            return origin;
        }
    }
    return {};
}

std::string inEarlierCalls(
    const Element& element, const Region& region, const std::vector<const Capture*>& before, const CancelToken& cancel)
{
    const auto tries = 2 * before.size();
    for (const auto* earlier : before) {
        const auto file = tensorfile::openCapture(*earlier);
        const auto other = file ? loadElement(*file, element.batch) : tl::make_unexpected(file.error());
        if (!other || cancel.cancelled()) {
            continue;
        }
        for (const auto* side : {&other->output, &other->input}) {
            if (const auto stretch = recursBeyondChance(element, region, *side, tries)) {
                return fmt::format(
                    "{} different values in a row, from [{}, {}] on, stand at the same place in the {} of "
                    "{}, an earlier call of this process: stale data, unless your code keeps values on purpose",
                    stretch->values, stretch->row, stretch->col, side == &other->input ? "input" : "output",
                    earlier->file);
            }
        }
    }
    return {};
}

} // namespace

Recurrence originOf(const Element& element, const Region& region, const tensorfile::CaptureFile& file,
    const std::vector<const Capture*>& before, const CancelToken& cancel)
{
    auto origin = recursInside(element, region);
    if (!origin.empty()) {
        return {std::move(origin), writtenTwice(element, region)};
    }
    origin = inSameCall(element, region, file);
    if (!origin.empty()) {
        return {std::move(origin), true};
    }
    return {inEarlierCalls(element, region, before, cancel), false};
}

} // namespace nanscope::diagnose
