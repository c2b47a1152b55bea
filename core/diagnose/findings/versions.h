// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Versions of Python packages, in the order of PEP 440, and ranges of them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nanscope::diagnose {

/// "1!2.11.0rc1.post2.dev3+cu130". What follows the plus names a build of the same version and is not kept.
struct Version
{
    std::int64_t epoch = 0;
    std::vector<std::int64_t> release; ///< without zeros at the end: 2.0 and 2 are one version
    int stage = 0; ///< -4 a bare dev release, -3 alpha, -2 beta, -1 candidate, 0 none of them
    std::int64_t stageNumber = 0;
    std::optional<std::int64_t> post;
    std::optional<std::int64_t> dev;
};

std::optional<Version> parseVersion(std::string_view text);

std::strong_ordering operator<=>(const Version& a, const Version& b);
bool operator==(const Version& a, const Version& b);

/// What a number or a version may be beside the one that a bound names.
struct BoundSign
{
    bool less = false;
    bool equal = false;
    bool greater = false;

    bool takes(std::strong_ordering order) const
    {
        return std::is_lt(order) ? less : std::is_gt(order) ? greater : equal;
    }
};

/// Takes ">=", "<=", "==", ">" or "<" off the front of a text.
std::optional<BoundSign> takeSign(std::string_view& text);

/// ">=0.3.11,<=0.6.4": every part holds. Comparison goes by plain order, so that a candidate of the version that mends
/// something still counts as one before it.
class VersionRange
{
public:
    static std::optional<VersionRange> parse(std::string_view text);

    bool contains(const Version& version) const;

private:
    struct Bound
    {
        BoundSign sign;
        Version version;
    };

    static std::optional<Bound> parseBound(std::string_view text);

    std::vector<Bound> m_bounds;
};

/// The name as registries compare it: small letters, and one dash for every run of "-", "_" and ".".
std::string packageName(std::string_view name);

} // namespace nanscope::diagnose
