// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/report.h"
#include "core/report/input/reportinput.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/columns.h"
#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/source.h"
#include "app/nanscope/shared/userfacts.h"
#include "app/nanscope/shared/words.h"
#include "app/nanscope/shared/worker.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/base/utf8.h"
#include "core/diagnose/diagnose.h"
#include "core/platform/platform.h"
#include "core/report/document/commandwords.h"
#include "core/report/redact/redaction.h"
#include "core/report/reportfiles.h"
#include "core/reproduce/reproduce.h"
#include "core/workflow/judgement.h"

namespace nanscope {

namespace {

class Report : public Command
{
public:
    explicit Report(CLI::App& root);
    Result<int> run(Terminal& terminal) override;

private:
    Result<report::ReportInput> gather(Source& source, const workflow::UserFacts& facts,
        const diagnose::FindingChoices& choices, Terminal& terminal) const;
    Result<std::string> aboutIn(const RunData& run) const;
    Result<void> checkOutputs(bool json) const;
    Result<report::ReportOptions> reportOptions() const;
    Result<report::WrittenBundle> bundle(
        const report::ReportInput& input, const report::ReportOptions& options, Terminal& terminal) const;
    Result<std::vector<report::WrittenFile>> write(
        const report::ReportInput& input, const report::ReportOptions& options, Terminal& terminal) const;
    std::string commandLine(const diagnose::FindingChoices& choices, const std::string& about) const;

