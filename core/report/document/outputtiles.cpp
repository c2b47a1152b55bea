// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/report.h"
#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/scan/scantensor.h"

namespace nanscope::report {

std::optional<TileMap> outputTiles(const ReportInput& input)
{
    const auto* capture = mainCapture(input);
    const auto file = capture != nullptr ? tensorfile::openCapture(*capture) : failure(ErrorKind::io, "no capture");
    if (!file || !file->output) {
        return std::nullopt;
    }
    auto map = tensorfile::tileTensor(*file->output, shownBatch(*capture));
    return map ? std::optional(std::move(*map)) : std::nullopt;
}

} // namespace nanscope::report
