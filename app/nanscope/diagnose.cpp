// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/columns.h"
#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/diagnosisjob.h"
#include "app/nanscope/shared/source.h"
#include "app/nanscope/shared/userfacts.h"
#include "app/nanscope/shared/words.h"
#include "app/nanscope/shared/worker.h"
#include "core/base/jsonanswer.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/base/utf8.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/findings/acrossruns.h"
#include "core/diagnose/identify/cost.h"
#include "core/diagnose/judgingplan.h"
#include "core/diagnose/recovery/rollback.h"
#include "core/json/records.h"
#include "core/model/model.h"
#include "core/model/words.h"
#include "core/report/report.h"
#include "core/workflow/judgement.h"
#include "core/workflow/openrun.h"
#include "core/workflow/verifycheckpoints.h"

namespace nanscope {

namespace {

std::string bullets(std::string_view label, const std::vector<EvidenceLine>& lines)
{
    std::string text;
    for (const auto& line : lines) {
        const auto source = line.source.empty() ? std::string {} : fmt::format(" [{}]", line.source);
        text += fact(text.empty() ? label : "", line.text + source);
    }
    return text;
}

/// " [then --tried bf16=gone:HOURS or stays]"
std::string outcomesText(const Experiment& experiment)
{
    std::vector<std::string> outcomes;
    for (const auto seen : experiment.outcomes) {
        outcomes.push_back(std::string(name(seen))
            + (seen == Seen::gone         ? ":HOURS"
                    : seen == Seen::moves ? ":TIMES"
                                          : ""));
    }
    return outcomes.empty() ? std::string()
                            : fmt::format(" [then --tried {}={}]", experiment.id, fmt::join(outcomes, " or "));
}

std::string experiments(const CaptureVerdict& verdict)
{
    std::string text;
    int count = 0;
    for (const auto* next : untried(verdict)) {
        ++count;
        text += fact(count == 1 ? "next" : "", fmt::format("{}. {}{}", count, lineOf(*next), outcomesText(*next)));
    }
    return text;
}

std::string replays(const std::vector<MemberResult>& members)
{
    if (members.empty()) {
        return {};
    }
    constexpr auto right = Table::Align::right;
    Table table({{"replayed as"}, {"precision"}, {"finite", right}, {"same damage", right}, {"slack", right},
        {"max|Q|", right}, {"headroom", right}, {"first bad"}});
    constexpr std::size_t most = 16;
    for (const auto& member : std::span(members).first(std::min(most, members.size()))) {
        const bool replayed = member.forecastBy.empty();
        const bool allFailed = replayed && member.finite == 0;
        table.add({member.variant, member.precision,
            replayed ? fmt::format("{} of {}", member.finite, member.roundings) : "forecast",
            replayed ? std::to_string(member.reproducing) : "-",
            member.slackPercent ? fmt::format("{:.3g} %", *member.slackPercent) : "-",
            member.absmaxQ && !allFailed ? numberText(*member.absmaxQ) : "-",
            allFailed ? "-" : fmt::format("{:.3g} binades", member.headroomBinades),
            member.firstBad.empty() ? "-" : member.firstBad});
    }
    const auto more =
        members.size() > most ? fmt::format("  and {} more (--json has them all)\n", members.size() - most) : "";
    return "\n" + table.text(2) + more;
}

std::string damageText(const DamagePattern& damage)
{
    if (damage.shape == DamageShape::none) {
        return {};
    }
    return fact("damage",
        damage.text.empty() ? std::string(name(damage.shape)) : fmt::format("{}: {}", name(damage.shape), damage.text));
}

/// Finite in and out, and yet the user has to say what the place is.
bool isAsked(const CaptureVerdict& verdict)
{
    return verdict.role == Role::healthy && !verdict.question.empty();
}

std::string_view roleText(const CaptureVerdict& verdict)
{
    if (verdict.rule == RuleId::callRaised) {
        return "raised";
    }
    if (verdict.role == Role::noOutput) {
        return "without an output";
    }
    return isAsked(verdict) ? "finite" : roleText(verdict.role);
}

/// Those that came in damaged in the same step, by the same rule, say the same, and so do births of one function that
/// end alike: the first says it in full.
bool saysTheSame(const CaptureVerdict& verdict, const CaptureVerdict& before)
{
    if (verdict.role != before.role || verdict.rule != before.rule) {
        return false;
    }
    if (verdict.role == Role::upstream) {
        return verdict.step && verdict.step == before.step
            && verdict.facts.scene.badBefore() == before.facts.scene.badBefore();
    }
    return verdict.role == Role::birth && blameText(verdict) == blameText(before) && verdict.question == before.question
        && verdict.facts.scene.function == before.facts.scene.function;
}

std::string shortPlace(const CaptureVerdict& verdict)
{
    const auto rank = verdict.rank ? fmt::format("rank {}", *verdict.rank) : std::string();
    const auto where = rank + (rank.empty() || verdict.layer.empty() ? "" : ", ") + verdict.layer;
    return printable(verdict.capture) + (where.empty() ? where : fmt::format(" ({})", where));
}

/// Where and when they were born: by the same rule, each by its own replays.
std::string otherBirthsText(std::span<const CaptureVerdict* const> others)
{
    constexpr std::size_t most = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, others.size()); ++i) {
        const auto& one = *others[i];
        const auto& damage = one.facts.damage.text;
        text += fact(i == 0 ? "likewise" : "",
            fmt::format("{}, {}{}", shortPlace(one), stepText(one), damage.empty() ? "" : ": " + damage));
    }
    return others.size() > most
        ? text + fact("", fmt::format("and {} more (--json has them all)", others.size() - most))
        : text;
}

