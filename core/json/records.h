// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What was captured, logged, replayed and judged, as JSON: what commands answer, what goes between processes, and what
// a session keeps of a diagnosis.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope {

class JsonAnswer;

/// JSON as in design section 9.
nlohmann::ordered_json toJson(const Cell& cell);
nlohmann::ordered_json toJson(const Observations& observed);
nlohmann::ordered_json toJson(const Capture& capture);
nlohmann::ordered_json toJson(const Series& series, const std::string& run = {});
nlohmann::ordered_json toJson(const Event& event);
nlohmann::ordered_json toJson(const Finding& finding);
nlohmann::ordered_json toJson(const Rejection& rejection);
nlohmann::ordered_json toJson(const Progress& progress);
nlohmann::ordered_json toJson(const Scan& scan, const Shape& shape);

/// A whole answer, with its "schema".
JsonAnswer diagnosisAnswer(const Diagnosis& diagnosis);

/// The way back, for the window and for the session; unknown keys are ignored, missing ones keep their default.
Result<Cell> cellFromJson(const nlohmann::ordered_json& json);
Result<Diagnosis> diagnosisFromJson(const std::string& text);
/// The rules that judged it, as diagnosisRules counts them; 0 where it does not say.
int rulesOf(const std::string& text);
/// None where the text holds none. From a stranger's session: check() before they are argued with.
Observations observationsFromJson(const std::string& text);

} // namespace nanscope
