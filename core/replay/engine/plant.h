// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A fault put into a replay on purpose: part of what one op wrote is replaced before anything reads it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/replay/device/device.h"

namespace nanscope::replay {

enum class PlantedValue {
    nan,
    posInf,
    negInf,
    zero,
    number, ///< PlantedFault::number
    held, ///< what the memory held before the op wrote it: a tile that was never written
};

struct PlantedFault
{
    OpName op = OpName::update;
    int iteration = 1;
    Region region; ///< of the op's result, in the capture's own orientation; Gram-shaped results in theirs
    PlantedValue value = PlantedValue::nan;
    double number = 0;
    /// As kernels for symmetric products work: every Gram-shaped product computes its lower triangle and writes it
    /// twice, and a fault in such a result is in its mirror image too.
    bool mirrored = false;
    bool operator==(const PlantedFault&) const = default;
};

/// "nan", "inf", "-inf", "zero", "stale" for what the memory held, "stale:0.05" for a number.
std::string valueText(const PlantedFault& fault);

/// Sets value and number; false for anything else than the words above.
bool parseValue(std::string_view text, PlantedFault& fault);

/// True for the results that symmetric kernels write as triangle and mirror image.
bool writtenTwice(OpName op);

/// Which instructions are such products.
std::vector<bool> symmetricProducts(const Program& program);

/// Index of the instruction that completes this op, or what is wrong with planting this fault there.
Result<std::size_t> plantingPoint(const Program& program, const PlantedFault& fault);

/// Puts the fault into a program as it runs.
class Planter
{
public:
    static Result<Planter> make(const Program& program, const PlantedFault& fault);

    /// To be called around each instruction, in their order.
    Result<void> before(std::size_t instruction, Device& device, std::int64_t element);
    Result<void> after(std::size_t instruction, const Program& program, Device& device, std::int64_t element);

private:
    Result<void> overwrite(Device& device, std::int64_t element);

    PlantedFault m_fault;
    std::size_t m_first = 0; ///< instruction of the op
    std::size_t m_last = 0;
    BufferId m_out = -1;
    std::int64_t m_rows = 0; ///< of the op's result, in the capture's own orientation
    std::int64_t m_cols = 0;
    std::vector<bool> m_symmetric;
    std::vector<double> m_held;
};

} // namespace nanscope::replay
