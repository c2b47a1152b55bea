// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/report.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/command.h"
#include "app/nanscope/observed.h"
#include "app/nanscope/source.h"
#include "app/nanscope/words.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/experiments.h"
#include "core/platform/platform.h"

namespace nanscope {

namespace fs = std::filesystem;

namespace {

enum class Format { markdown, html, json };

struct Output
{
    std::string path; ///< "-" for standard output
    Format format = Format::markdown;
};

struct Written
{
    std::string path;
    std::size_t bytes = 0;
};

class Report : public Command
{
public:
    explicit Report(CLI::App& root);
    Result<int> run(Terminal& terminal) override;

private:
    Result<ReportInput> gather(Source& source, Terminal& terminal) const;
    Result<ReportOptions> reportOptions() const;
    std::string commandLine() const;

    std::string m_path;
    std::vector<std::string> m_outputs;
    std::vector<std::string> m_ran;
    ObservedWords m_observed;
    std::vector<std::string> m_only;
    std::vector<std::string> m_without;
    std::vector<std::string> m_replace;
    std::string m_session;
    bool m_open = false;
    bool m_noImages = false;
};

Report::Report(CLI::App& root)
    : Command(root, "report", "The report a maintainer can act on, ready for an issue")
{
    options().add_option("source", m_path, "A capture, a folder or a session")->required();
    options()
        .add_option("-o,--output", m_outputs,
            "report.md, report.html or report.json; - for Markdown on standard output; may be repeated")
        ->required()
        ->allow_extra_args(false);
    options()
        .add_option("--ran", m_ran, "What ran: VARIANT or VARIANT:PRECISION; may be repeated")
        ->allow_extra_args(false);
    addObservedOptions(options(), m_observed);
    options()
        .add_option("--section", m_only, "Only these sections, such as claim,output; may be repeated")
        ->allow_extra_args(false);
    options().add_option("--no-section", m_without, "Without these sections; may be repeated")->allow_extra_args(false);
    options().add_flag("--no-images", m_noImages, "No pictures in .html, none beside .md");
    options()
        .add_option("--redact", m_replace, "TEXT or TEXT=REPLACEMENT, replaced everywhere; may be repeated")
        ->allow_extra_args(false);
    options().add_flag("--no-redact", m_open, "Keep host names, user names and home paths");
    options().add_option("--session", m_session, "Keep what was read and judged in this session");
}

Result<Format> formatOf(const std::string& output)
{
    const auto extension = fs::path(output).extension();
    if (output == "-" || extension == ".md" || extension == ".markdown") {
        return Format::markdown;
    }
    if (extension == ".html" || extension == ".htm") {
        return Format::html;
    }
    if (extension == ".json") {
        return Format::json;
    }
    return failure(ErrorKind::usage, "a report is written as .md, .html or .json; name the file so", output);
}

Result<std::vector<Output>> outputsOf(const std::vector<std::string>& paths)
{
    std::vector<Output> outputs;
    for (const auto& path : paths) {
        const auto format = formatOf(path);
        if (!format) {
            return tl::make_unexpected(format.error());
        }
        outputs.push_back({path, *format});
    }
    return outputs;
}

Result<std::set<ReportSection>> sectionsOf(const std::vector<std::string>& words)
{
    std::vector<std::string_view> known;
    for (const auto section : allReportSections()) {
        known.push_back(name(section));
    }
    std::set<ReportSection> sections;
    for (const auto& word : words) {
        for (const auto& part : listOf(word)) {
            const auto place = oneOf("section", part, known);
            if (!place) {
                return tl::make_unexpected(place.error());
            }
            sections.insert(static_cast<ReportSection>(*place));
        }
    }
    return sections;
}

Redaction redactionOf(const std::string& word)
{
    const auto equals = word.find('=');
    return equals == std::string::npos ? Redaction {word, "<redacted>"}
                                       : Redaction {word.substr(0, equals), word.substr(equals + 1)};
}

Result<ReportOptions> Report::reportOptions() const
{
    const auto only = sectionsOf(m_only);
    const auto without = sectionsOf(m_without);
    if (!only || !without) {
        return tl::make_unexpected(only ? without.error() : only.error());
    }
    ReportOptions options;
    options.redact = !m_open;
    options.figures = !m_noImages;
    if (!only->empty()) {
        options.sections = *only;
    }
    for (const auto section : *without) {
        options.sections.erase(section);
    }
    std::transform(m_replace.begin(), m_replace.end(), std::back_inserter(options.redactions), redactionOf);
    return options;
}

std::string Report::commandLine() const
{
    auto text = "nanscope report " + m_path;
    const auto add = [&text](const char* option, const std::vector<std::string>& values) {
        for (const auto& value : values) {
            text += fmt::format(" {} {}", option, value);
        }
    };
    add("-o", m_outputs);
    add("--ran", m_ran);
    if (!m_observed.failed.empty()) {
        add("--failed", {m_observed.failed});
    }
    add("--tried", m_observed.tried);
    add("--section", m_only);
    add("--no-section", m_without);
    // What is to be hidden must not come back as part of the command.
    add("--redact", std::vector<std::string>(m_replace.size(), "..."));
    return text + (m_noImages ? " --no-images" : "") + (m_open ? " --no-redact" : "");
}

Result<ReportInput> Report::gather(Source& source, Terminal& terminal) const
{
    const auto said = parseObserved(m_observed);
    const auto observed = said ? observedOf(source, *said) : said;
    if (!observed) {
        return tl::make_unexpected(observed.error());
    }
    auto diagnosis = diagnose(source.run, {m_ran}, terminal.job());
    if (!diagnosis) {
        return tl::make_unexpected(diagnosis.error());
    }
    std::vector<Cell> cells;
    if (source.session) {
        if (source.writable) {
            source.session->setDiagnosis(jsonText(toJson(*diagnosis)));
        }
        auto stored = source.session->cells();
        if (!stored) {
            return tl::make_unexpected(stored.error());
        }
        cells = std::move(*stored);
    }
    ReportInput input {
        std::move(source.run), withObservations(std::move(*diagnosis), *observed), std::move(cells), commandLine()};
    input.outputTiles = outputTiles(input);
    return input;
}

Result<Written> writeFile(const fs::path& path, const std::string& text)
{
    auto written = writeFileAtomically(path, std::as_bytes(std::span(text)));
    if (!written) {
        // A report that cannot be written is no rejected input: the caller's disk or path is at fault.
        return failure(ErrorKind::internal, written.error().what, path.string());
    }
    return Written {path.string(), text.size()};
}

std::string textOf(Format format, const ReportInput& input, const ReportOptions& options)
{
    switch (format) {
    case Format::html:
        return htmlReport(input, options);
    case Format::json:
        return jsonReport(input, options);
    case Format::markdown:
        break;
    }
    return markdownReport(input, options);
}

/// The report and, for Markdown, the pictures beside it.
Result<std::vector<Written>> write(const Output& output, const ReportInput& input, ReportOptions options)
{
    const fs::path path = output.path;
    if (output.format == Format::markdown && options.figures) {
        options.imageStem = path.stem().string();
    }
    std::vector<std::pair<fs::path, std::string>> files {{path, textOf(output.format, input, options)}};
    if (!options.imageStem.empty()) {
        for (auto& image : reportImages(input, options)) {
            files.emplace_back(path.parent_path() / image.file, std::move(image.svg));
        }
    }
    std::vector<Written> all;
    for (const auto& [file, text] : files) {
        auto written = writeFile(file, text);
        if (!written) {
            return tl::make_unexpected(written.error());
        }
        all.push_back(std::move(*written));
    }
    return all;
}

void say(const std::vector<Written>& files, const Diagnosis& diagnosis, bool redacted, Terminal& terminal)
{
    if (files.empty()) {
        return;
    }
    if (terminal.json()) {
        auto list = nlohmann::ordered_json::array();
        for (const auto& file : files) {
            list.push_back({{"file", file.path}, {"bytes", file.bytes}});
        }
        terminal.printJson(
            {{"schema", "nanscope.reportfile/1"}, {"file", files.front().path}, {"bytes", files.front().bytes},
                {"redacted", redacted}, {"headline", diagnosis.headline}, {"files", std::move(list)}});
        return;
    }
    auto text = diagnosis.headline + "\n";
    for (const auto& file : files) {
        text += fmt::format("{} in {}\n", bytesText(static_cast<std::int64_t>(file.bytes)), file.path);
    }
    terminal.print(text);
}

Result<int> Report::run(Terminal& terminal)
{
    const auto outputs = outputsOf(m_outputs);
    const auto options = reportOptions();
    if (!outputs || !options) {
        return tl::make_unexpected(outputs ? options.error() : outputs.error());
    }
    auto source = openSource(m_path, m_session, terminal);
    if (!source) {
        return tl::make_unexpected(source.error());
    }
    const auto status = source->status();
    const auto input = gather(*source, terminal);
    if (!input) {
        return tl::make_unexpected(input.error());
    }
    std::vector<Written> files;
    for (const auto& output : *outputs) {
        if (output.path == "-") {
            terminal.print(markdownReport(*input, *options));
            continue;
        }
        auto written = write(output, *input, *options);
        if (!written) {
            return tl::make_unexpected(written.error());
        }
        files.insert(files.end(), written->begin(), written->end());
    }
    say(files, input->diagnosis, !m_open, terminal);
    return status;
}

} // namespace

std::unique_ptr<Command> makeReport(CLI::App& root)
{
    return std::make_unique<Report>(root);
}

} // namespace nanscope
