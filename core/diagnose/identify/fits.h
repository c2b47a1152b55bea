// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/base/job.h"
#include "core/diagnose/identify/element.h"
#include "core/replay/analysis/singularsystem.h"
#include "core/replay/engine/spectrum.h"

namespace nanscope::diagnose {

/// Relative Frobenius distances between a captured output and a replayed one, over the positions where the captured
/// one is finite. Infinite where the replay itself is not finite.
struct Fits
{
    double plain = std::numeric_limits<double>::infinity();
    double typical =
        std::numeric_limits<double>::infinity(); ///< of the median tile: blind to damage of fewer than half
    double signal = std::numeric_limits<double>::infinity(); ///< along the given singular directions only
    double exact = 0; ///< share of those positions where both are the same number in the format of the output
    double multiple = std::numeric_limits<double>::infinity(); ///< as plain, of the replay times the factor that fits
    double factor = 1; ///< that one
};

/// `reference` is row-major like the element.
Fits fitsOf(const Element& element, ValueView reference, const std::vector<replay::SingularDirection>& signal);

/// What a replay gives, in the format that the output was rounded to; as it is where that is another than ours.
Values inFormatOf(const Element& element, ValueView replay);
double inFormatOf(const Element& element, double replay);

/// Sums of squares of one tile, over the positions where the captured output is finite.
struct TileError
{
    double difference = 0;
    double reference = 0;

    /// Relative; a tile that should hold next to nothing is held against `floor` of its own kind.
    double relative(double floor = 0) const;
};

/// Square tiles, row by row; those at the edges may be smaller.
struct TileErrors
{
    static constexpr std::int64_t side = 16;
    std::int64_t across = 0;
    std::vector<TileError> tiles;

    std::int64_t rowOf(std::size_t tile) const { return static_cast<std::int64_t>(tile) / across * side; }
    std::int64_t colOf(std::size_t tile) const { return static_cast<std::int64_t>(tile) % across * side; }
};

TileErrors tileErrors(const Element& element, ValueView reference);

/// How an output fits what exact arithmetic gives, in a part of its tiles: in those where up to eight rows of tiles and
/// sixteen columns of them cross, spread over what is finite. One decomposition, of those places alone, serves every
/// schedule.
class SampledFits
{
public:
    /// `signal` as for fitsOf(), `device` as for SampledSystem. Nothing where that gives nothing.
    static std::optional<SampledFits> of(const Element& element, const std::vector<replay::SingularDirection>& signal,
        replay::Device& device, const CancelToken& cancel);

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

bool allFinite(ValueView values);

} // namespace nanscope::diagnose
