// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/element.h"

#include <algorithm>
#include <cmath>

#include "core/tensorfile/scan/scantensor.h"

namespace nanscope::diagnose {

Result<Element> loadElement(const tensorfile::CaptureFile& capture, std::int64_t batch)
{
    const auto shape = capture.input.matrices();
    if (!capture.output || capture.output->matrices() != shape) {
        return failure(ErrorKind::format,
            "the output is missing or has another shape than the input, so nothing can "
            "be compared",
            capture.capture.path);
    }
    Element element;
    element.batch = static_cast<int>(batch);
    element.shape = {1, shape.rows, shape.cols};
    element.outputType = capture.output->dtype();
    element.input.resize(static_cast<std::size_t>(shape.elements()));
    element.output.resize(static_cast<std::size_t>(shape.elements()));
    if (auto done = capture.input.read(batch, std::span(element.input)); !done) {
        return tl::make_unexpected(done.error());
    }
    if (auto done = capture.output->read(batch, std::span(element.output)); !done) {
        return tl::make_unexpected(done.error());
    }
    const double normal = tensorfile::smallestNormal(Precision::fp64);
    element.inputScan =
        tensorfile::scanMatrix(std::span<const double>(element.input), shape.rows, shape.cols, false, normal);
    element.outputScan =
        tensorfile::scanMatrix(std::span<const double>(element.output), shape.rows, shape.cols, false, normal);
    return element;
}

Damage damageOf(double value)
{
    if (std::isfinite(value)) {
        return Damage::none;
    }
    if (std::isnan(value)) {
        return Damage::nan;
    }
    return value > 0 ? Damage::posInf : Damage::negInf;
}

bool sameDamage(const std::vector<double>& a, const std::vector<double>& b)
{
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) { return damageOf(x) == damageOf(y); });
}

} // namespace nanscope::diagnose
