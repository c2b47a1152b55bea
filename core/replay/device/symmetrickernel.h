// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What spectrum.cpp and symmetrickernel.inl share.
#pragma once

#include <cstdint>

namespace nanscope::replay {

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

} // namespace nanscope::replay
