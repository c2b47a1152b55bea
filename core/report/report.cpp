// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/report.h"

#include <fmt/format.h>

#include "core/report/document/compose.h"
#include "core/report/pictures/png.h"
#include "core/report/render/html.h"
#include "core/report/render/markdown.h"
#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/scan/scantensor.h"

namespace nanscope::report {

std::string markdownReport(const ReportInput& input, const ReportOptions& options)
{
    return toMarkdown(documentOf(input, options), options.imageStem);
}

std::vector<ReportImage> reportImages(const ReportInput& input, const ReportOptions& options)
{
    std::vector<ReportImage> images;
    for (const auto& section : documentOf(input, options).sections) {
        for (const auto& block : section.blocks) {
            if (const auto* figure = std::get_if<Figure>(&block)) {
                images.push_back({pictureFile(*figure, options.imageStem), pngOf(figure->svg)});
            }
        }
    }
    return images;
}

std::vector<Redaction> reportRedactions(const ReportInput& input, const ReportOptions& options)
{
    return documentOf(input, options).redactions;
}

std::string htmlReport(const ReportInput& input, const ReportOptions& options)
{
    return toHtml(documentOf(input, options));
}

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
