// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::instruments {

/// A batch of matrices as bits, in the type in which a target is handed them.
struct Matrices
{
    DType dtype = DType::float64;
    Shape shape;
    Shape strides; ///< in elements, as the target shall see them; empty: row-major
    std::vector<std::byte> bytes; ///< row-major whatever the strides say

    MatrixShape matrices() const { return matrixShape(shape); }
};

/// All elements, converted exactly.
std::vector<double> valuesOf(const Matrices& matrices);

/// The doubles rounded once, to nearest, to one of fp64, fp32, fp16 and bf16.
Matrices packed(DType dtype, Shape shape, std::span<const double> values);

/// True for the four types that packed() takes.
bool isPackable(DType dtype);

/// 128 bits of type, shape and every bit.
std::string hashOf(const Matrices& matrices);

/// Elements of one matrix in a span over the whole batch.
template <class T>
std::span<T> matrixOf(std::span<T> values, const MatrixShape& shape, std::size_t element)
{
    const auto size = static_cast<std::size_t>(shape.elements());
    return values.subspan(element * size, size);
}

/// Matrices `first` to `first + count` of a tensor; strides are kept where they are those of a view that torch could
/// allocate anew. Types that packed() does not take become fp32.
Result<Matrices> readMatrices(const tensorfile::Tensor& tensor, std::int64_t first, std::int64_t count);

} // namespace nanscope::instruments
