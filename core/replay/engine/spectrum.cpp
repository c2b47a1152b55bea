// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/spectrum.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <thread>

#include <Eigen/Eigenvalues>

#include "core/base/aligned.h"
#include "core/replay/device/gemm.h"
#include "core/replay/device/ranges.h"

namespace nanscope::replay {

namespace {

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
            matrixKernels().rotateRows(m_block.values.data() + begin, m_block.width,
                std::min(slice, m_block.width - begin), m_pending.data(), static_cast<std::int64_t>(m_pending.size()));
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

/// Scaled to a largest value of 1, so that what is negligible beside it is recognised.
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

/// Of columns that are reduced one by one, each at the cost of what is left of the matrix.
double shareOfColumns(std::int64_t done, std::int64_t n)
{
    const auto left = static_cast<double>(n - done) / static_cast<double>(n);
    return 1 - left * left * left;
}

/// Of steps that find one value after the other, each on all that are left.
double shareOfSteps(std::size_t left, std::size_t n)
{
    const auto part = static_cast<double>(left) / static_cast<double>(n);
    return 1 - part * part;
}

} // namespace

Tridiagonal reduceToTridiagonal(
    std::span<double> matrix, std::int64_t n, Block& block, const CancelToken& cancel, const ShareDone& told)
{
    constexpr std::int64_t width = 32;
    Tridiagonal t {std::vector<double>(static_cast<std::size_t>(n)),
        std::vector<double>(static_cast<std::size_t>(std::max<std::int64_t>(n - 1, 0)))};
    std::vector<double> factors(t.beside.size());
    AlignedVector<double> reflectors(static_cast<std::size_t>(n * width));
    AlignedVector<double> products(reflectors.size());
    const SymmetricPanel panel {matrix.data(), n, t.diagonal.data(), t.beside.data(), factors.data(), reflectors.data(),
        products.data(), width, block.values.data(), block.width};
    const auto& kernel = matrixKernels();
    for (std::int64_t first = 0; first < n; first += width) {
        const auto count = std::min(width, n - first);
        for (std::int64_t j = 0; j < count && !cancel.cancelled(); ++j) {
            kernel.reduceColumn(panel, first, j);
        }
        if (cancel.cancelled()) {
            return t;
        }
        kernel.finishPanel(panel, first, count);
        if (told) {
            told(shareOfColumns(first + count, n));
        }
    }
    return t;
}

std::vector<double> diagonalise(Tridiagonal t, Block& block, const CancelToken& cancel, const ShareDone& told)
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
        const auto before = end;
        while (end > 0 && t.beside[end - 1] == 0) {
            --end;
        }
        if (told && end < before) {
            told(shareOfSteps(end, t.diagonal.size()));
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
    matrixKernels().multiplySymmetric(matrix.data(), static_cast<std::int64_t>(x.size()), x.data(), out.data());
}

namespace {

using Vector = Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMatrix = Eigen::Map<const RowMajor>;

/// Floats or doubles as an expression of doubles.
template <class T>
auto asDoubles(std::span<const T> matrix, std::int64_t rows, std::int64_t cols)
{
    using Held = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    return Eigen::Map<const Held>(matrix.data(), rows, cols).template cast<double>();
}

/// What is left of a matrix after some steps: its basis, and itself in that basis.
struct Krylov
{
    Eigen::MatrixXd basis; ///< columns
    Tridiagonal inBasis;
    double beta = 0; ///< of the step that was not taken
};

struct Ritz
{
    Vector values; ///< ascending
    Eigen::MatrixXd vectors; ///< columns, in the original space
    Vector residuals;
};

struct RitzValue
{
    double value = 0;
    double residual = 0; ///< an eigenvalue lies within it
};

// A start vector that no structured matrix is orthogonal to: low-discrepancy signs and sizes, the same every time.
Vector startVector(std::int64_t size)
{
    Vector start(size);
    for (std::int64_t i = 0; i < size; ++i) {
        const double phase = std::fmod(0.6180339887498949 * static_cast<double>(i + 1), 1.0);
        start[i] = phase - 0.5 + (i % 2 == 0 ? 0.75 : -0.75);
    }
    return start.normalized();
}

constexpr int mostSteps = 160;

/// The pivots of theta - T, eliminated from the last row up. All are positive where theta exceeds every eigenvalue of T
/// (Sylvester's law of inertia), and only then; false at the first that is not.
bool exceedsAll(const Tridiagonal& t, double theta, std::vector<double>& pivots)
{
    double fromBelow = 0;
    for (auto i = pivots.size(); i-- > 0;) {
        pivots[i] = theta - t.diagonal[i] - fromBelow;
        if (!(pivots[i] > 0)) {
            return false;
        }
        fromBelow = i > 0 ? t.beside[i - 1] / pivots[i] * t.beside[i - 1] : 0;
    }
    return true;
}

/// Of a unit eigenvector to the largest eigenvalue, by the pivots that it leaves: (theta - T) v = 0 from the last row
/// up. Too small where the first component is below rounding, which no start vector with a part of every direction
/// leaves.
double lastComponent(const Tridiagonal& t, const std::vector<double>& pivots)
{
    double squares = 1; // of the components so far, by that of the last of them
    for (std::size_t i = 1; i < pivots.size(); ++i) {
        const double before = pivots[i] / t.beside[i - 1];
        squares = 1 + squares * before * before;
    }
    return 1 / std::sqrt(squares);
}

/// The largest Ritz value, by bisection: O(n) for each of some fifty bits, where all of them take O(n^2). Its residual
/// is beta times the last component of its eigenvector.
RitzValue largestOf(const Tridiagonal& t, double beta)
{
    const auto n = t.diagonal.size();
    double low = t.diagonal.front();
    double high = low;
    for (std::size_t i = 0; i < n; ++i) {
        const double around = (i > 0 ? std::abs(t.beside[i - 1]) : 0) + (i + 1 < n ? std::abs(t.beside[i]) : 0);
        low = std::max(low, t.diagonal[i]);
        high = std::max(high, t.diagonal[i] + around); // Gershgorin
    }
    const double enough = std::numeric_limits<double>::epsilon() * std::max(std::abs(low), std::abs(high));
    std::vector<double> pivots(n);
    while (high - low > enough) {
        const double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) {
            break; // of denormals
        }
        (exceedsAll(t, middle, pivots) ? high : low) = middle;
    }
    return {high, exceedsAll(t, high, pivots) ? lastComponent(t, pivots) * beta : beta};
}

/// `settled` looks at the largest value and its residual every eight steps and may end the iteration.
Krylov lanczos(const std::function<Vector(const Vector&)>& apply, std::int64_t size, int steps,
    const std::function<bool(const RitzValue&)>& settled)
{
    constexpr int lookEvery = 8;
    const int count = static_cast<int>(std::min<std::int64_t>(size, steps));
    Krylov krylov;
    krylov.basis.resize(size, count);
    auto& [basis, inBasis, beta] = krylov;
    Vector q = startVector(size);
    int used = 0;
    for (int j = 0; j < count; ++j) {
        basis.col(j) = q;
        used = j + 1;
        Vector w = apply(q);
        inBasis.diagonal.push_back(q.dot(w));
        // Twice is enough: one pass of Gram-Schmidt loses orthogonality once a Ritz value has converged.
        for (int pass = 0; pass < 2; ++pass) {
            w -= basis.leftCols(used) * (basis.leftCols(used).transpose() * w);
        }
        beta = w.norm();
        const bool exhausted = beta <= 1e-14 * std::abs(inBasis.diagonal.front());
        if (j + 1 == count || exhausted || (used % lookEvery == 0 && settled(largestOf(inBasis, beta)))) {
            break;
        }
        inBasis.beside.push_back(beta);
        q = w / beta;
    }
    basis.conservativeResize(Eigen::NoChange, used);
    return krylov;
}

Ritz ritzOf(const Krylov& krylov)
{
    const auto& [basis, inBasis, beta] = krylov;
    Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
    solver.computeFromTridiagonal(Eigen::Map<const Vector>(inBasis.diagonal.data(), basis.cols()),
        Eigen::Map<const Vector>(inBasis.beside.data(), basis.cols() - 1));
    const auto last = solver.eigenvectors().row(basis.cols() - 1);
    return {solver.eigenvalues(), basis * solver.eigenvectors(), last.cwiseAbs().transpose() * beta};
}

/// The largest Ritz value of what `apply` multiplies by, with its residual.
double largestOf(const std::function<Vector(const Vector&)>& apply, std::int64_t size, double tolerance)
{
    const auto krylov = lanczos(apply, size, mostSteps,
        [tolerance](const RitzValue& ritz) { return ritz.residual <= tolerance * std::abs(ritz.value); });
    const auto largest = largestOf(krylov.inBasis, krylov.beta);
    return largest.value + largest.residual;
}

} // namespace

