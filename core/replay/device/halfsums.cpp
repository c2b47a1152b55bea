// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/device/halfsums.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "core/replay/device/ranges.h"
#include "core/replay/program/formats.h"
#include "core/replay/program/vectorclones.h"

namespace nanscope::replay {

namespace {

/// Sums that are computed at once, side by side and one below the other.
constexpr std::int64_t sumsWide = 64;
constexpr std::int64_t sumsHigh = 16;

/// sums[j] += a[k] b[k][j] by rising k. A product of two numbers of fp16 is exact in fp32, so that a fused multiply-add
/// gives the same bits as a product and a sum.
NANSCOPE_VECTOR_CLONES void addProducts(const float* a, std::int64_t count, const float* b, float* sums)
{
    float held[sumsWide];
    for (std::int64_t j = 0; j < sumsWide; ++j) {
        held[j] = sums[j];
    }
    for (std::int64_t k = 0; k < count; ++k) {
        for (std::int64_t j = 0; j < sumsWide; ++j) {
            held[j] += a[k] * b[k * sumsWide + j];
        }
    }
    for (std::int64_t j = 0; j < sumsWide; ++j) {
        sums[j] = held[j];
    }
}

class HalfSums
{
public:
    HalfSums(const HalfSumProduct& product, int threads, const CancelToken& cancel)
        : m_product(product)
        , m_shape(product.shape)
        , m_alpha(static_cast<float>(roundTo(Precision::fp16, product.alpha)))
        , m_beta(static_cast<float>(roundTo(Precision::fp16, product.beta)))
        , m_panels((m_shape.cols + sumsWide - 1) / sumsWide)
        , m_b(static_cast<std::size_t>(m_panels * m_shape.inner * sumsWide))
    {
        forRanges(m_panels, 1, threads, cancel, [this](const Range& range) { packPanel(range.begin); });
        forRanges(m_shape.rows, sumsHigh, threads, cancel, [this](const Range& rows) { computeRows(rows); });
    }

private:
    const float* panel(std::int64_t index) const
    {
        return m_b.data() + static_cast<std::size_t>(index * m_shape.inner * sumsWide);
    }

    /// Columns of b beside each other, zeros beyond the last.
    void packPanel(std::int64_t index)
    {
        auto* to = m_b.data() + static_cast<std::size_t>(index * m_shape.inner * sumsWide);
        const auto first = index * sumsWide;
        const auto width = std::min(sumsWide, m_shape.cols - first);
        for (std::int64_t j = 0; j < width; ++j) {
            const auto col = first + j;
            for (std::int64_t k = 0; k < m_shape.inner; ++k) {
                to[k * sumsWide + j] =
                    m_shape.transposeB ? m_shape.b[col * m_shape.inner + k] : m_shape.b[k * m_shape.cols + col];
            }
        }
    }

    std::vector<float> packedRows(const Range& rows) const
    {
        std::vector<float> packed(static_cast<std::size_t>((rows.end - rows.begin) * m_shape.inner));
        auto* to = packed.data();
        for (auto row = rows.begin; row < rows.end; ++row) {
            for (std::int64_t k = 0; k < m_shape.inner; ++k) {
                *to++ = m_shape.transposeA ? m_shape.a[k * m_shape.rows + row] : m_shape.a[row * m_shape.inner + k];
            }
        }
        return packed;
    }

    void computeRows(const Range& rows) const
    {
        const auto a = packedRows(rows);
        for (std::int64_t index = 0; index < m_panels; ++index) {
            std::array<float, sumsHigh * sumsWide> sums {};
            for (std::int64_t k = 0; k < m_shape.inner; k += productsPerHalfSum) {
                addBlock(a.data() + k, panel(index) + k * sumsWide, std::min(productsPerHalfSum, m_shape.inner - k),
                    rows.end - rows.begin, sums);
            }
            store(rows, index * sumsWide, sums);
        }
    }

    void addBlock(const float* a, const float* b, std::int64_t count, std::int64_t rows,
        std::array<float, sumsHigh * sumsWide>& sums) const
    {
        for (std::int64_t row = 0; row < rows; ++row) {
            addProducts(a + row * m_shape.inner, count, b, sums.data() + row * sumsWide);
        }
        roundTo(Precision::fp16, std::span(sums).first(static_cast<std::size_t>(rows * sumsWide)));
    }

    void store(const Range& rows, std::int64_t firstCol, std::span<const float> sums) const
    {
        const auto width = std::min(sumsWide, m_shape.cols - firstCol);
        for (auto row = rows.begin; row < rows.end; ++row) {
            const auto at = row * m_shape.cols + firstCol;
            const std::span out(m_shape.out + at, static_cast<std::size_t>(width));
            const auto* from = sums.data() + (row - rows.begin) * sumsWide;
            std::transform(from, from + width, out.begin(), [this](float sum) { return m_alpha * sum; });
            if (m_product.c != nullptr) {
                std::transform(out.begin(), out.end(), m_product.c + at, out.begin(),
                    [this](float scaled, float added) { return scaled + m_beta * added; });
            }
            roundTo(Precision::fp16, out);
        }
    }

    const HalfSumProduct& m_product;
    const GemmShape<float>& m_shape;
    float m_alpha;
    float m_beta;
    std::int64_t m_panels;
    std::vector<float> m_b;
};

} // namespace

void multiplyInHalfSums(const HalfSumProduct& product, int threads, const CancelToken& cancel)
{
    const HalfSums computed(product, threads, cancel);
}

} // namespace nanscope::replay
