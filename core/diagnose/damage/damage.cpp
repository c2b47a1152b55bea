// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/damage/damage.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/diagnose/damage/damagenames.h"
#include "core/tensorfile/convert.h"
#include "core/tensorfile/tensorstream.h"

namespace nanscope::diagnose {

namespace {

/// How often each bit pattern of a NaN occurs; of a stranger's million different ones, the first.
class NanBits
{
public:
    void add(const std::byte* bits, std::size_t width)
    {
        std::uint64_t word = 0;
        std::memcpy(&word, bits, std::min(width, sizeof(word)));
        if (const auto known = m_counts.find(word); known != m_counts.end()) {
            ++known->second;
        } else if (constexpr std::size_t most = 4096; m_counts.size() < most) {
            m_counts.emplace(word, 1);
        }
    }

    std::vector<std::pair<std::uint64_t, std::int64_t>> mostFrequent() const
    {
        std::vector<std::pair<std::uint64_t, std::int64_t>> counts(m_counts.begin(), m_counts.end());
        std::stable_sort(
            counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
        // The most frequent few tell a constant from arithmetic; a list of payloads would not.
        constexpr std::size_t shown = 4;
        counts.resize(std::min(counts.size(), shown));
        return counts;
    }

private:
    std::map<std::uint64_t, std::int64_t> m_counts;
};

/// Meets every damaged value: row, column, kind and bits.
using DamageSink = std::function<void(std::int64_t, std::int64_t, Damage, const std::byte*)>;

/// Through one small buffer: the matrix may be larger than the memory.
Result<void> readDamage(
    tensorfile::TensorStream& stream, const tensorfile::Tensor& tensor, std::int64_t batch, const DamageSink& sink)
{
    const auto width = sizeOf(tensor.dtype());
    std::vector<double> values;
    return stream.matrix(batch, [&](const tensorfile::TensorBlock& block) {
        values.resize(block.elements());
        tensorfile::convert(tensor.dtype(), block.bits, block.elements(), values.data());
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto damage = damageOf(values[i]);
            if (damage == Damage::none) {
                continue;
            }
            const auto line = block.firstLine + static_cast<std::int64_t>(i) / block.positions;
            const auto position = block.firstPosition + static_cast<std::int64_t>(i) % block.positions;
            const auto* bits = block.bits + i * width;
            stream.transposed() ? sink(position, line, damage, bits) : sink(line, position, damage, bits);
        }
    });
}

Result<DamagePattern> patternOf(tensorfile::TensorStream& stream, const tensorfile::Tensor& tensor, std::int64_t batch)
{
    const auto shape = tensor.matrices();
    const auto width = sizeOf(tensor.dtype());
    DamageTally tally(shape.rows, shape.cols);
    NanBits nans;
    const auto sink = [&](std::int64_t row, std::int64_t col, Damage damage, const std::byte* bits) {
        tally.add(row, col, damage);
        if (damage == Damage::nan) {
            nans.add(bits, width);
        }
    };
    return readDamage(stream, tensor, batch, sink).map([&] {
        auto pattern = patternOf(tally);
        pattern.batch = static_cast<int>(batch);
        pattern.nanBits = nans.mostFrequent();
        return pattern;
    });
}

/// Where one matrix of a batch alone is damaged, its neighbours speak for shape and epsilon.
void nameTheOnlyOne(std::vector<DamagePattern>& patterns)
{
    const auto damaged = [](const DamagePattern& pattern) { return pattern.count > 0; };
    if (patterns.size() > 1 && std::ranges::count_if(patterns, damaged) == 1) {
        const auto others = patterns.size() - 1;
        auto& only = *std::ranges::find_if(patterns, damaged);
        only.text += others == 1
            ? fmt::format(" in element {} of the batch; the other one is finite", only.batch)
            : fmt::format(" in element {} of the batch; the other {} are finite", only.batch, others);
    }
}

Result<tensorfile::TensorStream> openDamage(const tensorfile::CaptureFile& capture, const tensorfile::Tensor& tensor)
{
    if (!tensorfile::isReal(tensor.dtype())) {
        return failure(
            ErrorKind::unsupported, "the tensor holds complex numbers, which nothing replays", capture.capture.path);
    }
    return tensorfile::TensorStream::open(tensor);
}

const tensorfile::Tensor& damagedTensor(const tensorfile::CaptureFile& capture)
{
    return capture.output ? *capture.output : capture.input;
}

/// `lineOf` tells which of `count` lines an element lies in.
template <class LineOf>
bool damagedInFaintLines(const Element& element, std::int64_t count, LineOf lineOf)
{
    std::vector<double> squares(static_cast<std::size_t>(count));
    std::vector<bool> damaged(squares.size());
    for (std::int64_t at = 0; at < element.shape.elements(); ++at) {
        const auto line = static_cast<std::size_t>(lineOf(at));
        const auto i = static_cast<std::size_t>(at);
        squares[line] += element.input[i] * element.input[i];
        damaged[line] = damaged[line] || damageOf(element.output[i]) != Damage::none;
    }
    const double middle = quantileOf(squares);
    constexpr double faint = 0x1p-20; // of squares
    bool any = false;
    for (std::size_t line = 0; line < squares.size(); ++line) {
        if (damaged[line] && squares[line] >= faint * middle) {
            return false;
        }
        any = any || damaged[line];
    }
    return any;
}

} // namespace

DamagePattern describeDamage(std::span<const double> output, std::int64_t rows, std::int64_t cols)
{
    DamageTally tally(rows, cols);
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < cols; ++c) {
            const auto damage = damageOf(output[static_cast<std::size_t>(r * cols + c)]);
            if (damage != Damage::none) {
                tally.add(r, c, damage);
            }
        }
    }
    return patternOf(tally);
}

