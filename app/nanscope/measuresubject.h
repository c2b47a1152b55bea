// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/nanscope/functionoptions.h"
#include "app/nanscope/options.h"
#include "app/nanscope/terminal.h"
#include "core/instruments/instruments.h"

namespace nanscope {

/// The options that say who is measured.
struct SubjectOptions
{
    std::string variant;
    std::string precision;
    std::string lowering;
    std::string device = "cpu";
    std::optional<int> steps;
    FunctionOptions function;

    void add(Options& options);
};

/// What will be run for --impl.
Result<instruments::ImplChoice> implChoice(const SubjectOptions& options);

/// Without --variant a cell is that of the sidecar, or the one variant that the captured output fits.
Result<instruments::MeasuredSubject> openSubject(
    const SubjectOptions& options, const std::string& capture, Terminal& terminal);

} // namespace nanscope
