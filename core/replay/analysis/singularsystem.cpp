// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/analysis/singularsystem.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include <Eigen/Eigenvalues>

#include "core/base/abandon.h"
#include "core/base/aligned.h"
#include "core/replay/device/gemm.h"
#include "core/replay/device/ranges.h"
#include "core/replay/engine/spectrum.h"

namespace nanscope::replay {

namespace {

double largestOf(ValueView matrix)
{
    return matrix.visit([](auto values) {
        double largest = 0;
        for (const double value : values) {
            largest = std::max(largest, std::abs(value));
        }
        return largest;
    });
}

} // namespace

SingularSystem::SingularSystem(std::vector<double> matrix, const MatrixShape& shape)
    : m_shape(shape)
    , m_small(std::min(shape.rows, shape.cols))
{
    // Scaled by the largest element, or the squares of a huge or tiny matrix leave the range of double.
    m_scale = largestOf(matrix);
    std::ranges::for_each(matrix, [this](double& value) { value /= m_scale; });
    Eigen::MatrixXd gram(m_small, m_small);
    GemmShape<double> product {matrix.data(), matrix.data(), gram.data(), m_small, m_small,
        std::max(shape.rows, shape.cols), shape.rows > shape.cols, shape.rows <= shape.cols};
    gemm(product, allThreads());
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(gram);
    for (const double square : solver.eigenvalues()) {
        m_values.push_back(m_scale * std::sqrt(std::max(0.0, square)));
    }
    // Eigen's columns lie one after the other: rows of row-major memory.
    const auto& vectors = solver.eigenvectors();
    m_vectors.assign(vectors.data(), vectors.data() + vectors.size());
    project(matrix);
}

std::shared_ptr<const SingularSystem> SingularSystem::of(
    ValueView matrix, const MatrixShape& shape, const CancelToken& cancel)
{
    if (cancel.cancelled()) {
        return nullptr; // a large matrix is not even copied
    }
    auto work = [own = std::vector<double>(matrix.begin(), matrix.end()), shape]() mutable {
        return std::make_shared<const SingularSystem>(std::move(own), shape);
    };
    return unlessCancelled(std::move(work), cancel).value_or(nullptr);
}

GemmShape<float> SingularSystem::productInto(std::vector<float>& out) const
{
    GemmShape<float> product;
    product.out = out.data();
    product.inner = m_small;
    product.rows = m_shape.rows;
    product.cols = m_shape.cols;
    return product;
}

void SingularSystem::project(std::span<const double> scaled)
{
    const std::vector<float> x(scaled.begin(), scaled.end());
    const bool tall = m_shape.rows > m_shape.cols;
    m_projected.resize(x.size());
    auto product = productInto(m_projected);
    product.a = tall ? x.data() : m_vectors.data();
    product.b = tall ? m_vectors.data() : x.data();
    product.transposeB = tall;
    gemm(product, allThreads());
}

std::vector<double> SingularSystem::amplified(std::span<const double> gains, const CancelToken& cancel) const
{
    auto gained = m_vectors;
    for (std::int64_t i = 0; i < m_small; ++i) {
        const auto row = gained.begin() + i * m_small;
        const auto gain = static_cast<float>(m_scale * gains[static_cast<std::size_t>(i)]);
        std::for_each(row, row + m_small, [gain](float& value) { value *= gain; });
    }
    std::vector<float> out(m_projected.size());
    const bool tall = m_shape.rows > m_shape.cols;
    auto product = productInto(out);
    product.a = tall ? m_projected.data() : gained.data();
    product.b = tall ? gained.data() : m_projected.data();
    product.transposeA = !tall;
    gemm(product, allThreads(), cancel);
    return {out.begin(), out.end()};
}

namespace {

/// 1, or the largest magnitude of X where the squares of X itself would leave the range of double.
double scaleOf(ValueView matrix)
{
    const double largest = largestOf(matrix);
    return largest > 1e-100 && largest < 1e100 ? 1 : largest;
}

/// Some columns of X, of a tall one some rows, in doubles.
std::vector<double> panelOf(ValueView x, const MatrixShape& shape, std::int64_t first, std::int64_t count)
{
    const bool tall = shape.rows > shape.cols;
    const auto rows = tall ? count : shape.rows;
    const auto cols = tall ? shape.cols : count;
    std::vector<double> panel(static_cast<std::size_t>(rows * cols));
    x.visit([&](auto values) {
        for (std::int64_t row = 0; row < rows; ++row) {
            const auto* from = values.data() + (tall ? (first + row) * cols : row * shape.cols + first);
            std::copy_n(from, cols, panel.data() + row * cols);
        }
    });
    return panel;
}

/// X X^T, or X^T X of a tall matrix: panel by panel, since X in doubles is the largest of all that a verdict would
/// hold.
AlignedVector<double> gramOf(ValueView x, const MatrixShape& shape, const CancelToken& cancel, const ShareDone& told)
{
    constexpr std::int64_t longest = 4096;
    const bool tall = shape.rows > shape.cols;
    const auto n = std::min(shape.rows, shape.cols);
    const auto m = std::max(shape.rows, shape.cols);
    AlignedVector<double> gram(static_cast<std::size_t>(n * n));
    std::vector<double> next(m > longest ? gram.size() : 0);
    for (std::int64_t first = 0; first < m && !cancel.cancelled(); first += longest) {
        const auto count = std::min(longest, m - first);
        const auto panel = panelOf(x, shape, first, count);
        auto* out = first == 0 ? gram.data() : next.data();
        const auto whole = static_cast<double>(m);
        const GemmShape<double> product {panel.data(), panel.data(), out, n, n, count, tall, !tall};
        gemmSymmetric(product, allThreads(), cancel,
            partOf(told, static_cast<double>(first) / whole, static_cast<double>(first + count) / whole));
        if (first > 0) {
            std::ranges::transform(gram, next, gram.begin(), std::plus());
        }
    }
    return gram;
}

/// What the sampled lines and columns are on the smaller side of X: a column of the block each.
class Sides
{
public:
    Sides(ValueView x, const MatrixShape& shape, const SampledPlaces& places)
        : m_x(x)
        , m_shape(shape)
        , m_tall(shape.rows > shape.cols)
    {
        m_block.width = static_cast<std::int64_t>(places.lines() + places.cols.size());
        m_block.values.resize(static_cast<std::size_t>(std::min(shape.rows, shape.cols) * m_block.width), 0);
        std::int64_t next = 0;
        for (const auto row : places.rows) {
            addRow(row, 1, next++);
        }
        for (const auto& sum : places.sums) {
            for (std::int64_t row = 0; row < shape.rows; ++row) {
                addRow(row, sum[static_cast<std::size_t>(row)], next);
            }
            ++next;
        }
        for (const auto col : places.cols) {
            addColumn(col, next++);
        }
    }

