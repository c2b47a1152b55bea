// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/proofs.h"

#include <algorithm>

namespace nanscope::diagnose {

Proof Proofs::Range::at(std::int64_t index) const
{
    auto proof = first;
    proof.weights += index * apart;
    proof.step += index * apart;
    proof.line += index * linesApart;
    return proof;
}

void Proofs::add(const Proof& proof, bool quoted)
{
    if (!quoted && !m_ranges.empty() && !m_ranges.back().closed) {
        auto& range = m_ranges.back();
        const auto& first = range.first;
        if (range.count == 1 && proof.source == first.source
            && proof.step - proof.weights == first.step - first.weights) {
            range.apart = proof.weights - first.weights;
            range.linesApart = proof.line - first.line;
            range.count = 2;
            return;
        }
        const auto next = range.at(range.count);
        if (range.count > 1 && proof.source == next.source && proof.weights == next.weights && proof.step == next.step
            && proof.line == next.line) {
            ++range.count;
            return;
        }
    }
    m_ranges.push_back({proof, 1, 1, 0, quoted});
}

std::int64_t Proofs::lastWeights() const
{
    const auto& last = m_ranges.back();
    return last.at(last.count - 1).weights;
}

std::optional<Proofs::Found> Proofs::from(std::int64_t weights) const
{
    const auto range = std::ranges::partition_point(
        m_ranges, [weights](const Range& one) { return one.at(one.count - 1).weights < weights; });
    if (range == m_ranges.end()) {
        return std::nullopt;
    }
    const bool inside = weights > range->first.weights;
    const auto index = inside ? (weights - range->first.weights + range->apart - 1) / range->apart : 0;
    return Found {range->at(index), index == 0};
}

} // namespace nanscope::diagnose
