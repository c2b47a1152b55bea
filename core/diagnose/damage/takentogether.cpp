// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/damage/takentogether.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "core/tensorfile/scan/scantensor.h"

namespace nanscope::diagnose {

namespace {

bool allDamaged(const Scan& scan)
{
    return scan.count > 0 && scan.nonFinite() == scan.count;
}

/// Published functions take matrices one by one.
bool mayTakeTogether(const Capture& capture)
{
    const bool seenAsPublished = capture.variant && !capture.scene.function.empty();
    return capture.input.shape.size() >= 3 && !seenAsPublished;
}

bool damaged(const Scan& scan)
{
    return !scan.finite();
}

/// An infinity of a late step may spoil a part of a matrix alone, so that one without a finite value tells enough where
/// none beside it came out whole.
void markGroups(std::vector<TakenTogether>& marks, const Capture& capture, std::size_t size)
{
    for (std::size_t first = 0; first + size <= marks.size(); first += size) {
        const auto in = std::span(capture.input.batches).subspan(first, size);
        const auto out = std::span(capture.output->batches).subspan(first, size);
        const auto group = std::span(marks).subspan(first, size);
        // Zeros that are flattened stay zeros.
        if (std::ranges::all_of(in, &Scan::allZero) || !std::ranges::all_of(out, damaged)) {
            continue;
        }
        if (std::ranges::all_of(out, allDamaged) && !std::ranges::all_of(in, &Scan::finite)) {
            std::ranges::fill(group, TakenTogether::withBad);
            continue;
        }
        for (std::size_t i = 0; i < size; ++i) {
            group[i] = allDamaged(out[i]) && group[i] == TakenTogether::no ? TakenTogether::perhaps : group[i];
        }
    }
}

} // namespace

std::vector<TakenTogether> takenTogether(const Capture& capture)
{
    const auto& dims = capture.input.shape;
    const auto outputs = capture.output ? capture.output->batches.size() : 0;
    std::vector<TakenTogether> marks(std::min(capture.input.batches.size(), outputs), TakenTogether::no);
    if (!mayTakeTogether(capture)) {
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

bool mayVanishAmongOthers(const Capture& capture, std::int64_t batch, Precision precision)
{
    const auto& in = capture.input.batches;
    const double squares =
        std::accumulate(in.begin(), in.end(), 0.0, [](double sum, const Scan& scan) { return sum + scan.sumSquares; });
    return mayTakeTogether(capture)
        && in[static_cast<std::size_t>(batch)].absmax < tensorfile::smallestNormal(precision) * std::sqrt(squares);
}

} // namespace nanscope::diagnose