/// "dump3.pt (rank 3), dump4.pt (rank 4, blocks.0.attn.wq) and 12 more"
std::string alsoText(std::span<const CaptureVerdict* const> others)
{
    if (!others.empty() && others.front()->role == Role::birth) {
        return otherBirthsText(others);
    }
    constexpr std::size_t most = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, others.size()); ++i) {
        text += (i == 0 ? "" : ", ") + shortPlace(*others[i]);
    }
    const auto more = others.size() > most ? fmt::format(" and {} more", others.size() - most) : std::string();
    return others.empty() ? text : fact("also", fmt::format("{}{}: likewise, in the same step", text, more));
}

std::string verdictText(const CaptureVerdict& verdict)
{
    auto text = fmt::format("\n{}  {}\n", roleText(verdict), printable(verdict.capture));
    text +=
        fact("when", verdict.rank ? fmt::format("rank {}, {}", *verdict.rank, stepText(verdict)) : stepText(verdict));
    if (!verdict.layer.empty()) {
        text += fact("layer", verdict.layer);
    }
    text += fact("verdict",
        strengthText(verdict).empty() ? blameText(verdict)
                                      : fmt::format("{}: {}", blameText(verdict), strengthText(verdict)));
    text += fact("", verdict.summary);
    text += fact("variant", variantText(verdict.variant));
    text += damageText(verdict.facts.damage);
    text += verdict.originsTried > 0 ? fact("spread", originsText(verdict)) : "";
    text += bullets("for", verdict.speaksFor);
    text += bullets("against", verdict.speaksAgainst);
    text += bullets("neither", verdict.notTestable);
    if (!verdict.question.empty()) {
        text += fact("question", verdict.question);
    }
    return text + experiments(verdict) + replays(verdict.members);
}

bool explained(const CaptureVerdict& verdict)
{
    return verdict.role == Role::birth || verdict.role == Role::upstream || verdict.role == Role::padding
        || verdict.rule == RuleId::callRaised || isAsked(verdict);
}

std::string othersText(const Diagnosis& diagnosis)
{
    struct Others
    {
        std::int64_t count = 0;
        std::set<int> ranks;
    };
    std::map<std::string_view, Others> roles;
    for (const auto& verdict : diagnosis.captures) {
        if (!explained(verdict)) {
            auto& others = roles[roleText(verdict)];
            ++others.count;
            others.ranks.insert(verdict.rank.value_or(-1));
        }
    }
    std::string text;
    for (auto& [role, others] : roles) {
        others.ranks.erase(-1);
        const auto on = others.ranks.empty() ? std::string()
            : others.ranks.size() == 1       ? fmt::format(" on rank {}", *others.ranks.begin())
                                             : fmt::format(" on {} ranks", others.ranks.size());
        text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", countText(others.count), role, on);
    }
    return text.empty() ? text : "\n" + text + "\n";
}

std::string placeOf(const Finding::Evidence& line)
{
    return line.line > 0 ? fmt::format("{}:{}", line.file, line.line) : line.file;
}

