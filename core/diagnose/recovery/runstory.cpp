// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/runstory.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/diagnose/recovery/detectorsteps.h"
#include "core/diagnose/recovery/firstnonfinite.h"
#include "core/diagnose/recovery/logend.h"
#include "core/diagnose/recovery/missingdumps.h"
#include "core/diagnose/recovery/teecopies.h"
#include "core/diagnose/recovery/trace.h"
#include "core/model/run.h"

namespace nanscope::diagnose {

namespace {

std::string withPlace(const EvidenceLine& line)
{
    return line.source.empty() ? line.text : fmt::format("{} ({})", line.text, line.source);
}

struct LossCounts
{
    std::int64_t bad = 0;
    std::int64_t all = 0;
    std::int64_t missing = 0;
};

LossCounts lossCounts(const RunData& run, const SourceFilter& isLookedAt)
{
    LossCounts counts;
    for (const auto& series : run.series) {
        if (series.name == "loss" && isLookedAt(series.source)) {
            counts.bad += series.nan + series.posInf + series.negInf;
            counts.all += series.pointCount;
            counts.missing += series.missing;
        }
    }
    return counts;
}

/// "the first of 2 of 5 logged losses that are not finite"
std::string amongText(std::int64_t bad, std::int64_t all, std::string_view one, std::string_view several)
{
    const auto of = fmt::format("{} {}", countText(all), all == 1 ? one : several);
    if (all == 1) {
        return "the only one that is logged";
    }
    return bad == 1 ? fmt::format("the only one of {} that is not finite", of)
                    : fmt::format("the first of {} of {} that are not finite", countText(bad), of);
}

/// Updates that a guard left out, as far as lines tell: Python shows the same warning once.
struct GuardLines
{
    const Event* first = nullptr;
    std::int64_t lines = 0; ///< of the rank that has most of them: every rank says the same of one update
    bool warnings = false;
};

GuardLines guardLines(const std::vector<const Event*>& events, const SourceFilter& isLookedAt)
{
    GuardLines found;
    std::map<std::optional<int>, std::int64_t> ofRanks;
    for (const auto* event : events) {
        if (event->kind == EventKind::skippedStep && event->says(Phrase::updateLeftOut) && isLookedAt(event->source)
            && !event->says(Phrase::lossScale) && !event->says(Phrase::namesPrinter)) {
            found.first = found.first == nullptr ? event : found.first;
            found.lines = std::max(found.lines, ofRanks[event->rank] += event->copies);
            found.warnings = found.warnings || event->says(Phrase::pythonWarning);
        }
    }
    return found;
}

/// " between the lines of steps 5 and 6"; empty where no loss stands on either side in the same log.
std::string betweenText(const RunData& run, const Event& event)
{
    const Point* before = nullptr;
    const Point* after = nullptr;
    for (const auto& series : run.series) {
        if (series.name != "loss" || series.source != event.source || series.stepInferred) {
            continue;
        }
        for (const auto& point : series.points) {
            const bool nearerBefore = point.line < event.line && (before == nullptr || point.line > before->line);
            const bool nearerAfter = point.line > event.line && (after == nullptr || point.line < after->line);
            before = nearerBefore ? &point : before;
            after = nearerAfter ? &point : after;
        }
    }
    return before != nullptr && after != nullptr && before->step < after->step
        ? fmt::format(" between the lines of steps {} and {}", before->step, after->step)
        : std::string();
}

/// What stories of several logs have in common.
struct StoryFacts
{
    explicit StoryFacts(const RunData& run)
        : run(run)
        , detector(run)
        , events(eventsOnce(run))
        , metrics(run)
    { }

    const RunData& run;
    DetectorSteps detector;
    std::vector<const Event*> events;
    MetricLines metrics;
};

/// One story of the logs that are looked at. `failed` is the process among them that went bad, null where none did.
class Story
{
public:
    Story(const StoryFacts& facts, const TrainingProcess* failed, SourceFilter isLookedAt)
        : m_facts(facts)
        , m_run(facts.run)
        , m_failed(failed)
        , m_isLookedAt(std::move(isLookedAt))
        , m_end(logEndOf(facts.run, facts.events, facts.metrics, m_isLookedAt))
    { }

