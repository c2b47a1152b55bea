// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/analysis/rate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/replay/engine/replay.h"
#include "core/replay/variants/variant.h"

namespace nanscope::replay {

namespace {

std::vector<float> noise(std::int64_t elements)
{
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> values(static_cast<std::size_t>(elements));
    for (auto& value : values) {
        value = normal(random);
    }
    return values;
}

Result<Rate> rateOf(Device& device, const CancelToken& cancel)
{
    constexpr double longEnough = 0.1;
    constexpr std::int64_t smallest = 128;
    constexpr std::int64_t largest = 2048;
    const auto& variant = *builtInVariant("keller-jordan");
    ReplayOptions options;
    options.precision = Precision::bf16;
    options.rounding.lowering = variant.lowering;
    double rate = 0;
    bool wasLong = false;
    for (auto size = smallest; size <= largest && !wasLong; size *= 2) {
        const MatrixShape shape {1, size, size};
        const auto input = noise(size * size);
        wasLong = true;
        // Twice, since one alone may have been kept waiting: a GPU loads its libraries at its first replay.
        for (int i = 0; i < 2; ++i) {
            const auto done = TRY(replay(variant, shape, input, device, options, cancel));
            wasLong = wasLong && done.seconds >= longEnough;
            rate = done.seconds > 0 ? std::max(rate, done.program.gemmFlops() / done.seconds) : rate;
        }
    }
    return Rate {rate, device.environment().device};
}

} // namespace

Result<Rate> measuredRate(Device& device, const CancelToken& cancel)
{
    auto rate = rateOf(device, cancel);
    return !rate && !device.lost() && isWorthTheCpu(rate.error()) ? rateOf(*makeEigenDevice(), cancel) : rate;
}

std::string aboutSeconds(double seconds)
{
    const auto counted = [](double number, const char* unit) {
        const auto whole = static_cast<long long>(std::ceil(number));
        return fmt::format("about {} {}{}", whole, unit, whole == 1 ? "" : "s");
    };
    if (seconds < 1) {
        return "under a second";
    }
    if (seconds < 90) {
        return counted(seconds, "second");
    }
    return seconds < 5400 ? counted(seconds / 60, "minute") : counted(seconds / 3600, "hour");
}

std::string operationsText(double operations, bool perSecond)
{
    constexpr double thousand = 1000;
    constexpr std::string_view prefixes[] {"", "k", "M", "G", "T", "P", "E"};
    std::size_t prefix = 0;
    for (; operations >= thousand && prefix + 1 < std::size(prefixes); ++prefix) {
        operations /= thousand;
    }
    return fmt::format("{:.3g} {}FLOP{}", operations, prefixes[prefix], perSecond ? "/s" : "");
}

} // namespace nanscope::replay
