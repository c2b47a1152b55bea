// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/diagnose/advisories.h"
#include "core/diagnose/parameters.h"
#include "core/model/model.h"

namespace nanscope {

/// Files with what the user knows of a run beside what it left: --env, --advisories and --params, as given.
struct KnownWords
{
    std::string environment;
    std::vector<std::string> advisories;
    std::string parameters;
};

void addKnownOptions(CLI::App& options, KnownWords& words);

struct Known
{
    std::vector<Setting> environment;
    std::vector<Advisory> advisories; ///< of advisories.json in the user's configuration folder, and those named
    std::optional<ParameterList> parameters;
};

/// Read before anything else is, so that a bad file is refused at once.
Result<Known> readKnown(const KnownWords& words);

} // namespace nanscope
