// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/report/input/reportinput.h"
#include "core/reproduce/expectation.h"
#include "core/reproduce/reproduceroptions.h"
#include "core/reproduce/smaller.h"

namespace nanscope::reproduce {

constexpr std::string_view captureName = "capture_min.pt";
constexpr std::string_view wholeName = "capture_whole.pt";

/// Everything the files of a reproducer are written from.
struct Material
{
    const CaptureVerdict& verdict;
    const ReproducerOptions& options;
    ReducedCapture whole; ///< matrices
    std::vector<ExpectedNumbers> numbers; ///< of capture()
    std::optional<Smaller> smaller = std::nullopt;
    std::vector<ExpectedNumbers> ofWhole = {}; ///< the same of `whole`, where there is a smaller one
    std::string whyWhole = {}; ///< there is no smaller one
    std::string captureHash = {};
    std::string wholeHash = {};

    const ReducedCapture& capture() const { return smaller ? smaller->capture : whole; }
    /// Where more than the numbers may be at fault, somebody's function is called with the whole.
    bool packsWhole() const { return smaller && verdict.blame != Blame::numerics; }
    /// Of a healthy capture there is no damage: like the dump is then what ends finite.
    bool likeDump(const ExpectedNumbers& row) const
    {
        return report::isHealthy(verdict) ? row.outcome == "finite" : row.likeDump;
    }
    int expectedStatus() const
    {
        return std::any_of(numbers.begin(), numbers.end(),
                   [this](const ExpectedNumbers& row) { return row.precision == row.own && likeDump(row); })
            ? 0
            : 1;
    }
};

/// expected.json: what repro.py holds its results against.
std::string expectedText(const Material& from);

/// Why repro.py is expected to end as it is: one or two sentences.
std::string whyThatStatus(const Material& from);

/// What capture_min.pt is, and whether it may be private.
std::string captureSentence(const Material& from);

/// What README.txt says of the files: each name on a line of its own, with what it is below it.
std::string readmeLines(const Material& from);

} // namespace nanscope::reproduce
