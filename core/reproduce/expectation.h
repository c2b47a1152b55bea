// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/model/fwd.h"
#include "core/replay/engine/replay.h"
#include "core/replay/variants/catalogue.h"
#include "core/reproduce/reducedcapture.h"

namespace nanscope::reproduce {

/// One variant that may have run, in the format it may have run in.
struct SuspectedRun
{
    const replay::Variant* variant = nullptr;
    Precision precision = Precision::fp32;
    bool operator==(const SuspectedRun&) const = default;
};

/// The variants that the verdict was drawn over; every published one where it names none.
std::vector<SuspectedRun> suspectedRuns(const CaptureVerdict& verdict, const replay::Catalogue& catalogue);

/// Some replay of the captured matrix ends like the dump, under some rounding.
bool numbersMayShow(const CaptureVerdict& verdict);

/// What one of them does with the reduced capture.
struct ExpectedNumbers
{
    const replay::Variant* variant = nullptr;
    Precision precision = Precision::fp32;
    Precision own = Precision::fp32; ///< the format it may have run in; other rows are for comparison
    replay::Program program;
    std::string outcome; ///< "finite", "zero", "inf" or "nan", of the output alone
    std::optional<double> relF; ///< ||Y - Y64||_F / ||Y64||_F; none for fp64, and where it is not a number
    std::optional<std::pair<OpName, int>> firstNonFinite; ///< and its step
    bool likeDump = false; ///< damaged as the dump: in the same places; for a twin, all of it and in the same way
};

/// In its own format and in fp64, each with the rounding its source has.
Result<std::vector<ExpectedNumbers>> expectedNumbers(
    const std::vector<SuspectedRun>& runs, const ReducedCapture& capture, const CancelToken& cancel);

/// The one that ends like the dump in the format it may have run in; null where none does.
const ExpectedNumbers* firstLikeDump(const std::vector<ExpectedNumbers>& rows);

/// One replay as repro.py does it.
struct PlainReplay
{
    replay::Program program;
    std::vector<double> output;
    std::string outcome;
    std::optional<std::pair<OpName, int>> firstNonFinite;
};
Result<PlainReplay> plainReplay(const SuspectedRun& run, const MatrixShape& shape, std::span<const double> input,
    std::optional<double> epsilon, replay::Device& device, const CancelToken& cancel);

Shown shownBy(std::span<const double> output, std::span<const double> input);

/// "finite", "zero" where the input is not, "inf" or "nan".
std::string outcomeOf(std::span<const double> output, std::span<const double> input);

} // namespace nanscope::reproduce
