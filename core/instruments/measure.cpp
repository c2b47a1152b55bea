// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/measure.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
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

Result<InputAnswer> checkInput(Asker& asker)
{
    if (!asker.facts().own) {
        return failure(ErrorKind::usage,
            "a replay cell never writes into its input: this would test Nanscope, not your kernel; name yours with "
            "--impl");
    }
    asker.setPhase("input", 1, "calls");
    const auto judged = asker.ask();
    if (!judged) {
        return tl::make_unexpected(judged.error());
    }
    const auto& specimen = asker.specimen();
    const auto& reply = judged->reply;
    InputAnswer answer;
    answer.answered = judged->answered();
    answer.changed = reply.inputChanged;
    if (reply.firstChanged) {
        answer.first = indexIn(specimen.input.shape, *reply.firstChanged);
    }
    answer.sharesStorage = reply.sharesStorage;
    answer.returnsInput = reply.output && reply.output->dtype == specimen.input.dtype
        && reply.output->bytes == specimen.input.bytes && !specimen.scans.front().allZero();
    answer.sentence = sentenceFor(answer);
    return answer;
}

namespace {

constexpr std::array<std::string_view, 7> instrumentNames {
    "scale", "epsilon", "repeat", "storm", "input", "spectrum", "minimise"};

template <class Answer>
Result<MeasureAnswer> answered(Result<Answer> answer)
{
    return answer ? Result<MeasureAnswer>(std::move(*answer)) : tl::make_unexpected(answer.error());
}

Result<MeasureAnswer> measureScale(const MeasureRequest& request, Asker& asker)
{
    ScaleRequest scale;
    scale.roundedTo = request.roundTo;
    if (!scale.roundedTo && asker.facts().own) {
        scale.roundedTo = asker.specimen().input.dtype;
    }
    return answered(bisectScale(asker, scale));
}

Result<MeasureAnswer> measureEpsilon(Asker& asker, const MeasuredSubject& subject)
{
    if (subject.own) {
        return answered(varyEpsilon(asker, {asker.specimen().epsilon, false, std::nullopt}));
    }
    const auto request = epsilonOf(*subject.cell, asker.specimen());
    return request ? answered(varyEpsilon(asker, *request)) : tl::make_unexpected(request.error());
}

Result<MeasureAnswer> measureSmallest(const MeasureRequest& request, Asker& asker)
{
    MinimiseRequest smallest;
    smallest.calls = request.calls.value_or(smallest.calls);
    smallest.tries = request.tries;
    return answered(minimise(asker, smallest));
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

Result<MeasuredSubject> measuredCell(const CellChoice& choice, const replay::DeviceFactory& devices)
{
    auto cell = CellSubject::make(choice, devices);
    if (!cell) {
        return tl::make_unexpected(cell.error());
    }
    MeasuredSubject subject;
    subject.cell = std::move(*cell);
    return subject;
}

Result<MeasuredSubject> measuredFunction(
    const FunctionChoice& impl, const std::optional<CellChoice>& expected, const CancelToken& cancel)
{
    MeasuredSubject subject;
    subject.impl = impl;
    if (expected) {
        auto cell = CellSubject::make(*expected, replay::makeCoreDevice);
        if (!cell) {
            return tl::make_unexpected(cell.error());
        }
        subject.cell = std::move(*cell);
    }
    auto function = FunctionSubject::make(impl, cancel);
    if (!function) {
        return tl::make_unexpected(function.error());
    }
    subject.own = std::move(*function);
    return subject;
}

Result<Specimen> specimenFor(const MeasureRequest& request, const MeasuredSubject& subject)
{
    auto whole = openSpecimen(request.capture, request.batch, request.epsilon);
    const bool single = request.instrument == Instrument::scale || request.instrument == Instrument::spectrum;
    if (!whole || !single || subject.own || request.batch || whole->input.matrices().batch == 1) {
        return whole;
    }
    return openSpecimen(request.capture, static_cast<std::int64_t>(whole->watched), request.epsilon);
}

Result<MeasureAnswer> measure(const MeasureRequest& request, Asker& asker, MeasuredSubject& subject)
{
    StormRequest stormy;
    stormy.calls = request.calls.value_or(stormy.calls);
    switch (request.instrument) {
    case Instrument::scale:
        return measureScale(request, asker);
    case Instrument::epsilon:
        return measureEpsilon(asker, subject);
    case Instrument::repeat:
        return answered(repeatBitwise(asker, request.calls.value_or(100)));
    case Instrument::storm:
        return answered(storm(asker, subject.impl, stormy));
    case Instrument::input:
        return answered(checkInput(asker));
    case Instrument::spectrum:
        return answered(checkSpectrum(asker, subject.cell.get()));
    case Instrument::minimise:
        break;
    }
    return measureSmallest(request, asker);
}

} // namespace nanscope::instruments
