// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/trainingprocess.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/diagnose/recovery/stepbase.h"

namespace nanscope::diagnose {

Proof Proofs::Range::at(std::int64_t index) const
{
    auto proof = first;
    proof.weights += index * apart;
    proof.step += index * apart;
    proof.line += index * linesApart;
    return proof;
}

void Proofs::add(const Proof& proof, bool quoted)
{
    if (!quoted && !m_ranges.empty() && !m_ranges.back().closed) {
        auto& range = m_ranges.back();
        const auto& first = range.first;
        if (range.count == 1 && proof.source == first.source
            && proof.step - proof.weights == first.step - first.weights) {
            range.apart = proof.weights - first.weights;
            range.linesApart = proof.line - first.line;
            range.count = 2;
            return;
        }
        const auto next = range.at(range.count);
        if (range.count > 1 && proof.source == next.source && proof.weights == next.weights && proof.step == next.step
            && proof.line == next.line) {
            ++range.count;
            return;
        }
    }
    m_ranges.push_back({proof, 1, 1, 0, quoted});
}

std::int64_t Proofs::lastWeights() const
{
    const auto& last = m_ranges.back();
    return last.at(last.count - 1).weights;
}

std::optional<Proofs::Found> Proofs::from(std::int64_t weights) const
{
    const auto range = std::ranges::partition_point(
        m_ranges, [weights](const Range& one) { return one.at(one.count - 1).weights < weights; });
    if (range == m_ranges.end()) {
        return std::nullopt;
    }
    const bool inside = weights > range->first.weights;
    const auto index = inside ? (weights - range->first.weights + range->apart - 1) / range->apart : 0;
    return Found {range->at(index), index == 0};
}

namespace {

/// As the line prints it. A progress bar prints many steps on one line, and a step more than once.
double lossAt(const Proof& proof, const std::vector<const Series*>& losses)
{
    double loss = std::numeric_limits<double>::quiet_NaN();
    for (const auto* series : losses) {
        for (auto point = std::ranges::lower_bound(series->points, proof.line, {}, &Point::line);
             point != series->points.end() && point->line == proof.line; ++point) {
            loss = point->step == proof.step && point->state == PointState::finite ? point->value : loss;
        }
    }
    return loss;
}

} // namespace

std::int64_t ProcessLife::first() const
{
    auto least = std::numeric_limits<std::int64_t>::max();
    for (const auto* sign : {&poisonedFrom, &doubtFrom, &tornFrom}) {
        least = *sign ? std::min(least, (*sign)->weights) : least;
    }
    return least;
}

std::optional<Proof> ProcessLife::proofOf(std::int64_t n) const
{
    auto found = proofs.from(n);
    if (!found || found->proof.weights >= first()) {
        return std::nullopt;
    }
    if (!found->lossKnown) {
        found->proof.loss = lossAt(found->proof, sources[found->proof.source].losses);
    }
    return found->proof;
}

bool ProcessLife::wrote(const std::string& source, std::int64_t line) const
{
    return std::ranges::any_of(
        sources, [&](const Source& one) { return one.file == source && line >= one.firstLine && line < one.endLine; });
}

EvidenceLine ProcessLife::lineOf(const Proof& proof) const
{
    return {fmt::format("loss is {:.4g} at step {}", proof.loss, proof.step),
        fmt::format("{}:{}", sources[proof.source].file, proof.line)};
}

namespace {

constexpr std::int64_t noEnd = std::numeric_limits<std::int64_t>::max();

bool isBad(const TrailStep& step)
{
    return step.sign == LossSign::nonFinite || step.sign == LossSign::elsewhere || step.sign == LossSign::zeroed
        || (step.sign == LossSign::absent && step.badGradient);
}

bool isGood(const TrailStep& step)
{
    return step.sign == LossSign::finite;
}

/// One process on its way from a trail.
class LifeReader
{
public:
    using Losses = std::map<std::pair<std::string, std::optional<int>>, std::vector<const Series*>>;

    LifeReader(const RunData& run, const Trail& trail, std::int64_t base, Losses& losses)
        : m_run(run)
        , m_trail(trail)
        , m_base(base)
        , m_losses(losses)
    { }

    ProcessLife read()
    {
        readPlace();
        if (!m_trail.steps.empty()) {
            readEnd();
            readProofs();
        }
        return std::move(m_life);
    }

private:
    std::int64_t weightsOf(const TrailStep& step) const { return step.step - m_base; }
    std::int64_t printed(const TrailStep& step) const { return step.step + m_trail.lanes[step.lane].offset; }

    void readPlace();
    void readEnd();
    void readStreak(std::size_t begin);
    void readLastNorm();
    bool wentOnUnseen(const TrailStep& last) const;
    void readProofs();
    Sign signOf(const TrailStep& step, std::int64_t weights) const;

