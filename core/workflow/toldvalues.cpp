// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/workflow/toldvalues.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/ingest/log/logsource.h"

namespace nanscope::workflow {

namespace {

/// Of one value, however many digits its logs print.
bool isAlike(double a, double b)
{
    constexpr double lastDigit = 2e-3;
    return std::abs(a - b) <= lastDigit * std::max(std::abs(a), std::abs(b));
}

/// The name that a log had before it was rotated away, in its folder: of "a/train.log.2.gz" and "a/train.log-20261126"
/// it is "a/train.log".
std::string_view beforeRotation(std::string_view source)
{
    for (const std::string_view packed : {".gz", ".zst", ".xz"}) {
        source.remove_suffix(source.ends_with(packed) ? packed.size() : 0);
    }
    // npos + 1 is 0: a name of nothing else.
    const auto cut = source.find_first_of("._-", source.find_last_not_of("0123456789._-:T") + 1);
    if (cut == std::string_view::npos) {
        return source;
    }
    constexpr std::ptrdiff_t ofADate = 8;
    const auto end = source.substr(cut + 1);
    const auto digits = std::ranges::count_if(end, [](char letter) { return letter >= '0' && letter <= '9'; });
    const bool numbered = source[cut] == '.' && digits > 0 && digits == std::ssize(end);
    return numbered || digits >= ofADate ? source.substr(0, cut) : source;
}

} // namespace

bool ToldValues::Value::agreesWith(const Value& other) const
{
    if (before.empty() && other.before.empty()) {
        return true;
    }
    bool common = false;
    for (const auto& [at, value] : before) {
        const auto same = other.before.find(at);
        if (same == other.before.end()) {
            continue;
        }
        if (!isAlike(value, same->second)) {
            return false;
        }
        common = true;
    }
    return common;
}

/// The log after one that was rotated away begins where that one ended: with values that are bad already.
bool ToldValues::Value::goesOnFrom(const Value& other) const
{
    return beforeRotation(source) == beforeRotation(other.source) && before.empty() && !stepInferred
        && !other.stepInferred && step > other.step && rank == other.rank;
}

bool ToldValues::Value::isToldBy(const Value& other) const
{
    // A log that names no rank may be that of any; what another rank had is not told by it.
    const bool sameRank = !rank || rank == other.rank;
    if (attempt != other.attempt || !sameRank) {
        return false;
    }
    // In one log the same step comes again where the run went back to a checkpoint.
    const bool sameStep = state == other.state && step == other.step && stepInferred == other.stepInferred;
    return sameStep ? source != other.source && agreesWith(other) : goesOnFrom(other);
}

ToldValues::Value ToldValues::valueOf(const Series& series, const Point& first)
{
    constexpr std::size_t enough = 8;
    Value value {series.source, ingest::placeOf(series.source).attempt, series.rank, first.state, first.step,
        series.stepInferred, {}};
    const auto* point = &first;
    while (point != series.points.data() && value.before.size() < enough) {
        --point;
        if (point->state == PointState::finite) {
            value.before.emplace(point->step, point->value);
        }
    }
    return value;
}

bool ToldValues::takeNew(const Series& series, const Point& first)
{
    auto value = valueOf(series, first);
    auto& told = m_told[series.name];
    const bool isNew = std::ranges::none_of(told, [&](const Value& other) { return value.isToldBy(other); });
    told.push_back(std::move(value));
    return isNew;
}

void ToldValues::forget(const std::string& source)
{
    for (auto& [name, told] : m_told) {
        std::erase_if(told, [&](const Value& value) { return value.source == source; });
    }
}

} // namespace nanscope::workflow
