// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/reportjob.h"

#include <span>

#include "core/diagnose/experiments.h"
#include "core/diagnose/rejudge.h"
#include "core/platform/platform.h"
#include "core/report/report.h"
#include "core/session/session.h"

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

Result<ReportInput> inputOf(const LoadedRun& loaded)
{
    ReportInput input {*loaded.run, diagnosisOf(loaded), loaded.cells, {}, {}};
    input.commandLine = "nanscope report " + loaded.opened.string();
    if (loaded.session.empty()) {
        return input;
    }
    auto session = Session::open(loaded.session, OpenMode::readOnly);
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
    return input;
}

Result<std::string> pageText(const LoadedRun& run)
{
    auto input = inputOf(run);
    if (!input) {
        return tl::make_unexpected(input.error());
    }
    input->outputTiles = outputTiles(*input);
    return htmlReport(*input);
}

} // namespace

Result<std::string> reportText(const LoadedRun& run, bool json)
{
    const auto input = inputOf(run);
    if (!input) {
        return tl::make_unexpected(input.error());
    }
    return json ? jsonReport(*input) : markdownReport(*input);
}

Result<void> writeReport(const LoadedRun& run, const std::filesystem::path& path)
{
    const auto text = path.extension() == ".html" ? pageText(run) : reportText(run, path.extension() == ".json");
    if (!text) {
        return tl::make_unexpected(text.error());
    }
    return writeFileAtomically(path, std::as_bytes(std::span<const char>(*text)));
}

} // namespace nanscope