    const RunData& m_run;
    const Trail& m_trail;
    std::int64_t m_base;
    Losses& m_losses; ///< of every lane
    ProcessLife m_life;
};

void LifeReader::readPlace()
{
    m_life.number = m_trail.life;
    m_life.last = m_trail.life + 1 == m_trail.lives;
    m_life.countsRows = std::ranges::any_of(m_trail.lanes, &LossLane::countedSteps);
    for (const auto& lane : m_trail.lanes) {
        m_life.sources.push_back(
            {lane.source, m_trail.life == 0 ? 0 : noEnd, noEnd, m_losses[{lane.source, lane.rank}]});
    }
    for (const auto& step : m_trail.steps) {
        auto& first = m_life.sources[step.lane].firstLine;
        first = std::min(first, step.line);
    }
    if (!m_trail.steps.empty()) {
        m_life.firstWeights = weightsOf(m_trail.steps.front());
        m_life.lastWeights = weightsOf(m_trail.steps.back());
    }
}

std::string stateWord(const TrailStep& step)
{
    switch (step.sign) {
    case LossSign::zeroed:
        return "loss is 0 beside a gradient norm that is not finite";
    case LossSign::elsewhere:
        return "loss is not finite on another rank";
    case LossSign::absent:
        return step.badGradient ? "loss is missing beside a gradient norm that is not finite" : "loss is missing";
    default:
        return std::isinf(step.loss) ? (step.loss > 0 ? "loss is Inf" : "loss is -Inf")
            : std::isnan(step.loss)  ? "loss is NaN"
                                     : "loss is not finite";
    }
}

/// A detector's warnings say neither NaN nor Inf, and count attempts before the trainer adds one.
Sign LifeReader::signOf(const TrailStep& step, std::int64_t weights) const
{
    const bool warned = m_trail.lanes[step.lane].ownDetector;
    const auto place = m_life.countsRows ? fmt::format("at row {}", printed(step))
        : warned                         ? fmt::format("in attempt {}", step.step)
                                         : fmt::format("at step {}", printed(step));
    const auto* what = warned && step.sign == LossSign::nonFinite ? "loss is not finite" : nullptr;
    return {weights, m_trail.evidence(step, fmt::format("{} {}", what != nullptr ? what : stateWord(step), place))};
}

/// A detector names every step that was not finite: a checkpoint of a later step, or the end of training, shows that
/// there were finite ones behind the last it named.
bool LifeReader::wentOnUnseen(const TrailStep& last) const
{
    const auto& lane = m_trail.lanes[last.lane];
    if (!lane.ownDetector || !m_trail.ownStop.text.empty() || !m_life.last) {
        return false;
    }
    const auto here = [&](const std::string& source, std::int64_t line) {
        return source == lane.source && line > last.line;
    };
    return std::ranges::any_of(m_run.checkpoints, [&](const Checkpoint& one) {
        return one.fact == CheckpointFact::saved && one.step > last.step + 1 && here(one.source, one.line);
    }) || std::ranges::any_of(m_run.events, [&](const Event& event) {
        return event.says(Phrase::trainingComplete) && here(event.source, event.line);
    });
}

void LifeReader::readEnd()
{
    const auto& steps = m_trail.steps;
    std::size_t begin = steps.size();
    while (begin > 0 && !isGood(steps[begin - 1])) {
        --begin;
    }
    if (begin == steps.size()) {
        readLastNorm();
        return;
    }
    // Between two steps that a detector names lie finite ones.
    if (m_trail.lanes[steps.back().lane].ownDetector) {
        for (std::size_t i = steps.size() - 1; i > begin; --i) {
            if (steps[i].step != steps[i - 1].step + 1) {
                begin = i;
                break;
            }
        }
        if (wentOnUnseen(steps.back())) {
            return;
        }
    }
    readStreak(begin);
}

/// Several batches that gave NaN speak against the weights. One alone may be its batch.
void LifeReader::readStreak(std::size_t begin)
{
    const auto& steps = m_trail.steps;
    const auto bad = std::find_if(steps.begin() + static_cast<std::ptrdiff_t>(begin), steps.end(), isBad);
    const auto count = std::count_if(bad, steps.end(), isBad);
    if (bad == steps.end()) {
        m_life.doubtFrom = signOf(steps[begin], weightsOf(steps[begin]));
        return;
    }
    auto sign = signOf(*bad, weightsOf(*bad));
    // A loss that is finite beside a norm that is not: that step's own update spoilt the weights.
    if (begin > 0 && isGood(steps[begin - 1]) && steps[begin - 1].badGradient
        && bad - steps.begin() == static_cast<std::ptrdiff_t>(begin)) {
        const auto& before = steps[begin - 1];
        sign.line = m_trail.evidence(before, fmt::format("grad_norm is not finite at step {}", printed(before)));
        sign.weights = std::max(sign.weights, weightsOf(before) + 1);
    }
    (count > 1 ? m_life.poisonedFrom : m_life.doubtFrom) = std::move(sign);
}

/// The update behind the last line had a gradient norm that is not finite; whether it was done is not logged.
void LifeReader::readLastNorm()
{
    const auto& last = m_trail.steps.back();
    if (last.badGradient) {
        m_life.doubtFrom = {weightsOf(last) + 1,
            m_trail.evidence(last, fmt::format("grad_norm is not finite at step {}", printed(last)))};
    }
}

void LifeReader::readProofs()
{
    for (const auto& step : m_trail.steps) {
        if (isGood(step) && !step.badGradient && !std::isnan(step.loss)) {
            m_life.proofs.add({weightsOf(step), step.loss, printed(step), step.line, step.lane}, step.quoted);
        }
    }
}

} // namespace

LivesReader::LivesReader(const RunData& run)
    : m_run(run)
{
    for (const auto& series : run.series) {
        if (series.name == "loss") {
            m_losses[{series.source, series.rank}].push_back(&series);
        }
    }
}

std::int64_t LivesReader::baseOf(const LossLane& lane)
{
    const Lane key {lane.source, lane.rank};
    const auto known = m_bases.find(key);
    return known != m_bases.end() ? known->second
                                  : m_bases.emplace(key, stepBaseOf(m_run, lane, m_losses[key])).first->second;
}

ProcessLife LivesReader::read(const Trail& trail)
{
    return LifeReader(m_run, trail, baseOf(trail.lanes.front()), m_losses).read();
}

} // namespace nanscope::diagnose
