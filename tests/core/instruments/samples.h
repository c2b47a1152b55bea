// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "core/instruments/measure.h"

namespace nanscope::testing {

/// Full rank, without random numbers; numbers of fp32 around one.
inline std::vector<double> waves(std::int64_t count)
{
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto x = static_cast<double>(i);
        values.push_back(static_cast<float>(std::sin(1.7 * x) + 0.5 * std::cos(0.013 * x * x)));
    }
    return values;
}

inline instruments::InputBatch waveInputBatch(const Shape& shape, DType dtype = DType::float32, double scale = 1)
{
    const auto matrices = matrixShape(shape);
    auto values = waves(matrices.batch * matrices.elements());
    for (auto& value : values) {
        value *= scale;
    }
    return instruments::inputBatchOf(instruments::packed(dtype, shape, values), 1e-7);
}

inline std::unique_ptr<instruments::CellTarget> cellOf(const std::string& variant, Precision precision)
{
    instruments::CellChoice choice;
    choice.variant = variant;
    choice.precision = precision;
    auto cell = instruments::CellTarget::make(choice, replay::makeCoreDevice);
    EXPECT_TRUE(cell) << sentence(cell.error());
    return cell ? std::move(*cell) : nullptr;
}

/// A function of values, as if it were somebody's kernel.
class MadeTarget : public instruments::Target
{
public:
    using Function = std::function<std::vector<double>(std::vector<double>, const MatrixShape&)>;
    explicit MadeTarget(Function function)
        : m_function(std::move(function))
    { }

    instruments::TargetFacts facts() const override
    {
        instruments::TargetFacts facts;
        facts.own = true;
        facts.name = "python:made:up";
        facts.outputRange = instruments::anyOutputRange();
        return facts;
    }
    Result<instruments::Reply> call(const instruments::Question& question, const CancelToken&) override
    {
        ++calls;
        instruments::Reply reply;
        const auto shape = question.input.matrices();
        reply.output = instruments::packed(
            DType::float64, question.input.shape, m_function(instruments::valuesOf(question.input), shape));
        return reply;
    }
    Result<instruments::Burst> burst(
        const instruments::Question& question, const instruments::BurstOptions& options, const JobContext& job) override
    {
        instruments::Burst burst;
        for (int i = 0; i < options.calls; ++i) {
            const auto reply = call(question, job.cancel);
            burst.calls.push_back({instruments::hashOf(*reply->output), true});
        }
        return burst;
    }

    int calls = 0;

private:
    Function m_function;
};

} // namespace nanscope::testing
