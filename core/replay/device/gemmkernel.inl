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
    using Const = Eigen::Map<const Matrix>;
    Eigen::Map<Matrix> out(s.out + begin * s.cols, end - begin, s.cols);
    const Const a(s.a, s.transposeA ? s.inner : s.rows, s.transposeA ? s.rows : s.inner);
    const Const b(s.b, s.transposeB ? s.cols : s.inner, s.transposeB ? s.inner : s.cols);
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
