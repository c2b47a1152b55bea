// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// One block of a product on Eigen. Included by gemm_*.cpp, which are compiled for different instruction sets; each
// renames Eigen's namespace first, so that the linker cannot merge templates compiled for a newer CPU into code that
// must run on an older one.
#include <Eigen/Core>

#include "core/replay/device/gemm.h"

namespace nanscope::replay {
namespace NANSCOPE_GEMM_SET {

template <class T>
void rowBlock(const GemmShape<T>& s, std::int64_t begin, std::int64_t end)
{
    using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using Stride = Eigen::OuterStride<>;
    using Const = Eigen::Map<const Matrix, 0, Stride>;
    const auto widthA = s.transposeA ? s.rows : s.inner;
    const auto widthB = s.transposeB ? s.inner : s.cols;
    const Stride strideOut(s.strideOut > 0 ? s.strideOut : s.cols);
    Eigen::Map<Matrix, 0, Stride> out(s.out + begin * strideOut.outer(), end - begin, s.cols, strideOut);
    const Const a(s.a, s.transposeA ? s.inner : s.rows, widthA, Stride(s.strideA > 0 ? s.strideA : widthA));
    const Const b(s.b, s.transposeB ? s.cols : s.inner, widthB, Stride(s.strideB > 0 ? s.strideB : widthB));
    const auto count = end - begin;
    if (s.transposeA && s.transposeB) {
        out.noalias() = a.middleCols(begin, count).transpose() * b.transpose();
    } else if (s.transposeA) {
        out.noalias() = a.middleCols(begin, count).transpose() * b;
    } else if (s.transposeB) {
        out.noalias() = a.middleRows(begin, count) * b.transpose();
    } else {
        out.noalias() = a.middleRows(begin, count) * b;
    }
}

void block(const GemmShape<float>& shape, std::int64_t begin, std::int64_t end)
{
    rowBlock(shape, begin, end);
}

void block(const GemmShape<double>& shape, std::int64_t begin, std::int64_t end)
{
    rowBlock(shape, begin, end);
}

} // namespace NANSCOPE_GEMM_SET
} // namespace nanscope::replay
