// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/damage/provenance.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace nanscope::diagnose {

namespace {

// Equal by chance: one value in a hundred at most, as few as 16-bit formats have. What recurs has many values.
constexpr double shareNeeded = 0.25;
constexpr std::size_t equalNeeded = 32;
constexpr std::size_t differentValuesNeeded = 16;

struct Offset
{
    std::int64_t rows = 0;
    std::int64_t cols = 0;
};

class ValueComparison
{
public:
    void add(double value, double elsewhere)
    {
        ++m_count;
        if (std::isfinite(value) && value == elsewhere) {
            ++m_equal;
            if (m_values.size() < differentValuesNeeded) {
                m_values.insert(value);
            }
        }
    }

    bool recurs() const
    {
        return m_equal >= equalNeeded && static_cast<double>(m_equal) >= shareNeeded * static_cast<double>(m_count)
            && m_values.size() >= differentValuesNeeded;
    }

private:
    std::size_t m_count = 0;
    std::size_t m_equal = 0;
    std::set<double> m_values;
};

bool recursAt(const Element& element, const Region& region, ValueView other, Offset offset)
{
    ValueComparison comparison;
    const auto cols = element.shape.cols;
    for (auto r = region.rowBegin; r < region.rowEnd; ++r) {
        for (auto c = region.colBegin; c < region.colEnd; ++c) {
            comparison.add(element.output[static_cast<std::size_t>(r * cols + c)],
                other[static_cast<std::size_t>((r + offset.rows) * cols + c + offset.cols)]);
        }
    }
    return comparison.recurs();
}

bool inside(const Element& element, const Region& region, Offset offset)
{
    return region.rowBegin + offset.rows >= 0 && region.rowEnd + offset.rows <= element.shape.rows
        && region.colBegin + offset.cols >= 0 && region.colEnd + offset.cols <= element.shape.cols;
}

/// Tiles lie side by side: only whole heights and widths away can one have been written twice.
std::optional<Offset> twiceAt(const Element& element, const Region& region)
{
    const auto height = region.rowEnd - region.rowBegin;
    const auto width = region.colEnd - region.colBegin;
    constexpr std::int64_t most = 64;
    for (auto down = -std::min(most, region.rowBegin / height);
         inside(element, region, {down * height, 0}) && down <= most; ++down) {
        for (auto right = -std::min(most, region.colBegin / width);
             inside(element, region, {0, right * width}) && right <= most; ++right) {
            const Offset offset {down * height, right * width};
            if ((down != 0 || right != 0) && recursAt(element, region, element.output, offset)) {
                return offset;
            }
        }
    }
    return std::nullopt;
}

bool holds(const Region& region, std::int64_t row, std::int64_t col)
{
    return row >= region.rowBegin && row < region.rowEnd && col >= region.colBegin && col < region.colEnd;
}

// How often values are equal where nothing is wrong; none where too few tell.
std::optional<double> equalOutside(const Element& element, const Region& region, ValueView other)
{
    constexpr std::size_t fewest = 256;
    constexpr double byChance = 0.01;
    std::size_t count = 0;
    std::size_t equal = 0;
    for (std::int64_t i = 0; i < element.shape.elements(); ++i) {
        const auto value = element.output[static_cast<std::size_t>(i)];
        if (!holds(region, i / element.shape.cols, i % element.shape.cols) && std::isfinite(value) && value != 0) {
            ++count;
            equal += value == other[static_cast<std::size_t>(i)] ? 1 : 0;
        }
    }
    return count < fewest ? std::nullopt
                          : std::optional(std::max(byChance, static_cast<double>(equal) / static_cast<double>(count)));
}

Stretch longestStretch(const Element& element, const Region& region, ValueView other)
{
    Stretch longest;
    Stretch now;
    std::set<double> values;
    for (auto r = region.rowBegin; r < region.rowEnd; ++r) {
        for (auto c = region.colBegin; c < region.colEnd; ++c) {
            const auto i = static_cast<std::size_t>(r * element.shape.cols + c);
            const auto value = element.output[i];
            if (!std::isfinite(value) || value != other[i]) {
                values.clear();
                continue;
            }
            if (values.empty()) {
                now = {r, c, 0};
            }
            if (value != 0) {
                values.insert(value);
            }
            now.values = values.size();
            longest = now.values > longest.values ? now : longest;
        }
    }
    return longest;
}

} // namespace