std::string firedText(const Finding& finding)
{
    auto text = fact(finding.severity, fmt::format("{} {}", finding.id, finding.title));
    if (!finding.reason.empty()) {
        const auto sure =
            finding.confidence.empty() ? std::string() : fmt::format(" ({} confidence)", finding.confidence);
        text += fact("", asSentence(finding.reason + sure));
    }
    for (const auto& line : finding.evidence) {
        text += fact("", fmt::format("{}  {}", placeOf(line), clipped(line.text, 160)));
    }
    if (!finding.threshold.empty()) {
        text += fact("", fmt::format("rule: {}", finding.threshold));
    }
    if (!finding.advice.empty()) {
        text += fact("", fmt::format("try: {}", finding.advice.front()));
    }
    return text;
}

/// Those that did not fire, in a line: what each would take is a page, and decides nothing.
std::string quietText(const std::vector<Finding>& findings)
{
    std::vector<std::string> silenced;
    for (const auto& finding : findings) {
        if (finding.state == FindingState::silenced) {
            silenced.push_back(finding.title);
        }
    }
    const auto clear = std::ranges::count(findings, FindingState::clear, &Finding::state);
    const auto open = std::ranges::count(findings, FindingState::notCheckable, &Finding::state);
    const auto text = clear == 0
        ? std::string()
        : fact("clear", counted(clear, "problem") + " that " + (clear == 1 ? "was" : "were") + " looked for");
    return text
        + (open == 0 ? "" : fact("not checkable", fmt::format("{} for want of data (--json says of each what)", open)))
        + (silenced.empty() ? "" : fact("silenced", fmt::format("{}", fmt::join(silenced, ", "))));
}

std::string findingsText(const std::vector<Finding>& findings)
{
    std::string text;
    for (const auto& finding : findings) {
        text += finding.state == FindingState::fired ? firedText(finding) : std::string();
    }
    text += quietText(findings);
    return text.empty() ? text : "\nfindings\n" + text;
}

/// Where a folder holds logs of several runs, each has a row.
std::string logsText(const std::vector<EvidenceLine>& logs)
{
    constexpr std::size_t most = 20;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, logs.size()); ++i) {
        text += fact(i == 0 ? "logs" : "", fmt::format("{}: {}", logs[i].source, logs[i].text));
    }
    return logs.size() > most ? text + fact("", fmt::format("and {} more (--json has them all)", logs.size() - most))
                              : text;
}

std::string checkpointText(const CheckpointAdvice& advice)
{
    auto text = fmt::format("step {}: {}, {}", advice.step, name(advice.status), advice.reason);
    for (const auto& line : advice.proof) {
        text += line.source.empty() ? fmt::format(" ({})", line.text)
                                    : fmt::format(" ({} [{}])", clipped(line.text, 120), line.source);
    }
    return text;
}

std::string rollbackText(const std::optional<Rollback>& rollback)
{
    constexpr std::size_t most = 8;
    if (!rollback) {
        return {};
    }
    auto text = "\nrollback\n"
        + fact(rollback->recommended ? "go back to" : "advice",
            rollback->recommended ? fmt::format("step {}: {}", *rollback->recommended, rollback->reason)
                                  : rollback->reason);
    text += rollback->resume.empty() ? "" : fact("resume", rollback->resume);
    for (std::size_t i = 0; i < std::min(most, rollback->checkpoints.size()); ++i) {
        text += fact(i == 0 ? "checkpoints" : "", checkpointText(rollback->checkpoints[i]));
    }
    if (rollback->checkpoints.size() > most) {
        text += fact("", fmt::format("and {} older (--json has them all)", rollback->checkpoints.size() - most));
    }
    return text;
}

std::string clustersText(const std::vector<Cluster>& clusters)
{
    constexpr std::size_t most = 10;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, clusters.size()); ++i) {
        text += fact(i == 0 ? "clusters" : "", clusters[i].text);
    }
    return clusters.size() > most ? text + fact("", fmt::format("and {} more", clusters.size() - most)) : text;
}

