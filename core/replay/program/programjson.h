// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"
#include "core/replay/program/program.h"

namespace nanscope::replay {

/// What a device reads of a program; not what names it and nothing that only its caller reads (rounding, coefficients,
/// Gram points).
nlohmann::ordered_json programToJson(const Program& program);

/// The way back. Refused where a buffer, scalar, vector or scan slot is named that the program does not have.
Result<Program> programFromJson(const nlohmann::ordered_json& json);

nlohmann::ordered_json instructionToJson(const Instruction& instruction);

/// One of this program's, or of its kind.
Result<Instruction> instructionFromJson(const nlohmann::ordered_json& json, const Program& program);

} // namespace nanscope::replay