    Block take() { return std::move(m_block); }

private:
    double& at(std::int64_t row, std::int64_t col)
    {
        return m_block.values[static_cast<std::size_t>(row * m_block.width + col)];
    }

    double x(std::int64_t row, std::int64_t col) const
    {
        return m_x[static_cast<std::size_t>(row * m_shape.cols + col)];
    }

    void addRow(std::int64_t row, double weight, std::int64_t to)
    {
        if (!m_tall) {
            at(row, to) += weight;
            return;
        }
        for (std::int64_t c = 0; weight != 0 && c < m_shape.cols; ++c) {
            at(c, to) += weight * x(row, c);
        }
    }

    void addColumn(std::int64_t col, std::int64_t to)
    {
        if (m_tall) {
            at(col, to) = 1;
            return;
        }
        for (std::int64_t r = 0; r < m_shape.rows; ++r) {
            at(r, to) = x(r, col);
        }
    }

    ValueView m_x;
    const MatrixShape& m_shape;
    bool m_tall;
    Block m_block;
};

std::optional<Eigenbasis> basisOn(
    Device& device, ValueView matrix, const MatrixShape& shape, const SampledPlaces& places)
{
    const auto block = Sides(matrix, shape, places).take();
    return device.eigenbasisOfGram(matrix, shape, block.values);
}

/// At which share of the whole time its parts end.
struct Ends
{
    double gram = 0;
    double reduction = 0;
};

/// As they relate to each other on two cores with AVX-512: GFLOP/s of the product, of the reduction, which reads the
/// matrix once for each column, and of the rotations.
Ends endsOf(const MatrixShape& shape, std::int64_t columns)
{
    constexpr double ofProduct = 40;
    constexpr double ofReduction = 8;
    constexpr double ofRotations = 8;
    const auto n = static_cast<double>(std::min(shape.rows, shape.cols));
    const auto m = static_cast<double>(std::max(shape.rows, shape.cols));
    const double gram = n * n * m / (ofProduct * allThreads());
    const double reduction = 4 * n * n * n / 3 / ofReduction;
    const double rotations = 6 * n * n * static_cast<double>(columns) / ofRotations;
    const double all = gram + reduction + rotations;
    return {gram / all, (gram + reduction) / all};
}

Eigenbasis basisHere(ValueView matrix, double scale, const MatrixShape& shape, const SampledPlaces& places,
    const CancelToken& cancel, const ShareDone& told)
{
    std::vector<double> scaled;
    if (scale != 1) {
        scaled.assign(matrix.begin(), matrix.end());
        std::ranges::for_each(scaled, [scale](double& value) { value /= scale; });
    }
    const auto x = scale != 1 ? ValueView(scaled) : matrix;
    auto block = Sides(x, shape, places).take();
    const auto ends = endsOf(shape, block.width);
    auto gram = gramOf(x, shape, cancel, partOf(told, 0, ends.gram));
    auto narrow = reduceToTridiagonal(
        gram, std::min(shape.rows, shape.cols), block, cancel, partOf(told, ends.gram, ends.reduction));
    AlignedVector<double>().swap(gram);
    auto values = diagonalise(std::move(narrow), block, cancel, partOf(told, ends.reduction, 1));
    return {std::move(values), std::move(block.values)};
}

/// `count` of the columns that were rotated, `before` of which lie before them and `behind` behind.
std::vector<double> columnsOf(const Eigenbasis& basis, std::int64_t before, std::int64_t count, std::int64_t behind)
{
    std::vector<double> columns;
    columns.reserve(basis.values.size() * static_cast<std::size_t>(count));
    for (auto row = basis.rotated.begin(); row != basis.rotated.end(); row += before + count + behind) {
        columns.insert(columns.end(), row + before, row + before + count);
    }
    return columns;
}

} // namespace

std::optional<SampledSystem> SampledSystem::of(
    ValueView matrix, const MatrixShape& shape, const SampledPlaces& places, const CancelToken& cancel, Device* device)
{
    if (cancel.cancelled()) {
        return std::nullopt; // of a large matrix not even its scale is looked for
    }
    const double scale = scaleOf(matrix);
    const bool there = device != nullptr && scale == 1;
    auto basis = there ? basisOn(*device, matrix, shape, places) : std::nullopt;
    if (!basis && !cancel.cancelled()) {
        basis = basisHere(matrix, scale, shape, places, cancel, device != nullptr ? device->follower() : ShareDone());
    }
    if (cancel.cancelled() || basis->values.empty()) {
        return std::nullopt;
    }
    SampledSystem system;
    for (const double square : basis->values) {
        system.m_values.push_back(scale * std::sqrt(std::max(0.0, square)));
    }
    system.m_scale = scale;
    system.m_lineCount = static_cast<std::int64_t>(places.lines());
    system.m_columnCount = static_cast<std::int64_t>(places.cols.size());
    system.m_lines = columnsOf(*basis, 0, system.m_lineCount, system.m_columnCount);
    system.m_columns = columnsOf(*basis, system.m_lineCount, system.m_columnCount, 0);
    return system;
}

std::vector<double> SampledSystem::amplified(std::span<const double> gains) const
{
    auto gained = m_columns;
    auto value = gained.begin();
    for (const double gain : gains) {
        std::for_each(value, value + m_columnCount, [factor = m_scale * gain](double& one) { one *= factor; });
        value += m_columnCount;
    }
    std::vector<double> out(static_cast<std::size_t>(m_lineCount * m_columnCount));
    gemm(GemmShape<double> {m_lines.data(), gained.data(), out.data(), m_lineCount, m_columnCount,
             static_cast<std::int64_t>(m_values.size()), true, false},
        allThreads());
    return out;
}

} // namespace nanscope::replay
