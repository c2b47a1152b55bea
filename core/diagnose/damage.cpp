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

namespace nanscope {

namespace {

struct Tally
{
    std::vector<std::int64_t> perRow;
    std::vector<std::int64_t> perCol;
    std::int64_t nan = 0;
    std::int64_t posInf = 0;
    std::int64_t negInf = 0;

    std::int64_t total() const { return nan + posInf + negInf; }
};

Tally tally(std::span<const double> output, std::int64_t rows, std::int64_t cols)
{
    Tally t;
    t.perRow.assign(static_cast<std::size_t>(rows), 0);
    t.perCol.assign(static_cast<std::size_t>(cols), 0);
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < cols; ++c) {
            const auto damage = damageOf(output[static_cast<std::size_t>(r * cols + c)]);
            if (damage == Damage::none) {
                continue;
            }
            ++t.perRow[static_cast<std::size_t>(r)];
            ++t.perCol[static_cast<std::size_t>(c)];
            t.nan += damage == Damage::nan ? 1 : 0;
            t.posInf += damage == Damage::posInf ? 1 : 0;
            t.negInf += damage == Damage::negInf ? 1 : 0;
        }
    }
    return t;
}

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

template <class Word>
void countNanBits(std::span<const std::byte> bits, std::span<const double> values, DamagePattern& pattern)
{
    std::map<std::uint64_t, std::int64_t> counts;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(values[i])) {
            Word word {};
            std::memcpy(&word, bits.data() + i * sizeof(Word), sizeof(Word));
            ++counts[word];
        }
    }
    pattern.nanBits.assign(counts.begin(), counts.end());
    std::stable_sort(pattern.nanBits.begin(), pattern.nanBits.end(),
        [](const auto& a, const auto& b) { return a.second > b.second; });
    // The most frequent few tell a constant from arithmetic; a list of payloads would not.
    constexpr std::size_t shown = 4;
    pattern.nanBits.resize(std::min(pattern.nanBits.size(), shown));
}

void addNanBits(const std::vector<std::byte>& bits, std::span<const double> values, DType dtype, DamagePattern& pattern)
{
    switch (sizeOf(dtype)) {
    case 2:
        return countNanBits<std::uint16_t>(bits, values, pattern);
    case 4:
        return countNanBits<std::uint32_t>(bits, values, pattern);
    case 8:
        return countNanBits<std::uint64_t>(bits, values, pattern);
    default:
        return;
    }
}

} // namespace

DamagePattern describeDamage(std::span<const double> output, std::int64_t rows, std::int64_t cols)
{
    DamagePattern pattern;
    const auto t = tally(output, rows, cols);
    pattern.count = t.total();
    if (pattern.count == 0) {
        pattern.name = "none";
        pattern.text = "every value is finite";
        return pattern;
    }
    const auto rowExtent = extentOf(t.perRow);
    const auto colExtent = extentOf(t.perCol);
    pattern.rowBegin = rowExtent.begin;
    pattern.rowEnd = rowExtent.end;
    pattern.colBegin = colExtent.begin;
    pattern.colEnd = colExtent.end;
    pattern.name = patternName(t, rowExtent, colExtent, rows, cols);
    pattern.text = patternText(pattern, t, rowExtent, colExtent);
    return pattern;
}

Result<std::vector<DamagePattern>> damagePatterns(const CaptureFile& capture)
{
    std::vector<DamagePattern> patterns;
    const auto& tensor = capture.output ? *capture.output : capture.input;
    const auto shape = tensor.matrices();
    std::vector<double> values(static_cast<std::size_t>(shape.elements()));
    for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
        if (auto done = tensor.read(batch, std::span(values)); !done) {
            return tl::make_unexpected(done.error());
        }
        auto pattern = describeDamage(values, shape.rows, shape.cols);
        pattern.batch = static_cast<int>(batch);
        if (pattern.count > 0) {
            const auto bits = tensor.readBits(batch);
            if (!bits) {
                return tl::make_unexpected(bits.error());
            }
            addNanBits(*bits, values, tensor.dtype(), pattern);
        }
        patterns.push_back(std::move(pattern));
    }
    return patterns;
}

} // namespace nanscope
