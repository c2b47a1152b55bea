// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/timelineseries.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <QCoreApplication>

#include "core/model/verdict.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

struct SeriesWords
{
    Q_DECLARE_TR_FUNCTIONS(Timeline)
};

constexpr std::array<std::string_view, 7> canonical {
    "loss", "grad_norm", "val_loss", "lr", "loss_scale", "tokens_per_second", "step_time_s"};

using SeriesParts = std::vector<std::size_t>;

bool isEmpty(const Series& series)
{
    return series.pointCount == 0 && series.missing == 0 && series.points.empty();
}

std::int64_t sizeOf(const RunData& run, const SeriesParts& parts)
{
    std::int64_t size = 0;
    for (const std::size_t part : parts) {
        const Series& series = run.series[part];
        size += series.pointCount > 0 ? series.pointCount : static_cast<std::int64_t>(series.points.size());
    }
    return size;
}

bool holdsNonFinite(const Series& series)
{
    const auto isNonFinite = [](const Point& point) {
        return point.state == PointState::nan || point.state == PointState::posInf || point.state == PointState::negInf;
    };
    return series.nan + series.posInf + series.negInf > 0 || std::ranges::any_of(series.points, isNonFinite);
}

/// Where something failed. Other series hold NaN where nothing was measured.
std::set<std::string_view> failedSources(const RunData& run)
{
    std::set<std::string_view> sources;
    for (const Series& series : run.series) {
        const bool tells = series.name == "loss" || series.name == "grad_norm";
        if (tells && holdsNonFinite(series)) {
            sources.insert(series.source);
        }
    }
    return sources;
}

Interval stepsOf(const Series& series)
{
    if (!series.points.empty()) {
        return {static_cast<double>(series.points.front().step), static_cast<double>(series.points.back().step)};
    }
    return {static_cast<double>(series.firstStep), static_cast<double>(series.lastStep)};
}

/// Segments in the order of the log, each behind the first strand that ends before it begins.
std::vector<SeriesParts> strandsOf(const RunData& run, SeriesParts parts)
{
    std::ranges::stable_sort(parts, {}, [&](std::size_t part) { return run.series[part].segment; });
    std::vector<SeriesParts> strands;
    for (const std::size_t part : parts) {
        const auto free = std::ranges::find_if(strands, [&](const SeriesParts& strand) {
            return stepsOf(run.series[strand.back()]).high < stepsOf(run.series[part]).low;
        });
        if (free != strands.end()) {
            free->push_back(part);
        } else {
            strands.push_back({part});
        }
    }
    return strands;
}

using Origins = std::map<LineOrigin, SeriesParts>;

Origins originsOf(const RunData& run, std::string_view name)
{
    Origins origins;
    for (std::size_t i = 0; i < run.series.size(); ++i) {
        const Series& series = run.series[i];
        if (series.name == name && !isEmpty(series)) {
            origins[{series.rank, series.source}].push_back(i);
        }
    }
    return origins;
}

/// What is drawn of one origin, and what is not beside it.
struct Drawn
{
    LineOrigin origin;
    SeriesParts parts;
    bool namesLog = false; ///< the rank alone would name several lines
    std::size_t otherLogs = 0;
    std::size_t otherRanks = 0;
};

std::vector<Drawn> everyOne(const Origins& origins)
{
    std::map<std::optional<int>, int> logs;
    for (const auto& [origin, parts] : origins) {
        ++logs[origin.rank];
    }
    std::vector<Drawn> drawn;
    for (const auto& [origin, parts] : origins) {
        drawn.push_back({origin, parts, logs[origin.rank] > 1});
    }
    return drawn;
}

Drawn onlyOne(const Origins::value_type& one, const Origins& origins)
{
    std::set<std::string_view> logs;
    std::set<std::optional<int>> ranks;
    for (const auto& [origin, parts] : origins) {
        logs.insert(origin.source);
        ranks.insert(origin.rank);
    }
    return {one.first, one.second, false, logs.size() - 1, logs.size() > 1 ? 0 : ranks.size() - 1};
}

std::vector<Drawn> usual(const RunData& run, const Origins& origins)
{
    std::map<std::optional<int>, std::vector<const Origins::value_type*>> byRank;
    for (const auto& origin : origins) {
        byRank[origin.first.rank].push_back(&origin);
    }
    // A log without ranks repeats what the ranks' own logs say; several are logs of their own.
    std::size_t leftOut = 0;
    if (byRank.size() > 1 && byRank.contains(std::nullopt)) {
        leftOut = byRank[std::nullopt].size() > 1 ? byRank[std::nullopt].size() : 0;
        byRank.erase(std::nullopt);
    }
    const auto failed = failedSources(run);
    std::vector<Drawn> drawn;
    for (const auto& [rank, logs] : byRank) {
        const auto* most = *std::ranges::max_element(logs, {},
            [&](const auto* log) { return std::pair(failed.contains(log->first.source), sizeOf(run, log->second)); });
        drawn.push_back({most->first, most->second, false, logs.size() - 1 + std::exchange(leftOut, 0)});
    }
    return drawn;
}

