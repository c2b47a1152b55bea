// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/analysis/singularsystem.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <iterator>
#include <thread>
#include <utility>

#include <Eigen/Eigenvalues>

#include "core/replay/device/gemm.h"
#include "core/replay/engine/spectrum.h"

namespace nanscope::replay {

namespace {

int allThreads()
{
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

double largestOf(ValueView matrix)
{
    double largest = 0;
    for (const double value : matrix) {
        largest = std::max(largest, std::abs(value));
    }
    return largest;
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
    using Made = std::shared_ptr<const SingularSystem>;
    std::packaged_task<Made()> task([own = std::vector<double>(matrix.begin(), matrix.end()), shape]() mutable {
        return std::make_shared<const SingularSystem>(std::move(own), shape);
    });
    auto made = task.get_future();
    std::thread(std::move(task)).detach();
    constexpr auto between = std::chrono::milliseconds(2);
    while (made.wait_for(between) != std::future_status::ready) {
        if (cancel.cancelled()) {
            return nullptr;
        }
    }
    return made.get();
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

/// X X^T, or X^T X of a tall matrix.
std::vector<double> gramOf(std::span<const double> x, const MatrixShape& shape, const CancelToken& cancel)
{
    const bool tall = shape.rows > shape.cols;
    const auto n = std::min(shape.rows, shape.cols);
    std::vector<double> gram(static_cast<std::size_t>(n * n));
    GemmShape<double> product {x.data(), x.data(), gram.data(), n, n, std::max(shape.rows, shape.cols), tall, !tall};
    gemmSymmetric(product, allThreads(), cancel);
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

Eigenbasis basisHere(
    ValueView matrix, double scale, const MatrixShape& shape, const SampledPlaces& places, const CancelToken& cancel)
{
    std::vector<double> scaled(matrix.begin(), matrix.end());
    if (scale != 1) {
        std::ranges::for_each(scaled, [scale](double& value) { value /= scale; });
    }
    auto block = Sides(scaled, shape, places).take();
    auto gram = gramOf(scaled, shape, cancel);
    auto narrow = reduceToTridiagonal(gram, std::min(shape.rows, shape.cols), block, cancel);
    std::vector<double>().swap(gram);
    auto values = diagonalise(std::move(narrow), block, cancel);
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
    const double scale = scaleOf(matrix);
    const bool there = device != nullptr && scale == 1;
    auto basis = there ? basisOn(*device, matrix, shape, places) : std::nullopt;
    if (!basis && !cancel.cancelled()) {
        basis = basisHere(matrix, scale, shape, places, cancel);
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
