// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/model/scan.h"

namespace nanscope::test {

/// The definition of a scan, element by element and without any cleverness.
inline Scan plainScan(
    const std::vector<double>& values, std::int64_t rows, std::int64_t cols, bool transposed, double smallestNormal)
{
    Scan scan;
    scan.count = rows * cols;
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < cols; ++c) {
            const double value = values[static_cast<std::size_t>(r * cols + c)];
            if (!std::isfinite(value)) {
                const auto kind = std::isnan(value) ? ValueClass::nan
                    : value > 0                     ? ValueClass::posInf
                                                    : ValueClass::negInf;
                scan.nan += kind == ValueClass::nan ? 1 : 0;
                scan.posInf += kind == ValueClass::posInf ? 1 : 0;
                scan.negInf += kind == ValueClass::negInf ? 1 : 0;
                const auto index = transposed ? c * rows + r : r * cols + c;
                if (scan.firstNonFinite < 0 || index < scan.firstNonFinite) {
                    scan.firstNonFinite = index;
                    scan.firstClass = kind;
                }
                continue;
            }
            const double size = std::abs(value);
            scan.zero += size == 0 ? 1 : 0;
            scan.subnormal += size > 0 && size < smallestNormal ? 1 : 0;
            scan.absmax = std::max(scan.absmax, size);
            if (size > 0 && (scan.minNonzero == 0 || size < scan.minNonzero)) {
                scan.minNonzero = size;
            }
            scan.sumSquares += value * value;
            scan.trace += r == c ? value : 0;
        }
    }
    return scan;
}

/// Normal numbers with every class sprinkled in; `special` is how many elements of a thousand are not normal.
inline std::vector<double> mixedValues(std::int64_t count, int special, double smallestNormal, std::uint32_t seed)
{
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal;
    const double infinity = std::numeric_limits<double>::infinity();
    const double odd[] {0.0, -0.0, smallestNormal / 4, -smallestNormal / 2, std::nan(""), infinity, -infinity};
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i) {
        const bool replaced = static_cast<int>(engine() % 1000) < special;
        values.push_back(replaced ? odd[engine() % 7] : normal(engine));
    }
    return values;
}

} // namespace nanscope::test
