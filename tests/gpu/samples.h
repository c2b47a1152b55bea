// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "core/replay/engine/replay.h"
#include "core/replay/variants/variant.h"

namespace nanscope::test {

/// Normal numbers of fp32, the same in every run.
inline std::vector<double> normalInput(const MatrixShape& shape, std::uint32_t seed)
{
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    std::vector<double> values(static_cast<std::size_t>(shape.batch * shape.elements()));
    for (auto& value : values) {
        value = normal(engine);
    }
    return values;
}

inline const replay::Variant& variantNamed(std::string_view name)
{
    return *replay::builtInVariant(name);
}

/// ||a - b||_F / ||b||_F over all matrices.
inline double distance(const std::vector<Values>& a, const std::vector<Values>& b)
{
    double difference = 0;
    double size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t k = 0; k < a[i].size(); ++k) {
            difference += (a[i][k] - b[i][k]) * (a[i][k] - b[i][k]);
            size += b[i][k] * b[i][k];
        }
    }
    return std::sqrt(difference / size);
}

} // namespace nanscope::test
