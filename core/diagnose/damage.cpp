// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/damage.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "core/diagnose/diagnose.h"
#include "core/diagnose/element.h"
#include "core/tensorfile/convert.h"
#include "core/tensorfile/tensorstream.h"

namespace nanscope {

namespace {

struct Tally
{
    Tally(std::int64_t rows, std::int64_t cols)
        : perRow(static_cast<std::size_t>(rows), 0)
        , perCol(static_cast<std::size_t>(cols), 0)
    { }

    void add(std::int64_t row, std::int64_t col, Damage damage)
    {
        ++perRow[static_cast<std::size_t>(row)];
        ++perCol[static_cast<std::size_t>(col)];
        nan += damage == Damage::nan ? 1 : 0;
        posInf += damage == Damage::posInf ? 1 : 0;
        negInf += damage == Damage::negInf ? 1 : 0;
    }

    std::int64_t height() const { return std::ssize(perRow); }
    std::int64_t width() const { return std::ssize(perCol); }
    std::int64_t total() const { return nan + posInf + negInf; }

    std::vector<std::int64_t> perRow;
    std::vector<std::int64_t> perCol;
    std::int64_t nan = 0;
    std::int64_t posInf = 0;
    std::int64_t negInf = 0;
};

struct Extent
{
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t hit = 0; ///< how many lines in between hold damage

    std::int64_t length() const { return end - begin; }
};

Extent extentOf(const std::vector<std::int64_t>& lines)
{
    Extent extent;
    const auto damaged = [](std::int64_t count) { return count > 0; };
    extent.begin = std::find_if(lines.begin(), lines.end(), damaged) - lines.begin();
    extent.end = lines.rend() - std::find_if(lines.rbegin(), lines.rend(), damaged);
    extent.hit = std::count_if(lines.begin(), lines.end(), damaged);
    return extent;
}

std::string kinds(const Tally& t)
{
    std::vector<std::string_view> names;
    if (t.nan > 0) {
        names.emplace_back("NaN");
    }
    if (t.posInf > 0) {
        names.emplace_back("+Inf");
    }
    if (t.negInf > 0) {
        names.emplace_back("-Inf");
    }
    return fmt::format("{}", fmt::join(names, " or "));
}

std::string range(std::string_view what, const Extent& extent)
{
    if (extent.length() == 1) {
        return fmt::format("{} {}", what, extent.begin);
    }
    return fmt::format("{}s {}-{}", what, extent.begin, extent.end - 1);
}

std::string patternName(const Tally& t, const Extent& rows, const Extent& cols, std::int64_t height, std::int64_t width)
{
    const auto total = t.total();
    if (total == height * width) {
        return "whole element";
    }
    if (total == 1) {
        return "single element";
    }
    if (total == rows.hit * width) {
        return "rows";
    }
    if (total == cols.hit * height) {
        return "columns";
    }
    return total == rows.length() * cols.length() ? "rectangle" : "scattered";
}

std::string patternText(const DamagePattern& p, const Tally& t, const Extent& rows, const Extent& cols)
{
    const auto what = kinds(t);
    if (p.name == "whole element") {
        return fmt::format("every value is {}", what);
    }
    if (p.name == "single element") {
        return fmt::format("[{}, {}] is {}", rows.begin, cols.begin, what);
    }
    if (p.name == "rectangle") {
        return fmt::format("{} x {} are {}", range("row", rows), range("column", cols), what);
    }
    if (p.name == "rows" || p.name == "columns") {
        const auto& lines = p.name == "rows" ? rows : cols;
        const auto noun = p.name == "rows" ? "row" : "column";
        if (lines.hit == lines.length()) {
            return fmt::format("the whole of {} is {}", range(noun, lines), what);
        }
        return fmt::format("{} whole {}s within {}-{} are {}", lines.hit, noun, lines.begin, lines.end - 1, what);
    }
    return fmt::format("{} values within {} x {} are {}", p.count, range("row", rows), range("column", cols), what);
}

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

DamagePattern patternOf(const Tally& t)
{
    DamagePattern pattern;
    pattern.count = t.total();
    if (pattern.count == 0) {
        pattern.name = "none";
        pattern.text = "every value is finite";
        return pattern;
    }
    const auto rows = extentOf(t.perRow);
    const auto cols = extentOf(t.perCol);
    pattern.rowBegin = rows.begin;
    pattern.rowEnd = rows.end;
    pattern.colBegin = cols.begin;
    pattern.colEnd = cols.end;
    pattern.name = patternName(t, rows, cols, t.height(), t.width());
    pattern.text = patternText(pattern, t, rows, cols);
    return pattern;
}

/// Through one small buffer: the matrix may be larger than the memory.
Result<DamagePattern> patternOf(TensorStream& stream, const Tensor& tensor, std::int64_t batch)
{
    const auto shape = tensor.matrices();
    const auto width = sizeOf(tensor.dtype());
    Tally tally(shape.rows, shape.cols);
    NanBits nans;
    std::vector<double> values;
    const auto read = stream.matrix(batch, [&](const TensorBlock& block) {
        values.resize(block.elements());
        convert(tensor.dtype(), block.bits, block.elements(), values.data());
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto damage = damageOf(values[i]);
            if (damage == Damage::none) {
                continue;
            }
            const auto line = block.firstLine + static_cast<std::int64_t>(i) / block.positions;
            const auto position = block.firstPosition + static_cast<std::int64_t>(i) % block.positions;
            stream.transposed() ? tally.add(position, line, damage) : tally.add(line, position, damage);
            if (damage == Damage::nan) {
                nans.add(block.bits + i * width, width);
            }
        }
    });
    return read.map([&] {
        auto pattern = patternOf(tally);
        pattern.batch = static_cast<int>(batch);
        pattern.nanBits = nans.mostFrequent();
        return pattern;
    });
}

} // namespace

DamagePattern describeDamage(std::span<const double> output, std::int64_t rows, std::int64_t cols)
{
    Tally tally(rows, cols);
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

Result<std::vector<DamagePattern>> damagePatterns(const CaptureFile& capture)
{
    const auto& tensor = capture.output ? *capture.output : capture.input;
    if (!isReal(tensor.dtype())) {
        return failure(
            ErrorKind::unsupported, "the tensor holds complex numbers, which nothing replays", capture.capture.path);
    }
    auto stream = TensorStream::open(tensor);
    if (!stream) {
        return tl::make_unexpected(stream.error());
    }
    std::vector<DamagePattern> patterns;
    for (std::int64_t batch = 0; batch < tensor.matrices().batch; ++batch) {
        auto pattern = patternOf(*stream, tensor, batch);
        if (!pattern) {
            return tl::make_unexpected(pattern.error());
        }
        patterns.push_back(std::move(*pattern));
    }
    return patterns;
}

} // namespace nanscope
