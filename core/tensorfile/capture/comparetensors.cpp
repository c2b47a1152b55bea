// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/capture/comparetensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/tensorfile/convert.h"
#include "core/tensorfile/tensorsource.h"
#include "core/tensorfile/tensorstream.h"

namespace nanscope::tensorfile {

namespace {

/// Sign and magnitude as one number that counts the steps from zero.
std::int64_t stepsFromZero(std::uint64_t bits, std::size_t width)
{
    const auto sign = std::uint64_t {1} << (8 * width - 1);
    const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
    return (bits & sign) != 0 ? -magnitude : magnitude;
}

enum class Kind { finite, nan, posInf, negInf };

Kind kindOf(double value)
{
    if (std::isnan(value)) {
        return Kind::nan;
    }
    return std::isfinite(value) ? Kind::finite : value > 0 ? Kind::posInf : Kind::negInf;
}

void countUlps(UlpCounts& counts, std::uint64_t distance)
{
    auto& bin = distance == 0 ? counts.signedZero
        : distance == 1       ? counts.one
        : distance <= 10      ? counts.few
                              : counts.many;
    ++bin;
    counts.largest = std::max(counts.largest, distance);
}

void addCounts(UlpCounts& sum, const UlpCounts& more)
{
    sum.signedZero += more.signedZero;
    sum.one += more.one;
    sum.few += more.few;
    sum.many += more.many;
    sum.largest = std::max(sum.largest, more.largest);
}

std::uint64_t bitsAt(const std::byte* bits, std::size_t index, std::size_t width)
{
    std::uint64_t value = 0;
    std::memcpy(&value, bits + index * width, width);
    return value;
}

/// Compares one matrix of a with the same of b, block after block as they lie in a's file.
class MatrixComparison
{
public:
    MatrixComparison(
        const Tensor& a, const Tensor& b, std::int64_t batch, std::shared_ptr<const platform::FileReader> fileB)
        : m_a(a)
        , m_b(b)
        , m_batch(batch)
        , m_fileB(std::move(fileB))
        , m_width(sizeOf(a.dtype()))
    {
        if (isFloating(a.dtype())) {
            m_result.ulps.emplace();
        }
    }

    Result<MatrixDifference> run(TensorStream& stream)
    {
        m_transposed = stream.transposed();
        Result<void> other;
        const auto read = stream.matrix(m_batch, [&](const TensorBlock& block) {
            if (other) {
                other = compare(block);
            }
        });
        TRY(read);
        TRY(other);
        m_result.count = m_a.matrices().elements();
        if (m_first >= 0) {
            m_result.first->index = m_batch * m_result.count + m_first;
        }
        return m_result;
    }

private:
    Result<void> compare(const TensorBlock& block)
    {
        m_bitsB.resize(block.elements() * m_width);
        TRY(readOther(block));
        if (std::memcmp(block.bits, m_bitsB.data(), m_bitsB.size()) != 0) {
            compareElements(block);
        }
        return {};
    }

    /// The same elements of b, in the order of a's block.
    Result<void> readOther(const TensorBlock& block)
    {
        const auto part = m_transposed
            ? m_b.part(m_batch, block.firstPosition, block.positions, block.firstLine, block.lines)
            : m_b.part(m_batch, block.firstLine, block.lines, block.firstPosition, block.positions);
        auto stream = TRY(TensorStream::open(part, m_fileB));
        const bool turned = stream.transposed() != m_transposed;
        return stream.matrix(0, [&](const TensorBlock& other) { place(other, block, turned); });
    }

    void place(const TensorBlock& other, const TensorBlock& block, bool turned)
    {
        for (std::int64_t line = 0; line < other.lines; ++line) {
            const auto* const from = other.bits + static_cast<std::size_t>(line * other.positions) * m_width;
            const auto at = other.firstLine + line;
            if (!turned) {
                const auto to = at * block.positions + other.firstPosition;
                std::memcpy(slot(to), from, static_cast<std::size_t>(other.positions) * m_width);
                continue;
            }
            for (std::int64_t i = 0; i < other.positions; ++i) {
                const auto to = (other.firstPosition + i) * block.positions + at;
                std::memcpy(slot(to), from + static_cast<std::size_t>(i) * m_width, m_width);
            }
        }
    }

    std::byte* slot(std::int64_t element) { return m_bitsB.data() + static_cast<std::size_t>(element) * m_width; }

    void compareElements(const TensorBlock& block)
    {
        const auto count = block.elements();
        m_valuesA.resize(count);
        m_valuesB.resize(count);
        convert(m_a.dtype(), block.bits, count, m_valuesA.data());
        convert(m_a.dtype(), m_bitsB.data(), count, m_valuesB.data());
        for (std::size_t i = 0; i < count; ++i) {
            const auto a = bitsAt(block.bits, i, m_width);
            const auto b = bitsAt(m_bitsB.data(), i, m_width);
            if (a != b) {
                noteFirst(flatIndex(block, static_cast<std::int64_t>(i)), m_valuesA[i], m_valuesB[i]);
                noteDifference(a, b, m_valuesA[i], m_valuesB[i]);
            }
        }
    }

