// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/triage/overwritten.h"

#include <algorithm>

#include "core/diagnose/verdict/experiments.h"

namespace nanscope::diagnose {

namespace {

bool oneMemory(const tensorfile::Tensor& a, const tensorfile::Tensor& b)
{
    return !a.storageKey().empty() && a.storageKey() == b.storageKey() && a.storageOffset() == b.storageOffset();
}

bool sameBits(const tensorfile::CaptureFile& file)
{
    for (std::int64_t batch = 0; batch < file.input.matrices().batch; ++batch) {
        const auto in = file.input.readBits(batch);
        const auto out = file.output->readBits(batch);
        if (!in || !out || *in != *out) {
            return false;
        }
    }
    return true;
}

bool logsShowNonFinite(const RunData& run)
{
    return std::ranges::any_of(
        run.series, [](const Series& series) { return series.nan + series.posInf + series.negInf > 0; });
}

} // namespace

bool inputMayBeResult(const tensorfile::CaptureFile& file, const Capture& scanned, const RunData& run)
{
    if (!file.output || file.wrapped) {
        return false;
    }
    if (oneMemory(file.input, *file.output)) {
        return true;
    }
    const auto in = scanned.input.total();
    const bool alike = scanned.input.shape == scanned.output->shape && scanned.input.dtype == scanned.output->dtype;
    const bool handsOn = in.zero + in.nonFinite() < in.count;
    return alike && (handsOn || !logsShowNonFinite(run)) && sameBits(file);
}

void askForInputBefore(CaptureVerdict& verdict)
{
    verdict.role = Role::birth;
    verdict.blame = Blame::undecided;
    verdict.rule = RuleId::inputMayBeResult;
    verdict.kind = "the input may be the result";
    verdict.summary = "input and output are the same values, non-finite ones among them: what a function that works in "
                      "place leaves when both are saved after the call";
    verdict.question = "was the input cloned before the call? If it was, it was non-finite already; if not, dump "
                       "input.clone() taken before the call";
    verdict.next = nextExperiments(verdict);
}

} // namespace nanscope::diagnose
