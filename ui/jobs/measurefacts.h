// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QString>

#include "core/replay/variants/catalogue.h"

namespace nanscope {

struct MeasureResult;

/// What a picture of a measurement says besides its answer.
struct MeasureFacts
{
    QString subject; ///< "gns-gram · fp16 · fused", "python:mine:f"
    QString capture; ///< path
    std::optional<double> epsilon; ///< it was called with; none: whoever answered used its own
    replay::Catalogue catalogue {}; ///< of the variants
};

MeasureFacts factsOf(const MeasureResult& result);

} // namespace nanscope
