// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/program/programjson.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/json/jsonfields.h"

namespace nanscope::replay {

namespace {

/// An enum as its number, which both ends have from one header; -1 for none.
template <class Visit, class Value>
void number(Visit& visit, const char* key, Value& value)
{
    std::int64_t number = static_cast<std::int64_t>(value);
    visit(key, number);
    if constexpr (!std::is_const_v<Value>) {
        value = static_cast<Value>(number);
    }
}

} // namespace

template <class Visit>
void fields(Visit& visit, jsonfields::Of<Instruction> auto& value)
{
    number(visit, "code", value.code);
    visit("out", value.out);
    visit("a", value.a);
    visit("b", value.b);
    visit("c", value.c);
    visit("transpose_a", value.transposeA);
    visit("transpose_b", value.transposeB);
    visit("clamp", value.clamp);
    visit("scalar", value.scalar);
    visit("vector", value.vector);
    visit("alpha", value.alpha);
    visit("beta", value.beta);
    number(visit, "round", value.round);
    visit("norm_ulps", value.normUlps);
    visit("scan", value.scanSlot);
}

template <class Visit>
void fields(Visit& visit, jsonfields::Of<BufferPlan> auto& value)
{
    visit("rows", value.rows);
    visit("cols", value.cols);
    visit("transposed", value.transposed);
    number(visit, "format", value.format);
}

template <class Visit>
void fields(Visit& visit, jsonfields::Of<Program> auto& value)
{
    number(visit, "precision", value.precision);
    visit("batch", value.shape.batch);
    visit("rows", value.shape.rows);
    visit("cols", value.shape.cols);
    visit("buffers", value.buffers);
    visit("output", value.output);
    visit("scalars", value.scalarCount);
    visit("vectors", value.vectorLengths);
    visit("scans", value.scanCount);
    visit("code", value.code);
}

namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t mostElements = std::int64_t {1} << 40;

template <class Count>
bool within(int index, Count count)
{
    return index >= -1 && index < static_cast<std::int64_t>(count);
}

template <class Enum>
bool known(Enum value, Enum last)
{
    return static_cast<int>(value) >= 0 && value <= last;
}

bool fits(const Instruction& in, const Program& program)
{
    const auto& buffers = program.buffers;
    const bool operands = within(in.out, buffers.size()) && within(in.a, buffers.size()) && within(in.b, buffers.size())
        && within(in.c, buffers.size());
    return operands && within(in.scalar, program.scalarCount) && within(in.vector, program.vectorLengths.size())
        && within(in.scanSlot, program.scanCount) && known(in.code, Code::scaleColumns)
        && known(in.round, lastPrecision);
}

bool possible(const BufferPlan& plan)
{
    return plan.rows >= 0 && plan.cols >= 0 && plan.rows <= mostElements && plan.cols <= mostElements
        && (plan.rows == 0 || plan.cols <= mostElements / plan.rows) && known(plan.format, lastPrecision);
}

bool consistent(const Program& program)
{
    const bool counts = program.shape.batch >= 0 && program.scalarCount >= 0 && program.scanCount >= 0;
    const bool output = program.output >= 0 && within(program.output, program.buffers.size());
    const auto length = [](std::int64_t length) { return length >= 0 && length <= mostElements; };
    return counts && output && known(program.precision, lastPrecision) && std::ranges::all_of(program.buffers, possible)
        && std::ranges::all_of(program.vectorLengths, length)
        && std::ranges::all_of(program.code, [&](const auto& in) { return fits(in, program); });
}

template <class T>
T valueOf(const Json& json)
{
    T value;
    jsonfields::Reader read(json);
    fields(read, value);
    return value;
}

} // namespace

Json programToJson(const Program& program)
{
    return jsonfields::Writer::written(program);
}

Result<Program> programFromJson(const Json& json)
{
    auto program = valueOf<Program>(json);
    if (!consistent(program)) {
        return failure(ErrorKind::usage, "the program contradicts itself");
    }
    return program;
}

Json instructionToJson(const Instruction& instruction)
{
    return jsonfields::Writer::written(instruction);
}

Result<Instruction> instructionFromJson(const Json& json, const Program& program)
{
    const auto instruction = valueOf<Instruction>(json);
    if (!fits(instruction, program)) {
        return failure(ErrorKind::usage, "the instruction is none of this program");
    }
    return instruction;
}

} // namespace nanscope::replay
