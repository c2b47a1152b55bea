// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/tensorfile/tensorfile.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {

inline tensorfile::TensorToWrite doublesTensor(const char* name, const Shape& shape, const std::vector<double>& values)
{
    tensorfile::TensorToWrite tensor {
        name, DType::float64, shape, std::vector<std::byte>(values.size() * sizeof(double))};
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    return tensor;
}

/// Full rank, without random numbers; numbers of fp32.
/// rows x cols with these on its diagonal.
inline std::vector<double> diagonal(std::int64_t rows, std::int64_t cols, const std::vector<double>& values)
{
    std::vector<double> matrix(static_cast<std::size_t>(rows * cols), 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
        matrix[i * static_cast<std::size_t>(cols) + i] = values[i];
    }
    return matrix;
}

inline std::vector<double> waveValues(std::size_t count)
{
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) {
        const auto x = static_cast<double>(i);
        values.push_back(static_cast<float>(std::sin(1.7 * x) + 0.5 * std::cos(0.013 * x * x)));
    }
    return values;
}

/// Writes a capture, with an output where there are values for one.
inline std::string writeFrameCapture(const std::filesystem::path& path, const Shape& shape,
    const std::vector<double>& input, const std::vector<double>& output = {})
{
    std::vector<std::pair<std::string, tensorfile::ValueToWrite>> entries {
        {"input", doublesTensor("input", shape, input)}, {"epsilon", 1e-7}};
    if (!output.empty()) {
        entries.insert(entries.begin() + 1, {"output", doublesTensor("output", shape, output)});
    }
    return tensorfile::writePt(path, entries) ? path.string() : std::string();
}

} // namespace nanscope