bool damagedWhereInputIsZero(const Element& element)
{
    bool any = false;
    for (std::size_t at = 0; at < element.output.size(); ++at) {
        if (damageOf(element.output[at]) != Damage::none) {
            any = true;
            if (element.input[at] != 0) {
                return false;
            }
        }
    }
    return any && !element.inputScan.allZero();
}

bool damagedInOwnBlock(const Element& element, const DamagePattern& damage)
{
    if (damage.shape != DamageShape::rectangle) {
        return false;
    }
    bool within = false;
    bool without = false;
    for (std::int64_t at = 0; at < element.shape.elements(); ++at) {
        const auto row = at / element.shape.cols;
        const auto col = at % element.shape.cols;
        const bool inRows = row >= damage.rowBegin && row < damage.rowEnd;
        const bool inCols = col >= damage.colBegin && col < damage.colEnd;
        const bool zero = element.input[static_cast<std::size_t>(at)] == 0;
        if (inRows != inCols && !zero) {
            return false;
        }
        within = within || (inRows && inCols && !zero);
        without = without || (!inRows && !inCols && !zero);
    }
    return within && without;
}

bool damagedInOutlyingBlock(const Element& element, const DamagePattern& damage)
{
    constexpr double apart = 0x1p12; // of squares
    constexpr std::size_t fewest = 4;
    const auto height = damage.rowEnd - damage.rowBegin;
    const auto width = damage.colEnd - damage.colBegin;
    if (damage.shape != DamageShape::rectangle || height <= 0 || width <= 0) {
        return false;
    }
    const auto squaresFrom = [&](std::int64_t top, std::int64_t left) {
        double squares = 0;
        for (auto row = top; row < top + height; ++row) {
            for (auto col = left; col < left + width; ++col) {
                const auto value = element.input[static_cast<std::size_t>(row * element.shape.cols + col)];
                squares += value * value;
            }
        }
        return squares;
    };
    std::vector<double> all;
    for (auto top = damage.rowBegin % height; top + height <= element.shape.rows; top += height) {
        for (auto left = damage.colBegin % width; left + width <= element.shape.cols; left += width) {
            all.push_back(squaresFrom(top, left));
        }
    }
    if (all.size() < fewest) {
        return false;
    }
    const double middle = quantileOf(std::move(all));
    const auto own = squaresFrom(damage.rowBegin, damage.colBegin);
    return own * apart < middle || own > middle * apart;
}

bool damagedInFaintLines(const Element& element)
{
    const auto cols = element.shape.cols;
    return damagedInFaintLines(element, element.shape.rows, [cols](std::int64_t at) { return at / cols; })
        || damagedInFaintLines(element, cols, [cols](std::int64_t at) { return at % cols; });
}

Result<std::vector<DamagePattern>> damagePatterns(const tensorfile::CaptureFile& capture)
{
    const auto& tensor = damagedTensor(capture);
    auto stream = TRY(openDamage(capture, tensor));
    std::vector<DamagePattern> patterns;
    for (std::int64_t batch = 0; batch < tensor.matrices().batch; ++batch) {
        patterns.push_back(TRY(patternOf(stream, tensor, batch)));
    }
    nameTheOnlyOne(patterns);
    return patterns;
}

Result<std::optional<replay::BadBlocks>> damagedBlocks(
    const tensorfile::CaptureFile& capture, std::int64_t batch, std::size_t mostLines)
{
    const auto& tensor = damagedTensor(capture);
    auto stream = TRY(openDamage(capture, tensor));
    const auto shape = tensor.matrices();
    DamageTally tally(shape.rows, shape.cols);
    const auto sink = [&](std::int64_t row, std::int64_t col, Damage damage, const std::byte* /*bits*/) {
        tally.add(row, col, damage);
    };
    return readDamage(stream, tensor, batch, sink).map([&] { return tally.blocks(mostLines); });
}

} // namespace nanscope::diagnose
