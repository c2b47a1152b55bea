// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/plant.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/try.h"

namespace nanscope::replay {

namespace {

double constantOf(const PlantedFault& fault)
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (fault.value) {
    case PlantedValue::nan:
        return std::numeric_limits<double>::quiet_NaN();
    case PlantedValue::posInf:
        return infinity;
    case PlantedValue::negInf:
        return -infinity;
    case PlantedValue::number:
        return fault.number;
    case PlantedValue::zero:
    case PlantedValue::held:
        break;
    }
    return 0;
}

Region mirrorOf(const Region& region)
{
    return {region.col, region.row, region.cols, region.rows};
}

std::vector<double> transposed(const std::vector<double>& values, const Region& region)
{
    std::vector<double> result(values.size());
    for (std::int64_t r = 0; r < region.rows; ++r) {
        for (std::int64_t c = 0; c < region.cols; ++c) {
            result[static_cast<std::size_t>(c * region.rows + r)] =
                values[static_cast<std::size_t>(r * region.cols + c)];
        }
    }
    return result;
}

Result<void> mirrorLowerTriangle(Device& device, BufferId buffer, std::int64_t element, std::int64_t size)
{
    auto held = TRY(device.download(buffer, element));
    auto values = std::move(held).doubles();
    for (std::int64_t r = 0; r < size; ++r) {
        for (std::int64_t c = r + 1; c < size; ++c) {
            values[static_cast<std::size_t>(r * size + c)] = values[static_cast<std::size_t>(c * size + r)];
        }
    }
    return device.overwrite(buffer, element, {0, 0, size, size}, values);
}

/// First instruction of the op that ends with this one.
std::size_t firstOf(const Program& program, std::size_t last)
{
    auto first = last;
    while (first > 0 && !program.code[first - 1].label) {
        --first;
    }
    return first;
}

/// "which has z, q, update", or how many steps there are.
std::string opsText(const Program& program, int iteration)
{
    std::vector<std::string_view> names;
    for (const auto& in : program.code) {
        if (in.label && in.iteration == iteration && in.out >= 0) {
            names.push_back(name(*in.label));
        }
    }
    return names.empty() ? fmt::format("it has {} steps", program.steps.size())
                         : fmt::format("which has {}", fmt::join(names, ", "));
}

bool fits(std::int64_t begin, std::int64_t count, std::int64_t size)
{
    return begin >= 0 && count >= 1 && begin < size && count <= size - begin;
}

} // namespace

std::string valueText(const PlantedFault& fault)
{
    switch (fault.value) {
    case PlantedValue::nan:
        return "nan";
    case PlantedValue::posInf:
        return "inf";
    case PlantedValue::negInf:
        return "-inf";
    case PlantedValue::zero:
        return "zero";
    case PlantedValue::held:
        return "stale";
    case PlantedValue::number:
        break;
    }
    return fmt::format("stale:{}", fault.number);
}

bool parseValue(std::string_view text, PlantedFault& fault)
{
    for (const auto value :
        {PlantedValue::nan, PlantedValue::posInf, PlantedValue::negInf, PlantedValue::zero, PlantedValue::held}) {
        PlantedFault like;
        like.value = value;
        if (text == valueText(like)) {
            fault.value = value;
            return true;
        }
    }
    constexpr std::string_view lead = "stale:";
    if (!text.starts_with(lead)) {
        return false;
    }
    text.remove_prefix(lead.size());
    const auto number = numberIn<double>(text);
    if (!number || !std::isfinite(*number)) {
        return false;
    }
    fault.value = PlantedValue::number;
    fault.number = *number;
    return true;
}

bool writtenTwice(OpName op)
{
    return op == OpName::gram || op == OpName::polynomial || op == OpName::z || op == OpName::q || op == OpName::r;
}

std::vector<bool> symmetricProducts(const Program& program)
{
    std::vector<bool> symmetric(program.code.size(), false);
    // An op's own products come before the instruction that carries its name.
    std::optional<OpName> op;
    for (auto i = program.code.size(); i-- > 0;) {
        const auto& in = program.code[i];
        op = in.label ? in.label : op;
        symmetric[i] = in.code == Code::gemm && op && *op != OpName::update && *op != OpName::restart;
    }
    return symmetric;
}

Result<std::size_t> plantingPoint(const Program& program, const PlantedFault& fault)
{
    const auto found = std::find_if(program.code.begin(), program.code.end(),
        [&](const Instruction& in) { return in.label == fault.op && in.iteration == fault.iteration; });
    if (found == program.code.end()) {
        return failure(ErrorKind::usage,
            fmt::format("{} has no {} in step {}, {}", program.variant, name(fault.op), fault.iteration,
                opsText(program, fault.iteration)));
    }
    if (found->out < 0) {
        return failure(ErrorKind::usage, fmt::format("{} is one number: there is no tile in it", name(fault.op)));
    }
    const auto& plan = program.buffers[static_cast<std::size_t>(found->out)];
    const auto rows = plan.transposed ? plan.cols : plan.rows;
    const auto cols = plan.transposed ? plan.rows : plan.cols;
    const auto& region = fault.region;
    if (!fits(region.row, region.rows, rows) || !fits(region.col, region.cols, cols)) {
        return failure(ErrorKind::usage,
            fmt::format("the tile of {} × {} at [{}, {}] does not lie within the {} × {} of {}", region.rows,
                region.cols, region.row, region.col, rows, cols, name(fault.op)));
    }
    return static_cast<std::size_t>(found - program.code.begin());
}

Result<Planter> Planter::make(const Program& program, const PlantedFault& fault)
{
    const auto point = TRY(plantingPoint(program, fault));
    Planter planter;
    planter.m_fault = fault;
    planter.m_last = point;
    planter.m_first = firstOf(program, point);
    planter.m_out = program.code[point].out;
    const auto& plan = program.buffers[static_cast<std::size_t>(planter.m_out)];
    planter.m_rows = plan.transposed ? plan.cols : plan.rows;
    planter.m_cols = plan.transposed ? plan.rows : plan.cols;
    if (fault.mirrored) {
        planter.m_symmetric = symmetricProducts(program);
    }
    return planter;
}

Result<void> Planter::before(std::size_t instruction, Device& device, std::int64_t element)
{
    if (instruction != m_first || m_fault.value != PlantedValue::held) {
        return {};
    }
    return device.download(m_out, element, m_fault.region).map([this](Values held) {
        m_held = std::move(held).doubles();
    });
}

Result<void> Planter::overwrite(Device& device, std::int64_t element)
{
    const auto& region = m_fault.region;
    const auto size = static_cast<std::size_t>(region.rows * region.cols);
    const auto values = m_fault.value == PlantedValue::held ? m_held : std::vector<double>(size, constantOf(m_fault));
    TRY(device.overwrite(m_out, element, region, values));
    if (!m_fault.mirrored || !writtenTwice(m_fault.op)) {
        return {};
    }
    return device.overwrite(m_out, element, mirrorOf(region), transposed(values, region));
}

Result<void> Planter::after(std::size_t instruction, const Program& program, Device& device, std::int64_t element)
{
    const auto& in = program.code[instruction];
    const bool symmetric = !m_symmetric.empty() && m_symmetric[instruction];
    if (symmetric) {
        const auto size = program.buffers[static_cast<std::size_t>(in.out)].rows;
        TRY(mirrorLowerTriangle(device, in.out, element, size));
    }
    if (instruction == m_last) {
        TRY(overwrite(device, element));
    }
    return symmetric || instruction == m_last ? device.rescan(in) : Result<void>();
}

} // namespace nanscope::replay
