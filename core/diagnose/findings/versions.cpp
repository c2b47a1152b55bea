// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/findings/versions.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include <re2/re2.h>

#include "core/base/text.h"

namespace nanscope::diagnose {

namespace {

// A number of a version has few digits; a longer one is no version.
std::optional<std::int64_t> numberOf(std::string_view digits)
{
    return digits.size() <= 18 ? numberIn<std::int64_t>(digits) : std::nullopt;
}

/// A missing number after "rc", "post" or "dev" is zero.
std::optional<std::int64_t> numberOrZero(std::string_view digits)
{
    return digits.empty() ? std::optional<std::int64_t>(0) : numberOf(digits);
}

std::optional<std::vector<std::int64_t>> releaseOf(std::string_view text)
{
    std::vector<std::int64_t> parts;
    for (;;) {
        const auto dot = std::min(text.find('.'), text.size());
        const auto number = numberOf(text.substr(0, dot));
        if (!number) {
            return std::nullopt;
        }
        parts.push_back(*number);
        if (dot == text.size()) {
            break;
        }
        text.remove_prefix(dot + 1);
    }
    while (parts.size() > 1 && parts.back() == 0) {
        parts.pop_back();
    }
    return parts;
}

int stageOf(std::string_view word)
{
    if (word.empty()) {
        return 0;
    }
    return word[0] == 'a' ? -3 : word[0] == 'b' ? -2 : -1;
}

using VersionKey =
    std::tuple<std::int64_t, const std::vector<std::int64_t>&, int, std::int64_t, std::int64_t, std::int64_t>;

VersionKey keyOf(const Version& v)
{
    // A dev release comes before what it leads to, a post release after what it follows.
    constexpr auto last = std::numeric_limits<std::int64_t>::max();
    return {v.epoch, v.release, v.stage, v.stageNumber, v.post ? *v.post + 1 : 0, v.dev.value_or(last)};
}

} // namespace

std::optional<Version> parseVersion(std::string_view text)
{
    static const RE2 form(R"((?i)v?(?:(\d+)!)?(\d+(?:\.\d+)*))"
                          R"((?:[-_.]?(alpha|beta|preview|pre|rc|a|b|c)[-_.]?(\d*))?)"
                          R"((?:(?:[-_.]?(post|rev|r)[-_.]?(\d*))|-(\d+))?)"
                          R"((?:[-_.]?(dev)[-_.]?(\d*))?(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?)",
        RE2::Latin1);
    std::array<std::string, 9> part;
    auto& [epoch, release, stage, stageNumber, post, postNumber, dashed, dev, devNumber] = part;
    if (!RE2::FullMatch(trimmed(text), form, &epoch, &release, &stage, &stageNumber, &post, &postNumber, &dashed, &dev,
            &devNumber)) {
        return std::nullopt;
    }
    const auto parts = releaseOf(release);
    const auto inStage = numberOrZero(stageNumber);
    const auto inEpoch = numberOrZero(epoch);
    const auto after = numberOrZero(post.empty() ? dashed : postNumber);
    const auto ahead = numberOrZero(devNumber);
    if (!parts || !inStage || !inEpoch || !after || !ahead) {
        return std::nullopt;
    }
    Version version {*inEpoch, *parts, stageOf(lowered(stage)), *inStage, {}, {}};
    version.post = post.empty() && dashed.empty() ? std::nullopt : after;
    version.dev = dev.empty() ? std::nullopt : ahead;
    if (version.stage == 0 && !version.post && version.dev) {
        version.stage = -4;
    }
    return version;
}

std::strong_ordering operator<=>(const Version& a, const Version& b)
{
    return keyOf(a) <=> keyOf(b);
}

bool operator==(const Version& a, const Version& b)
{
    return keyOf(a) == keyOf(b);
}

std::optional<BoundSign> takeSign(std::string_view& text)
{
    constexpr std::array<std::pair<std::string_view, BoundSign>, 5> signs {
        {{">=", {false, true, true}}, {"<=", {true, true, false}}, {"==", {false, true, false}},
            {">", {false, false, true}}, {"<", {true, false, false}}}};
    const auto* sign = std::ranges::find_if(signs, [&](const auto& one) { return text.starts_with(one.first); });
    if (sign == signs.end()) {
        return std::nullopt;
    }
    text.remove_prefix(sign->first.size());
    return sign->second;
}

std::optional<VersionRange::Bound> VersionRange::parseBound(std::string_view text)
{
    text = trimmed(text);
    const auto sign = takeSign(text);
    auto version = sign ? parseVersion(text) : std::nullopt;
    return version ? std::optional(Bound {*sign, std::move(*version)}) : std::nullopt;
}

std::optional<VersionRange> VersionRange::parse(std::string_view text)
{
    VersionRange range;
    for (;;) {
        const auto comma = std::min(text.find(','), text.size());
        auto bound = parseBound(text.substr(0, comma));
        if (!bound) {
            return std::nullopt;
        }
        range.m_bounds.push_back(std::move(*bound));
        if (comma == text.size()) {
            return range;
        }
        text.remove_prefix(comma + 1);
    }
}

bool VersionRange::contains(const Version& version) const
{
    return std::ranges::all_of(
        m_bounds, [&](const Bound& bound) { return bound.sign.takes(version <=> bound.version); });
}

std::string packageName(std::string_view name)
{
    std::string plain;
    for (const char c : name) {
        const bool separator = c == '-' || c == '_' || c == '.';
        if (separator && (plain.empty() || plain.back() == '-')) {
            continue;
        }
        plain += separator ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return plain;
}

} // namespace nanscope::diagnose