/// Published problems are listed apart from evidence: an affected version shows nothing about this call.
std::string advisoriesText(const std::vector<AdvisoryMatch>& advisories)
{
    std::string text;
    std::string open;
    for (const auto& one : advisories) {
        if (!one.certain) {
            open += fact(open.empty() ? "cannot tell" : "",
                fmt::format("{}: {} ({}); needs {}", one.id, one.title, one.matched, one.missing));
            continue;
        }
        text += fact(name(one.status), fmt::format("{}: {}", one.id, one.title));
        text += fact("", one.text);
        text += fact("", fmt::format("matches {}; {} (as of {})", one.matched, one.link, one.dated));
    }
    return text.empty() && open.empty()
        ? text
        : "\nadvisories (published of these versions, no evidence of this run)\n" + text + open;
}

/// The first ones in full.
std::string verdictsText(const std::vector<CaptureVerdict>& captures)
{
    constexpr int most = 10;
    std::vector<const CaptureVerdict*> left;
    for (const auto& verdict : captures) {
        if (explained(verdict)) {
            left.push_back(&verdict);
        }
    }
    std::string text;
    for (int i = 0; i < most && !left.empty(); ++i) {
        const auto& first = *left.front();
        const auto end = std::stable_partition(
            left.begin() + 1, left.end(), [&first](const CaptureVerdict* one) { return saysTheSame(*one, first); });
        text += verdictText(first) + alsoText({left.begin() + 1, end});
        left.erase(left.begin(), end);
    }
    return left.empty() ? text : text + fmt::format("\nand {} more like these (--json has them all)\n", left.size());
}

/// The headline, every birth with its evidence, and what the other captures are.
std::string diagnosisText(const Diagnosis& diagnosis, const RunData& run)
{
    const auto tonight =
        diagnosis.rollback ? diagnosis.rollback->tonight : diagnose::goOnTonight(run, diagnosis.captures);
    auto text = printable(diagnosis.headline) + "\n" + (tonight.empty() ? "" : fact("tonight", tonight));
    text += logsText(diagnosis.logs) + clustersText(diagnosis.clusters);
    text += verdictsText(diagnosis.captures);
    text += diagnosis.replayedOn.empty() ? "" : "\n" + fact("replayed on", diagnosis.replayedOn);
    return text + othersText(diagnosis) + findingsText(diagnosis.findings) + advisoriesText(diagnosis.advisories)
        + rollbackText(diagnosis.rollback);
}

class Diagnose : public Command
{
public:
    explicit Diagnose(CLI::App& root)
        : Command(root, "diagnose", "What happened first, and whose fault it is")
    {
        options()
            .add("source", m_paths, "A capture, a folder or a session; of several, what they show together, too")
            .required();
        options().add("--ran", m_ran, "What ran: VARIANT[@STEPS][@EPSILON][:PRECISION]; may be repeated").oneEach();
        const auto none =
            options().addFlag("--nothing-else", m_nothingElse, "No other code touched the input or the result");
        options().addFlag("--other-code", m_otherCode, "Other code did").excludes(none);
        addVariantFileOption();
        addCardOptions(options(), m_cards);
        addObservedOptions(options(), m_observed);
        addUserFileOptions(options(), m_files);
        options().add("--time-limit", m_timeLimit,
            "Judge, and read checkpoints, for at most so many seconds, and print what is known then");
        addJudgingDevice(options(), m_device);
        options().add("--fail-on", m_failOn, "Exit with 6 if a capture has this verdict");
        options().addFlag("--verify-checkpoints", m_verifyCheckpoints,
            "Read the checkpoints that the rollback may go to, newest first, until one is finite");
        options().add("--session", m_session, "Keep what was read and judged in this session");
        addColumnOption(options(), m_columns);
        m_job.add(options());
        options().addFlag("--as-told", m_asTold,
            "For the processes of a job: judge the captures whose names are read from standard input, one a line");
    }

    Result<int> run(Terminal& terminal) override;

private:
    struct Judged
    {
        std::string path;
        Source source;
        Diagnosis diagnosis;
        std::optional<DiagnosisJob> job {};
    };

    /// What holds for every run.
    struct Question
    {
        diagnose::DiagnoseOptions options;
        workflow::UserFiles files;
        workflow::UserFacts facts;
        Observations said;
        std::optional<ingest::ColumnMap> columns;
    };

    Result<Question> question(Terminal& terminal);
    Result<Judged> judgeRun(const std::string& path, const Question& question, Terminal& terminal) const;
    Result<Source> openRun(const std::string& path, const Question& question, Terminal& terminal) const;
    std::vector<std::string> judgingWords() const;
    Result<int> runAsTold(Question question, Terminal& terminal) const;

