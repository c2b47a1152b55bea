// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"
#include "core/replay/program/program.h"

namespace nanscope::rpc {

/// What a device reads of a program; not what names it and nothing that only its caller reads (rounding, coefficients,
/// Gram points).
nlohmann::ordered_json programToJson(const replay::Program& program);

/// The way back. Refused where a buffer, scalar, vector or scan slot is named that the program does not have.
Result<replay::Program> programFromJson(const nlohmann::ordered_json& json);

nlohmann::ordered_json instructionToJson(const replay::Instruction& instruction);

/// One of this program's, or of its kind.
Result<replay::Instruction> instructionFromJson(const nlohmann::ordered_json& json, const replay::Program& program);

} // namespace nanscope::rpc
