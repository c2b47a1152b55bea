// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/reproduce/smaller.h"

#include <fmt/format.h>

#include "core/instruments/minimise.h"
#include "core/reproduce/claim.h"

namespace nanscope::reproduce {

namespace {

constexpr int mostCalls = 200;
constexpr double mostWork = 1e12; // flops: some ten seconds, twice that on a busy machine

JobContext asOwnPhase(const JobContext& job)
{
    const auto report = [&progress = job.progress](const Progress& update) {
        progress({"report", "smallest capture", update.done, update.total, update.unit, {}});
    };
    return {report, job.cancel};
}

instruments::Matrices matricesOf(const ReducedCapture& capture)
{
    return {capture.input.dtype, capture.input.shape, {}, capture.input.bytes};
}

/// One matrix of a stack, where the claim holds of one alone; else all of them.
Result<std::vector<std::size_t>> needed(Claim& claim, const ReducedCapture& whole, const CancelToken& cancel)
{
    const auto all = matricesOf(whole);
    std::vector<std::size_t> places;
    if (auto first = claim.call({all, whole.epsilon}, cancel); !first) {
        return tl::make_unexpected(first.error());
    }
    for (std::int64_t i = 0; i < whole.shape.batch; ++i) {
        places.push_back(static_cast<std::size_t>(i));
        const auto one = instruments::cutOut(all, {{i}, 0, whole.shape.rows, 0, whole.shape.cols});
        const auto reply = claim.call({one, whole.epsilon}, cancel);
        if (!reply) {
            return tl::make_unexpected(reply.error());
        }
        if (reply->output) {
            return std::vector {static_cast<std::size_t>(i)};
        }
    }
    return places;
}

ReducedCapture leastOf(const ReducedCapture& whole, const Claim& claim, const std::vector<std::size_t>& places)
{
    const auto& least = claim.least();
    ReducedCapture part;
    for (const auto place : places) {
        part.elements.push_back(whole.elements[place]);
    }
    part.captured = whole.captured;
    part.shape = least.matrices();
    part.epsilon = whole.epsilon;
    part.input = {whole.input.name, least.dtype, least.shape, least.bytes};
    part.inputValues = instruments::valuesOf(least);
    part.twin = whole.twin;
    part.shown = claim.shown();
    return part;
}

} // namespace

Result<Smaller> smallerCapture(
    const ReducedCapture& whole, const std::vector<ExpectedNumbers>& numbers, const JobContext& job)
{
    const auto* leading = firstLikeDump(numbers);
    if (leading == nullptr) {
        return failure(
            ErrorKind::refused, "no replay of it ends like the dump, so nothing tells which smaller matrix would fail");
    }
    Claim claim(numbers, *leading, mostWork);
    const auto places = needed(claim, whole, job.cancel);
    if (!places) {
        return tl::make_unexpected(places.error());
    }
    const auto specimen = instruments::specimenOf(claim.least(), whole.epsilon);
    instruments::Asker asker(claim, specimen, asOwnPhase(job));
    const auto answer = instruments::minimise(asker, {mostCalls, 1});
    if (!answer && !claim.spent()) {
        return tl::make_unexpected(answer.error());
    }
    const auto left = instruments::nonZeroIn(claim.least());
    if (left == instruments::nonZeroIn(matricesOf(whole)) && claim.least().shape == whole.input.shape) {
        return failure(
            ErrorKind::refused, fmt::format("no less of it was found to end the same way, in {} calls", claim.calls()));
    }
    return Smaller {leastOf(whole, claim, *places), whole.input.shape, left, claim.calls(),
        !answer || answer->exhausted,
        instruments::describe(instruments::dispatchClass(whole.shape.rows, whole.shape.cols, false)),
        fmt::format("{} in {}", leading->variant->name, name(leading->precision)), numbers.size() - 1};
}

} // namespace nanscope::reproduce
