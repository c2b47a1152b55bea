// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/workflow/measures.h"

#include <algorithm>
#include <cmath>

#include "core/replay/device/device.h"
#include "core/replay/engine/outcome.h"
#include "core/replay/engine/replay.h"
#include "core/replay/engine/spectrum.h"
#include "core/report/input/reportinput.h"
#include "core/reproduce/reducedcapture.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::workflow {

namespace {

constexpr std::uint64_t mostHashed = std::uint64_t {1} << 28; // they are held in memory
constexpr std::int64_t mostForSpectrum = std::int64_t {1} << 24; // elements: a second or two
constexpr double mostReplayed = 2e11; // multiplications of one replay, some seconds

std::string digestOf(const Capture& capture)
{
    const auto bytes = tensorfile::captureBytes(capture, mostHashed);
    return bytes && *bytes ? reproduce::sha256(**bytes) : std::string();
}

/// One matrix of the input.
struct Matrix
{
    MatrixShape shape; ///< batch is 1
    Values values;
    Scan scan;
};

std::optional<Matrix> shownMatrix(const Capture& capture, const tensorfile::CaptureFile& file)
{
    const auto batch = static_cast<std::size_t>(report::shownBatch(capture));
    const auto shape = matrixShape(capture.input.shape);
    if (batch >= capture.input.batches.size()) {
        return std::nullopt;
    }
    auto values = file.input.values(static_cast<std::int64_t>(batch));
    return values
        ? std::optional(Matrix {{1, shape.rows, shape.cols}, std::move(*values), capture.input.batches[batch]})
        : std::nullopt;
}

void measureSpectrum(report::Measures& measures, const Matrix& input)
{
    const auto& scan = input.scan;
    if (!scan.finite() || scan.allZero() || input.shape.elements() > mostForSpectrum) {
        return;
    }
    // More directions than the one that is wanted, so that it has converged.
    constexpr int directions = 16;
    const auto leading =
        replay::leadingDirections(ValueView(input.values), input.shape.rows, input.shape.cols, 0, directions);
    if (!leading.empty()) {
        measures.sigmaMax = leading.front().sigma;
        measures.stableRank = scan.sumSquares / (leading.front().sigma * leading.front().sigma);
    }
}

/// Of those that did not stay finite one that ends like the dump, else the first.
const MemberResult* failingMember(const CaptureVerdict& verdict)
{
    const MemberResult* found = nullptr;
    for (const auto& member : verdict.members) {
        const bool failed = member.finite < member.roundings;
        if (failed && (found == nullptr || (found->reproducing == 0 && member.reproducing > 0))) {
            found = &member;
        }
    }
    return found;
}

/// One matrix under one variant, as often as it is asked for.
class Replayer
{
public:
    Replayer(replay::Variant variant, const Matrix& input, std::optional<double> epsilon)
        : m_variant(std::move(variant))
        , m_input(input)
        , m_epsilon(epsilon)
        , m_device(replay::makeEigenDevice())
    { }

    Result<replay::Replay> in(Precision precision, const replay::Rounding& rounding)
    {
        replay::ReplayOptions options;
        options.precision = precision;
        options.rounding = rounding;
        options.epsilon = m_epsilon;
        return replay::replay(m_variant, m_input.shape, ValueView(m_input.values), *m_device, options);
    }

private:
    replay::Variant m_variant;
    const Matrix& m_input;
    std::optional<double> m_epsilon;
    std::unique_ptr<replay::Device> m_device;
};

bool worthwhile(const Matrix& input, const replay::Variant& variant)
{
    const auto shorter = static_cast<double>(std::min(input.shape.rows, input.shape.cols));
    const auto perStep = 3 * shorter * static_cast<double>(input.shape.elements());
    return input.scan.finite() && perStep * static_cast<double>(variant.steps.size()) <= mostReplayed;
}

/// The same op of another replay of the same variant.
const OpTrace* opOf(const replay::Replay& replayed, const NonFinite& place)
{
    const auto found = std::ranges::find_if(
        replayed.ops, [&](const OpTrace& op) { return op.iteration == place.iteration && op.op == place.op; });
    return found == replayed.ops.end() ? nullptr : &*found;
}

/// `wide` is the same replay in fp64.
std::optional<report::Overflow> overflowAt(const NonFinite& place, const MemberResult& member, Precision precision,
    const replay::Replay& narrow, const replay::Replay& wide)
{
    const auto* here = opOf(narrow, place);
    const auto* exact = opOf(wide, place);
    if (here == nullptr || exact == nullptr || !exact->batches[0].finite()) {
        return std::nullopt;
    }
    const auto limit = largestFinite(precision);
    const auto inside = here->batches[0].absmax;
    const auto outside = exact->batches[0].absmax;
    report::Overflow overflow {member.variant, precision, place.iteration, place.op, outside, {}};
    if (outside > limit) {
        return overflow;
    }
    // What became NaN far below the end of the format was no overflow of this op.
    constexpr double near = 4;
    if (inside * near < limit) {
        return std::nullopt;
    }
    overflow.reaches = inside;
    overflow.exact = outside;
    return overflow;
}

std::optional<report::Overflow> overflowOf(
    const MemberResult& member, Precision precision, Replayer& replayer, const std::vector<replay::Rounding>& envelope)
{
    for (const auto& rounding : envelope) {
        const auto narrow = replayer.in(precision, rounding);
        const auto first = narrow ? replay::firstNonFinite(*narrow, 0, false) : std::nullopt;
        if (!first) {
            continue;
        }
        const auto wide = replayer.in(Precision::fp64, rounding);
        return wide ? overflowAt(*first, member, precision, *narrow, *wide) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<report::Overflow> measureOverflow(
    const Matrix& input, const Capture& capture, const CaptureVerdict& verdict, const replay::Catalogue& catalogue)
{
    const auto* member = failingMember(verdict);
    const auto precision = member != nullptr ? parsePrecision(member->precision) : std::nullopt;
    const auto known = precision ? catalogue.find(member->variant) : Result<const replay::Variant*>(nullptr);
    if (!precision || !known || !worthwhile(input, **known)) {
        return std::nullopt;
    }
    auto variant = **known;
    variant.ignoresCallerEpsilon = variant.ignoresCallerEpsilon && !member->recordedEpsilon;
    const auto envelope = replay::envelopeOf(variant.lowering);
    Replayer replayer(std::move(variant), input, capture.epsilon);
    return overflowOf(*member, *precision, replayer, envelope);
}

} // namespace

report::Measures measuresOf(const Capture& capture, const CaptureVerdict& verdict, const replay::Catalogue& catalogue)
{
    report::Measures measures;
    const auto file = tensorfile::openCapture(capture);
    if (!file) {
        return measures;
    }
    measures.sha256 = digestOf(capture);
    if (!capture.part.empty()) {
        return measures;
    }
    if (const auto input = shownMatrix(capture, *file)) {
        measureSpectrum(measures, *input);
        measures.overflow = measureOverflow(*input, capture, verdict, catalogue);
    }
    return measures;
}

} // namespace nanscope::workflow
