// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/tridiagonal.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/replay/device/instructionset.h"
#include "core/replay/device/symmetrickernel.h"

namespace nanscope::replay {

#define NANSCOPE_DECLARE_SYMMETRIC(set)                                                                                \
    namespace set {                                                                                                    \
    void reduceColumn(const SymmetricPanel& panel, std::int64_t first, std::int64_t column);                           \
    void finishPanel(const SymmetricPanel& panel, std::int64_t first, std::int64_t count);                             \
    void rotateRows(                                                                                                   \
        double* block, std::int64_t stride, std::int64_t width, const PlaneRotation* rotations, std::int64_t count);   \
    void multiply(const float* matrix, std::int64_t size, const float* x, float* out);                                 \
    }
NANSCOPE_DECLARE_SYMMETRIC(symmetric_baseline)
#ifdef NANSCOPE_X86_GEMM
NANSCOPE_DECLARE_SYMMETRIC(symmetric_avx2)
NANSCOPE_DECLARE_SYMMETRIC(symmetric_avx512)
#endif
#undef NANSCOPE_DECLARE_SYMMETRIC

namespace {

/// The functions of one instruction set.
struct Kernels
{
    decltype(&symmetric_baseline::reduceColumn) reduceColumn = &symmetric_baseline::reduceColumn;
    decltype(&symmetric_baseline::finishPanel) finishPanel = &symmetric_baseline::finishPanel;
    decltype(&symmetric_baseline::rotateRows) rotateRows = &symmetric_baseline::rotateRows;
    decltype(&symmetric_baseline::multiply) multiply = &symmetric_baseline::multiply;
};

Kernels kernels()
{
    switch (instructionSet()) {
#ifdef NANSCOPE_X86_GEMM
    case InstructionSet::avx512:
        return {&symmetric_avx512::reduceColumn, &symmetric_avx512::finishPanel, &symmetric_avx512::rotateRows,
            &symmetric_avx512::multiply};
    case InstructionSet::avx2:
        return {&symmetric_avx2::reduceColumn, &symmetric_avx2::finishPanel, &symmetric_avx2::rotateRows,
            &symmetric_avx2::multiply};
#endif
    default:
        return {};
    }
}

/// Applies rotations to a block, many at a time: a slice of the block stays in the cache meanwhile.
class Rotations
{
public:
    Rotations(Block& block, const CancelToken& cancel)
        : m_block(block)
        , m_cancel(cancel)
    { }

    void add(const PlaneRotation& rotation)
    {
        m_pending.push_back(rotation);
        if (m_pending.size() == most) {
            apply();
        }
    }

    void apply()
    {
        constexpr std::int64_t slice = 32;
        for (std::int64_t begin = 0; begin < m_block.width && !m_cancel.cancelled(); begin += slice) {
            kernels().rotateRows(m_block.values.data() + begin, m_block.width, std::min(slice, m_block.width - begin),
                m_pending.data(), static_cast<std::int64_t>(m_pending.size()));
        }
        m_pending.clear();
    }

private:
    static constexpr std::size_t most = 65536;

