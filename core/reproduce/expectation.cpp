// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/reproduce/expectation.h"

#include <algorithm>
#include <cmath>

#include "core/base/try.h"
#include "core/diagnose/identify/element.h"
#include "core/model/verdict.h"
#include "core/replay/engine/heldoutput.h"
#include "core/replay/variants/variant.h"

namespace nanscope::reproduce {

namespace {

void addRun(
    std::vector<SuspectedRun>& runs, const Result<const replay::Variant*>& variant, std::optional<Precision> precision)
{
    if (!variant) {
        return;
    }
    const SuspectedRun run {*variant, precision.value_or((*variant)->precision)};
    if (std::find(runs.begin(), runs.end(), run) == runs.end()) {
        runs.push_back(run);
    }
}

bool isNamed(const CaptureVerdict& verdict, const MemberResult& member)
{
    const auto& names = verdict.variant.names;
    return names.empty() || member.reproducing > 0
        || std::find(names.begin(), names.end(), member.variant) != names.end();
}

std::vector<double> joined(const std::vector<Values>& outputs)
{
    std::vector<double> all;
    for (const auto& output : outputs) {
        all.insert(all.end(), output.begin(), output.end());
    }
    return all;
}

std::optional<std::pair<OpName, int>> firstBadOp(const replay::Replay& replayed)
{
    for (const auto& op : replayed.ops) {
        const bool finite = std::all_of(op.batches.begin(), op.batches.end(), [](const Scan& s) { return s.finite(); });
        if (op.op != OpName::input && !finite) {
            return std::pair(op.op, op.iteration);
        }
    }
    return std::nullopt;
}

bool allBad(std::span<const double> values)
{
    return std::none_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

/// A twin has other directions: only damage that is everywhere can be looked for in it.
bool endsLikeDump(const std::vector<double>& output, const ReducedCapture& capture)
{
    const auto& dump = capture.outputValues;
    const auto found = shownBy(output, capture.inputValues);
    if (capture.shown) {
        return found.outcome == capture.shown->outcome && found.notFinite == capture.shown->notFinite;
    }
    if (dump.empty()) {
        return found.notFinite > 0;
    }
    const auto dumped = outcomeOf(dump, capture.inputValues);
    if (dumped == "finite" || dumped == "zero") {
        return dumped == "zero" && found.outcome == "zero";
    }
    return capture.twin ? allBad(dump) && allBad(output) && found.outcome == dumped
                        : diagnose::sameDamage(output, dump);
}

} // namespace

std::string outcomeOf(std::span<const double> output, std::span<const double> input)
{
    const auto any = [](std::span<const double> values, auto test) {
        return std::any_of(values.begin(), values.end(), test);
    };
    if (any(output, [](double x) { return std::isnan(x); })) {
        return "nan";
    }
    if (any(output, [](double x) { return std::isinf(x); })) {
        return "inf";
    }
    const auto nonZero = [](double x) { return x != 0; };
    return !any(output, nonZero) && any(input, nonZero) ? "zero" : "finite";
}

Shown shownBy(std::span<const double> output, std::span<const double> input)
{
    const auto bad = std::count_if(output.begin(), output.end(), [](double value) { return !std::isfinite(value); });
    return {outcomeOf(output, input), bad, static_cast<std::int64_t>(output.size())};
}

Result<PlainReplay> plainReplay(const SuspectedRun& run, const MatrixShape& shape, std::span<const double> input,
    std::optional<double> epsilon, replay::Device& device, const CancelToken& cancel)
{
    replay::ReplayOptions options;
    options.precision = run.precision;
    options.rounding.lowering = run.variant->lowering;
    options.epsilon = epsilon;
    options.keepOutput = true;
    return replay::replay(*run.variant, shape, input, device, options, cancel).map([&](replay::Replay result) {
        PlainReplay plain {std::move(result.program), joined(result.outputs), {}, firstBadOp(result)};
        plain.outcome = outcomeOf(plain.output, input);
        return plain;
    });
}

std::vector<SuspectedRun> suspectedRuns(const CaptureVerdict& verdict, const replay::Catalogue& catalogue)
{
    std::vector<SuspectedRun> runs;
    for (const auto& member : verdict.members) {
        if (isNamed(verdict, member)) {
            addRun(runs, catalogue.find(member.variant), parsePrecision(member.precision));
        }
    }
    const auto& names = verdict.variant.names;
    for (std::size_t i = 0; verdict.members.empty() && i < names.size(); ++i) {
        addRun(runs, catalogue.find(names[i]), std::nullopt);
    }
    if (runs.empty()) {
        for (const auto& variant : replay::variants()) {
            if (variant.published) {
                runs.push_back({&variant, variant.precision});
            }
        }
    }
    return runs;
}

Result<std::vector<ExpectedNumbers>> expectedNumbers(
    const std::vector<SuspectedRun>& runs, const ReducedCapture& capture, const CancelToken& cancel)
{
    std::vector<ExpectedNumbers> rows;
    const auto device = replay::makeEigenDevice();
    for (const auto& run : runs) {
        std::vector<double> exact;
        std::vector<ExpectedNumbers> pair;
        std::vector<Precision> precisions {Precision::fp64};
        if (run.precision != Precision::fp64) {
            precisions.push_back(run.precision);
        }
        for (const auto precision : precisions) {
            auto done = TRY(plainReplay(
                {run.variant, precision}, capture.shape, capture.inputValues, capture.epsilon, *device, cancel));
            auto& row = pair.emplace_back();
            row.variant = run.variant;
            row.precision = precision;
            row.own = run.precision;
            row.outcome = done.outcome;
            row.firstNonFinite = done.firstNonFinite;
            row.likeDump = endsLikeDump(done.output, capture);
            row.program = std::move(done.program);
            if (precision == Precision::fp64) {
                exact = std::move(done.output);
            } else if (const double far = replay::relativeDistance(done.output, exact); std::isfinite(far)) {
                row.relF = far;
            }
        }
        // The format it may have run in first, then what it is compared with.
        const bool again = std::any_of(rows.begin(), rows.end(),
            [&](const ExpectedNumbers& row) { return row.variant == run.variant && row.precision == Precision::fp64; });
        std::move(pair.rbegin(), again ? pair.rend() - 1 : pair.rend(), std::back_inserter(rows));
    }
    return rows;
}

bool numbersMayShow(const CaptureVerdict& verdict)
{
    return verdict.blame == Blame::numerics
        || std::any_of(verdict.members.begin(), verdict.members.end(),
            [](const MemberResult& member) { return member.reproducing > 0; });
}

const ExpectedNumbers* firstLikeDump(const std::vector<ExpectedNumbers>& rows)
{
    const auto found = std::find_if(
        rows.begin(), rows.end(), [](const ExpectedNumbers& row) { return row.precision == row.own && row.likeDump; });
    return found == rows.end() ? nullptr : &*found;
}

} // namespace nanscope::reproduce