double largestEigenvalue(
    const std::function<void(std::span<const float> x, std::span<float> out)>& multiply, std::int64_t size)
{
    Eigen::VectorXf x(size);
    Eigen::VectorXf out(size);
    const auto apply = [&](const Vector& v) -> Vector {
        x = v.cast<float>();
        multiply({x.data(), static_cast<std::size_t>(size)}, {out.data(), static_cast<std::size_t>(size)});
        return out.cast<double>();
    };
    return largestOf(apply, size, 1e-4);
}

double largestEigenvalue(ValueView matrix, std::int64_t size)
{
    if (size >= largeFrom) {
        const std::vector<float> narrow(matrix.begin(), matrix.end());
        // Their roundings are far below the residual that is asked for there.
        if (std::ranges::all_of(narrow, [](float value) { return std::isfinite(value); })) {
            return largestEigenvalue(
                [&](std::span<const float> x, std::span<float> out) { multiplySymmetric(narrow, x, out); }, size);
        }
    }
    const RowMajor wide = matrix.visit([size](auto values) -> RowMajor { return asDoubles(values, size, size); });
    if (size == 0 || !wide.allFinite()) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    return largestOf([&](const Vector& v) -> Vector { return wide * v; }, size, 1e-5);
}

double smallestEigenvalue(std::span<const double> matrix, std::int64_t size)
{
    const ConstMatrix map(matrix.data(), size, size);
    if (size == 0 || !map.allFinite()) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    constexpr double tolerance = 1e-3;
    const double negligible = 1e-12 * map.norm();
    const auto krylov = lanczos(
        [&](const Vector& v) -> Vector {
            const Vector across = map.transpose() * v;
            return -0.5 * (map * v + across);
        },
        size, mostSteps,
        [&](const RitzValue& ritz) { return ritz.residual <= std::max(tolerance * std::abs(ritz.value), negligible); });
    return -largestOf(krylov.inBasis, krylov.beta).value;
}