    std::vector<std::string> m_paths;
    std::vector<std::string> m_ran;
    bool m_nothingElse = false;
    bool m_otherCode = false;
    bool m_verifyCheckpoints = false;
    diagnose::FindingChoices m_cards;
    ObservedWords m_observed;
    workflow::UserFiles m_files;
    std::optional<double> m_timeLimit;
    std::string m_device = "cpu";
    std::string m_failOn;
    std::string m_session;
    ColumnWords m_columns;
    JobOptions m_job;
    bool m_asTold = false;
};

Result<std::optional<Blame>> failOn(const std::string& given)
{
    if (given.empty()) {
        return std::nullopt;
    }
    TRY(oneOf("verdict", given,
        {"undecided", "upstream", "downstream", "numerics", "implementation", "nondeterministic", "machine"}));
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

Result<Diagnose::Question> Diagnose::question(Terminal& terminal)
{
    const auto said = TRY(parseObserved(m_observed));
    auto places = m_paths;
    places.push_back(m_session);
    TRY(takeVariantsOf(places, catalogue(), terminal));
    auto choices = TRY(chosen(m_cards));
    diagnose::DiagnoseOptions options {m_ran, m_nothingElse, m_otherCode, std::move(choices)};
    options.timeLimit = m_timeLimit;
    // The devices of a job are its processes' own.
    TRY(m_job.wanted() ? Result<void>() : replayOn(m_device, options, terminal));
    auto files = m_files;
    auto facts = TRY(workflow::requireUserFiles(files, catalogue()));
    files.variants = variantFiles();
    const auto columns = TRY(columnsFor({m_paths.begin(), m_paths.end()}, m_columns, terminal));
    return Question {std::move(options), std::move(files), std::move(facts), said, columns};
}

/// The seconds that a diagnosis may take, as far as they are not over.
class TimeLeft
{
public:
    explicit TimeLeft(std::optional<double> limit)
        : m_limit(limit)
    { }

    std::optional<std::chrono::duration<double>> left() const
    {
        return m_limit ? std::optional(std::chrono::duration<double>(*m_limit) - (Clock::now() - m_begin))
                       : std::nullopt;
    }
    std::string why(const CancelToken& cancel) const
    {
        return cancel.cancelled() || !m_limit ? "cancelled" : fmt::format("the time limit of {:g} s", *m_limit);
    }

private:
    using Clock = std::chrono::steady_clock;

    std::optional<double> m_limit;
    Clock::time_point m_begin = Clock::now();
};

void sayNothingRead(const Diagnosis& diagnosis, Terminal& terminal)
{
    if (!diagnosis.rollback) {
        terminal.say(LogLevel::info, "No checkpoint was read: the run shows nothing to go back from.");
    } else {
        terminal.say(LogLevel::info, "No checkpoint was read: none that could be gone back to is left unread.");
    }
}

/// What was read until the time was over, or the user had enough, stays read; what was not is said.
Result<void> verify(Source& source, Diagnosis& diagnosis, const TimeLeft& time, Terminal& terminal)
{
    if (!diagnosis.stopped.empty()) {
        terminal.say(LogLevel::warning,
            fmt::format("No checkpoint was read: the diagnosis was stopped before ({})", diagnosis.stopped));
        return {};
    }
    const diagnose::JudgingTime reading(terminal.job(), time.left());
    const auto read = workflow::verifyCheckpoints(
        source.run, diagnosis.captures, source.session && source.writable ? &*source.session : nullptr, reading.job());
    if (!read && read.error().kind != ErrorKind::cancelled) {
        return tl::make_unexpected(read.error());
    }
    if (!read) {
        const auto why = time.why(terminal.cancelToken());
        diagnosis.stopped = fmt::format("{}, while the checkpoint {} was read", why, read.error().path);
        terminal.say(LogLevel::warning,
            fmt::format("Not all checkpoints were read ({}): {} and older ones were not; what was read before is kept",
                why, read.error().path));
    } else if (*read == 0) {
        sayNothingRead(diagnosis, terminal);
    }
    return {};
}

Result<Diagnose::Judged> Diagnose::judgeRun(const std::string& path, const Question& question, Terminal& terminal) const
{
    auto source = TRY(openRun(path, question, terminal));
    TRY(keepVariantsIn(source, catalogue(), terminal));
    const auto observed = TRY(observedOf(source, question.said));
    const TimeLeft time(m_timeLimit);
    EarlyNews news(terminal);
    auto options = question.options;
    options.arrived = [&news](const CaptureVerdict& verdict) { news.take(verdict); };
    options.planned = [&terminal](const diagnose::JudgingPlan& plan, const std::string& device) {
        terminal.news(diagnose::textOf(plan, device));
        terminal.progress(diagnose::progressOf(plan, device));
    };
    std::optional<DiagnosisJob> job;
    if (m_job.wanted()) {
        const auto device = TRY(jobDevice({m_device}));
        job = TRY(openDiagnosisJob(m_job, device, judgingWords(), path, source));
        job->putInto(options);
        planRest(*job, m_job, source.run, !m_ran.empty(), question.facts.catalogue, terminal.cancelToken());
        if (job->plan.isLong()) {
            terminal.progress(diagnose::progressOf(job->plan, job->measuredOn));
        }
    }
    auto diagnosis = TRY(judge(source, question.facts, question.files, options, news.job(), terminal));
    if (m_verifyCheckpoints) {
        TRY(verify(source, diagnosis, time, terminal));
    }
    // What was observed is not stored with it: it is argued with afresh whenever it changes.
    auto weighed = workflow::weighed(std::move(diagnosis), observed, source.run, question.files, catalogue(), false);
    return Judged {path, std::move(source), std::move(weighed), std::move(job)};
}

/// The run of a job is the one that lies in its session, which grows no more while it is judged.
Result<Source> Diagnose::openRun(const std::string& path, const Question& question, Terminal& terminal) const
{
    const auto open = [&](const std::string& place, const std::string& session, workflow::Access access) {
        return openSource(place, session, terminal, question.columns, access, workflow::Points::judging);
    };
    if (!m_job.wanted()) {
        return open(path, m_session, accessFor(m_observed, variantFiles()));
    }
    TRY(m_job.check());
    const auto there = TRY(sessionOfJob(m_job));
    std::error_code unknown;
    if (there && !m_session.empty() && !std::filesystem::equivalent(m_session, *there, unknown)) {
        return failure(ErrorKind::usage,
            fmt::format("the job keeps its verdicts in {}; leave --session out, or name that", *there), m_session);
    }
    const bool own = m_session.empty() && !there && !session::isSessionFile(path);
    if (own) {
        std::error_code ignored; // the session says why it cannot be made
        std::filesystem::create_directories(m_job.folder, ignored);
    }
    return open(there.value_or(path),
        there     ? std::string()
            : own ? newSessionOfJob(m_job)
                  : m_session,
        workflow::Access::store);
}

/// What a process of a job is told, so that it judges as this command does.
std::vector<std::string> Diagnose::judgingWords() const
{
    std::vector<std::string> words;
    const auto add = [&words](const char* option, const std::string& value) {
        if (!value.empty()) {
            words.insert(words.end(), {option, value});
        }
    };
    const auto addFile = [&add](const char* option, const std::string& path) {
        std::error_code ignored;
        add(option, path.empty() ? path : std::filesystem::absolute(path, ignored).string());
    };
    for (const auto& ran : m_ran) {
        add("--ran", ran == workflow::anyRan ? std::string() : ran);
    }
    for (const auto& file : variantFiles()) {
        addFile("--variant-file", file);
    }
    addFile("--env", m_files.environment);
    if (m_nothingElse) {
        words.emplace_back("--nothing-else");
    }
    if (m_otherCode) {
        words.emplace_back("--other-code");
    }
    return words;
}

Result<int> Diagnose::runAsTold(Question question, Terminal& terminal) const
{
    auto source = TRY(
        openSource(m_paths.front(), {}, terminal, question.columns, workflow::Access::read, workflow::Points::judging));
    workflow::addEnvironment(source.run, question.facts);
    question.options.catalogue = question.facts.catalogue;
    return judgeAsTold(source.run, question.options, terminal.cancelToken());
}

JsonAnswer answerOf(const Source& source, const Diagnosis& diagnosis)
{
    auto answer = diagnosisAnswer(diagnosis);
    if (const auto newest = workflow::newestJudgingPoints(source.run)) {
        answer.add("newest_points", *newest);
    }
    answer.add("rejected", report::rejectedJson(source.run.rejected));
    return answer;
}

/// "runs/a" and "other/a" keep their folders, "a" and "b" need none.
std::vector<std::string> shortNames(const std::vector<std::string>& paths)
{
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const auto& path : paths) {
        auto name = std::filesystem::path(path).lexically_normal();
        name = name.has_filename() ? name.filename() : name.parent_path().filename();
        names.push_back(name.string());
        seen.insert(names.back());
    }
    return seen.size() == paths.size() ? names : paths;
}