    Block& m_block;
    const CancelToken& m_cancel;
    std::vector<PlaneRotation> m_pending;
};

/// The eigenvalue of the last 2 x 2 block that is nearer to its last element.
double wilkinsonShift(const Tridiagonal& t, std::size_t end)
{
    const double half = (t.diagonal[end - 1] - t.diagonal[end]) / 2;
    const double e = t.beside[end - 1];
    const double root = std::hypot(half, e);
    return t.diagonal[end] - e * (e / (half + std::copysign(root, half)));
}

/// One implicit step on rows start..end, none of whose values off the diagonal is zero.
void qrStep(Tridiagonal& t, std::size_t start, std::size_t end, Rotations& rotations)
{
    double x = t.diagonal[start] - wilkinsonShift(t, end);
    double z = t.beside[start];
    for (auto k = start; k < end && z != 0; ++k) {
        const double r = std::hypot(x, z);
        const double c = x / r;
        const double s = -z / r;
        double& a = t.diagonal[k];
        double& b = t.beside[k];
        double& d = t.diagonal[k + 1];
        const double across = s * a + c * b;
        const double under = s * b + c * d;
        a = c * (c * a - s * b) - s * (c * b - s * d);
        d = s * across + c * under;
        b = c * across - s * under;
        if (k > start) {
            t.beside[k - 1] = c * t.beside[k - 1] - s * z;
        }
        x = b;
        if (k + 1 < end) {
            z = -s * t.beside[k + 1];
            t.beside[k + 1] *= c;
        }
        rotations.add({static_cast<std::int64_t>(k), c, s});
    }
}

/// Scaled to a largest value of 1, so that what is negligible beside it can be told.
double scaleOf(const Tridiagonal& t)
{
    double largest = 0;
    for (const double value : t.diagonal) {
        largest = std::max(largest, std::abs(value));
    }
    for (const double value : t.beside) {
        largest = std::max(largest, std::abs(value));
    }
    return largest;
}

void dropNegligible(Tridiagonal& t, std::size_t start, std::size_t end)
{
    for (auto i = start; i < end; ++i) {
        const double scaled = t.beside[i] / std::numeric_limits<double>::epsilon();
        if (scaled * scaled <= std::abs(t.diagonal[i]) + std::abs(t.diagonal[i + 1])) {
            t.beside[i] = 0;
        }
    }
}

} // namespace

Tridiagonal reduceToTridiagonal(std::span<double> matrix, std::int64_t n, Block& block, const CancelToken& cancel)
{
    constexpr std::int64_t width = 32;
    Tridiagonal t {std::vector<double>(static_cast<std::size_t>(n)),
        std::vector<double>(static_cast<std::size_t>(std::max<std::int64_t>(n - 1, 0)))};
    std::vector<double> factors(t.beside.size());
    std::vector<double> reflectors(static_cast<std::size_t>(n * width));
    std::vector<double> products(reflectors.size());
    const SymmetricPanel panel {matrix.data(), n, t.diagonal.data(), t.beside.data(), factors.data(), reflectors.data(),
        products.data(), width, block.values.data(), block.width};
    const auto kernel = kernels();
    for (std::int64_t first = 0; first < n; first += width) {
        const auto count = std::min(width, n - first);
        for (std::int64_t j = 0; j < count && !cancel.cancelled(); ++j) {
            kernel.reduceColumn(panel, first, j);
        }
        if (cancel.cancelled()) {
            return t;
        }
        kernel.finishPanel(panel, first, count);
    }
    return t;
}

std::vector<double> diagonalise(Tridiagonal t, Block& block, const CancelToken& cancel)
{
    // Eigenvalues take two steps each; one that takes thirty does not come.
    constexpr std::size_t mostSteps = 30;
    const double scale = scaleOf(t);
    if (!(scale > 0) || !std::isfinite(scale)) {
        return t.diagonal;
    }
    for (auto* values : {&t.diagonal, &t.beside}) {
        std::ranges::for_each(*values, [scale](double& value) { value /= scale; });
    }
    Rotations rotations(block, cancel);
    auto end = t.diagonal.size() - 1;
    std::size_t start = 0;
    for (std::size_t steps = 0; !cancel.cancelled(); ++steps) {
        dropNegligible(t, start, end);
        while (end > 0 && t.beside[end - 1] == 0) {
            --end;
        }
        if (end == 0) {
            break;
        }
        if (steps == mostSteps * t.diagonal.size()) {
            return {};
        }
        start = end - 1;
        while (start > 0 && t.beside[start - 1] != 0) {
            --start;
        }
        qrStep(t, start, end, rotations);
    }
    rotations.apply();
    std::ranges::for_each(t.diagonal, [scale](double& value) { value *= scale; });
    return t.diagonal;
}

void multiplySymmetric(std::span<const float> matrix, std::span<const float> x, std::span<float> out)
{
    kernels().multiply(matrix.data(), static_cast<std::int64_t>(x.size()), x.data(), out.data());
}

} // namespace nanscope::replay