    std::string text() const;
    /// Something of it is not finite, was left out, or ended it.
    bool isEventful() const;

private:
    std::string lossText() const;
    std::string failedText() const;
    std::string badLosses(const LossCounts& counts) const;
    std::string reported() const;
    std::string quiet(const LossCounts& counts) const;
    std::string guardText() const;
    std::string earlier(const Sign& sign) const;
    std::string lossBehind(const Sign& sign) const;
    std::string signText(const Sign& sign) const;

    const StoryFacts& m_facts;
    const RunData& m_run;
    const TrainingProcess* m_failed;
    SourceFilter m_isLookedAt;
    std::optional<LogEnd> m_end;
};

std::string Story::text() const
{
    std::vector<std::string> clauses {lossText()};
    if (auto guard = guardText(); !guard.empty()) {
        // Where nothing else happened the guard is the main thing.
        clauses.insert(m_failed == nullptr ? clauses.begin() : clauses.end(), std::move(guard));
    }
    if (m_end) {
        clauses.push_back(textOf(*m_end, m_run));
    }
    return fmt::format("{}", fmt::join(clauses, "; "));
}

bool Story::isEventful() const
{
    return m_failed != nullptr || m_end || lossCounts(m_run, m_isLookedAt).bad > 0 || !reported().empty()
        || !guardText().empty();
}

std::string Story::lossText() const
{
    if (m_failed != nullptr) {
        return failedText();
    }
    const auto counts = lossCounts(m_run, m_isLookedAt);
    if (counts.bad > 0) {
        return badLosses(counts);
    }
    const auto text = reported();
    return text.empty() ? quiet(counts) : text;
}

/// A value of another series that was not finite in an earlier step of the same process.
std::string Story::earlier(const Sign& sign) const
{
    const auto first = firstNonFinite(m_run, m_isLookedAt);
    const bool before = first && sign.step && first->point->step < *sign.step && !first->series->stepInferred
        && m_failed->wrote(first->series->source, first->point->line);
    return before && first->series->name != "loss" ? textOf(*first) : std::string();
}

/// The loss that went bad behind a gradient norm that did; empty where the sign is the loss itself.
std::string Story::lossBehind(const Sign& sign) const
{
    std::optional<NonFiniteValue> first;
    for (const auto& series : m_run.series) {
        for (const auto& point : series.points) {
            const bool behind = series.name == "loss" && sign.step && point.step >= *sign.step
                && isNonFinite(point.state) && m_failed->wrote(series.source, point.line);
            if (behind && (!first || point.step < first->point->step)) {
                first = NonFiniteValue {&series, &point};
            }
        }
    }
    return first && first->point->step > *sign.step ? textOf(*first) : std::string();
}

std::string Story::signText(const Sign& sign) const
{
    const auto before = earlier(sign);
    const auto loss = lossBehind(sign);
    const auto text = withPlace(sign.line);
    return before.empty() && loss.empty() ? text
        : before.empty()                  ? fmt::format("{}, then {}", text, loss)
                                          : fmt::format("{}, then {}", before, loss.empty() ? text : loss);
}

std::string Story::failedText() const
{
    if (m_failed->poisonedFrom) {
        return signText(*m_failed->poisonedFrom) + ", and no number after it";
    }
    if (m_failed->tornFrom) {
        return "a step was broken off by an exception";
    }
    // Where no loss is bad, the gradient norm of the last line is, and those before it tell more.
    const auto counts = lossCounts(m_run, m_isLookedAt);
    const auto& sign = *m_failed->doubtFrom;
    return counts.bad > 0 || earlier(sign).empty() ? signText(sign) + ", where the log ends" : quiet(counts);
}

std::string Story::badLosses(const LossCounts& counts) const
{
    const auto first = firstNonFiniteLoss(m_run, m_isLookedAt);
    const auto text = first
        ? fmt::format("{}, {}", textOf(*first), amongText(counts.bad, counts.all, "logged loss", "logged losses"))
        : fmt::format("{} of {} not finite", countText(counts.bad),
            counts.all == 1 ? "1 logged loss is" : countText(counts.all) + " logged losses are");
    return m_end ? text : text + ", and the run went on";
}

/// " at step 38 (attempt 37, train.log:39)": a detector counts attempts, and the log its steps.
std::string stepAndPlace(const Event& event, const DetectorSteps& steps)
{
    const auto site = event.facts.site.empty() ? std::string() : " in " + event.facts.site;
    if (!event.step) {
        return fmt::format("{} ({})", site, event.place());
    }
    const auto step = steps.printed(event);
    const auto attempt = step == *event.step ? std::string() : fmt::format("attempt {}, ", *event.step);
    return fmt::format(" at step {}{} ({}{})", step, site, attempt, event.place());
}

/// Lines of trainers and checkers that say that something is not finite.
struct Reports
{
    const Event* first = nullptr;
    const Event* last = nullptr;
    std::int64_t lines = 0;
    bool leftOut = true; ///< every one of them says that its update was
};

Reports reportsIn(const std::vector<const Event*>& events, const SourceFilter& isLookedAt)
{
    Reports found;
    for (const auto* event : events) {
        if (event->kind == EventKind::nanLoss && isLookedAt(event->source)) {
            found.first = found.first == nullptr ? event : found.first;
            found.last = event;
            found.lines += event->copies;
            found.leftOut = found.leftOut && event->says(Phrase::updateLeftOut);
        }
    }
    return found;
}

/// What trainers and checkers say where no loss shows it.
std::string Story::reported() const
{
    const auto said = reportsIn(m_facts.events, m_isLookedAt);
    // An exception that says so is how the run ended.
    if (said.first == nullptr || (m_end && m_end->event == said.first && said.first == said.last)) {
        return {};
    }
    const auto more = said.lines > 1 ? fmt::format(", the first of {}", counted(said.lines, "such line")) : "";
    const bool wentOn = !m_end && m_facts.metrics.goOnPast(*said.last);
    const auto* then = said.leftOut
        ? (said.lines > 1 ? ", and their updates were skipped" : ", and its update was skipped")
        : wentOn ? ", and the run went on"
                 : "";
    return fmt::format(
        "a value that is not finite is reported{}{}{}", stepAndPlace(*said.first, m_facts.detector), more, then);
}

std::string quietText(const LossCounts& counts)
{
    if (counts.all == 0) {
        return counts.missing == 0 ? std::string("no loss in the logs")
                                   : fmt::format("{} logged without a loss", counted(counts.missing, "step"));
    }
    return counts.missing == 0
        ? std::string("every logged loss is finite")
        : fmt::format("every logged loss is finite, {} logged without one", counted(counts.missing, "step"));
}

std::string Story::quiet(const LossCounts& counts) const
{
    auto text = quietText(counts);
    if (const auto first = firstNonFinite(m_run, m_isLookedAt)) {
        text += fmt::format("; {}, {}", textOf(*first), amongText(first->count, first->total, "value", "values"));
    }
    return text;
}

std::string Story::guardText() const
{
    const auto lines = guardLines(m_facts.events, m_isLookedAt);
    if (lines.first == nullptr) {
        return {};
    }
    const auto count = lines.warnings || lines.lines > 1 ? fmt::format("at least {}", counted(lines.lines, "update"))
                                                         : std::string("1 update");
    return fmt::format("a guard skipped {}{}{} ({})", count, lines.lines > 1 ? ", the first" : "",
        betweenText(m_run, *lines.first), lines.first->place());
}

std::set<std::string> sourcesOf(const TrainingProcess& life)
{
    std::set<std::string> sources;
    for (const auto& source : life.sources) {
        sources.insert(source.file);
    }
    return sources;
}

/// The processes of one run: of one log, or of logs that differ in numbers only, as those of its attempts do.
struct LogGroup
{
    std::string file;
    std::vector<const TrainingProcess*> processes; ///< none where most steps were logged without a loss
    std::set<std::string> sources;

