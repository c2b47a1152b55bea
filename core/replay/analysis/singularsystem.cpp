// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/analysis/singularsystem.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <thread>
#include <utility>

#include <Eigen/Eigenvalues>

namespace nanscope::replay {

namespace {

int allThreads()
{
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

double largestOf(std::span<const double> matrix)
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

} // namespace nanscope::replay
