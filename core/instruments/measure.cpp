// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/measure.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/try.h"
#include "core/model/words.h"
#include "core/replay/variants/nearest.h"

namespace nanscope::instruments {

namespace {

std::string sentenceFor(const InputAnswer& answer)
{
    if (!answer.answered) {
        return "the call gave no output";
    }
    const std::string shares = answer.sharesStorage
        ? "the output lies in the memory of the input: who uses either later uses both"
        : "the output has memory of its own";
    if (answer.changed > 0) {
        return fmt::format("the input is not what it was: {} other bits, the first at {}; {}",
            answer.changed == 1 ? "1 element has" : countText(answer.changed) + " elements have",
            indexText(*answer.first), shares);
    }
    return answer.returnsInput
        ? fmt::format("the input is unchanged, and what came back has the same bits: nothing was "
                      "done to it; {}",
            shares)
        : fmt::format("the input is unchanged, bit by bit; {}", shares);
}

} // namespace

Result<InputAnswer> checkInput(Measurement& measurement)
{
    if (!measurement.facts().own) {
        return failure(ErrorKind::usage,
            "a replay cell never writes into its input: this would test Nanscope, not your kernel; give your own "
            "function with --impl, or as own function in the window");
    }
    measurement.setPhase("input", 1, "calls");
    const auto judged = TRY(measurement.ask());
    const auto& inputBatch = measurement.inputBatch();
    const auto& reply = judged.reply;
    InputAnswer answer;
    answer.answered = judged.answered();
    answer.changed = reply.inputChanged;
    if (reply.firstChanged) {
        answer.first = indexIn(inputBatch.input.shape, *reply.firstChanged);
    }
    answer.sharesStorage = reply.sharesStorage;
    answer.returnsInput = reply.output && reply.output->dtype == inputBatch.input.dtype
        && reply.output->bytes == inputBatch.input.bytes && !inputBatch.scans.front().allZero();
    answer.sentence = sentenceFor(answer);
    return answer;
}

namespace {

constexpr std::array<std::string_view, 7> instrumentNames {
    "scale", "epsilon", "repeat", "storm", "input", "spectrum", "minimise"};

template <class Answer>
Result<MeasureAnswer> answered(Result<Answer> answer)
{
    return TRY(std::move(answer));
}

Result<MeasureAnswer> measureScale(const MeasureRequest& request, Measurement& measurement)
{
    ScaleRequest scale;
    scale.roundedTo = request.roundTo;
    if (!scale.roundedTo && measurement.facts().own) {
        scale.roundedTo = measurement.inputBatch().input.dtype;
    }
    return answered(bisectScale(measurement, scale));
}

Result<MeasureAnswer> measureEpsilon(Measurement& measurement, const MeasuredTarget& target)
{
    if (target.own) {
        return answered(varyEpsilon(measurement, {measurement.inputBatch().epsilon, false, std::nullopt}));
    }
    const auto request = TRY(epsilonOf(*target.cell, measurement.inputBatch()));
    return answered(varyEpsilon(measurement, request));
}

Result<MeasureAnswer> measureSmallest(const MeasureRequest& request, Measurement& measurement)
{
    MinimiseRequest smallest;
    smallest.calls = request.calls.value_or(smallest.calls);
    smallest.tries = request.tries;
    return answered(minimise(measurement, smallest));
}

} // namespace

std::string_view name(Instrument instrument)
{
    return instrumentNames[static_cast<std::size_t>(instrument)];
}

Result<Instrument> findInstrument(std::string_view name)
{
    for (const auto instrument : everyInstrument) {
        if (nanscope::instruments::name(instrument) == name) {
            return instrument;
        }
    }
    return replay::unknownName("instrument", name, {instrumentNames.begin(), instrumentNames.end()});
}

Result<MeasuredTarget> measuredCell(const CellChoice& choice, const replay::DeviceFactory& devices)
{
    auto cell = TRY(CellTarget::make(choice, devices));
    MeasuredTarget target;
    target.cell = std::move(cell);
    return target;
}

Result<MeasuredTarget> measuredFunction(
    const FunctionChoice& impl, const std::optional<CellChoice>& expected, const CancelToken& cancel)
{
    MeasuredTarget target;
    target.impl = impl;
    if (expected) {
        target.cell = TRY(CellTarget::make(*expected, replay::makeCoreDevice));
    }
    target.own = TRY(FunctionTarget::make(impl, cancel));
    return target;
}

Result<InputBatch> inputBatchFor(const MeasureRequest& request, const MeasuredTarget& target, const CancelToken& cancel)
{
    auto whole = openInputBatch(request.capture, request.batch, request.epsilon, cancel);
    const bool single = request.instrument == Instrument::scale || request.instrument == Instrument::spectrum;
    if (!whole || !single || target.own || request.batch || whole->input.matrices().batch == 1) {
        return whole;
    }
    return openInputBatch(request.capture, static_cast<std::int64_t>(whole->watched), request.epsilon, cancel);
}

namespace {

Result<MeasureAnswer> measureOnce(const MeasureRequest& request, Measurement& measurement, MeasuredTarget& target)
{
    StormRequest stormy;
    stormy.calls = request.calls.value_or(stormy.calls);
    switch (request.instrument) {
    case Instrument::scale:
        return measureScale(request, measurement);
    case Instrument::epsilon:
        return measureEpsilon(measurement, target);
    case Instrument::repeat:
        return answered(repeatBitwise(measurement, request.calls.value_or(100)));
    case Instrument::storm:
        return answered(storm(measurement, target.impl, stormy));
    case Instrument::input:
        return answered(checkInput(measurement));
    case Instrument::spectrum:
        return answered(checkSpectrum(measurement, target.cell.get()));
    case Instrument::minimise:
        break;
    }
    return measureSmallest(request, measurement);
}

} // namespace

bool isOfDevice(Instrument instrument)
{
    return instrument == Instrument::repeat || instrument == Instrument::storm;
}

Result<MeasureAnswer> measure(const MeasureRequest& request, Measurement& measurement, MeasuredTarget& target)
{
    auto answer = measureOnce(request, measurement, target);
    const auto device = measurement.facts().environment.device;
    if (answer || target.own || !target.cell->goToCpu(answer.error())) {
        return answer;
    }
    if (isOfDevice(request.instrument)) {
        auto error = answer.error();
        error.what += fmt::format(
            "; {} asks the device and is not answered by another: choose cpu to ask the CPU", name(request.instrument));
        return tl::make_unexpected(error);
    }
    measurement.startAgain(fmt::format("measured on the CPU, since {} failed: {}", device, answer.error().what));
    return measureOnce(request, measurement, target);
}

} // namespace nanscope::instruments