    std::string m_path;
    std::string m_capture;
    std::vector<std::string> m_outputs;
    std::vector<std::string> m_ran;
    bool m_nothingElse = false;
    bool m_otherCode = false;
    std::string m_device = "cpu";
    diagnose::FindingChoices m_cards;
    ObservedWords m_observed;
    workflow::UserFiles m_files;
    std::vector<std::string> m_only;
    std::vector<std::string> m_without;
    std::vector<std::string> m_replace;
    std::vector<std::string> m_keep;
    std::string m_session;
    ColumnWords m_columns;
    std::string m_bundle;
    bool m_withCapture = false;
    bool m_synthetic = false;
    bool m_whole = false;
    bool m_open = false;
    bool m_noImages = false;
};

Report::Report(CLI::App& root)
    : Command(root, "report", "The report a maintainer can act on, ready for an issue")
{
    options().add("source", m_path, "A capture, a folder or a session").required();
    options()
        .add("-o,--output", m_outputs,
            "report.md, report.html or report.json; - for Markdown on standard output; may be repeated")
        .oneEach();
    options().add("--capture", m_capture, "What the report is about; without it the first birth").shownAs("NAME");
    const auto bundle = options().add("--bundle", m_bundle,
        "report.zip, or a folder: Markdown, HTML, JSON and pictures together, small enough for an issue");
    auto withCapture = options().addFlag("--with-capture", m_withCapture,
        "Put the capture into the bundle; its tensors may be private and cannot be redacted");
    withCapture.needs(bundle);
    options()
        .addFlag("--synthetic", m_synthetic,
            "Only a synthetic twin of the capture in the bundle, which is so unless --with-capture is given")
        .needs(bundle)
        .excludes(withCapture);
    options()
        .addFlag("--no-minimise", m_whole,
            "Keep the damaged matrices whole, and do not look for the least of them that ends the same way")
        .needs(bundle);
    options().add("--ran", m_ran, "What ran: VARIANT[@STEPS][@EPSILON][:PRECISION]; may be repeated").oneEach();
    const auto none =
        options().addFlag("--nothing-else", m_nothingElse, "No other code touched the input or the result");
    options().addFlag("--other-code", m_otherCode, "Other code did").excludes(none);
    addVariantFileOption();
    addCardOptions(options(), m_cards);
    addObservedOptions(options(), m_observed);
    addUserFileOptions(options(), m_files);
    addJudgingDevice(options(), m_device);
    options().add("--section", m_only, "Only these sections, such as claim,output; may be repeated").oneEach();
    options().add("--no-section", m_without, "Without these sections; may be repeated").oneEach();
    options().addFlag("--no-images", m_noImages, "No pictures in .html, no .png files beside .md");
    options().add("--redact", m_replace, "TEXT or TEXT=REPLACEMENT, replaced everywhere; may be repeated").oneEach();
    options()
        .add("--keep", m_keep,
            "TEXT that is not private, left in everywhere: as it stands, or as a warning shows it; may be repeated")
        .oneEach();
    options().addFlag("--no-redact", m_open, "Keep host names, user names, home paths and keys");
    options().add("--session", m_session, "Keep what was read and judged in this session");
    addColumnOption(options(), m_columns);
}

/// A folder may have any name, but one of these was meant for a file.
bool isOtherKindOfFile(const std::filesystem::path& bundle)
{
    constexpr std::array endings {".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".md", ".html", ".json"};
    return std::ranges::find(endings, bundle.extension().string()) != endings.end();
}

/// Before anything is read: a name that cannot be written to is wrong usage.
Result<void> Report::checkOutputs(bool json) const
{
    if (m_outputs.empty() && m_bundle.empty()) {
        return failure(ErrorKind::usage, "say where the report goes: -o report.md, or --bundle report.zip");
    }
    for (const auto& path : m_outputs) {
        if (path != "-" && !report::reportFormatOf(path)) {
            return failure(ErrorKind::usage, "a report is written as .md, .html or .json; name the file so", path);
        }
    }
    if (json && std::ranges::find(m_outputs, "-") != m_outputs.end()) {
        return failure(ErrorKind::usage, "-o - and --json both answer on standard output; name a file");
    }
    if (isOtherKindOfFile(m_bundle)) {
        return failure(ErrorKind::usage, "a bundle is written as .zip, or as a folder; name it so", m_bundle);
    }
    const bool asText = !m_bundle.empty() || std::ranges::any_of(m_outputs, [](const std::string& path) {
        return report::reportFormatOf(path) != report::ReportFormat::json;
    });
    return options().requireRead(
        {{"reports as .md or .html, and of bundles", asText, {"--section", "--no-section", "--no-images"}}});
}

Result<std::set<report::ReportSection>> sectionsOf(const std::vector<std::string>& words)
{
    std::vector<std::string_view> known;
    for (const auto section : report::allReportSections()) {
        known.push_back(report::name(section));
    }
    std::set<report::ReportSection> sections;
    for (const auto& word : words) {
        for (const auto& part : listOf(word)) {
            if (const auto section = report::parseReportSection(part)) {
                sections.insert(*section);
                continue;
            }
            sections.insert(static_cast<report::ReportSection>(TRY(oneOf("section", part, known))));
        }
    }
    return sections;
}

Result<report::Redaction> redactionOf(const std::string& word)
{
    const auto equals = word.find('=');
    auto text = word.substr(0, equals);
    if (text.empty()) {
        return failure(ErrorKind::usage, "--redact takes TEXT or TEXT=REPLACEMENT, and TEXT is empty", word);
    }
    return report::Redaction {std::move(text), equals == std::string::npos ? "<redacted>" : word.substr(equals + 1)};
}

Result<report::ReportOptions> Report::reportOptions() const
{
    const auto only = TRY(sectionsOf(m_only));
    const auto without = TRY(sectionsOf(m_without));
    report::ReportOptions options;
    options.redact = !m_open;
    options.figures = !m_noImages;
    if (!only.empty()) {
        options.sections = only;
    }
    for (const auto section : without) {
        options.sections.erase(section);
    }
    for (const auto& word : m_replace) {
        options.redactions.push_back(TRY(redactionOf(word)));
    }
    return options;
}

/// The name of a file without its folders, which may name the reporter.
std::string nameOf(const std::string& path)
{
    const auto whole = std::filesystem::path(path).lexically_normal();
    const auto name = whole.has_filename() ? whole.filename() : whole.parent_path().filename();
    return name.empty() ? path : name.string();
}

std::string Report::commandLine(const diagnose::FindingChoices& choices, const std::string& about) const
{
    const auto place = [this](const std::string& path) { return platform::shellQuoted(m_open ? path : nameOf(path)); };
    auto text = "nanscope report " + place(m_path) + report::captureWords(about);
    const auto add = [&text](const char* option, const std::vector<std::string>& values) {
        for (const auto& value : values) {
            text += fmt::format(" {} {}", option, value);
        }
    };
    const auto addPlaces = [&text, &place](const char* option, const std::vector<std::string>& paths) {
        for (const auto& path : paths) {
            text += path.empty() ? std::string() : fmt::format(" {} {}", option, place(path));
        }
    };
    addPlaces("-o", m_outputs);
    addPlaces("--bundle", {m_bundle});
    add("--ran", m_ran);
    text += m_nothingElse ? " --nothing-else" : m_otherCode ? " --other-code" : "";
    text += m_device == "cpu" ? std::string() : " --device " + m_device;
    addPlaces("--variant-file", variantFiles());
    text += workflow::findingWords(choices);
    if (!m_observed.failed.empty()) {
        add("--failed", {m_observed.failed});
    }
    add("--tried", m_observed.tried);
    add("--called", m_observed.called);
    addPlaces("--env", {m_files.environment});
    addPlaces("--advisories", m_files.advisories);
    addPlaces("--params", {m_files.parameters});
    add("--section", m_only);
    add("--no-section", m_without);
    // What is to be hidden must not come back as part of the command.
    add("--redact", std::vector<std::string>(m_replace.size(), "..."));
    add("--keep", std::vector<std::string>(m_keep.size(), "..."));
    return text
        + (m_withCapture      ? " --with-capture"
                : m_synthetic ? " --synthetic"
                              : "")
        + (m_whole ? " --no-minimise" : "") + (m_noImages ? " --no-images" : "") + (m_open ? " --no-redact" : "");
}

/// The name that the run gives the capture; empty where none is asked for.
Result<std::string> Report::aboutIn(const RunData& run) const
{
    if (m_capture.empty()) {
        return std::string();
    }
    return captureNamed(run, m_capture).map([](const Capture* capture) { return capture->file; });
}

Result<report::ReportInput> Report::gather(
    Source& source, const workflow::UserFacts& facts, const diagnose::FindingChoices& choices, Terminal& terminal) const
{
    const auto said = TRY(parseObserved(m_observed));
    const auto observed = TRY(observedOf(source, said));
    const auto about = TRY(aboutIn(source.run));
    auto files = m_files;
    files.variants = variantFiles();
    diagnose::DiagnoseOptions options {m_ran, m_nothingElse, m_otherCode, choices};
    TRY(replayOn(m_device, options, terminal));
    auto diagnosis = TRY(judge(source, facts, files, options, terminal.job(), terminal));
    if (!diagnosis.stopped.empty()) {
        return failure(ErrorKind::cancelled, "the diagnosis was cancelled");
    }
    const session::Session* session = source.session ? &*source.session : nullptr;
    workflow::ReportSource written {std::move(source.run), std::move(diagnosis), observed, {}, files, !m_open,
        options.ran, options.nothingElse, options.otherCode, commandLine(choices, about)};
    written.about = about;
    written.catalogue = facts.catalogue;
    return workflow::reportInput(std::move(written), session);
}

void warnOf(const report::WrittenBundle& bundle, Terminal& terminal)
{
    if (!bundle.reproducer) {
        terminal.say(LogLevel::warning, "repro.py is left out: with it the bundle would be larger than an issue takes");
    }
    if (bundle.capture == report::BundledCapture::tooLarge) {
        terminal.say(
            LogLevel::warning, "The capture is left out: with it the bundle would be larger than an issue takes");
    } else if (bundle.capture == report::BundledCapture::notReadable) {
        terminal.say(LogLevel::warning, "The capture is left out: it cannot be read");
    }
}

/// What the user called harmless: a text, or what stands for one in a warning.
report::ReportOptions withKept(
    report::ReportOptions options, const std::vector<std::string>& words, const report::ReportInput& input)
{
    const auto suspicions = words.empty() ? std::vector<report::Suspicion> {} : report::suspicionsOf(input, options);
    for (const auto& word : words) {
        const auto means = [&word](const report::Suspicion& suspicion) { return report::masked(suspicion) == word; };
        const auto found = std::find_if(suspicions.begin(), suspicions.end(), means);
        // Where two look alike from outside, only the text itself says which is meant.
        const bool one = std::count_if(suspicions.begin(), suspicions.end(), means) == 1;
        const auto& text = one ? found->text : word;
        options.redactions.push_back({text, text});
    }
    return options;
}

void warnOf(const std::vector<report::Suspicion>& suspicions, Terminal& terminal)
{
    constexpr std::size_t most = 20;
    for (std::size_t i = 0; i < std::min(most, suspicions.size()); ++i) {
        const auto& one = suspicions[i];
        terminal.say(LogLevel::warning,
            fmt::format("What looks like a key is hidden: {}, {} characters, in {}, first {}. If it is none, say "
                        "--keep {}; to have another word in its place, --redact TEXT=WORD",
                report::masked(one), one.text.size(), counted(one.count, "place"), one.where, report::masked(one)));
    }
    if (suspicions.size() > most) {
        terminal.say(LogLevel::warning,
            fmt::format("{} more texts that look like keys are hidden; --json lists them", suspicions.size() - most));
    }
}

Json jsonOf(const std::vector<report::Suspicion>& suspicions)
{
    auto list = Json::array();
    for (const auto& one : suspicions) {
        list.push_back({{"masked", report::masked(one)}, {"characters", one.text.size()}, {"count", one.count},
            {"where", one.where}});
    }
    return list;
}

/// Of several births a report is about one: which, and how to have another.
std::string aboutText(const report::ReportInput& input)
{
    const auto* about = report::mainVerdict(input);
    if (about == nullptr || input.diagnosis.triage.births < 2) {
        return {};
    }
    return fmt::format("It is about {}, the first of {}; --capture NAME takes another.\n", printable(about->capture),
        counted(input.diagnosis.triage.births, "birth"));
}

void say(const std::vector<report::WrittenFile>& files, const report::ReportInput& input, const std::string& about,
    bool redacted, const std::vector<report::Suspicion>& suspicions, Terminal& terminal)
{
    const auto& diagnosis = input.diagnosis;
    if (files.empty()) {
        return;
    }
    if (terminal.json()) {
        auto list = Json::array();
        for (const auto& file : files) {
            list.push_back({{"file", file.path.string()}, {"bytes", file.bytes}});
        }
        const auto* capture = report::mainCapture(input);
        terminal.printJson({{"schema", "nanscope.reportfile/1"}, {"file", files.front().path.string()},
            {"bytes", files.front().bytes}, {"redacted", redacted}, {"headline", diagnosis.headline},
            {"about", capture != nullptr ? Json(capture->file) : nullptr}, {"files", std::move(list)},
            {"suspicious", jsonOf(suspicions)}});
        return;
    }
    auto text = printable(diagnosis.headline) + "\n" + about;
    for (const auto& file : files) {
        text +=
            fmt::format("{} in {}\n", bytesText(static_cast<std::int64_t>(file.bytes)), printable(file.path.string()));
    }
    const auto isPicture = [](const report::WrittenFile& file) { return file.path.extension() == ".png"; };
    if (std::ranges::any_of(files, isPicture)) {
        text += "An issue takes the text as it is; drag the .png files into it. To mail it, write .html: one page with "
                "its pictures.\n";
    }
    terminal.print(text);
}

Result<report::WrittenBundle> Report::bundle(
    const report::ReportInput& input, const report::ReportOptions& options, Terminal& terminal) const
{
    reproduce::ReproducerOptions wanted;
    wanted.synthetic = !m_withCapture;
    wanted.minimise = !m_whole;
    wanted.hidden = options.redactions;
    wanted.catalogue = catalogue();
    auto reproducer = TRY(reproduce::reproducerOrReason(input, wanted, terminal.job()));
    if (reproducer.files.empty() && report::mainCapture(input) != nullptr) {
        terminal.say(LogLevel::warning, reproducer.readme);
    }
    auto written =
        report::writeBundle(m_bundle, input, {options, m_withCapture, report::maxBundleBytes, std::move(reproducer)});
    if (written) {
        warnOf(*written, terminal);
    }
    return written;
}

Result<std::vector<report::WrittenFile>> Report::write(
    const report::ReportInput& input, const report::ReportOptions& options, Terminal& terminal) const
{
    std::vector<report::WrittenFile> files;
    for (const auto& output : m_outputs) {
        if (output == "-") {
            terminal.print(report::markdownReport(input, options));
            continue;
        }
        const auto written = TRY(report::writeReport(output, input, options));
        files.insert(files.end(), written.begin(), written.end());
    }
    if (!m_bundle.empty()) {
        const auto done = TRY(bundle(input, options, terminal));
        files.insert(files.end(), done.files.begin(), done.files.end());
    }
    return files;
}

Result<int> Report::run(Terminal& terminal)
{
    TRY(checkOutputs(terminal.json()));
    const auto options = TRY(reportOptions());
    const auto choices = TRY(chosen(m_cards));
    TRY(takeVariantsOf({m_path, m_session}, catalogue(), terminal));
    const auto facts = TRY(workflow::requireUserFiles(m_files, catalogue()));
    const auto columns = TRY(columnsFor({m_path}, m_columns, terminal));
    auto source = TRY(openSource(
        m_path, m_session, terminal, columns, accessFor(m_observed, variantFiles()), workflow::Points::judging));
    TRY(keepVariantsIn(source, catalogue(), terminal));
    const auto input = TRY(gather(source, facts, choices, terminal));
    const auto settled = withKept(options, m_keep, input);
    const auto files = TRY(write(input, settled, terminal));
    const auto suspicions = report::suspicionsOf(input, settled);
    warnOf(suspicions, terminal);
    say(files, input, m_capture.empty() ? aboutText(input) : std::string(), !m_open, suspicions, terminal);
    return input.run.rejected.empty() ? exitDone : exitRejected;
}

} // namespace

std::unique_ptr<Command> makeReport(CLI::App& root)
{
    return std::make_unique<Report>(root);
}

} // namespace nanscope
