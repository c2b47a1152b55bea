// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What a bundle needs to show a failed call again on a machine with torch and nothing else: the capture, or a synthetic
// twin of it, reduced to its damaged matrices and to what of them still shows the damage, and repro.py with the
// variants that may have run, written out in plain Python from the very programs that Nanscope replays. docs/bundle.md
// says what it promises.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/job.h"
#include "core/replay/variants/catalogue.h"
#include "core/report/input/reportoptions.h"

namespace nanscope::report {
struct ReportInput;
} // namespace nanscope::report

namespace nanscope::reproduce {

struct ReproducerOptions
{
    /// Random directions in place of the captured ones, with the same singular values; false shares the tensors.
    bool synthetic = true;
    bool minimise = true; ///< to the least that ends the same way, where a replay ends like the dump
    std::uint64_t seed = 0; ///< of the random directions
    std::size_t limit = 16'000'000; ///< bytes the tensors may take: what is beyond leaves matrices out
    std::vector<report::Redaction> hidden {}; ///< texts of the user's choice that may stand in no file
    replay::Catalogue catalogue {}; ///< of the variants that the verdict names
};

/// repro.py, expected.json and capture_min.pt of the capture the report is about, with a line on each for the README.
/// Fails with the reason where there is no such capture, or none that can be replayed or shared.
Result<report::Reproducer> makeReproducer(
    const report::ReportInput& input, const ReproducerOptions& options, const JobContext& job = {});

/// The same, or none with the reason as what README.txt says; fails only where cancelled.
Result<report::Reproducer> reproducerOrReason(
    const report::ReportInput& input, const ReproducerOptions& options, const JobContext& job = {});

} // namespace nanscope::reproduce
