// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/reportfiles.h"

#include <algorithm>
#include <iterator>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/try.h"
#include "core/base/utf8.h"
#include "core/platform/platform.h"
#include "core/platform/privatefolder.h"
#include "core/report/input/reportinput.h"
#include "core/report/pictures/png.h"
#include "core/report/redact/redaction.h"
#include "core/report/render/markdown.h"
#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/scan/scantensor.h"
#include "core/tensorfile/zip/zipwriter.h"

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
            files.push_back({std::move(image.file), std::move(image.png)});
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

namespace fs = std::filesystem;

namespace {

constexpr std::size_t entryOverhead = 256; // headers of a file in the zip, twice, with its name

struct DumpedFile
{
    std::string name;
    std::vector<std::byte> bytes;
};

/// Text goes in deflated; a capture, which would not get shorter, as it is.
struct BundleParts
{
    std::vector<ReportFile> texts; ///< those of the report, then those of the reproducer
    std::size_t reportTexts = 0;
    Reproducer reproducer; ///< what of it is there
    bool reproducerFits = true;
    std::vector<DumpedFile> dumped; ///< the capture, then its sidecar
    BundledCapture state = BundledCapture::notAsked;
};

std::vector<ReportFile> textsOf(const ReportInput& input, const ReportOptions& options, const Reproducer& beside)
{
    auto files = reportFiles(input, options, ReportFormat::markdown, "report.md", &beside);
    const auto add = [&](ReportFormat format, const char* name) {
        files.push_back(std::move(reportFiles(input, options, format, name, &beside).front()));
    };
    add(ReportFormat::html, "report.html");
    // JSON is always whole: who leaves a section out does not want it back here.
    if (options.sections == allReportSections()) {
        add(ReportFormat::json, "report.json");
    }
    return files;
}

/// Its own name, unless that tells something.
std::string bundledName(const Capture& capture, const ReportInput& input, const ReportOptions& options)
{
    auto redactor = redactorFor(input, options);
    const bool plain = redactor(capture.file) == capture.file && printable(capture.file) == capture.file
        && fs::path(capture.file).filename() == capture.file;
    const auto ending = fs::path(capture.file).extension().string();
    return plain ? capture.file : "capture" + (printable(ending) == ending ? ending : ".pt");
}

/// In ASCII, so that nothing in it reaches a terminal; empty where there is none, or one that is no sidecar.
std::string sidecarOf(const Capture& capture)
{
    constexpr std::uint64_t largest = std::uint64_t {1} << 20;
    constexpr int deepest = 16;
    constexpr std::size_t most = 20'000;
    const auto file = platform::FileReader::open(fs::path(capture.path).replace_extension(".json"));
    if (!file || file->size() > largest) {
        return {};
    }
    std::string text(file->size(), '\0');
    if (!file->readAt(0, std::as_writable_bytes(std::span(text)))) {
        return {};
    }
    const auto json = parseBounded(text, deepest, most);
    return json.is_object() ? json.dump(1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) : std::string();
}

void addCapture(BundleParts& parts, const ReportInput& input, const BundleOptions& options, std::size_t room)
{
    const auto* capture = mainCapture(input);
    if (!options.capture || capture == nullptr) {
        return;
    }
    auto bytes = tensorfile::captureBytes(*capture, room);
    parts.state = !bytes ? BundledCapture::notReadable : !*bytes ? BundledCapture::tooLarge : BundledCapture::included;
    if (parts.state == BundledCapture::included) {
        const auto name = bundledName(*capture, input, options.report);
        parts.dumped.push_back({name, std::move(**bytes)});
        if (const auto sidecar = sidecarOf(*capture); !sidecar.empty()) {
            const auto bytes = std::as_bytes(std::span(sidecar));
            parts.dumped.push_back({fs::path(name).replace_extension(".json").string(), {bytes.begin(), bytes.end()}});
        }
    }
}

std::string captureLine(const BundleParts& parts)
{
    switch (parts.state) {
    case BundledCapture::included:
        return fmt::format("{}\n  The capture the report is about, every value as it was dumped{}. Nothing in it is "
                           "redacted.\n",
            parts.dumped.front().name,
            parts.dumped.size() > 1 ? ", and " + parts.dumped.back().name + " beside it" : "");
    case BundledCapture::tooLarge:
        return "The capture is not here: with it the bundle would be larger than an issue takes.\n";
    case BundledCapture::notReadable:
        return "The capture is not here: it could not be read when the bundle was written.\n";
    case BundledCapture::notAsked:
        break;
    }
    return "The capture is not here: its tensors may be private. Ask the reporter for it.\n";
}

std::string purpose(const std::string& name)
{
    if (name == "report.md") {
        return "The report as text, short enough for the body of an issue.";
    }
    if (name == "report.html") {
        return "The same with its pictures as one page. It loads nothing from elsewhere.";
    }
    return name == "report.json" ? "Everything that was found, for programs."
                                 : "A picture of report.md, to drag into the issue.";
}

std::string readme(const BundleParts& parts, const BundleOptions& options)
{
    std::string text = "What Nanscope " NANSCOPE_VERSION " found in a training run. Begin with report.md.\n\n";
    for (std::size_t i = 0; i < parts.reportTexts; ++i) {
        text += fmt::format("{}\n  {}\n", parts.texts[i].name, purpose(parts.texts[i].name));
    }
    text += parts.reproducer.readme;
    text += (text.ends_with('\n') ? "" : "\n") + captureLine(parts) + "\n";
    text += options.report.redact
        ? "Host names, user names, home folders, addresses and keys were replaced in every text file by rules, which\n"
          "cannot know every name. What looked like a key by its characters alone is <secret?>.\n"
        : "Host names, user names, home folders and keys were kept, as the reporter asked for.\n";
    return text;
}

std::vector<tensorfile::DeflatedBytes> deflatedAll(const std::vector<ReportFile>& texts)
{
    std::vector<tensorfile::DeflatedBytes> all;
    std::transform(texts.begin(), texts.end(), std::back_inserter(all),
        [](const ReportFile& file) { return tensorfile::deflated(std::as_bytes(std::span(file.bytes))); });
    return all;
}

std::size_t zippedSize(const std::vector<tensorfile::DeflatedBytes>& files)
{
    std::size_t size = 0;
    for (const auto& file : files) {
        size += file.bytes.size() + entryOverhead;
    }
    return size;
}

std::vector<tensorfile::DeflatedBytes> addTexts(
    BundleParts& parts, const ReportInput& input, const ReportOptions& options)
{
    parts.texts = textsOf(input, options, parts.reproducer);
    parts.reportTexts = parts.texts.size();
    const auto& more = parts.reproducer.files;
    parts.texts.insert(parts.texts.end(), more.begin(), more.end());
    return deflatedAll(parts.texts);
}

/// The files of a reproducer are whole only together: where they do not fit, the report is one without.
std::vector<tensorfile::DeflatedBytes> addFittingTexts(
    BundleParts& parts, const ReportInput& input, const BundleOptions& options, std::size_t room)
{
    parts.reproducer = options.reproducer;
    auto files = addTexts(parts, input, options.report);
    if (parts.reproducer.files.empty() || zippedSize(files) <= room) {
        return files;
    }
    parts.reproducerFits = false;
    parts.reproducer = {{}, "repro.py is not here: with it the bundle would be larger than an issue takes.\n"};
    return addTexts(parts, input, options.report);
}

Result<void> writeZip(
    const fs::path& path, const BundleParts& parts, const std::vector<tensorfile::DeflatedBytes>& files)
{
    tensorfile::ZipWriter zip(TRY(platform::AtomicFile::create(path)));
    Result<void> done;
    for (std::size_t i = 0; done && i < files.size(); ++i) {
        done = zip.add(parts.texts[i].name, files[i]);
    }
    for (std::size_t i = 0; done && i < parts.dumped.size(); ++i) {
        done = zip.add(parts.dumped[i].name, parts.dumped[i].bytes);
    }
    return done.and_then([&zip] { return zip.finish(); });
}

/// An earlier bundle is written anew; what else lies in a folder, such as the run itself, is not to be replaced, nor to
/// be one with the bundle.
Result<void> requireOwnFolder(const fs::path& path)
{
    std::error_code ignored;
    const bool taken = fs::is_directory(path, ignored) && !fs::is_empty(path, ignored)
        && !(fs::exists(path / "README.txt", ignored) && fs::exists(path / "report.html", ignored));
    return taken ? failure(ErrorKind::usage,
               "there are other files in this folder; a bundle takes a new folder, or a file of the name .zip",
               path.string())
                 : Result<void>();
}

Result<std::vector<WrittenFile>> writeFolder(const fs::path& path, const BundleParts& parts)
{
    std::error_code ignored;
    const bool wasThere = fs::exists(path, ignored);
    TRY(platform::makePrivateFolders(path));
    std::vector<WrittenFile> written;
    std::vector<fs::path> fresh;
    const auto write = [&](const std::string& name, std::span<const std::byte> bytes) {
        if (!fs::exists(path / name, ignored)) {
            fresh.push_back(path / name);
        }
        written.push_back({path / name, bytes.size()});
        return platform::writeFileAtomically(path / name, bytes);
    };
    Result<void> done;
    for (std::size_t i = 0; done && i < parts.texts.size(); ++i) {
        done = write(parts.texts[i].name, std::as_bytes(std::span(parts.texts[i].bytes)));
    }
    for (std::size_t i = 0; done && i < parts.dumped.size(); ++i) {
        done = write(parts.dumped[i].name, parts.dumped[i].bytes);
    }
    if (!done) {
        std::ranges::for_each(fresh, [&](const fs::path& file) { fs::remove(file, ignored); });
        if (!wasThere) {
            fs::remove(path, ignored);
        }
    }
    return done.map([&written] { return std::move(written); });
}

} // namespace

