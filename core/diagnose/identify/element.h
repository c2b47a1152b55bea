// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/model.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::diagnose {

/// One matrix of a capture with its contents in memory.
struct Element
{
    int batch = 0;
    MatrixShape shape; ///< batch is 1
    Values input; ///< row-major
    Values output;
    DType outputType = DType::float32; ///< what the output was rounded to
    Scan inputScan;
    Scan outputScan;
};

/// Reads one matrix of both sides. The capture has an output of the input's shape.
Result<Element> loadElement(const tensorfile::CaptureFile& capture, std::int64_t batch);

/// NaN, +Inf and -Inf apart; everything finite is the same.
enum class Damage : std::uint8_t { none, nan, posInf, negInf };

Damage damageOf(double value);

/// True if both have the same damage at every position.
bool sameDamage(ValueView a, ValueView b);

} // namespace nanscope::diagnose