    std::int64_t flatIndex(const TensorBlock& block, std::int64_t element) const
    {
        const auto line = block.firstLine + element / block.positions;
        const auto position = block.firstPosition + element % block.positions;
        const auto cols = m_a.matrices().cols;
        return m_transposed ? position * cols + line : line * cols + position;
    }

    void noteFirst(std::int64_t flat, double a, double b)
    {
        if (m_first < 0 || flat < m_first) {
            m_first = flat;
            m_result.first = FirstDifference {0, a, b};
        }
    }

    void noteDifference(std::uint64_t bitsA, std::uint64_t bitsB, double a, double b)
    {
        ++m_result.differing;
        const auto kindA = kindOf(a);
        const auto kindB = kindOf(b);
        m_result.classChanges += kindA != kindB ? 1 : 0;
        m_result.nanBits += kindA == Kind::nan && kindB == Kind::nan ? 1 : 0;
        if (kindA != Kind::finite || kindB != Kind::finite) {
            return;
        }
        m_result.largest = std::max(m_result.largest, std::abs(a - b));
        if (const auto distance = ulpDistance(m_a.dtype(), bitsA, bitsB)) {
            countUlps(*m_result.ulps, *distance);
        }
    }

    const Tensor& m_a;
    const Tensor& m_b;
    std::int64_t m_batch;
    std::shared_ptr<const platform::FileReader> m_fileB;
    std::size_t m_width;
    bool m_transposed = false;
    std::int64_t m_first = -1;
    MatrixDifference m_result;
    std::vector<std::byte> m_bitsB;
    std::vector<double> m_valuesA;
    std::vector<double> m_valuesB;
};

Result<std::shared_ptr<const platform::FileReader>> openFileOf(const Tensor& tensor)
{
    if (tensor.source() == nullptr) {
        return failure(ErrorKind::usage, "The tensor belongs to no file");
    }
    return tensor.source()->reopen().map(
        [](platform::FileReader file) { return std::make_shared<const platform::FileReader>(std::move(file)); });
}

std::string whyNotComparable(const Tensor& a, const Tensor& b)
{
    if (a.shape() != b.shape() || a.dtype() != b.dtype()) {
        return fmt::format("{} {} against {} {}", shapeText(a.shape()), shortName(a.dtype()), shapeText(b.shape()),
            shortName(b.dtype()));
    }
    return isReal(a.dtype()) ? "" : "complex numbers are not compared";
}

} // namespace

std::optional<std::uint64_t> ulpDistance(DType dtype, std::uint64_t a, std::uint64_t b)
{
    if (!isFloating(dtype)) {
        return std::nullopt;
    }
    // This one type is all exponent: it has no sign.
    if (dtype == DType::float8_e8m0fnu) {
        return a > b ? a - b : b - a;
    }
    const auto one = stepsFromZero(a, sizeOf(dtype));
    const auto other = stepsFromZero(b, sizeOf(dtype));
    const auto low = static_cast<std::uint64_t>(std::min(one, other));
    return static_cast<std::uint64_t>(std::max(one, other)) - low;
}

MatrixDifference TensorDifference::total() const
{
    MatrixDifference sum;
    for (const auto& batch : batches) {
        sum.count += batch.count;
        sum.differing += batch.differing;
        sum.classChanges += batch.classChanges;
        sum.nanBits += batch.nanBits;
        sum.largest = std::max(sum.largest, batch.largest);
        sum.first = sum.first ? sum.first : batch.first;
        if (batch.ulps) {
            addCounts(sum.ulps ? *sum.ulps : sum.ulps.emplace(), *batch.ulps);
        }
    }
    return sum;
}

Result<TensorDifference> compareTensors(std::string_view name, const Tensor& a, const Tensor& b)
{
    TensorDifference difference {std::string(name), whyNotComparable(a, b), {}};
    if (!difference.problem.empty()) {
        return difference;
    }
    auto stream = TRY(TensorStream::open(a));
    auto fileB = TRY(openFileOf(b));
    for (std::int64_t batch = 0; batch < a.matrices().batch; ++batch) {
        difference.batches.push_back(TRY(MatrixComparison(a, b, batch, fileB).run(stream)));
    }
    return difference;
}

Result<std::vector<TensorDifference>> compareCaptures(const CaptureFile& a, const CaptureFile& b)
{
    std::vector<TensorDifference> differences;
    differences.push_back(TRY(compareTensors("input", a.input, b.input)));
    if (a.output.has_value() != b.output.has_value()) {
        differences.push_back({"output", "only one side has it", {}});
    } else if (a.output) {
        differences.push_back(TRY(compareTensors("output", *a.output, *b.output)));
    }
    return differences;
}

} // namespace nanscope::tensorfile
