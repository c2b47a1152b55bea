// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/damage/takentogether.h"

#include <algorithm>
#include <span>

namespace nanscope::diagnose {

namespace {

bool allDamaged(const Scan& scan)
{
    return scan.count > 0 && scan.nonFinite() == scan.count;
}

bool seenAsPublished(const Capture& capture)
{
    return capture.variant && !capture.scene.function.empty();
}

void markGroups(std::vector<TakenTogether>& marks, const Capture& capture, std::size_t size)
{
    for (std::size_t first = 0; first + size <= marks.size(); first += size) {
        const auto in = std::span(capture.input.batches).subspan(first, size);
        if (std::ranges::all_of(std::span(capture.output->batches).subspan(first, size), allDamaged)) {
            const bool bad = !std::ranges::all_of(in, &Scan::finite);
            std::ranges::fill(
                std::span(marks).subspan(first, size), bad ? TakenTogether::withBad : TakenTogether::perhaps);
        }
    }
}

} // namespace

std::vector<TakenTogether> takenTogether(const Capture& capture)
{
    const auto& dims = capture.input.shape;
    const auto outputs = capture.output ? capture.output->batches.size() : 0;
    std::vector<TakenTogether> marks(std::min(capture.input.batches.size(), outputs), TakenTogether::no);
    if (dims.size() < 3 || seenAsPublished(capture)) {
        return marks;
    }
    std::size_t size = 1;
    for (auto dim = dims.size() - 2; dim-- > 0;) {
        size *= static_cast<std::size_t>(dims[dim]);
        if (size > 1) {
            markGroups(marks, capture, size);
        }
    }
    return marks;
}

} // namespace nanscope::diagnose
