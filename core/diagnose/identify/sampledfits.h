// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/base/job.h"
#include "core/diagnose/identify/element.h"
#include "core/diagnose/identify/fits.h"
#include "core/replay/analysis/sampledsystem.h"

namespace nanscope::diagnose {

/// How an output fits what exact arithmetic gives, in a part of its tiles: in those where up to eight rows of tiles and
/// sixteen columns of them cross, spread over what is finite. One decomposition, of those places alone, serves every
/// schedule.
class SampledFits
{
public:
    /// `signal` as for fitsOf(). Nothing where SampledSystem gives nothing.
    static std::optional<SampledFits> of(
        const Element& element, const std::vector<replay::SingularDirection>& signal, const CancelToken& cancel);

    /// The singular values of the input, in no order.
    const std::vector<double>& values() const { return m_system.values(); }

    /// Of U diag(gain_i sigma_i) V^T. The directions of `signal` are held against each other in the sampled columns,
    /// over all rows that are finite there.
    Fits under(std::span<const double> gains) const;

    /// The same of a whole output, row-major like the element.
    Fits of(ValueView whole) const;

private:
    SampledFits(const Element& element, replay::SampledPlaces places, replay::SampledSystem system);

    /// `lines` as of SampledSystem::amplified()
    Fits fitsOfLines(std::vector<double> lines) const;
    double signalFit(std::span<const double> sums) const;
    std::vector<double> linesOf(ValueView whole) const;

    MatrixShape m_shape;
    replay::SampledPlaces m_places;
    replay::SampledSystem m_system;
    Element m_part; ///< the output in the sampled tiles alone
    std::vector<double> m_sums; ///< of the output, in the sampled columns
};

/// Where an element is looked at: whole tiles of 16 x 16 whose output is finite as far as there are such, and whose
/// input is not zero. The directions are the sums, over the rows that are finite in every sampled column.
replay::SampledPlaces samplePlaces(const Element& element, const std::vector<replay::SingularDirection>& signal);

/// What a sample says of one output, given what the whole and the same sample say of another that is near it: what is
/// off elsewhere is off from any of them.
Fits withTheRest(const Fits& sampled, const Fits& nearWhole, const Fits& nearSampled);

} // namespace nanscope::diagnose
