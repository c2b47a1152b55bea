// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/capture.h"

#include <cmath>

#include "core/model/run.h"

namespace nanscope {

std::string shapeText(const Shape& shape)
{
    if (shape.empty()) {
        return "scalar";
    }
    std::string text;
    for (const auto extent : shape) {
        if (!text.empty()) {
            text += 'x';
        }
        text += std::to_string(extent);
    }
    return text;
}

MatrixShape matrixShape(const Shape& shape)
{
    MatrixShape result {1, 1, 1};
    const auto rank = shape.size();
    if (rank >= 1) {
        result.cols = shape[rank - 1];
    }
    if (rank >= 2) {
        result.rows = shape[rank - 2];
    }
    for (std::size_t i = 0; i + 2 < rank; ++i) {
        result.batch *= shape[i];
    }
    return result;
}

Scan CaptureTensor::total() const
{
    Scan sum;
    for (const auto& scan : batches) {
        addScan(sum, scan, scan.firstNonFinite < 0 ? -1 : sum.count + scan.firstNonFinite);
        sum.trace += scan.trace;
    }
    return sum;
}

PointState stateOf(double value)
{
    if (std::isnan(value)) {
        return PointState::nan;
    }
    if (std::isinf(value)) {
        return value > 0 ? PointState::posInf : PointState::negInf;
    }
    return PointState::finite;
}

} // namespace nanscope
