// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/workflow/runnews.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/recovery/firstnonfinite.h"
#include "core/diagnose/recovery/trace.h"
#include "core/ingest/log/logsource.h"

namespace nanscope::workflow {

namespace {

std::string keyOf(const Series& series)
{
    return fmt::format("{} {} {}", series.rank.value_or(-1), series.segment, series.name);
}

/// Two calls hardly have inputs that all counts and sums are equal of.
std::size_t inputOf(const Capture& capture)
{
    auto text = fmt::format("{} {}", shapeText(capture.input.shape), shortName(capture.input.dtype));
    for (const auto& scan : capture.input.batches) {
        text += fmt::format("; {} {} {} {} {} {} {}", scan.count, scan.nan, scan.posInf, scan.negInf, scan.zero,
            scan.absmax, scan.sumSquares);
    }
    return std::hash<std::string>()(text);
}

/// One line, whichever of the logs holds it.
std::size_t wordsOf(const Event& event)
{
    const auto place = event.step ? *event.step : event.line;
    return std::hash<std::string>()(fmt::format("{}\n{}\n{} {} {}", event.text, event.detail, place,
        event.rank.value_or(-1), ingest::placeOf(event.source).attempt));
}

NonFiniteNews newsOf(const Series& series, const Point& point)
{
    NonFiniteNews news;
    news.series = series.name;
    news.state = point.state;
    news.rank = series.rank;
    news.step = point.step;
    news.stepInferred = series.stepInferred;
    news.source = series.source;
    news.line = point.line;
    return news;
}

NonFiniteNews newsOf(const Event& event)
{
    NonFiniteNews news;
    news.text = event.text;
    news.rank = event.rank;
    news.step = event.step;
    news.source = event.source;
    news.line = event.line;
    return news;
}

/// Where every rank logs its own loss, one NaN that reaches all of them is one thing that happened.
bool joins(NonFiniteNews& known, const NonFiniteNews& other)
{
    const bool same = !known.series.empty() && known.series == other.series && known.step == other.step
        && known.stepInferred == other.stepInferred && known.rank && other.rank && known.rank != other.rank;
    if (!same) {
        return false;
    }
    auto& ranks = known.otherRanks;
    if (std::ranges::find(ranks, *other.rank) == ranks.end()) {
        ranks.push_back(*other.rank);
    }
    return true;
}

void add(std::vector<NonFiniteNews>& all, NonFiniteNews news)
{
    if (std::ranges::none_of(all, [&](NonFiniteNews& known) { return joins(known, news); })) {
        all.push_back(std::move(news));
    }
}

std::string placeText(const NonFiniteNews& news)
{
    std::string text;
    if (news.step) {
        text += fmt::format(" at {} {}", news.stepInferred ? "row" : "step", *news.step);
    }
    if (news.rank) {
        text += fmt::format(" on rank {}", *news.rank);
    }
    if (!news.otherRanks.empty()) {
        text += fmt::format(" and {}", counted(std::ssize(news.otherRanks), "other rank"));
    }
    return text;
}

} // namespace

std::string textOf(const NonFiniteNews& news)
{
    constexpr std::size_t mostOfALine = 200;
    const auto what = news.series.empty()
        ? fmt::format("not finite, says the log{}", placeText(news))
        : fmt::format("{} is {}{}", news.series, diagnose::wordOf(news.state), placeText(news));
    const auto words = news.text.empty() ? std::string() : ": " + clipped(news.text, mostOfALine);
    return fmt::format("{} ({}:{}){}", what, news.source, news.line, words);
}

RunNews::Found RunNews::look(const RunData& run, const PointsOf& pointsOf)
{
    Found found;
    forgetReplaced(run);
    lookAtCaptures(run, found);
    for (const auto& series : run.series) {
        lookAtSeries(series, pointsOf, found);
    }
    lookAtWords(run, found);
    return found;
}

void RunNews::forgetReplaced(const RunData& run)
{
    for (const auto& log : run.replaced) {
        if (m_replaced.insert(log.source).second) {
            m_series.erase(log.path);
            m_words.erase(log.path);
            m_values.forget(log.path);
            std::erase_if(m_said, [&](const auto& said) { return said.second == log.path; });
        }
    }
}

void RunNews::lookAtCaptures(const RunData& run, Found& found)
{
    for (const auto& capture : run.captures) {
        Said said {capture.variant, capture.step, capture.nothingElse, capture.scene};
        const auto [known, isNew] = m_captures.try_emplace(capture.identity, said);
        if (isNew) {
            takeCapture(capture, found);
        } else if (known->second != said) {
            known->second = std::move(said);
            found.saidMore = true;
        }
    }
}

void RunNews::takeCapture(const Capture& capture, Found& found)
{
    auto& held = m_files[capture.path];
    Held now {capture.identity, inputOf(capture)};
    const bool sameFile = !capture.path.empty() && !capture.overwritten && !held.identity.empty();
    if (!sameFile || held.input != now.input) {
        found.dumps.push_back(&capture);
    } else {
        found.rewritten.push_back({held.identity, &capture});
    }
    held = std::move(now);
}

void RunNews::lookAtSeries(const Series& series, const PointsOf& pointsOf, Found& found)
{
    const auto bad = series.nan + series.posInf + series.negInf;
    if (bad == 0) {
        return;
    }
    auto& seen = m_series[series.source][keyOf(series)];
    // A log does not shrink: this is another one under its name.
    if (std::exchange(seen.points, series.pointCount) > series.pointCount) {
        seen = {0, series.pointCount, false};
    }
    if (seen.told || std::exchange(seen.bad, bad) == bad) {
        return;
    }
    Series whole = series;
    if (whole.points.empty()) {
        auto points = pointsOf(series);
        if (!points) {
            seen.bad = 0; // asked again at the next look
            return;
        }
        whole.points = std::move(*points);
    }
    if (const auto* first = diagnose::firstNonFiniteOf(whole)) {
        seen.told = true;
        if (m_values.takeNew(whole, *first)) {
            add(found.nonFinite, newsOf(series, *first));
        }
    }
}

/// Of a trainer that warns in words. Where its metrics say so themselves, they have been told.
void RunNews::lookAtWords(const RunData& run, Found& found)
{
    std::vector<const Event*> words;
    for (const auto& event : run.events) {
        if (event.kind == EventKind::nanLoss) {
            words.push_back(&event);
        }
    }
    // What a log with metrics says as well was told with them.
    // Not that of ranges: clang 14 does not take libstdc++'s subrange.
    std::stable_partition(words.begin(), words.end(), [this](const Event* event) { return hasTold(event->source); });
    for (const auto* event : words) {
        const bool isNew = m_said.try_emplace(wordsOf(*event), event->source).second;
        if (m_words.insert(event->source).second && isNew && !hasTold(event->source)) {
            add(found.nonFinite, newsOf(*event));
        }
    }
}

bool RunNews::hasTold(const std::string& source) const
{
    const auto series = m_series.find(source);
    return series != m_series.end()
        && std::ranges::any_of(series->second, [](const auto& entry) { return entry.second.told; });
}

} // namespace nanscope::workflow
