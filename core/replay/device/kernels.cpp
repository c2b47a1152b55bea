// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Compiled once for each instruction set, as NANSCOPE_KERNELS. Each renames Eigen's namespace first (-DEigen=...), so
// that the linker cannot merge templates compiled for a newer CPU into code that must run on an older one, and nothing
// of std is instantiated here.
#include "core/replay/device/kernels.h"

#include <Eigen/Core>
#include <Eigen/Householder>

namespace nanscope::replay {

namespace {

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

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic>;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1>;

/// Reduces column `first + j` by a Householder reflection. The matrix beside the panel is as it was before the panel:
/// what the panel's reflections do to it is kept as V W^T + W V^T (the panel scheme of LAPACK's latrd).
void reduceColumn(const SymmetricPanel& s, std::int64_t first, std::int64_t j)
{
    const auto n = s.size;
    const auto c = first + j;
    const auto below = n - c - 1;
    Eigen::Map<Matrix> a(s.matrix, n, n);
    Eigen::Map<Matrix> v(s.reflectors, n, s.width);
    Eigen::Map<Matrix> w(s.products, n, s.width);
    auto column = a.col(c).tail(n - c);
    column.noalias() -= v.block(c, 0, n - c, j) * w.row(c).head(j).transpose();
    column.noalias() -= w.block(c, 0, n - c, j) * v.row(c).head(j).transpose();
    s.diagonal[c] = a(c, c);
    if (below == 0) {
        return;
    }
    double tau = 0;
    double beta = 0;
    auto reflector = a.col(c).tail(below);
    reflector.makeHouseholderInPlace(tau, beta);
    s.beside[c] = beta;
    s.factors[c] = tau;
    v.col(j).head(c + 1).setZero();
    v.col(j).tail(below) = reflector;
    v(c + 1, j) = 1;
    const auto vj = v.col(j).tail(below);
    auto wj = w.col(j).tail(below);
    w.col(j).head(c + 1).setZero();
    wj.noalias() = a.bottomRightCorner(below, below).template selfadjointView<Eigen::Lower>() * vj;
    const Vector onV = w.block(c + 1, 0, below, j).transpose() * vj;
    const Vector onW = v.block(c + 1, 0, below, j).transpose() * vj;
    wj.noalias() -= v.block(c + 1, 0, below, j) * onV;
    wj.noalias() -= w.block(c + 1, 0, below, j) * onW;
    wj *= tau;
    const double half = -0.5 * tau * wj.dot(vj);
    wj += half * vj;
}

/// Takes the panel's reflections to what lies behind it, and to the block.
void finishPanel(const SymmetricPanel& s, std::int64_t first, std::int64_t count)
{
    const auto n = s.size;
    const auto behind = n - first - count;
    Eigen::Map<Matrix> a(s.matrix, n, n);
    const Eigen::Map<const Matrix> v(s.reflectors, n, s.width);
    const Eigen::Map<const Matrix> w(s.products, n, s.width);
    if (behind > 0) {
        const Matrix vBehind = v.bottomLeftCorner(behind, count);
        const Matrix wBehind = w.bottomLeftCorner(behind, count);
        auto rest = a.bottomRightCorner(behind, behind);
        rest.template triangularView<Eigen::Lower>() -= vBehind * wBehind.transpose();
        rest.template triangularView<Eigen::Lower>() -= wBehind * vBehind.transpose();
    }
    const auto reflections = first + count < n ? count : count - 1;
    if (s.blockWidth == 0 || reflections < 1) {
        return;
    }
    const auto rows = n - first - 1;
    Eigen::Map<RowMajor> block(s.block + (first + 1) * s.blockWidth, rows, s.blockWidth);
    const Matrix essential = a.block(first + 1, first, rows, reflections);
    const Vector factors = Eigen::Map<const Vector>(s.factors + first, reflections);
    // H = H_0 H_1 ...; Q^T takes H_0 first.
    Eigen::internal::apply_block_householder_on_the_left(block, essential, factors, false);
}

/// Rows k and k + 1 of `width` columns of the block, rotation after rotation.
void rotateRows(
    double* block, std::int64_t stride, std::int64_t width, const PlaneRotation* rotations, std::int64_t count)
{
    for (const auto* r = rotations; r != rotations + count; ++r) {
        double* __restrict upper = block + r->row * stride;
        double* __restrict lower = upper + stride;
        const double c = r->c;
        const double s = r->s;
        for (std::int64_t i = 0; i < width; ++i) {
            const double x = upper[i];
            const double y = lower[i];
            upper[i] = c * x - s * y;
            lower[i] = s * x + c * y;
        }
    }
}

void multiplySymmetric(const float* matrix, std::int64_t size, const float* x, float* out)
{
    using Single = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic>;
    using SingleVector = Eigen::Matrix<float, Eigen::Dynamic, 1>;
    const Eigen::Map<const Single> a(matrix, size, size);
    // Into a vector of Eigen's, which is aligned: elsewhere the order of sums would depend on where `out` lies.
    const SingleVector product = a.template selfadjointView<Eigen::Lower>() * Eigen::Map<const SingleVector>(x, size);
    Eigen::Map<SingleVector>(out, size) = product;
}

} // namespace

const MatrixKernels NANSCOPE_KERNELS {
    NANSCOPE_SET_NAME, multiply<float>, multiply<double>, reduceColumn, finishPanel, rotateRows, multiplySymmetric};

} // namespace nanscope::replay
