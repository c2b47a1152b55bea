// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The report on its way to disk: one file, Markdown with its pictures, or a bundle of everything.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/report/report.h"

namespace nanscope::report {

enum class ReportFormat { markdown, html, json };

/// By the ending of its name.
std::optional<ReportFormat> reportFormatOf(const std::filesystem::path& path);

/// The report as it is saved under `name`, and behind it the pictures it links to. `beside` lies in the same folder;
/// without one the report says how to get it.
std::vector<ReportFile> reportFiles(const ReportInput& input, ReportOptions options, ReportFormat format,
    const std::string& name, const Reproducer* beside = nullptr);

struct WrittenFile
{
    std::filesystem::path path;
    std::size_t bytes = 0;
};

/// Each file is written beside its final name and renamed.
Result<std::vector<WrittenFile>> writeReport(
    const std::filesystem::path& path, const ReportInput& input, const ReportOptions& options);

/// What an issue takes as a file.
constexpr std::size_t maxBundleBytes = 25'000'000;

struct BundleOptions
{
    ReportOptions report;
    bool capture = false; ///< with the tensors of mainCapture(), which may be private and cannot be redacted
    std::size_t limit = maxBundleBytes; ///< of the zip, in bytes
    Reproducer reproducer {};
};

/// Where the capture of a bundle is: in it, or why not.
enum class BundledCapture { included, notAsked, tooLarge, notReadable };

struct WrittenBundle
{
    std::vector<WrittenFile> files; ///< the zip, or every file of the folder
    BundledCapture capture = BundledCapture::notAsked;
    bool reproducer = true; ///< false: there was one, and it did not fit
};

/// Report.md, .html and .json with the pictures, a README.txt that names each file, the reproducer and, where asked for
/// and where it fits, the capture. `path` is a zip where it ends with .zip, else a folder, which is made.
Result<WrittenBundle> writeBundle(
    const std::filesystem::path& path, const ReportInput& input, const BundleOptions& options);

} // namespace nanscope::report