std::optional<Stretch> recursBeyondChance(
    const Element& element, const Region& region, ValueView other, std::size_t tries)
{
    constexpr double mostAlike = 0.25;
    constexpr double falseLines = 1e-9;
    if (other.size() != element.output.size()) {
        return std::nullopt;
    }
    const auto alike = equalOutside(element, region, other);
    if (!alike || *alike > mostAlike) {
        return std::nullopt;
    }
    const auto places = static_cast<double>(tries)
        * static_cast<double>((region.rowEnd - region.rowBegin) * (region.colEnd - region.colBegin));
    const double needed =
        std::max(static_cast<double>(differentValuesNeeded), std::log(places / falseLines) / -std::log(*alike));
    const auto stretch = longestStretch(element, region, other);
    return static_cast<double>(stretch.values) >= needed ? std::optional(stretch) : std::nullopt;
}

bool isCopyOfInput(const Element& element)
{
    return !element.inputScan.allZero() && element.input == element.output;
}

std::string recursIn(const Element& element, const Region& region, ValueView other, const std::string& what)
{
    const bool same = other.size() == element.output.size() && recursAt(element, region, other, {});
    return same ? fmt::format("it holds {}, bit for bit", what) : std::string();
}

bool holdsZeros(const Element& element, const Region& region)
{
    std::size_t count = 0;
    std::size_t equal = 0;
    for (auto r = region.rowBegin; r < region.rowEnd; ++r) {
        for (auto c = region.colBegin; c < region.colEnd; ++c) {
            ++count;
            equal += element.output[static_cast<std::size_t>(r * element.shape.cols + c)] == 0 ? 1 : 0;
        }
    }
    return equal >= equalNeeded && static_cast<double>(equal) >= shareNeeded * static_cast<double>(count);
}

bool holdsInput(const Element& element, const Region& region)
{
    return recursAt(element, region, element.input, {});
}

std::string recursInside(const Element& element, const Region& region)
{
    if (region.rowEnd <= region.rowBegin || region.colEnd <= region.colBegin) {
        return {};
    }
    if (holdsZeros(element, region)) {
        return "what is wrong in it is zero, as memory that was cleared and never written";
    }
    if (auto copy = recursIn(element, region, element.input, "the input"); !copy.empty()) {
        return copy;
    }
    if (const auto offset = twiceAt(element, region)) {
        return fmt::format("it is also at [{}, {}] of the same output, bit for bit", region.rowBegin + offset->rows,
            region.colBegin + offset->cols);
    }
    return {};
}

namespace {

std::string inSameCall(const Element& element, const Region& region, const tensorfile::CaptureFile& file)
{
    for (std::int64_t batch = 0; batch < file.input.matrices().batch; ++batch) {
        if (batch == element.batch) {
            continue;
        }
        const auto other = loadElement(file, batch);
        auto origin = other ? recursIn(element, region, other->output, fmt::format("the output of element {}", batch))
                            : std::string();
        if (!origin.empty()) {
            return origin;
        }
    }
    return {};
}

std::string inEarlierCalls(
    const Element& element, const Region& region, const std::vector<const Capture*>& before, const CancelToken& cancel)
{
    const auto tries = 2 * before.size();
    for (const auto* earlier : before) {
        const auto file = tensorfile::openCapture(*earlier);
        const auto other = file ? loadElement(*file, element.batch) : tl::make_unexpected(file.error());
        if (!other || cancel.cancelled()) {
            continue;
        }
        for (const auto* side : {&other->output, &other->input}) {
            if (const auto stretch = recursBeyondChance(element, region, *side, tries)) {
                return fmt::format(
                    "{} different values in a row, from [{}, {}] on, stand at the same place in the {} of "
                    "{}, an earlier call of this process: stale data, unless your code keeps values on purpose",
                    stretch->values, stretch->row, stretch->col, side == &other->input ? "input" : "output",
                    earlier->file);
            }
        }
    }
    return {};
}

} // namespace

Recurrence originOf(const Element& element, const Region& region, const tensorfile::CaptureFile& file,
    const std::vector<const Capture*>& before, const CancelToken& cancel)
{
    auto origin = recursInside(element, region);
    if (!origin.empty()) {
        return {std::move(origin), twiceAt(element, region).has_value()};
    }
    origin = inSameCall(element, region, file);
    if (!origin.empty()) {
        return {std::move(origin), true};
    }
    return {inEarlierCalls(element, region, before, cancel), false};
}

} // namespace nanscope::diagnose
