// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/instruments/measure.h"

namespace nanscope::instruments {

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
