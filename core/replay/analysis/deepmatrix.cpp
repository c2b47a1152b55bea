// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/analysis/deepmatrix.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <thread>

#include "core/replay/device/gemm.h"

namespace nanscope::replay {

namespace {

int allThreads()
{
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

std::vector<double> product(std::span<const double> a, std::span<const double> b, std::int64_t size)
{
    std::vector<double> out(a.size());
    gemm(GemmShape<double> {a.data(), b.data(), out.data(), size, size, size, false, false}, allThreads());
    return out;
}

std::optional<double> ratio(double part, double whole)
{
    const double value = part / whole;
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

} // namespace

double frobeniusOf(std::span<const double> matrix)
{
    double largest = 0;
    for (const double x : matrix) {
        largest = std::max(largest, std::abs(x));
    }
    if (largest == 0) {
        return 0;
    }
    double sum = 0;
    for (const double x : matrix) {
        sum += (x / largest) * (x / largest);
    }
    return largest * std::sqrt(sum);
}

std::optional<double> symmetryErrorOf(std::span<const double> matrix, std::int64_t size)
{
    std::vector<double> apart;
    const auto n = static_cast<std::size_t>(size);
    apart.reserve(n * n);
    for (std::size_t row = 0; row < n; ++row) {
        for (std::size_t col = 0; col < n; ++col) {
            apart.push_back(matrix[row * n + col] - matrix[col * n + row]);
        }
    }
    return ratio(frobeniusOf(apart), frobeniusOf(matrix));
}

std::optional<double> commutatorOf(std::span<const double> a, std::span<const double> b, std::int64_t size)
{
    auto apart = product(a, b, size);
    const auto other = product(b, a, size);
    std::transform(apart.begin(), apart.end(), other.begin(), apart.begin(), std::minus<>());
    return ratio(frobeniusOf(apart), frobeniusOf(a) * frobeniusOf(b));
}

std::vector<double> timesQ(const Program& program, std::span<const double> q, std::span<const double> x)
{
    const auto& shape = program.shape;
    const auto& plan = program.buffers[static_cast<std::size_t>(program.output)];
    const bool fromLeft = plan.rows <= plan.cols;
    // The transpose of a product is the product of the transposes the other way round.
    const bool qFirst = fromLeft != plan.transposed;
    std::vector<double> out(x.size());
    GemmShape<double> both;
    both.a = qFirst ? q.data() : x.data();
    both.b = qFirst ? x.data() : q.data();
    both.out = out.data();
    both.rows = shape.rows;
    both.cols = shape.cols;
    both.inner = std::min(shape.rows, shape.cols);
    (qFirst ? both.transposeA : both.transposeB) = plan.transposed;
    gemm(both, allThreads());
    return out;
}

} // namespace nanscope::replay
