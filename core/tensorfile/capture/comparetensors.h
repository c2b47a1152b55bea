// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Where two captures hold different bits: how many, of which class, how many units in the last place apart. Both files
// are read once, front to back, in constant memory; what is equal is only compared byte by byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::tensorfile {

/// Distances of finite elements whose bits differ, in steps from one number of the tensor's own type to the next.
struct UlpCounts
{
    std::int64_t signedZero = 0; ///< 0 against -0: other bits, no distance
    std::int64_t one = 0;
    std::int64_t few = 0; ///< 2 to 10
    std::int64_t many = 0; ///< more than 10
    std::uint64_t largest = 0;
    bool operator==(const UlpCounts&) const = default;
};

/// The element that comes first, row-major, of those whose bits differ.
struct FirstDifference
{
    std::int64_t index = 0; ///< row-major in the whole tensor
    double a = 0;
    double b = 0;
};

/// One matrix of the batch, or the sum over all of them.
struct MatrixDifference
{
    std::int64_t count = 0;
    std::int64_t differing = 0; ///< elements whose bits differ
    std::int64_t classChanges = 0; ///< of these: finite on one side only, NaN against Inf, Inf against -Inf
    std::int64_t nanBits = 0; ///< of these: NaN on both sides, with other bits
    double largest = 0; ///< largest absolute difference where both are finite
    std::optional<UlpCounts> ulps; ///< none for integers, which have no last place
    std::optional<FirstDifference> first;
};

struct TensorDifference
{
    std::string name;
    std::string problem; ///< not comparable, and why
    std::vector<MatrixDifference> batches; ///< in order; empty where there is a problem

    MatrixDifference total() const;
};

/// Fails where one cannot be read; shapes and types that differ are a `problem`.
Result<TensorDifference> compareTensors(std::string_view name, const Tensor& a, const Tensor& b);

/// Input and, where a side has it, output.
Result<std::vector<TensorDifference>> compareCaptures(const CaptureFile& a, const CaptureFile& b);

/// Steps between two bit patterns of a floating type that are both finite; none for another type.
std::optional<std::uint64_t> ulpDistance(DType dtype, std::uint64_t a, std::uint64_t b);

} // namespace nanscope::tensorfile
