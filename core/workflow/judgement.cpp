// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/workflow/judgement.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/recovery/rollback.h"
#include "core/diagnose/rejudge.h"
#include "core/diagnose/verdict/decide.h"
#include "core/diagnose/verdict/experiments.h"
#include "core/json/jsonfields.h"
#include "core/json/records.h"
#include "core/platform/platform.h"
#include "core/replay/engine/capturecells.h"
#include "core/replay/variants/sessionvariants.h"
#include "core/report/input/reportinput.h"
#include "core/report/report.h"
#include "core/workflow/measures.h"
#include "core/workflow/openrun.h"

namespace nanscope::workflow {

/// The rules stand beside it in a stored diagnosis.
template <class Visit>
void fields(Visit& visit, jsonfields::Of<JudgedFrom> auto& from)
{
    visit("run", from.run);
    visit("user_files", from.userFiles);
    visit("spike_rule", from.spikeRule);
    visit("newest_points", from.newestPoints);
    visit("ran", from.ran);
    visit("nothing_else", from.nothingElse);
    visit("other_code", from.otherCode);
}

namespace {

/// Columns are part of it: a log that is read again as something else may hold as many points.
std::string contentsText(const RunData& run, const session::Session* session)
{
    std::int64_t points = 0;
    for (const Series& series : run.series) {
        points += series.pointCount;
    }
    return fmt::format("{} captures, {} events, {} replaced logs, {} points, {} settings, {} checkpoints, columns {}",
        run.captures.size(), run.events.size(), run.replaced.size(), points, run.settings.size(),
        run.checkpoints.size(), session ? session::hashText(session->columns().value_or("")) : "");
}

/// A hash, because a session may be mailed.
std::string stampOf(const UserFiles& files, const session::Session* session)
{
    auto stamp = stampOf(files);
    const auto kept = session ? session->variants() : Result<std::vector<session::StoredVariant>>();
    if (kept) {
        for (const session::StoredVariant& variant : *kept) {
            stamp += variant.definition;
        }
    }
    return stamp.empty() ? stamp : session::hashText(stamp);
}

constexpr const char* fromKey = "judged_from";

JudgedFrom judgedFromIn(const std::string& text)
{
    JudgedFrom from;
    const auto json = jsonread::Json::parse(text, nullptr, false);
    jsonfields::Reader read(json);
    read(fromKey, from);
    from.rules = rulesOf(text);
    return from;
}

} // namespace

JudgedFrom judgedFrom(const RunData& run, const UserFiles& files, const diagnose::FindingChoices& choices,
    const session::Session* session)
{
    return {diagnosisRules, contentsText(run, session), stampOf(files, session), choices.spikeRule,
        newestJudgingPoints(run)};
}

std::optional<StoredDiagnosis> storedDiagnosis(const session::Session& session)
{
    const auto text = session.diagnosis();
    auto diagnosis =
        text && !text->empty() ? diagnosisFromJson(*text) : Result<Diagnosis>(tl::make_unexpected(Error()));
    return diagnosis ? std::optional(StoredDiagnosis {std::move(*diagnosis), judgedFromIn(*text)}) : std::nullopt;
}

Result<void> storeDiagnosis(session::Session& session, const Diagnosis& diagnosis, const JudgedFrom& from)
{
    auto answer = diagnosisAnswer(diagnosis);
    answer.add(fromKey, jsonfields::Writer::written(from));
    return session.setDiagnosis(answer.text());
}

bool takeStoredWords(diagnose::DiagnoseOptions& options, const session::Session& session)
{
    const auto stored = storedDiagnosis(session);
    if (!stored || !options.ran.empty() || options.nothingElse || options.otherCode) {
        return false;
    }
    const auto& from = stored->from;
    options.ran = from.ran;
    options.nothingElse = from.nothingElse;
    options.otherCode = from.otherCode;
    return !from.ran.empty() || from.nothingElse || from.otherCode;
}

Diagnosis asChosen(StoredDiagnosis stored, const RunData& run, const diagnose::FindingChoices& choices)
{
    auto diagnosis = std::move(stored.diagnosis);
    if (stored.from.spikeRule != choices.spikeRule) {
        diagnosis.findings = diagnose::earlyFindings(run);
    }
    diagnose::silence(diagnosis.findings, choices.silenced);
    return diagnosis;
}

Diagnosis findAgain(
    Diagnosis diagnosis, const RunData& run, const diagnose::FindingChoices& choices, const CancelToken& cancel)
{
    diagnosis.findings = diagnose::findingsOf(run, diagnosis.captures, choices, cancel);
    return diagnosis;
}

Result<void> storeFindings(
    session::Session& session, std::vector<Finding> findings, const diagnose::FindingChoices& choices)
{
    auto stored = storedDiagnosis(session);
    // What was judged by other rules would pass for judged by these.
    if (!stored || stored->from.rules != diagnosisRules) {
        return {};
    }
    stored->diagnosis.findings = std::move(findings);
    stored->from.spikeRule = choices.spikeRule;
    return storeDiagnosis(session, stored->diagnosis, stored->from);
}

Result<Observations> storedObservations(const session::Session& session)
{
    return session.observations().map([](const std::string& text) {
        auto observed = observationsFromJson(text);
        return diagnose::check(observed) ? observed : Observations {};
    });
}

Result<void> storeObservations(session::Session& session, const Observations& observed)
{
    return session.setObservations(jsonText(toJson(observed)));
}

Diagnosis weighed(Diagnosis diagnosis, const Observations& observed, const RunData& run, const UserFiles& files,
    const replay::Catalogue& catalogue, bool nameOnly)
{
    for (auto& verdict : diagnosis.captures) {
        verdict = diagnose::withAnswers(std::move(verdict), observed, catalogue);
    }
    diagnosis = diagnose::withObservations(std::move(diagnosis), observed);
    diagnose::arrange(diagnosis, run);
    diagnose::adviseAgain(diagnosis, run, nameOnly ? diagnose::ResumePaths::inRun : diagnose::ResumePaths::absolute);
    for (auto& verdict : diagnosis.captures) {
        repeatVariantFiles(verdict, files, nameOnly);
        const auto capture = std::ranges::find(run.captures, verdict.capture, &Capture::file);
        if (!nameOnly && capture != run.captures.end()) {
            diagnose::nameByPath(verdict.next, *capture);
        }
    }
    return diagnosis;
}

namespace {

std::string settingText(const replay::CellRequest& request)
{
    std::vector<std::string> parts;
    if (request.epsilon) {
        parts.push_back(fmt::format("epsilon {:g}", *request.epsilon));
    }
    if (request.steps) {
        parts.push_back(counted(*request.steps, "step"));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> settingsOf(
    const std::vector<Cell>& cells, const RunData& run, const replay::Catalogue& catalogue)
{
    std::map<std::string_view, std::optional<double>> epsilons;
    for (const auto& capture : run.captures) {
        epsilons[capture.file] = capture.epsilon;
    }
    std::vector<std::string> settings;
    for (const auto& cell : cells) {
        const auto capture = epsilons.find(cell.capture);
        const auto epsilon = capture == epsilons.end() ? std::nullopt : capture->second;
        settings.push_back(settingText(replay::requestOf(cell, epsilon, catalogue)));
    }
    return settings;
}

} // namespace

Result<void> takeCells(report::ReportInput& input, std::vector<Cell> cells, const session::Session* session,
    const replay::Catalogue& catalogue)
{
    if (session) {
        cells = TRY(replay::cellsThatHold(*session, catalogue));
    }
    input.cells = std::move(cells);
    input.cellSettings = settingsOf(input.cells, input.run, catalogue);
    return {};
}

Result<report::ReportInput> reportInput(ReportSource source, const session::Session* session)
{
    auto shown = weighed(
        std::move(source.diagnosis), source.observed, source.run, source.files, source.catalogue, source.namesOnly);
    report::ReportInput input {std::move(source.run), std::move(shown), {}, std::move(source.commandLine)};
    TRY(takeCells(input, std::move(source.cells), session, source.catalogue));
    const auto& rollback = input.diagnosis.rollback;
    input.goOn = rollback ? rollback->tonight : diagnose::goOnTonight(input.run, input.diagnosis.captures);
    input.about = std::move(source.about);
    input.outputTiles = report::outputTiles(input);
    if (const auto* capture = report::mainCapture(input); capture != nullptr && report::mainVerdict(input) != nullptr) {
        input.measures = measuresOf(*capture, *report::mainVerdict(input), source.catalogue);
    }
    input.variantFiles = std::move(source.files.variants);
    input.ran = std::move(source.ran);
    input.nothingElse = source.nothingElse;
    input.otherCode = source.otherCode;
    return input;
}

std::string findingWords(const diagnose::FindingChoices& choices)
{
    auto words = choices.spikeRule.empty() ? std::string() : " --spike-rule " + choices.spikeRule;
    if (!choices.silenced.empty()) {
        words += fmt::format(" --silence {}", fmt::join(choices.silenced, ","));
    }
    return words;
}

} // namespace nanscope::workflow