namespace {

/// Some elements as doubles, times `root` twice: such a factor is within the range itself.
template <class T>
auto scaled(std::span<const T> values, std::int64_t at, std::int64_t count, double root)
{
    using Held = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    return Eigen::Map<const Held>(values.data() + at, count).template cast<double>() * root * root;
}

/// X X^T of a matrix X that is scaled to a largest element of 1, or the squares of a huge or tiny one leave the range
/// of double. Never held as a whole in doubles; equal inputs give equal bits on any number of threads.
class OwnProduct
{
public:
    OwnProduct(ValueView matrix, std::int64_t rows, std::int64_t cols, const CancelToken& cancel)
        : m_matrix(matrix)
        , m_rows(rows)
        , m_cols(cols)
        , m_cancel(cancel)
        , m_scale(matrix.visit([&](auto values) { return asDoubles(values, rows, cols).cwiseAbs().maxCoeff(); }))
        , m_root(1 / std::sqrt(m_scale))
    { }

    double scale() const { return m_scale; }

    double frobenius() const
    {
        return m_matrix.visit(
            [this](auto values) { return (asDoubles(values, m_rows, m_cols) * m_root * m_root).norm(); });
    }

    /// Zero once it is cancelled, which ends an iteration.
    Vector operator()(const Vector& v) const
    {
        Vector across = Vector::Zero(m_cols);
        Vector out = Vector::Zero(m_rows);
        m_matrix.visit([&](auto values) {
            inRanges(m_cols, [&](std::int64_t begin, std::int64_t count) {
                for (std::int64_t row = 0; row < m_rows; ++row) {
                    across.segment(begin, count) += v[row] * scaled(values, row * m_cols + begin, count, m_root);
                }
            });
            inRanges(m_rows, [&](std::int64_t begin, std::int64_t count) {
                for (auto row = begin; row < begin + count; ++row) {
                    out[row] = across.dot(scaled(values, row * m_cols, m_cols, m_root));
                }
            });
        });
        return m_cancel.cancelled() ? Vector(Vector::Zero(m_rows)) : out;
    }

private:
    template <class Each>
    void inRanges(std::int64_t size, const Each& each) const
    {
        constexpr std::int64_t step = 2048; ///< of doubles, which a cache holds
        constexpr std::int64_t worthThreads = 1 << 20;
        const auto threads = m_rows * m_cols < worthThreads ? 1 : std::max(1U, std::thread::hardware_concurrency());
        forRanges(size, step, static_cast<int>(threads), m_cancel,
            [&](const Range& range) { each(range.begin, range.end - range.begin); });
    }

