// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// One instrument on one capture, chosen by name: what the command line and the window have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <nlohmann/json_fwd.hpp>

#include "core/instruments/celltarget.h"
#include "core/instruments/epsilon.h"
#include "core/instruments/functiontarget.h"
#include "core/instruments/measurement.h"
#include "core/instruments/minimise.h"
#include "core/instruments/scale.h"
#include "core/instruments/spectrumcheck.h"
#include "core/instruments/storm.h"

namespace nanscope::instruments {

/// Whether a function writes into what it is handed, and whether what it returns lies in it.
struct InputAnswer
{
    bool answered = false; ///< false: there was no output; the log says why
    std::int64_t changed = 0; ///< elements whose bits differ after the call
    std::optional<std::vector<std::int64_t>> first; ///< index of the first of them
    bool sharesStorage = false;
    bool returnsInput = false; ///< the output has the bits of the input as it was
    std::string sentence;
};

/// Only a function can do this: a replay cell is refused.
Result<InputAnswer> checkInput(Measurement& measurement);

enum class Instrument { scale, epsilon, repeat, storm, input, spectrum, minimise };

inline constexpr Instrument everyInstrument[] = {Instrument::scale, Instrument::epsilon, Instrument::repeat,
    Instrument::storm, Instrument::input, Instrument::spectrum, Instrument::minimise};

std::string_view name(Instrument instrument);

/// Whether its answer is about the device that replays, so that no other can stand in.
bool isOfDevice(Instrument instrument);

/// Fails with the nearest names for any other.
Result<Instrument> findInstrument(std::string_view name);

/// Who is measured, and the cell that says what is to be expected of it.
struct MeasuredTarget
{
    std::unique_ptr<Target> own; ///< a function; none: the cell itself is measured
    std::unique_ptr<CellTarget> cell; ///< none: a function that claims to be no variant
    FunctionChoice impl;

    Target& target() { return own ? *own : static_cast<Target&>(*cell); }
};

/// A replay of this cell.
Result<MeasuredTarget> measuredCell(const CellChoice& choice, const replay::DeviceFactory& devices);

/// A function; where `impl` says which variant it claims to be, `expected` is that cell.
Result<MeasuredTarget> measuredFunction(
    const FunctionChoice& impl, const std::optional<CellChoice>& expected, const CancelToken& cancel);

struct MeasureRequest
{
    Instrument instrument = Instrument::scale;
    CaptureRef capture;
    std::optional<std::int64_t> batch; ///< one matrix; none: all, or the first that is sound
    std::optional<double> epsilon; ///< instead of the captured one
    std::optional<int> calls; ///< repeat, storm: of each leg; minimise: at most
    std::optional<int> tries {}; ///< minimise: calls of each candidate; none: as its symptom comes
    std::optional<DType> roundTo; ///< scale: none is nothing for a replay, the capture's own for a function
};

using MeasureAnswer =
    std::variant<ScaleAnswer, EpsilonAnswer, RepeatAnswer, StormAnswer, InputAnswer, SpectrumAnswer, MinimiseAnswer>;

/// What is put under the instrument. What is of one matrix is replayed of one alone; a function is always given the
/// whole batch it was given then.
Result<InputBatch> inputBatchFor(
    const MeasureRequest& request, const MeasuredTarget& target, const CancelToken& cancel);

/// A cell whose device is lost or has not the memory is measured anew on core's CPU device, where that says the same;
/// the log tells why.
Result<MeasureAnswer> measure(const MeasureRequest& request, Measurement& measurement, MeasuredTarget& target);

nlohmann::ordered_json toJson(const ScaleAnswer& answer);
nlohmann::ordered_json toJson(const EpsilonAnswer& answer);
nlohmann::ordered_json toJson(const RepeatAnswer& answer);
nlohmann::ordered_json toJson(const StormAnswer& answer);
nlohmann::ordered_json toJson(const InputAnswer& answer);
nlohmann::ordered_json toJson(const SpectrumAnswer& answer);
nlohmann::ordered_json toJson(const MinimiseAnswer& answer);

/// The whole answer of `nanscope measure`, with its schema.
nlohmann::ordered_json measureJson(Instrument instrument, const Measurement& measurement, const MeasureAnswer& answer);

/// The answer of `nanscope measure` as text: what was measured on whom, what was found, and what went wrong in single
/// calls.
std::string measureText(Instrument instrument, const Measurement& measurement, const MeasureAnswer& answer);

} // namespace nanscope::instruments
