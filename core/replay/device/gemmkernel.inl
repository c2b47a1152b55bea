// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// One part of a product on Eigen, whose strides are given. Included by kernels_*.cpp, which are compiled for different
// instruction sets; each renames Eigen's namespace first, so that the linker cannot merge templates compiled for a
// newer CPU into code that must run on an older one.
#include <Eigen/Core>

#include "core/replay/device/gemm.h"

namespace nanscope::replay {
namespace NANSCOPE_GEMM_SET {

template <class T>
void multiply(const GemmShape<T>& s)
{
    using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using Stride = Eigen::OuterStride<>;
    using Const = Eigen::Map<const Matrix, 0, Stride>;
    Eigen::Map<Matrix, 0, Stride> out(s.out, s.rows, s.cols, Stride(s.strideOut));
    const Const a(s.a, s.transposeA ? s.inner : s.rows, s.transposeA ? s.rows : s.inner, Stride(s.strideA));
    const Const b(s.b, s.transposeB ? s.cols : s.inner, s.transposeB ? s.inner : s.cols, Stride(s.strideB));
    if (s.transposeA && s.transposeB) {
        out.noalias() = a.transpose() * b.transpose();
    } else if (s.transposeA) {
        out.noalias() = a.transpose() * b;
    } else if (s.transposeB) {
        out.noalias() = a * b.transpose();
    } else {
        out.noalias() = a * b;
    }
}

void block(const GemmShape<float>& shape)
{
    multiply(shape);
}

void block(const GemmShape<double>& shape)
{
    multiply(shape);
}

} // namespace NANSCOPE_GEMM_SET
} // namespace nanscope::replay
