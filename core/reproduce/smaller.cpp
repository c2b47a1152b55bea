// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/reproduce/smaller.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/instruments/minimise.h"

namespace nanscope::reproduce {

namespace {

// Memory is copied anew and compared in the time of about so many flops of a replay.
constexpr double flopsPerByte = 8;
// Rounding, scanning and judging what a product gives takes about twice as long as the product.
constexpr double workPerFlop = 3;

/// Setting elements to zero one by one takes a look at the whole matrix for each that is zero already.
double workOfLooking(const instruments::Matrices& matrices)
{
    const auto values = instruments::valuesOf(matrices);
    const auto zeros = std::count(values.begin(), values.end(), 0.0);
    return flopsPerByte * 2 * static_cast<double>(zeros) * static_cast<double>(matrices.bytes.size());
}

bool isAll(const Shown& shown)
{
    return shown.notFinite == shown.of;
}

bool endsAs(const ExpectedNumbers& row, const PlainReplay& replayed)
{
    return replayed.outcome == row.outcome && replayed.firstNonFinite == row.firstNonFinite;
}

instruments::Reply replyOf(const Shape& shape, const std::vector<double>& output)
{
    instruments::Reply reply;
    reply.output = instruments::packed(DType::float64, shape, output);
    return reply;
}

instruments::Reply otherwise()
{
    instruments::Reply reply;
    reply.complaint = "a variant ends in another way";
    return reply;
}

tl::unexpected<Error> noMoreWork()
{
    return failure(ErrorKind::refused, "no more replays are allowed");
}

} // namespace

Claim::Claim(const std::vector<ExpectedNumbers>& rows, const ExpectedNumbers& leading, double work)
    : m_rows(rows)
    , m_leading(leading)
    , m_device(replay::makeEigenDevice())
    , m_work(work)
{ }

instruments::TargetFacts Claim::facts() const
{
    instruments::TargetFacts facts;
    // The maintainer's own function will be called with what is left, so it has to take the same kernel.
    facts.own = true;
    facts.name = m_leading.variant->name;
    facts.precision = name(m_leading.precision);
    facts.turnsDirections = true;
    return facts;
}

Result<PlainReplay> Claim::replayed(
    const ExpectedNumbers& row, const instruments::Question& question, const CancelToken& cancel)
{
    auto done = plainReplay({row.variant, row.precision}, question.input.matrices(),
        instruments::valuesOf(question.input), question.epsilon, *m_device, cancel);
    if (done) {
        m_work -= workPerFlop * done->program.gemmFlops();
    }
    return done;
}

Result<bool> Claim::othersHold(const instruments::Question& question, const CancelToken& cancel)
{
    for (const auto& row : m_rows) {
        if (&row == &m_leading) {
            continue;
        }
        const auto other = TRY(replayed(row, question, cancel));
        if (!endsAs(row, other)) {
            return false;
        }
    }
    return true;
}

Result<instruments::Reply> Claim::keep(const instruments::Question& question, std::vector<double> output)
{
    const bool zeroed = !m_output.empty() && question.input.shape == m_least.shape;
    m_least = question.input;
    m_output = std::move(output);
    if (zeroed && workOfLooking(m_least) > m_work) {
        m_work = 0;
        return noMoreWork();
    }
    return replyOf(m_least.shape, m_output);
}

Result<instruments::Reply> Claim::call(const instruments::Question& question, const CancelToken& cancel)
{
    if (!m_output.empty() && question.input.shape == m_least.shape && question.input.bytes == m_least.bytes) {
        return replyOf(m_least.shape, m_output);
    }
    if (spent()) {
        return noMoreWork();
    }
    auto leading = TRY(replayed(m_leading, question, cancel));
    if (m_output.empty()) {
        return keep(question, std::move(leading.output));
    }
    ++m_calls;
    if (!endsAs(m_leading, leading)
        || isAll(shownBy(leading.output, instruments::valuesOf(question.input))) != isAll(shown())) {
        return otherwise();
    }
    const auto others = TRY(othersHold(question, cancel));
    return others ? keep(question, std::move(leading.output)) : otherwise();
}

Result<instruments::Burst> Claim::burst(
    const instruments::Question& /*question*/, const instruments::BurstOptions& /*options*/, const JobContext& /*job*/)
{
    return failure(ErrorKind::unsupported, "what a report claims is asked call by call");
}

Shown Claim::shown() const
{
    return shownBy(m_output, instruments::valuesOf(m_least));
}

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
    TRY(claim.call({all, whole.epsilon}, cancel));
    for (std::int64_t i = 0; i < whole.shape.batch; ++i) {
        places.push_back(static_cast<std::size_t>(i));
        const auto one = instruments::cutOut(all, {{i}, 0, whole.shape.rows, 0, whole.shape.cols});
        const auto reply = TRY(claim.call({one, whole.epsilon}, cancel));
        if (reply.output) {
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
    const auto places = TRY(needed(claim, whole, job.cancel));
    const auto inputBatch = instruments::inputBatchOf(claim.least(), whole.epsilon);
    instruments::Measurement measurement(claim, inputBatch, asOwnPhase(job));
    const auto answer = instruments::minimise(measurement, {mostCalls, 1});
    if (!answer && !claim.spent()) {
        return tl::make_unexpected(answer.error());
    }
    const auto left = instruments::nonZeroIn(claim.least());
    if (left == instruments::nonZeroIn(matricesOf(whole)) && claim.least().shape == whole.input.shape) {
        return failure(
            ErrorKind::refused, fmt::format("no less of it was found to end the same way, in {} calls", claim.calls()));
    }
    return Smaller {leastOf(whole, claim, places), whole.input.shape, left, claim.calls(), !answer || answer->exhausted,
        instruments::describe(instruments::dispatchClass(whole.shape.rows, whole.shape.cols, false)),
        fmt::format("{} in {}", leading->variant->name, name(leading->precision)), numbers.size() - 1};
}

} // namespace nanscope::reproduce
