// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/reproduce/expectation.h"
#include "core/reproduce/reproduce.h"

namespace nanscope {

constexpr std::string_view captureName = "capture_min.pt";

/// Everything the files of a reproducer are written from.
struct Material
{
    const CaptureVerdict& verdict;
    const ReproducerOptions& options;
    ReducedCapture capture;
    std::vector<ExpectedNumbers> numbers;
    std::string captureHash;

    /// A variant that may have run ends like the dump, in the format it may have run in.
    bool reproducedByNumbers() const;
};

} // namespace nanscope
