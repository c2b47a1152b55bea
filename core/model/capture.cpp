// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/capture.h"

#include <algorithm>

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
    // The other extents of a shape without elements take no bytes of a file, so nothing bounds them.
    const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    return empty ? MatrixShape {0, 0, 0} : result;
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

} // namespace nanscope
