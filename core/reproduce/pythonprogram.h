// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/replay/program/program.h"

namespace nanscope::reproduce {

/// A name that Python takes for a function: "gns_gram_fp16".
std::string pythonName(std::string_view variant, Precision precision);

/// The program as one function of repro.py, a line for each instruction, with the variant's own words above it.
std::string pythonFunction(const replay::Variant& variant, const replay::Program& program);

/// core/reproduce/repro.py as it was when Nanscope was built.
std::string_view reproTemplate();

/// The line of it that the programs take the place of.
constexpr std::string_view programsMark = "# @PROGRAMS@\n";

} // namespace nanscope::reproduce
