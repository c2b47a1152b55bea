// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runcomparison/runcomparer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/try.h"
#include "ui/jobs/readrun.h"
#include "ui/shared/text.h"
#include "ui/timeline/timelineseries.h"

namespace nanscope {

namespace {

Series seriesOf(const diagnose::Trace& trace, int rank, std::int64_t shift)
{
    Series series;
    series.name = trace.name;
    series.rank = rank;
    series.source = trace.source;
    series.points = trace.points;
    for (Point& point : series.points) {
        point.step -= shift;
        (point.state == PointState::reported ? series.missing : series.pointCount) += 1;
    }
    if (!series.points.empty()) {
        series.firstStep = series.points.front().step;
        series.lastStep = series.points.back().step;
    }
    return series;
}

/// Without the digits that come of subtracting two numbers of binary fractions.
double differenceOf(double a, double b)
{
    const double largest = std::max(std::abs(a), std::abs(b));
    const int decimals = largest > 0 ? std::clamp(14 - static_cast<int>(std::floor(std::log10(largest))), 0, 300) : 0;
    const auto text = fmt::format("{:.{}f}", std::abs(a - b), decimals);
    double rounded = std::abs(a - b);
    std::from_chars(text.data(), text.data() + text.size(), rounded);
    return rounded > 0 ? rounded : std::abs(a - b);
}

/// At the steps where both are numbers; on a logarithmic axis a straight line is an exponential.
Series differenceOf(const diagnose::SeriesComparison& one, const ComparedRuns& runs)
{
    Series series;
    series.name = differenceName(one.name);
    series.source = "|" + runs.nameA + " − " + runs.nameB + "|";
    auto other = one.b.points.begin();
    for (const Point& point : one.a.points) {
        const std::int64_t step = point.step + runs.shift;
        other = std::find_if(other, one.b.points.end(), [&](const Point& later) { return later.step >= step; });
        const bool both = other != one.b.points.end() && other->step == step;
        if (both && point.state == PointState::finite && other->state == PointState::finite) {
            series.points.push_back({point.step, differenceOf(point.value, other->value), PointState::finite, 0});
        }
    }
    if (!series.points.empty()) {
        series.pointCount = std::ssize(series.points);
        series.firstStep = series.points.front().step;
        series.lastStep = series.points.back().step;
    }
    return series;
}

/// With the folder around it, which tells two runs of one name apart.
std::string longName(const RunData& run)
{
    const std::filesystem::path root(run.root);
    return (root.parent_path().filename() / root.filename()).string();
}

/// Of several ranks the first stands for its run.
std::set<std::string> drawRuns(ComparedRuns& runs)
{
    std::set<std::string> drawn;
    for (const diagnose::SeriesComparison& one : runs.comparison.series) {
        if (drawn.insert(one.name).second) {
            runs.both.series.push_back(seriesOf(one.a, 0, 0));
            runs.both.series.push_back(seriesOf(one.b, 1, runs.shift));
            if (one.differing > 0) {
                runs.both.series.push_back(differenceOf(one, runs));
            }
        }
    }
    return drawn;
}

/// Which of the runs a series is drawn for.
struct Side
{
    const RunData& run;
    const std::string& name;
    int line;
    std::int64_t shift;
};

bool standsForRun(const diagnose::LoneSeries& bad, const ComparedRuns& runs, int line)
{
    const auto first = std::ranges::find(runs.comparison.series, bad.name, &diagnose::SeriesComparison::name);
    return first != runs.comparison.series.end() && (!bad.rank || (line == 0 ? first->a : first->b).rank == bad.rank);
}

/// What goes bad first is to be seen, whether or not the other run has it.
void drawBad(ComparedRuns& runs, std::set<std::string> names, const std::optional<diagnose::LoneSeries>& bad, Side side)
{
    if (!bad || standsForRun(*bad, runs, side.line)) {
        return;
    }
    if (!bad->rank) {
        runs.both.series.push_back(seriesOf(diagnose::traceOf(side.run, bad->name), side.line, side.shift));
        return;
    }
    const int line = 2 + static_cast<int>(runs.others.size());
    runs.others.push_back({side.name, *bad->rank});
    names.insert(bad->name);
    for (const std::string& name : names) {
        if (const auto trace = diagnose::traceOf(side.run, name, bad->rank); !trace.empty()) {
            runs.both.series.push_back(seriesOf(trace, line, side.shift));
        }
    }
}

bool isCut(const RunData& run)
{
    return std::ranges::any_of(run.series, [](const Series& series) {
        return static_cast<std::int64_t>(series.points.size()) < series.pointCount + series.missing;
    });
}

} // namespace

std::string differenceName(std::string_view series)
{
    return RunComparer::tr("%1: difference").arg(seriesTitle(series)).toStdString();
}

std::shared_ptr<const ComparedRuns> comparedRuns(const RunData& a, const RunData& b, std::int64_t shift)
{
    auto runs = std::make_shared<ComparedRuns>();
    runs->same = !a.root.empty() && a.root == b.root;
    const bool alike = a.name == b.name && !runs->same;
    runs->nameA = alike ? longName(a) : a.name;
    runs->nameB = alike ? longName(b) : b.name;
    if (alike && runs->nameA == runs->nameB) {
        runs->nameA = a.root;
        runs->nameB = b.root;
    }
    runs->shift = shift;
    runs->partial = isCut(a) || isCut(b);
    runs->comparison = diagnose::compareRuns(a, b, shift);
    const auto drawn = drawRuns(*runs);
    drawBad(*runs, drawn, runs->comparison.badA, {a, runs->nameA, 0, 0});
    drawBad(*runs, drawn, runs->comparison.badB, {b, runs->nameB, 1, shift});
    return runs;
}

RunComparer::RunComparer(QObject* parent)
    : QObject(parent)
{
    m_pool.setMaxThreadCount(1);
}

RunComparer::~RunComparer()
{
    m_cancel.cancel();
    m_pool.waitForDone();
}

template <class Work>
void RunComparer::start(Work work)
{
    m_busy = true;
    background(m_pool, this, std::move(work), [this, job = m_jobs.begin()](const Answer& answer) {
        if (!m_jobs.isCurrent(job)) {
            return;
        }
        m_busy = false;
        if (answer) {
            Q_EMIT compared(*answer);
        } else if (answer.error().kind != ErrorKind::cancelled) {
            Q_EMIT failed(qstr(sentence(answer.error())));
        }
    });
}

void RunComparer::compare(const LoadedRun& open, const std::filesystem::path& other)
{
    cancel();
    auto pair = std::make_shared<Pair>();
    m_runs = pair;
    JobContext context;
    context.cancel = m_cancel;
    start([open, other, pair, context]() -> Answer {
        auto a = TRY(runWithPoints(open));
        const auto opened = TRY(loadRun(other, context));
        pair->b = TRY(runWithPoints(opened.loaded));
        pair->a = std::move(a);
        return comparedRuns(pair->a, pair->b, 0);
    });
}

void RunComparer::shift(std::int64_t steps)
{
    if (m_runs) {
        start([pair = m_runs, steps]() -> Answer { return comparedRuns(pair->a, pair->b, steps); });
    }
}

void RunComparer::cancel()
{
    m_cancel.cancel();
    m_cancel = CancelToken();
    m_jobs.drop();
    m_busy = false;
}

} // namespace nanscope
