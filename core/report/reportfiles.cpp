// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/reportfiles.h"

#include <span>

#include "core/base/json.h"
#include "core/base/utf8.h"
#include "core/platform/platform.h"
#include "core/report/document/compose.h"
#include "core/report/render/html.h"
#include "core/report/render/markdown.h"

namespace nanscope::report {

namespace {

std::string textOf(
    ReportFormat format, const ReportInput& input, const ReportOptions& options, const Reproducer* beside)
{
    switch (format) {
    case ReportFormat::html:
        return printableLines(toHtml(documentOf(input, options, beside)));
    case ReportFormat::json:
        return jsonReport(input, options, beside);
    case ReportFormat::markdown:
        break;
    }
    return printableLines(toMarkdown(documentOf(input, options, beside), options.imageStem));
}

} // namespace

std::optional<ReportFormat> reportFormatOf(const std::filesystem::path& path)
{
    const auto ending = path.extension();
    if (ending == ".md" || ending == ".markdown") {
        return ReportFormat::markdown;
    }
    if (ending == ".html" || ending == ".htm") {
        return ReportFormat::html;
    }
    return ending == ".json" ? std::optional(ReportFormat::json) : std::nullopt;
}

std::vector<ReportFile> reportFiles(const ReportInput& input, ReportOptions options, ReportFormat format,
    const std::string& name, const Reproducer* beside)
{
    const bool pictures = format == ReportFormat::markdown && options.figures;
    options.imageStem = pictures ? printable(std::filesystem::path(name).stem().string()) : std::string {};
    std::vector<ReportFile> files {{name, textOf(format, input, options, beside)}};
    if (pictures) {
        for (auto& image : reportImages(input, options)) {
            files.push_back({std::move(image.file), printableLines(image.svg)});
        }
    }
    return files;
}

Result<std::vector<WrittenFile>> writeReport(
    const std::filesystem::path& path, const ReportInput& input, const ReportOptions& options)
{
    const auto format = reportFormatOf(path);
    if (!format) {
        return failure(ErrorKind::usage, "a report is written as .md, .html or .json; name the file so", path.string());
    }
    std::vector<WrittenFile> written;
    for (const auto& file : reportFiles(input, options, *format, path.filename().string())) {
        const auto target = path.parent_path() / file.name;
        if (auto done = platform::writeFileAtomically(target, std::as_bytes(std::span(file.bytes))); !done) {
            // A report that cannot be written is no rejected input: the caller's disk or path is at fault.
            return failure(ErrorKind::internal, done.error().what, target.string());
        }
        written.push_back({target, file.bytes.size()});
    }
    return written;
}

} // namespace nanscope::report
