// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic on matrices that is compiled once for each instruction set: kernels.cpp, and what calls it.
#pragma once

#include <cstdint>

namespace nanscope::replay {

/// out = op(a) op(b), all row-major; op(a) is rows x inner, op(b) inner x cols. A transposed operand lies in memory as
/// inner x rows (cols x inner). `out` overlaps no operand.
template <class T>
struct GemmShape
{
    const T* a = nullptr;
    const T* b = nullptr;
    T* out = nullptr;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t inner = 0;
    bool transposeA = false;
    bool transposeB = false;
    std::int64_t strideA = 0; ///< from one row in memory to the next; 0: they lie close
    std::int64_t strideB = 0;
    std::int64_t strideOut = 0;
};

/// A symmetric matrix on its way to a tridiagonal one, `width` columns at a time. Nothing here is owned.
struct SymmetricPanel
{
    double* matrix = nullptr; ///< size x size, column-major; the lower half is used and overwritten
    std::int64_t size = 0;
    double* diagonal = nullptr; ///< size long
    double* beside = nullptr; ///< size - 1 long
    double* factors = nullptr; ///< size - 1 long, of the reflections
    double* reflectors = nullptr; ///< size x width, column-major
    double* products = nullptr; ///< size x width, column-major
    std::int64_t width = 0;
    double* block = nullptr; ///< size x blockWidth, row-major: Q^T is applied to it
    std::int64_t blockWidth = 0;
};

/// Takes rows `row` and `row + 1` to c x - s y and s x + c y.
struct PlaneRotation
{
    std::int64_t row = 0;
    double c = 1;
    double s = 0;
};

/// The table of one instruction set.
struct MatrixKernels
{
    const char* name; ///< "avx2"
    /// A part of a product, whose strides are given.
    void (*multiplySingle)(const GemmShape<float>& part);
    void (*multiplyDouble)(const GemmShape<double>& part);
    /// Steps of the reduction to a tridiagonal matrix, and what follows it (spectrum.h).
    void (*reduceColumn)(const SymmetricPanel& panel, std::int64_t first, std::int64_t column);
    void (*finishPanel)(const SymmetricPanel& panel, std::int64_t first, std::int64_t count);
    void (*rotateRows)(
        double* block, std::int64_t stride, std::int64_t width, const PlaneRotation* rotations, std::int64_t count);
    void (*multiplySymmetric)(const float* matrix, std::int64_t size, const float* x, float* out);
};

extern const MatrixKernels baselineMatrixKernels;
extern const MatrixKernels avx2MatrixKernels;
extern const MatrixKernels avx512MatrixKernels;

} // namespace nanscope::replay