std::vector<Drawn> chosenOf(const RunData& run, const Origins& origins, const LineChoice& choice)
{
    if (choice.which == LineChoice::Which::all) {
        return everyOne(origins);
    }
    const bool own = choice.which == LineChoice::Which::one && choice.run == run.root;
    const auto one = own ? origins.find(choice.one) : origins.end();
    return one == origins.end() ? usual(run, origins) : std::vector {onlyOne(*one, origins)};
}

void appendLines(std::vector<TimelineLine>& lines, const RunData& run, const Drawn& drawn, const QString& label)
{
    const int style = lines.empty() ? 0 : lines.back().style + 1;
    int number = 0;
    for (SeriesParts& strand : strandsOf(run, drawn.parts)) {
        TimelineLine line;
        line.label = ++number == 1 ? label : SeriesWords::tr("%1, restart %2").arg(label, QString::number(number - 1));
        line.rank = drawn.origin.rank;
        line.source = qstr(drawn.origin.source);
        line.style = style;
        line.parts = std::move(strand);
        line.otherLogs = drawn.otherLogs;
        line.otherRanks = drawn.otherRanks;
        lines.push_back(std::move(line));
    }
}

TimelineEvent::Kind kindOf(Role role)
{
    return role == Role::birth || role == Role::upstream ? TimelineEvent::Kind::birth : TimelineEvent::Kind::capture;
}

const Event* dumpEventOf(const RunData& run, const std::string& capture)
{
    const auto event = std::ranges::find_if(
        run.events, [&](const Event& e) { return e.kind == EventKind::captureDumped && e.capture == capture; });
    return event == run.events.end() ? nullptr : &*event;
}

TimelineEvent judgedEvent(const RunData& run, const CaptureVerdict& verdict)
{
    TimelineEvent event;
    event.position = 0.5 * static_cast<double>(verdict.step->first + verdict.step->second);
    event.kind = kindOf(verdict.role);
    event.text = QStringLiteral("%1, %2").arg(roleWord(verdict.role), stepSentence(verdict));
    event.capture = exactText(verdict.capture);
    if (const Event* line = dumpEventOf(run, verdict.capture)) {
        event.source = qstr(line->source);
        event.line = line->line;
    }
    return event;
}

/// What a log said of a dump that is there is told by its capture, and what is wrong with a file is nothing of the run.
bool isToBePlaced(const Event& event, const std::set<std::string_view>& captures)
{
    const bool toldElsewhere = event.kind == EventKind::captureDumped && captures.contains(event.capture);
    return !event.step && event.line > 0 && event.kind != EventKind::damaged && !toldElsewhere;
}

/// The series that most lines of a log give, which is that of its loss where it has one.
SeriesParts partsOfLog(const RunData& run, const std::string& source)
{
    std::string name;
    std::int64_t most = 0;
    for (const Series& series : run.series) {
        const std::int64_t size = std::max(series.pointCount, static_cast<std::int64_t>(series.points.size()));
        if (series.source == source && name != "loss" && (series.name == "loss" || size > most)) {
            name = series.name;
            most = size;
        }
    }
    SeriesParts parts;
    for (std::size_t i = 0; i < run.series.size(); ++i) {
        if (run.series[i].source == source && run.series[i].name == name) {
            parts.push_back(i);
        }
    }
    return parts;
}

/// "behind the log line of step 5".
QString placeAmongSteps(const LineSteps& steps)
{
    if (steps.before && steps.after && *steps.before < *steps.after) {
        return SeriesWords::tr("between the log lines of steps %1 and %2").arg(*steps.before).arg(*steps.after);
    }
    return steps.before ? SeriesWords::tr("behind the log line of step %1").arg(*steps.before)
                        : SeriesWords::tr("before the log line of step %1").arg(*steps.after);
}

} // namespace

std::vector<std::string> seriesNames(const RunData& run, bool inMemory)
{
    std::vector<std::string> names;
    for (const Series& series : run.series) {
        const bool shown = inMemory ? !series.points.empty() : !isEmpty(series);
        if (shown && std::ranges::find(names, series.name) == names.end()) {
            names.push_back(series.name);
        }
    }
    std::ranges::stable_sort(names, {}, [](const std::string& name) { return std::ranges::find(canonical, name); });
    return names;
}

