// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/element.h"

#include <algorithm>
#include <cmath>

#include "core/base/try.h"
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
    element.input = TRY(capture.input.values(batch));
    element.output = TRY(capture.output->values(batch));
    const auto scanOf = [&](ValueView view) {
        return view.visit([&](auto values) {
            return tensorfile::scanMatrix(
                values, shape.rows, shape.cols, false, tensorfile::smallestNormal(Precision::fp64));
        });
    };
    element.inputScan = scanOf(element.input);
    element.outputScan = scanOf(element.output);
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

bool sameDamage(ValueView a, ValueView b)
{
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) { return damageOf(x) == damageOf(y); });
}

} // namespace nanscope::diagnose
