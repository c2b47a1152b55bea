// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/diagnose.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/cardwords.h"
#include "app/nanscope/diagnosetext.h"
#include "app/nanscope/shared/columns.h"
#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/source.h"
#include "app/nanscope/shared/userfacts.h"
#include "app/nanscope/shared/words.h"
#include "core/base/jsonanswer.h"
#include "core/json/records.h"
#include "core/model/words.h"
#include "core/report/report.h"
#include "core/workflow/judgement.h"
#include "core/workflow/judgingpoints.h"

namespace nanscope {

namespace {

class Diagnose : public Command
{
public:
    explicit Diagnose(CLI::App& root)
        : Command(root, "diagnose", "What happened first, and whose fault it is")
    {
        options().add("source", m_path, "A capture, a folder or a session").required();
        options().add("--ran", m_ran, "What ran: VARIANT or VARIANT:PRECISION; may be repeated").oneEach();
        options().addFlag("--nothing-else", m_nothingElse, "No other code touched the input or the result");
        addVariantFileOption();
        addCardOptions(options(), m_cards);
        addObservedOptions(options(), m_observed);
        addUserFileOptions(options(), m_files);
        options()
            .add("--time-limit", m_timeLimit, "Judge for at most so many seconds, and print what is known then")
            .positive();
        options().add("--fail-on", m_failOn, "Exit with 6 if a capture has this verdict");
        options().add("--session", m_session, "Keep what was read and judged in this session");
        addColumnOption(options(), m_columns);
    }

    Result<int> run(Terminal& terminal) override;

private:
    std::string m_path;
    std::vector<std::string> m_ran;
    bool m_nothingElse = false;
    diagnose::FindingChoices m_cards;
    ObservedWords m_observed;
    workflow::UserFiles m_files;
    std::optional<double> m_timeLimit;
    std::string m_failOn;
    std::string m_session;
    ColumnWords m_columns;
};

Result<std::optional<Blame>> failOn(const std::string& given)
{
    if (given.empty()) {
        return std::nullopt;
    }
    const auto place = oneOf("verdict", given,
        {"undecided", "upstream", "downstream", "numerics", "implementation", "nondeterministic", "machine"});
    if (!place) {
        return tl::make_unexpected(place.error());
    }
    return parseBlame(given);
}

/// What is known of a birth without a replay, said once its replays take long.
class EarlyNews
{
public:
    explicit EarlyNews(Terminal& terminal)
        : m_terminal(terminal)
    { }

    void take(const CaptureVerdict& verdict)
    {
        const bool replaysFollow = verdict.role == Role::birth && verdict.summary.empty();
        const auto rank = verdict.rank ? fmt::format("rank {}, ", *verdict.rank) : std::string();
        m_news = replaysFollow ? fmt::format("{} {}, {}{}: {}; replaying what may have run", name(verdict.role),
                     verdict.capture, rank, stepText(verdict), verdict.facts.damage.text)
                               : std::string();
        m_since = Clock::now();
    }

    JobContext job()
    {
        auto job = m_terminal.job();
        job.progress = [this](const Progress& progress) {
            if (!m_news.empty() && Clock::now() - m_since > isLong) {
                m_terminal.news(std::exchange(m_news, {}));
            }
            m_terminal.progress(progress);
        };
        return job;
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr auto isLong = std::chrono::seconds(2);

    Terminal& m_terminal;
    std::string m_news;
    Clock::time_point m_since;
};

Result<int> Diagnose::run(Terminal& terminal)
{
    const auto stop = failOn(m_failOn);
    if (!stop) {
        return tl::make_unexpected(stop.error());
    }
    const auto said = parseObserved(m_observed);
    if (!said) {
        return tl::make_unexpected(said.error());
    }
    if (const auto taken = takeVariantsOf({m_path, m_session}, catalogue(), terminal); !taken) {
        return tl::make_unexpected(taken.error());
    }
    auto choices = chosen(m_cards);
    if (!choices) {
        return tl::make_unexpected(choices.error());
    }
    diagnose::DiagnoseOptions options {m_ran, m_nothingElse, std::move(*choices)};
    options.timeLimit = m_timeLimit;
    auto files = m_files;
    const auto facts = workflow::requireUserFiles(files, catalogue());
    if (!facts) {
        return tl::make_unexpected(facts.error());
    }
    files.variants = variantFiles();
    const auto columns = columnsFor({m_path}, m_columns, terminal);
    if (!columns) {
        return tl::make_unexpected(columns.error());
    }
    auto source = openSource(
        m_path, m_session, terminal, *columns, accessFor(m_observed, variantFiles()), workflow::Points::judging);
    if (!source) {
        return tl::make_unexpected(source.error());
    }
    if (const auto kept = keepVariantsIn(*source, catalogue(), terminal); !kept) {
        return tl::make_unexpected(kept.error());
    }
    const auto observed = observedOf(*source, *said);
    if (!observed) {
        return tl::make_unexpected(observed.error());
    }
    EarlyNews news(terminal);
    options.arrived = [&news](const CaptureVerdict& verdict) { news.take(verdict); };
    auto diagnosis = judge(*source, *facts, files, options, news.job(), terminal);
    if (!diagnosis) {
        return tl::make_unexpected(diagnosis.error());
    }
    // What was observed is not stored with it: it is argued with afresh whenever it changes.
    diagnosis = workflow::weighed(std::move(*diagnosis), *observed, source->run, files, false);
    if (terminal.json()) {
        auto answer = diagnosisAnswer(*diagnosis);
        if (const auto newest = workflow::newestJudgingPoints(source->run)) {
            answer.add("newest_points", *newest);
        }
        answer.add("rejected", report::rejectedJson(source->run.rejected));
        terminal.printAnswer(answer);
    } else {
        terminal.print(diagnosisText(*diagnosis));
    }
    const auto met = [&stop](const CaptureVerdict& verdict) { return *stop && verdict.blame == **stop; };
    const auto& verdicts = diagnosis->captures;
    if (std::any_of(verdicts.begin(), verdicts.end(), met)) {
        return exitFailOn;
    }
    return diagnosis->stopped.empty() ? statusOf(*source) : exitCancelled;
}

} // namespace

std::unique_ptr<Command> makeDiagnose(CLI::App& root)
{
    return std::make_unique<Diagnose>(root);
}

} // namespace nanscope
