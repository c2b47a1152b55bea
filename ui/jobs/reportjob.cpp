// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/reportjob.h"

#include "core/diagnose/experiments.h"
#include "core/diagnose/rejudge.h"
#include "core/diagnose/rollback.h"
#include "core/known/known.h"
#include "core/platform/shellword.h"
#include "core/report/commandwords.h"
#include "core/report/words.h"
#include "core/session/session.h"
#include "ui/jobs/readrun.h"

namespace nanscope {

namespace {

/// The verdict over what the user left ticked, where the replays that were done can tell it.
void applyTicks(CaptureVerdict& verdict, const LoadedRun& loaded)
{
    const auto ticks = loaded.ticks.find(verdict.capture);
    if (ticks == loaded.ticks.end() || ticks->second.empty()) {
        return;
    }
    if (auto again = rejudge(verdict, ticks->second)) {
        verdict = std::move(*again);
    }
}

/// What is known now; a report written while the replays still run says which captures wait for them.
Diagnosis diagnosisOf(const LoadedRun& loaded)
{
    auto diagnosis = loaded.known() ? *loaded.known() : Diagnosis {};
    for (auto& verdict : diagnosis.captures) {
        applyTicks(verdict, loaded);
        if (verdict.summary.empty()) {
            verdict.summary = "not judged yet: this was written before its replays were done";
        }
    }
    return withObservations(std::move(diagnosis), loaded.observed);
}

/// What would make the same report; where files of the user's lie is theirs.
std::string commandLine(const LoadedRun& loaded)
{
    auto text = "nanscope report " + loaded.opened.string() + variantFileWords(loaded.told.variants, true);
    const auto add = [&text](const char* option, const std::filesystem::path& path) {
        text += path.empty() ? std::string() : option + shellQuoted(path.filename().string());
    };
    add(" --env ", loaded.told.environment);
    for (const auto& path : loaded.told.advisories) {
        add(" --advisories ", path);
    }
    add(" --params ", loaded.told.parameters);
    return text;
}

} // namespace

Result<std::optional<Rollback>> adviceOf(const LoadedRun& run)
{
    auto diagnosis = diagnosisOf(run);
    return runWithPoints(run).map([&](RunData whole) {
        addEnvironment(whole, knownOf(run.told));
        adviseAgain(diagnosis, whole);
        return diagnosis.rollback;
    });
}

std::string suggestedReportName(const RunData& run)
{
    return printable(run.name) + "-report.md";
}

Result<ReportInput> reportInput(const ReportSubject& subject)
{
    const LoadedRun& loaded = subject.run;
    ReportInput input {*loaded.run, diagnosisOf(loaded), loaded.cells, {}, {}, subject.about};
    input.commandLine = commandLine(loaded);
    input.variantFiles = loaded.told.variants;
    if (!loaded.session.empty()) {
        auto session = openSessionOfRun(loaded.session, OpenMode::readOnly, loaded.key());
        if (!session) {
            return tl::make_unexpected(session.error());
        }
        auto whole = session->load();
        auto cells = session->cells();
        if (!whole || !cells) {
            return tl::make_unexpected(whole ? cells.error() : whole.error());
        }
        input.run = std::move(*whole);
        input.cells = std::move(*cells);
    }
    addEnvironment(input.run, knownOf(loaded.told));
    adviseAgain(input.diagnosis, input.run);
    for (auto& verdict : input.diagnosis.captures) {
        repeatVariantFiles(verdict, loaded.told, true);
    }
    input.outputTiles = outputTiles(input);
    return input;
}

ReportPreview reportPreview(const ReportInput& input, const ReportOptions& options)
{
    const Capture* capture = mainCapture(input);
    return {capture ? capture->file : std::string(), markdownReport(input, options),
        reportFiles(input, options, ReportFormat::markdown, suggestedReportName(input.run)),
        reportRedactions(input, options)};
}

} // namespace nanscope
