// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Which weights gave a finite loss. A run has millions of them, one like the other: what is kept are ranges of steps
// that lie equally far apart, and the losses stay where they were read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/model.h"

namespace nanscope::diagnose {

/// A loss that is finite and whose gradient norm is, where that is logged.
struct Proof
{
    std::int64_t weights = 0;
    double loss = 0;
    std::int64_t step = 0; ///< as it is printed
    std::int64_t line = 0;
    std::uint32_t source = 0; ///< place in ProcessLife::sources
};

class Proofs
{
public:
    /// In order of weights. `quoted`: no line prints this loss as its own, a later one remembers it.
    void add(const Proof& proof, bool quoted);

    bool empty() const { return m_ranges.empty(); }
    std::int64_t firstWeights() const { return m_ranges.front().first.weights; }
    std::int64_t lastWeights() const;
    /// Printed step minus weights.
    std::int64_t base() const { return m_ranges.front().first.step - m_ranges.front().first.weights; }

    /// The first of these weights or later ones. Inside a range its loss is not known.
    struct Found
    {
        Proof proof;
        bool lossKnown = false;
    };
    std::optional<Found> from(std::int64_t weights) const;

private:
    struct Range
    {
        Proof first;
        std::int64_t count = 1;
        std::int64_t apart = 1; ///< in steps
        std::int64_t linesApart = 0;
        bool closed = false;

        Proof at(std::int64_t index) const;
    };
    std::vector<Range> m_ranges;
};

} // namespace nanscope::diagnose