ExitStatus exitOf(const Source& source, const Diagnosis& diagnosis, const std::optional<DiagnosisJob>& job,
    const std::optional<Blame>& stop)
{
    const auto met = [&stop](const CaptureVerdict& verdict) { return stop && verdict.blame == *stop; };
    if (std::ranges::any_of(diagnosis.captures, met)) {
        return exitFailOn;
    }
    if (job && job->gathered.missing > 0) {
        return job->begun() ? exitRejected : statusOf(source); // one that was just made lacks nothing yet
    }
    return diagnosis.stopped.empty() ? statusOf(source) : exitCancelled;
}

std::string acrossText(const std::vector<Finding>& across, std::size_t runs)
{
    auto text = findingsText(across);
    const auto heading = text.find("findings");
    return text.replace(heading, std::string_view("findings").size(), fmt::format("over the {} runs", runs));
}

Result<int> Diagnose::run(Terminal& terminal)
{
    const auto stop = TRY(failOn(m_failOn));
    if (!(m_timeLimit.value_or(1) > 0)) {
        return failure(ErrorKind::usage, "--time-limit takes a number of seconds above 0");
    }
    TRY(options().requireRead({{"`nanscope diagnose` without --as-told", !m_asTold,
        {"--json", "--time-limit", "--fail-on", "--verify-checkpoints", "--session"}}}));
    if (m_paths.size() > 1 && !m_session.empty()) {
        return failure(ErrorKind::usage, "--session keeps one run, and several are named; leave it out");
    }
    if (m_paths.size() > 1 && (m_job.wanted() || m_asTold)) {
        return failure(ErrorKind::usage, "a job is of one run, and several are named");
    }
    const auto asked = TRY(question(terminal));
    if (m_asTold) {
        return runAsTold(asked, terminal);
    }
    std::vector<Judged> all;
    for (const auto& path : m_paths) {
        all.push_back(TRY(judgeRun(path, asked, terminal)));
    }
    const auto names = shortNames(m_paths);
    std::vector<diagnose::NamedRun> runs;
    for (std::size_t i = 0; i < all.size(); ++i) {
        runs.push_back({names[i], &all[i].source.run});
    }
    const auto across = all.size() > 1 ? diagnose::findingsAcross(runs) : std::vector<Finding>();
    if (terminal.json() && all.size() > 1) {
        JsonAnswer answer;
        answer.add("schema", "nanscope.diagnoses/1");
        answer.addEach("runs", all, [](const Judged& one) { return answerOf(one.source, one.diagnosis).whole(); });
        answer.addEach("across", across, [](const Finding& finding) { return toJson(finding); });
        terminal.printAnswer(answer);
    } else if (terminal.json()) {
        auto answer = answerOf(all.front().source, all.front().diagnosis);
        if (const auto& job = all.front().job) {
            answer.add("job", jobJson(*job));
        }
        terminal.printAnswer(answer);
    } else {
        for (std::size_t i = 0; i < all.size(); ++i) {
            terminal.print((all.size() > 1 ? fmt::format("{}{}: ", i > 0 ? "\n" : "", printable(names[i])) : "")
                + diagnosisText(all[i].diagnosis, all[i].source.run) + (all[i].job ? "\n" + jobText(*all[i].job) : ""));
        }
        terminal.print(all.size() > 1 ? acrossText(across, all.size()) : "");
    }
    int status = exitDone;
    for (const auto& one : all) {
        status = std::max<int>(status, exitOf(one.source, one.diagnosis, one.job, stop));
    }
    return status;
}

} // namespace

std::unique_ptr<Command> makeDiagnose(CLI::App& root)
{
    return std::make_unique<Diagnose>(root);
}

} // namespace nanscope
