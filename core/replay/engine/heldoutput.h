// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/base/values.h"
#include "core/replay/device/device.h"
#include "core/replay/engine/spectrum.h"

namespace nanscope::replay {

/// Rows are scaled one by one before the first step, which turns the directions of the input.
bool turnsDirections(const Program& program);

/// ||a - b||_F / ||b||_F; NaN where either holds a NaN, infinite where only b is zero.
double relativeDistance(ValueView a, ValueView b);

/// An output that others are measured against: on its device, or here where that keeps none.
struct Reference
{
    const Device* device = nullptr; ///< that has it, while it is not here
    std::optional<KeptMatrix> there {};
    Values here {};
};

/// What came out of a replay for one matrix, while its device holds it. What the device does not measure itself is
/// measured here, on values that are fetched once.
class HeldOutput
{
public:
    HeldOutput(Device& device, const Program& program, std::int64_t element);

    /// gainAlong() for each direction.
    Result<std::vector<double>> gainsAlong(const std::vector<SingularDirection>& directions);

    Result<Reference> asReference();

    /// relativeDistance(). A reference that is of no use where it lies comes here, and stays.
    Result<double> distanceTo(Reference& reference);

    /// Fetched again where they are asked for again.
    Result<Values> take();

private:
    Result<void> fetch();

    Device& m_device;
    BufferId m_buffer;
    std::int64_t m_element;
    std::int64_t m_cols;
    std::optional<Values> m_values;
};

} // namespace nanscope::replay