QString seriesTitle(std::string_view name)
{
    const std::pair<std::string_view, QString> titles[] = {{"loss", SeriesWords::tr("Loss")},
        {"grad_norm", SeriesWords::tr("Gradient norm")}, {"val_loss", SeriesWords::tr("Validation loss")},
        {"lr", SeriesWords::tr("Learning rate")}, {"loss_scale", SeriesWords::tr("Loss scale")},
        {"tokens_per_second", SeriesWords::tr("Tokens per second")}, {"step_time_s", SeriesWords::tr("Step time (s)")}};
    const auto own = std::ranges::find(titles, name, &std::pair<std::string_view, QString>::first);
    return own == std::end(titles) ? qstr(name) : own->second;
}

std::vector<LineOrigin> lineOriginsOf(const RunData& run, const std::vector<std::string>& names)
{
    std::set<LineOrigin> origins;
    for (const std::string& name : names) {
        for (const auto& [origin, parts] : originsOf(run, name)) {
            origins.insert(origin);
        }
    }
    return {origins.begin(), origins.end()};
}

QString originLabel(const LineOrigin& origin, bool namesLog, const std::vector<QString>& rankNames)
{
    QString source = qstr(origin.source);
    if (!origin.rank) {
        return source;
    }
    const auto rank = static_cast<std::size_t>(*origin.rank);
    const QString name = rank < rankNames.size() ? rankNames[rank] : SeriesWords::tr("rank %1").arg(*origin.rank);
    return namesLog ? QStringLiteral("%1 · %2").arg(name, source) : name;
}

std::vector<TimelineLine> linesOf(
    const RunData& run, std::string_view name, const LineChoice& choice, const std::vector<QString>& rankNames)
{
    std::vector<TimelineLine> lines;
    for (const Drawn& drawn : chosenOf(run, originsOf(run, name), choice)) {
        appendLines(lines, run, drawn, originLabel(drawn.origin, drawn.namesLog, rankNames));
    }
    return lines;
}

std::vector<TimelineEvent> eventsOf(const RunData& run, const Diagnosis* diagnosis)
{
    std::vector<TimelineEvent> events;
    if (diagnosis) {
        for (const CaptureVerdict& verdict : diagnosis->captures) {
            if (verdict.step) {
                events.push_back(judgedEvent(run, verdict));
            }
        }
    }
    for (const Event& event : run.events) {
        if (event.step && (event.kind != EventKind::captureDumped || !diagnosis)) {
            events.push_back({static_cast<double>(*event.step), TimelineEvent::Kind::other, qstr(event.text),
                qstr(event.source), event.line, exactText(event.capture)});
        }
    }
    return events;
}

std::vector<SteplessEvents> steplessEvents(const RunData& run)
{
    std::set<std::string_view> captures;
    for (const Capture& capture : run.captures) {
        captures.insert(capture.file);
    }
    std::map<std::string, std::vector<const Event*>> byLog;
    for (const Event& event : run.events) {
        if (isToBePlaced(event, captures)) {
            byLog[event.source].push_back(&event);
        }
    }
    std::vector<SteplessEvents> logs;
    for (auto& [source, events] : byLog) {
        std::ranges::stable_sort(events, {}, &Event::line);
        logs.push_back({std::move(events), partsOfLog(run, source)});
    }
    return logs;
}

std::optional<TimelineEvent> placedEvent(const Event& event, const LineSteps& steps)
{
    if (!steps.before && !steps.after) {
        return std::nullopt;
    }
    const auto before = static_cast<double>(steps.before.value_or(steps.after.value_or(0)));
    const auto after = static_cast<double>(steps.after.value_or(steps.before.value_or(0)));
    // Behind a restart the next step is an earlier one.
    const double position = before < after ? 0.5 * (before + after) : before;
    const QString text = QStringLiteral("%1, %2").arg(qstr(event.text), placeAmongSteps(steps));
    return TimelineEvent {
        position, TimelineEvent::Kind::other, text, qstr(event.source), event.line, exactText(event.capture)};
}

QString unplacedNote(const std::vector<const Event*>& events)
{
    std::int64_t count = 0;
    const Event* first = nullptr;
    for (const Event* event : events) {
        if (event->kind == EventKind::skippedStep) {
            first = first ? first : event;
            count += event->copies;
        }
    }
    if (!first) {
        return {};
    }
    const QString place = QStringLiteral("%1:%2").arg(qstr(first->source), QString::number(first->line));
    return count == 1
        ? SeriesWords::tr("1 skipped update without a step, at %1").arg(place)
        : SeriesWords::tr("%1 skipped updates without a step, the first at %2").arg(countLabel(count), place);
}

} // namespace nanscope
