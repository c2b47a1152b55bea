// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/reportjob.h"

#include <type_traits>
#include <utility>

#include "core/base/utf8.h"
#include "core/platform/platform.h"
#include "core/report/document/commandwords.h"
#include "core/report/input/reportinput.h"
#include "core/session/session.h"
#include "core/workflow/judgement.h"
#include "ui/jobs/readrun.h"

namespace nanscope {

namespace {

/// What is known now; a report written while the replays still run says which captures wait for them.
Diagnosis diagnosisOf(const LoadedRun& loaded)
{
    auto diagnosis = loaded.known() ? *loaded.known() : Diagnosis {};
    for (auto& verdict : diagnosis.captures) {
        if (verdict.summary.empty()) {
            verdict.summary = "not judged yet: this was written before its replays were done";
        }
    }
    return diagnosis;
}

/// What would make the same report; where the run and the user's files lie is theirs.
std::string commandLine(const LoadedRun& loaded, const std::string& about)
{
    const auto opened = loaded.opened.lexically_normal();
    const auto name = opened.has_filename() ? opened.filename() : opened.parent_path().filename();
    auto text = "nanscope report " + platform::shellQuoted(name.string()) + report::captureWords(about)
        + report::variantFileWords(loaded.userFiles.variants, true);
    const auto add = [&text](const char* option, const std::filesystem::path& path) {
        text += path.empty() ? std::string() : option + platform::shellQuoted(path.filename().string());
    };
    add(" --env ", loaded.userFiles.environment);
    for (const auto& path : loaded.userFiles.advisories) {
        add(" --advisories ", path);
    }
    add(" --params ", loaded.userFiles.parameters);
    return text + workflow::findingWords(loaded.choices);
}

/// What is done with the session of a run, or with none where it has none.
template <class Work>
std::invoke_result_t<Work, const session::Session*> withSession(const LoadedRun& loaded, Work work)
{
    if (loaded.session.empty()) {
        return work(nullptr);
    }
    const auto session = session::openSessionOfRun(loaded.session, session::OpenMode::readOnly, loaded.key());
    if (!session) {
        return tl::make_unexpected(session.error());
    }
    return work(&*session);
}

} // namespace

Result<std::optional<Rollback>> adviceOf(const LoadedRun& run)
{
    return runWithPoints(run).map([&](RunData whole) {
        workflow::addEnvironment(whole, workflow::readUserFiles(run.userFiles, run.kept));
        return workflow::weighed(diagnosisOf(run), run.observed, whole, run.userFiles, run.catalogue, false).rollback;
    });
}

std::string suggestedReportName(const RunData& run)
{
    return printable(run.name) + "-report.md";
}

Result<report::ReportInput> reportInput(const ReportSubject& subject)
{
    const LoadedRun& loaded = subject.run;
    auto whole = runWithPoints(loaded);
    if (!whole) {
        return tl::make_unexpected(whole.error());
    }
    workflow::addEnvironment(*whole, workflow::readUserFiles(loaded.userFiles, loaded.kept));
    auto diagnosis = diagnosisOf(loaded);
    if (loaded.findingsDue()) {
        diagnosis = workflow::findAgain(std::move(diagnosis), *whole, loaded.choices);
    }
    workflow::ReportSource source {
        std::move(*whole), std::move(diagnosis), loaded.observed, loaded.cells, loaded.userFiles};
    source.commandLine = commandLine(loaded, subject.about);
    source.about = subject.about;
    source.catalogue = loaded.catalogue;
    return withSession(loaded,
        [&](const session::Session* session) { return nanscope::workflow::reportInput(std::move(source), session); });
}

Result<void> refreshCells(report::ReportInput& input, const ReportSubject& subject)
{
    const LoadedRun& loaded = subject.run;
    return withSession(loaded, [&](const session::Session* session) {
        return workflow::takeCells(input, loaded.cells, session, loaded.catalogue);
    });
}

ReportPreview reportPreview(const report::ReportInput& input, const report::ReportOptions& options)
{
    const Capture* capture = report::mainCapture(input);
    return {capture ? capture->file : std::string(), report::markdownReport(input, options),
        report::reportFiles(input, options, report::ReportFormat::markdown, suggestedReportName(input.run)),
        report::reportRedactions(input, options)};
}

} // namespace nanscope
