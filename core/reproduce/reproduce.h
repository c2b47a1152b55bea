// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What a bundle needs to show a failed call again on a machine with torch and nothing else: the capture, or a synthetic
// twin of it, reduced to its damaged matrices and to what of them still shows the damage, and repro.py with the
// variants that may have run, written out in plain Python from the very programs that Nanscope replays. docs/bundle.md
// says what it promises.
#pragma once

#include "core/base/job.h"
#include "core/report/input/reportinput.h"
#include "core/reproduce/reproduceroptions.h"

namespace nanscope::reproduce {

/// repro.py, expected.json and capture_min.pt of the capture the report is about, with a line on each for the README.
/// Fails with the reason where there is no such capture, or none that can be replayed or shared.
Result<report::Reproducer> makeReproducer(
    const report::ReportInput& input, const ReproducerOptions& options, const JobContext& job = {});

/// The same, or none with the reason as what README.txt says; fails only where cancelled.
Result<report::Reproducer> reproducerOrReason(
    const report::ReportInput& input, const ReproducerOptions& options, const JobContext& job = {});

} // namespace nanscope::reproduce
