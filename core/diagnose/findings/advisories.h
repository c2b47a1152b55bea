// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Published problems of packages, as data: resources/advisories.json, which is built in, and files of the user.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnose/findings/versions.h"
#include "core/model/model.h"
#include "core/replay/variants/catalogue.h"

namespace nanscope::diagnose {

/// ">=256"
struct NumberBound
{
    enum class Sign { less, lessEqual, greater, greaterEqual, equal } sign = Sign::equal;
    std::int64_t value = 0;

    bool holds(std::int64_t number) const;
};

struct AffectedPackage
{
    std::string name; ///< as packageName() has it
    std::vector<VersionRange> versions; ///< any of them; empty: which versions is not known
    bool everyVersion = false;
};

/// What a call must look like; what is not given is not asked.
struct CallRule
{
    std::vector<std::string> variants; ///< any of them
    std::vector<DType> dtypes; ///< of the input, any of them
    std::optional<NumberBound> smallerSide;
    std::optional<NumberBound> batch;
    std::optional<NumberBound> elements; ///< of the whole tensor
    std::optional<bool> square;
    bool zeroMatrix = false; ///< one matrix of the batch is all zero

    bool asksShape() const { return smallerSide || batch || elements || square; }
    bool empty() const { return variants.empty() && dtypes.empty() && !asksShape() && !zeroMatrix; }
};

struct Advisory
{
    std::string id;
    AdvisoryStatus status = AdvisoryStatus::suspected;
    std::string title;
    std::string text;
    std::string link;
    std::string dated; ///< day it was looked up, ISO 8601
    std::vector<AffectedPackage> packages; ///< all of them
    std::vector<VersionRange> capabilities; ///< compute capability of a GPU of the run, any of them
    CallRule call;
};

/// Those that come with the program.
const std::vector<Advisory>& builtInAdvisories();

/// Refused with one sentence where anything is unknown, of the wrong kind or too long: a rule that is misread would
/// match what it should not.
Result<std::vector<Advisory>> parseAdvisories(std::string_view json, const replay::Catalogue& catalogue);
Result<std::vector<Advisory>> readAdvisories(const std::filesystem::path& file, const replay::Catalogue& catalogue);

/// `more` after `known`; what has an id of `known` takes its place.
std::vector<Advisory> joinAdvisories(std::vector<Advisory> known, std::vector<Advisory> more);

} // namespace nanscope::diagnose
