// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runcomparison/runcomparer.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "ui/jobs/readrun.h"
#include "ui/shared/text.h"

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

} // namespace

namespace {

std::optional<FirstBad> firstBad(const RunData& run)
{
    std::optional<FirstBad> bad;
    for (const Series& series : run.series) {
        const auto found = std::ranges::find_if(series.points, diagnose::isNonFinite, &Point::state);
        if (found != series.points.end() && (!bad || found->step < bad->point.step)) {
            bad = {series.name, *found};
        }
    }
    return bad;
}

/// With the folder around it, which tells two runs of one name apart.
std::string longName(const RunData& run)
{
    const std::filesystem::path root(run.root);
    return (root.parent_path().filename() / root.filename()).string();
}

bool isCut(const RunData& run)
{
    return std::ranges::any_of(run.series, [](const Series& series) {
        return static_cast<std::int64_t>(series.points.size()) < series.pointCount + series.missing;
    });
}

} // namespace

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
    runs->badA = firstBad(a);
    runs->badB = firstBad(b);
    runs->partial = isCut(a) || isCut(b);
    runs->comparison = diagnose::compareRuns(a, b, shift);
    std::set<std::string> drawn;
    for (const diagnose::SeriesComparison& one : runs->comparison.series) {
        // Of several ranks the first stands for its run.
        if (!drawn.insert(one.name).second) {
            continue;
        }
        runs->both.series.push_back(seriesOf(one.a, 0, 0));
        runs->both.series.push_back(seriesOf(one.b, 1, shift));
    }
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
        auto a = runWithPoints(open);
        auto opened = a ? loadRun(other, context) : Result<ReadRun>(tl::make_unexpected(a.error()));
        auto b = opened ? runWithPoints(opened->loaded) : Result<RunData>(tl::make_unexpected(opened.error()));
        if (!b) {
            return tl::make_unexpected(b.error());
        }
        pair->a = std::move(*a);
        pair->b = std::move(*b);
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