    ValueView m_matrix;
    std::int64_t m_rows;
    std::int64_t m_cols;
    const CancelToken& m_cancel;
    double m_scale;
    double m_root;
};

} // namespace

std::vector<SingularDirection> leadingDirections(
    ValueView matrix, std::int64_t rows, std::int64_t cols, double share, int most, const CancelToken& cancel)
{
    if (matrix.empty()) {
        return {};
    }
    const OwnProduct product(matrix, rows, cols, cancel);
    const double scale = product.scale();
    if (!(scale > 0) || !std::isfinite(scale)) {
        return {};
    }
    const double frobenius = product.frobenius();
    const auto ritz = ritzOf(lanczos(std::cref(product), rows, 2 * most + 8, [](const RitzValue&) { return false; }));
    std::vector<SingularDirection> result;
    if (cancel.cancelled()) {
        return result;
    }
    for (Eigen::Index i = ritz.values.size() - 1; i >= 0 && static_cast<int>(result.size()) < most; --i) {
        const double value = ritz.values[i];
        const double sigma = std::sqrt(std::max(0.0, value));
        if (sigma < share * frobenius) {
            break;
        }
        if (ritz.residuals[i] <= 1e-3 * value) {
            const Vector left = ritz.vectors.col(i).normalized();
            result.push_back({sigma * scale, {left.begin(), left.end()}});
        }
    }
    return result;
}

double gainAlong(std::span<const double> left, ValueView matrix, std::int64_t cols)
{
    const auto rows = static_cast<Eigen::Index>(left.size());
    const Eigen::Map<const Vector> u(left.data(), rows);
    return matrix.visit([&](auto values) { return (asDoubles(values, rows, cols).transpose() * u).norm(); });
}

std::vector<double> gainsAlong(const std::vector<SingularDirection>& directions, ValueView matrix, std::int64_t cols)
{
    std::vector<double> gains;
    for (const auto& direction : directions) {
        gains.push_back(gainAlong(direction.left, matrix, cols));
    }
    return gains;
}

} // namespace nanscope::replay
