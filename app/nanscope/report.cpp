// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/report.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/command.h"
#include "app/nanscope/source.h"
#include "app/nanscope/words.h"
#include "core/diagnose/diagnose.h"
#include "core/platform/platform.h"

namespace nanscope {

namespace {

class Report : public Command
{
public:
    explicit Report(CLI::App& root)
        : Command(root, "report", "The report a maintainer can act on, ready for an issue")
    {
        options().add_option("source", m_path, "A capture, a folder or a session")->required();
        options().add_option("-o,--output", m_output, "report.md or report.json; - for standard output")->required();
        options()
            .add_option("--ran", m_ran, "What ran: VARIANT or VARIANT:PRECISION; may be repeated")
            ->allow_extra_args(false);
        options().add_flag("--no-redact", m_open, "Keep host names, user names and home paths");
        options().add_option("--session", m_session, "Keep what was read and judged in this session");
    }

    Result<int> run(Terminal& terminal) override;

private:
    Result<ReportInput> gather(Source& source, Terminal& terminal) const;
    std::string commandLine() const;

    std::string m_path;
    std::string m_output;
    std::vector<std::string> m_ran;
    std::string m_session;
    bool m_open = false;
};

Result<bool> wantsJson(const std::string& output)
{
    const auto extension = std::filesystem::path(output).extension();
    if (output == "-" || extension == ".md" || extension == ".markdown") {
        return false;
    }
    if (extension == ".json") {
        return true;
    }
    return failure(ErrorKind::usage, "a report is written as .md or .json; name the file so", output);
}

std::string Report::commandLine() const
{
    auto text = fmt::format("nanscope report {} -o {}", m_path, m_output);
    for (const auto& ran : m_ran) {
        text += " --ran " + ran;
    }
    return text + (m_open ? " --no-redact" : "");
}

Result<ReportInput> Report::gather(Source& source, Terminal& terminal) const
{
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
    return ReportInput {std::move(source.run), std::move(*diagnosis), std::move(cells), commandLine()};
}

Result<void> write(const std::string& output, const std::string& text)
{
    auto written = writeFileAtomically(output, std::as_bytes(std::span(text)));
    if (!written) {
        // A report that cannot be written is no rejected input: the caller's disk or path is at fault.
        return failure(ErrorKind::internal, written.error().what, output);
    }
    return {};
}

Result<int> Report::run(Terminal& terminal)
{
    const auto asJson = wantsJson(m_output);
    if (!asJson) {
        return tl::make_unexpected(asJson.error());
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
    const ReportOptions options {!m_open};
    const auto text = *asJson ? jsonReport(*input, options) : markdownReport(*input, options);
    if (m_output == "-") {
        terminal.print(text);
        return status;
    }
    if (auto written = write(m_output, text); !written) {
        return tl::make_unexpected(written.error());
    }
    if (terminal.json()) {
        terminal.printJson({{"schema", "nanscope.reportfile/1"}, {"file", m_output}, {"bytes", text.size()},
            {"redacted", !m_open}, {"headline", input->diagnosis.headline}});
    } else {
        terminal.print(fmt::format(
            "{}\n{} in {}\n", input->diagnosis.headline, bytesText(static_cast<std::int64_t>(text.size())), m_output));
    }
    return status;
}

} // namespace

std::unique_ptr<Command> makeReport(CLI::App& root)
{
    return std::make_unique<Report>(root);
}

} // namespace nanscope
