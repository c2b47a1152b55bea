// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/instruments/epsilon.h"
#include "core/instruments/inputcheck.h"
#include "core/instruments/minimise.h"
#include "core/instruments/repeat.h"
#include "core/instruments/scale.h"
#include "core/instruments/spectrumcheck.h"
#include "core/instruments/storm.h"

namespace nanscope {

nlohmann::ordered_json toJson(const ScaleAnswer& answer);
nlohmann::ordered_json toJson(const EpsilonAnswer& answer);
nlohmann::ordered_json toJson(const RepeatAnswer& answer);
nlohmann::ordered_json toJson(const StormAnswer& answer);
nlohmann::ordered_json toJson(const InputAnswer& answer);
nlohmann::ordered_json toJson(const SpectrumAnswer& answer);
nlohmann::ordered_json toJson(const MinimiseAnswer& answer);

/// The whole answer of `nanscope measure`, with its schema.
nlohmann::ordered_json measureJson(const std::string& instrument, const Asker& asker, nlohmann::ordered_json answer);

} // namespace nanscope