Result<WrittenBundle> writeBundle(const fs::path& path, const ReportInput& input, const BundleOptions& options)
{
    const auto fail = [&path](const Error& error) { return failure(ErrorKind::internal, error.what, path.string()); };
    if (path.extension() != ".zip") {
        TRY(requireOwnFolder(path));
    }
    BundleParts parts;
    constexpr std::size_t readmeRoom = 16384; // and the headers of a capture
    auto files = addFittingTexts(parts, input, options, options.limit - std::min(options.limit, readmeRoom));
    const auto size = zippedSize(files) + readmeRoom;
    if (size > options.limit) {
        return failure(ErrorKind::internal, "The report alone is larger than an issue takes as a file; write report.md",
            path.string());
    }
    addCapture(parts, input, options, options.limit - size);
    parts.texts.insert(parts.texts.begin(), {"README.txt", printableLines(readme(parts, options))});
    if (path.extension() != ".zip") {
        auto written = writeFolder(path, parts);
        return written ? Result<WrittenBundle>({std::move(*written), parts.state, parts.reproducerFits})
                       : fail(written.error());
    }
    files.insert(files.begin(), tensorfile::deflated(std::as_bytes(std::span(parts.texts.front().bytes))));
    if (auto done = writeZip(path, parts, files); !done) {
        return fail(done.error());
    }
    std::error_code ignored;
    return WrittenBundle {{{path, fs::file_size(path, ignored)}}, parts.state, parts.reproducerFits};
}

} // namespace nanscope::report