    bool takes(std::string_view other) const { return sameButForNumbers(file, other); }
    /// The last one tells how its run ended.
    const TrainingProcess* failed() const
    {
        return !processes.empty() && processes.back()->inTrouble() ? processes.back() : nullptr;
    }
};

LogGroup& groupOf(std::vector<LogGroup>& groups, const std::string& file)
{
    const auto known = std::ranges::find_if(groups, [&](const LogGroup& one) { return one.takes(file); });
    return known != groups.end() ? *known : groups.emplace_back(LogGroup {file, {}, {}});
}

/// Logs of which no process is known, since more steps have no loss than have one.
std::set<std::string> logsOfMissingLosses(const RunData& run)
{
    std::map<std::string, std::int64_t> missing;
    for (const auto& series : run.series) {
        if (series.name == "loss") {
            missing[series.source] += series.missing - series.pointCount;
        }
    }
    std::set<std::string> sources;
    for (const auto& [source, more] : missing) {
        if (more > 0) {
            sources.insert(source);
        }
    }
    return sources;
}

std::vector<LogGroup> groupsOf(const RunData& run, const FailureTimeline& timeline)
{
    std::vector<LogGroup> groups;
    for (const auto& life : timeline.processes) {
        if (!life.sources.empty()) {
            auto& group = groupOf(groups, life.file());
            group.processes.push_back(&life);
            group.sources.merge(sourcesOf(life));
        }
    }
    for (const auto& source : logsOfMissingLosses(run)) {
        groupOf(groups, source).sources.insert(source);
    }
    return groups;
}

std::string dumpsText(const RunData& run)
{
    const auto dumps = missingDumpsOf(run);
    return dumps.none() ? std::string() : fmt::format("; {} ({})", textOf(dumps), dumps.missing.front()->place());
}

std::set<std::string> logsWithLoss(const RunData& run)
{
    std::set<std::string> sources;
    for (const auto& series : run.series) {
        if (series.name == "loss") {
            sources.insert(series.source);
        }
    }
    return sources;
}

SourceFilter logsOf(const LogGroup& group)
{
    return [&group](std::string_view source) { return group.sources.contains(std::string(source)); };
}

/// The logs whose stories the headline leaves to their rows: where they may be of several runs, all but those of the
/// one that failed, or of the first in which something happened. Logs without a loss belong to it, whichever it is.
std::set<std::string> logsOfOthers(
    const std::vector<LogGroup>& groups, const FailureTimeline& timeline, const StoryFacts& facts)
{
    if (groups.size() < 2) {
        return {};
    }
    const bool failed = !timeline.none() && !timeline.failed->sources.empty();
    const auto group = std::ranges::find_if(groups, [&](const LogGroup& one) {
        return failed ? one.takes(timeline.failed->file()) : Story(facts, nullptr, logsOf(one)).isEventful();
    });
    auto others = group == groups.end() ? std::set<std::string>() : logsWithLoss(facts.run);
    std::erase_if(others, [&](const std::string& source) { return group->sources.contains(source); });
    return others;
}

} // namespace

std::string failureText(const RunData& run, const FailureTimeline& timeline)
{
    const auto groups = groupsOf(run, timeline);
    const StoryFacts facts(run);
    const auto others = logsOfOthers(groups, timeline, facts);
    const SourceFilter isLookedAt = [&others](
                                        std::string_view source) { return !others.contains(std::string(source)); };
    const auto more = std::ssize(groups) - 1;
    const auto rows = others.empty() ? std::string()
        : more == 1                  ? std::string("; 1 other log has a row of its own")
                                     : fmt::format("; {} other logs have a row each", more);
    const auto unread = textOf(unreadDumpsOf(run));
    return (unread.empty() ? unread : unread + "; ") + Story(facts, timeline.failed, isLookedAt).text() + dumpsText(run)
        + rows;
}

std::vector<EvidenceLine> logStories(const RunData& run, const FailureTimeline& timeline)
{
    constexpr std::size_t most = 200;
    const auto groups = groupsOf(run, timeline);
    std::vector<EvidenceLine> rows;
    if (groups.size() < 2) {
        return rows;
    }
    const StoryFacts facts(run);
    for (const auto& group : groups) {
        if (rows.size() == most) {
            break;
        }
        rows.push_back({Story(facts, group.failed(), logsOf(group)).text(),
            group.processes.empty() ? group.file : group.processes.back()->file()});
    }
    return rows;
}

} // namespace nanscope::diagnose
