// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/failuretimeline.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/recovery/losshistory.h"
#include "core/model/model.h"
#include "core/model/verdict.h"

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

std::int64_t TrainingProcess::first() const
{
    auto least = std::numeric_limits<std::int64_t>::max();
    for (const auto* sign : {&poisonedFrom, &doubtFrom, &tornFrom}) {
        least = *sign ? std::min(least, (*sign)->weights) : least;
    }
    return least;
}

std::optional<Proof> TrainingProcess::proofOf(std::int64_t n) const
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

bool TrainingProcess::wrote(const std::string& source, std::int64_t line) const
{
    return std::ranges::any_of(
        sources, [&](const Source& one) { return one.file == source && line >= one.firstLine && line < one.endLine; });
}

EvidenceLine TrainingProcess::lineOf(const Proof& proof) const
{
    return {fmt::format("loss is {:.4g} at step {}", proof.loss, proof.step),
        fmt::format("{}:{}", sources[proof.source].file, proof.line)};
}

namespace {

constexpr std::int64_t noEnd = std::numeric_limits<std::int64_t>::max();

bool isBad(const LossStep& step)
{
    return step.sign == LossSign::nonFinite || step.sign == LossSign::elsewhere || step.sign == LossSign::zeroed
        || (step.sign == LossSign::absent && step.badGradient);
}

bool isGood(const LossStep& step)
{
    return step.sign == LossSign::finite;
}

/// One process on its way from a loss history.
class LifeReader
{
public:
    using Losses = std::map<std::pair<std::string, std::optional<int>>, std::vector<const Series*>>;

    LifeReader(const RunData& run, const LossHistory& history, std::int64_t base, Losses& losses)
        : m_run(run)
        , m_history(history)
        , m_base(base)
        , m_losses(losses)
    { }

    TrainingProcess read()
    {
        readPlace();
        if (!m_history.steps.empty()) {
            readEnd();
            readProofs();
        }
        return std::move(m_life);
    }

private:
    std::int64_t weightsOf(const LossStep& step) const { return step.step - m_base; }
    std::int64_t printed(const LossStep& step) const { return step.step + m_history.lanes[step.lane].offset; }

    void readPlace();
    void readEnd();
    void readStreak(std::size_t begin);
    void readLastNorm();
    bool wentOnUnseen(const LossStep& last) const;
    void readProofs();
    Sign signOf(const LossStep& step, std::int64_t weights) const;

    const RunData& m_run;
    const LossHistory& m_history;
    std::int64_t m_base;
    Losses& m_losses; ///< of every lane
    TrainingProcess m_life;
};

void LifeReader::readPlace()
{
    m_life.last = m_history.life + 1 == m_history.lives;
    m_life.countsRows = std::ranges::any_of(m_history.lanes, &RankLossLog::countedSteps);
    for (const auto& lane : m_history.lanes) {
        m_life.sources.push_back(
            {lane.source, m_history.life == 0 ? 0 : noEnd, noEnd, m_losses[{lane.source, lane.rank}]});
    }
    for (const auto& step : m_history.steps) {
        auto& first = m_life.sources[step.lane].firstLine;
        first = std::min(first, step.line);
    }
    if (!m_history.steps.empty()) {
        m_life.firstWeights = weightsOf(m_history.steps.front());
        m_life.lastWeights = weightsOf(m_history.steps.back());
    }
}

/// A line of another rank's own names it; that some rank has NaN is all that the watched one's line says.
std::string elsewhereText(const LossHistory& history, const LossStep& step)
{
    const auto rank = step.lane == 0 ? std::nullopt : history.lanes[step.lane].rank;
    const auto others = std::ranges::count_if(history.badRanks,
        [&](const std::pair<std::int64_t, int>& one) { return one.first == step.step && one.second != rank; });
    const auto more = others > 0 ? fmt::format(" and on {} more", others) : std::string();
    return rank ? fmt::format("loss is not finite on rank {}{}", *rank, more)
                : std::string("loss is not finite on another rank");
}

std::string stateWord(const LossHistory& history, const LossStep& step)
{
    switch (step.sign) {
    case LossSign::zeroed:
        return "loss is 0 beside a gradient norm that is not finite";
    case LossSign::elsewhere:
        return elsewhereText(history, step);
    case LossSign::absent:
        return step.badGradient ? "loss is missing beside a gradient norm that is not finite" : "loss is missing";
    default:
        return std::isinf(step.loss) ? (step.loss > 0 ? "loss is Inf" : "loss is -Inf")
            : std::isnan(step.loss)  ? "loss is NaN"
                                     : "loss is not finite";
    }
}

/// A detector's warnings say neither NaN nor Inf, and count attempts before the trainer adds one.
Sign LifeReader::signOf(const LossStep& step, std::int64_t weights) const
{
    const auto& lane = m_history.lanes[step.lane];
    const bool warned = lane.ownDetector;
    const auto place = m_life.countsRows ? fmt::format("at row {}", printed(step))
        : !warned                        ? fmt::format("at step {}", printed(step))
        : lane.numbering.text.empty()    ? fmt::format("in attempt {}", step.step)
        : printed(step) == step.step     ? fmt::format("at step {}", step.step)
                                         : fmt::format("at step {} (attempt {})", printed(step), step.step);
    const auto* what = warned && step.sign == LossSign::nonFinite ? "loss is not finite" : nullptr;
    return {weights, printed(step),
        m_history.evidence(step, fmt::format("{} {}", what != nullptr ? what : stateWord(m_history, step), place))};
}

/// A detector names every step that was not finite: a checkpoint of a later step, or the end of training, shows that
/// there were finite ones behind the last it named.
bool LifeReader::wentOnUnseen(const LossStep& last) const
{
    const auto& lane = m_history.lanes[last.lane];
    if (!lane.ownDetector || !m_history.ownStop.text.empty() || !m_life.last) {
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
    const auto& steps = m_history.steps;
    std::size_t begin = steps.size();
    while (begin > 0 && !isGood(steps[begin - 1])) {
        --begin;
    }
    if (begin == steps.size()) {
        readLastNorm();
        return;
    }
    // Between two steps that a detector names lie finite ones.
    if (m_history.lanes[steps.back().lane].ownDetector) {
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
    const auto& steps = m_history.steps;
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
        sign.step = printed(before);
        sign.line = m_history.evidence(before, fmt::format("grad_norm is not finite at step {}", printed(before)));
        sign.weights = std::max(sign.weights, weightsOf(before) + 1);
    }
    (count > 1 ? m_life.poisonedFrom : m_life.doubtFrom) = std::move(sign);
}

/// The update behind the last line had a gradient norm that is not finite; whether it was done is not logged.
void LifeReader::readLastNorm()
{
    const auto& last = m_history.steps.back();
    if (last.badGradient) {
        m_life.doubtFrom = {weightsOf(last) + 1, printed(last),
            m_history.evidence(last, fmt::format("grad_norm is not finite at step {}", printed(last)))};
    }
}

void LifeReader::readProofs()
{
    for (const auto& step : m_history.steps) {
        if (isGood(step) && !step.badGradient && !std::isnan(step.loss)) {
            m_life.proofs.add({weightsOf(step), step.loss, printed(step), step.line, step.lane}, step.quoted);
        }
    }
}

} // namespace

TrainingProcessReader::TrainingProcessReader(const RunData& run)
    : m_run(run)
{
    for (const auto& series : run.series) {
        if (series.name == "loss") {
            m_losses[{series.source, series.rank}].push_back(&series);
        }
    }
}

TrainingProcessReader::Counting TrainingProcessReader::countingOf(const RankLossLog& lane)
{
    const Lane key {lane.source, lane.rank};
    const auto known = m_countings.find(key);
    if (known != m_countings.end()) {
        return known->second;
    }
    const auto& losses = m_losses[key];
    const auto base = stepBaseOf(m_run, lane, losses);
    return m_countings.emplace(key, Counting {base, base == 0 && !savesBeforeUpdate(m_run, lane, losses)})
        .first->second;
}

TrainingProcess TrainingProcessReader::read(const LossHistory& history)
{
    const auto counting = countingOf(history.lanes.front());
    auto process = LifeReader(m_run, history, counting.base, m_losses).read();
    process.mayHoldOneMore = counting.mayHoldOneMore;
    return process;
}

namespace {

constexpr double spikeFactor = 2;
constexpr std::size_t spikeWindow = 100;
constexpr std::size_t fewestBefore = 10;

/// The first point of the climb that the last finite points before a step are part of: at least twice the mean of the
/// hundred points before it (llm-foundry's rule for loss spikes, factor 2 over 100). What lasts longer than a hundred
/// points is a level, not a climb.
class ClimbSearch
{
public:
    explicit ClimbSearch(std::int64_t step)
        : m_step(step)
    { }

    void look(const Point& point);
    bool looked() const { return m_looked; }
    const Point* start() const { return m_start; } ///< null where there is none

private:
    std::int64_t m_step;
    std::deque<double> m_window;
    double m_sum = 0;
    double m_level = 0; ///< the mean before the climb
    std::size_t m_length = 0;
    const Point* m_start = nullptr;
    bool m_looked = false;
};

void ClimbSearch::look(const Point& point)
{
    m_looked = true;
    if (point.step >= m_step || point.state != PointState::finite) {
        return;
    }
    const double mean = m_window.empty() ? 0 : m_sum / static_cast<double>(m_window.size());
    const double against = m_start != nullptr ? m_level : mean;
    const bool high = m_window.size() >= fewestBefore && against > 0 && point.value >= spikeFactor * against;
    if (high && m_start == nullptr) {
        m_start = &point;
        m_level = mean;
        m_length = 0;
    }
    if (!high || ++m_length > spikeWindow) {
        m_start = nullptr;
    }
    m_window.push_back(point.value);
    m_sum += point.value;
    if (m_window.size() > spikeWindow) {
        m_sum -= m_window.front();
        m_window.pop_front();
    }
}

void earliest(std::optional<Sign>& sign, Sign other)
{
    if (!sign || other.weights < sign->weights) {
        sign = std::move(other);
    }
}

/// A process ends in a file where the next one begins.
void endWhereTheNextBegins(std::vector<TrainingProcess>& lives)
{
    std::map<std::string, std::set<std::int64_t>> begins;
    for (const auto& life : lives) {
        for (const auto& source : life.sources) {
            begins[source.file].insert(source.firstLine);
        }
    }
    for (auto& life : lives) {
        for (auto& source : life.sources) {
            const auto& all = begins[source.file];
            const auto next = all.upper_bound(source.firstLine);
            source.endLine = next == all.end() ? noEnd : *next;
        }
    }
}

/// Which lines belong to the damage: those that name a dump, and the exceptions that reported one.
struct DumpLines
{
    explicit DumpLines(const RunData& run)
    {
        for (const auto& event : run.events) {
            if (event.kind == EventKind::captureDumped) {
                named.emplace(event.capture, &event);
            } else if (event.kind == EventKind::traceback && event.says(Phrase::dionCapture)) {
                raised.push_back(&event);
            }
        }
    }

    bool endedWithOne(const TrainingProcess& life) const
    {
        return std::ranges::any_of(raised, [&](const Event* e) { return life.wrote(e->source, e->line); });
    }

    /// The process whose console names the dump; where none does, the last one.
    TrainingProcess* lifeOf(const CaptureVerdict& verdict, std::vector<TrainingProcess>& lives) const
    {
        const auto event = named.find(verdict.capture);
        for (auto& life : lives) {
            if (event != named.end() && life.wrote(event->second->source, event->second->line)) {
                return &life;
            }
        }
        return lives.empty() ? nullptr : &lives.back();
    }

    std::map<std::string, const Event*> named;
    std::vector<const Event*> raised;
};

/// The update after the line of the first step made the damage, whether that line came before or after its own update.
/// Where a finite loss follows, the update was left out, or the damage was survived.
void readBirths(const RunData& run, const std::vector<CaptureVerdict>& verdicts, std::vector<TrainingProcess>& lives)
{
    const DumpLines lines(run);
    for (const auto& verdict : verdicts) {
        const bool bad = verdict.role == Role::birth || verdict.role == Role::upstream;
        auto* life = bad && verdict.step ? lines.lifeOf(verdict, lives) : nullptr;
        if (life == nullptr) {
            continue;
        }
        const auto base = life->proofs.empty() ? 1 : life->proofs.base();
        const bool before = verdict.facts.scene.badBefore() == BadBefore::weights;
        const auto weights = verdict.step->first - base + (before ? 0 : 1);
        if (!life->proofs.empty() && life->proofs.lastWeights() >= weights) {
            continue;
        }
        Sign sign {weights, {},
            {fmt::format("{} {}", verdict.capture,
                 before ? "was called with weights that were not finite before its step"
                        : "has a Newton-Schulz output that is not finite"),
                {}}};
        earliest(lines.endedWithOne(*life) ? life->tornFrom : life->poisonedFrom, std::move(sign));
    }
}

/// Captures alone: where nothing was logged, all that is known is their own order.
void readCapturesAlone(
    const RunData& run, const std::vector<CaptureVerdict>& verdicts, std::vector<TrainingProcess>& lives)
{
    if (lives.empty()) {
        lives.emplace_back();
        readBirths(run, verdicts, lives);
        if (!lives.back().inTrouble()) {
            lives.clear();
        }
    }
}

/// Where a series of the process climbs before a step.
const Point* climbOf(const RunData& run, const TrainingProcess& life, std::string_view name, std::int64_t step)
{
    ClimbSearch search(step);
    const auto& file = life.sources.front().file;
    for (const auto& series : run.series) {
        if (series.name != name || series.source != file || search.looked()) {
            continue;
        }
        for (const auto& point : series.points) {
            if (life.wrote(file, point.line)) {
                search.look(point);
            }
        }
    }
    return search.start();
}

void readClimb(const RunData& run, TrainingProcess& life, std::string_view name)
{
    if (!life.inTrouble() || life.sources.empty() || life.proofs.empty()) {
        return;
    }
    const auto base = life.proofs.base();
    if (const Point* start = climbOf(run, life, name, life.first() + base)) {
        earliest(life.climbingFrom,
            {start->step - base, start->step,
                {fmt::format("{} climbs from step {} on ({:.4g}, over twice the mean of the 100 before)", name,
                     start->step, start->value),
                    fmt::format("{}:{}", life.sources.front().file, start->line)}});
    }
}

/// Some process goes on with finite losses where this one went bad.
bool wasPassed(const TrainingProcess& life, const std::vector<TrainingProcess>& lives)
{
    return !life.last || std::ranges::any_of(lives, [&](const TrainingProcess& other) {
        return &other != &life && !other.proofs.empty() && other.first() > life.first()
            && other.proofs.lastWeights() >= life.first() && naturalLess(life.file(), other.file());
    });
}

const TrainingProcess* failedProcess(const std::vector<TrainingProcess>& lives)
{
    const TrainingProcess* found = nullptr;
    for (const auto& life : lives) {
        if (life.inTrouble() && !wasPassed(life, lives) && (found == nullptr || life.first() > found->first())) {
            found = &life;
        }
    }
    return found;
}

} // namespace

FailureTimeline failureTimelineOf(const RunData& run, const std::vector<CaptureVerdict>& verdicts)
{
    FailureTimeline timeline;
    TrainingProcessReader reader(run);
    for (auto& history : lossHistoriesOf(run)) {
        if (!history.lanes.empty()) {
            timeline.processes.push_back(reader.read(history));
        }
        history = {};
    }
    std::ranges::stable_sort(timeline.processes,
        [](const TrainingProcess& a, const TrainingProcess& b) { return naturalLess(a.file(), b.file()); });
    endWhereTheNextBegins(timeline.processes);
    readBirths(run, verdicts, timeline.processes);
    readCapturesAlone(run, verdicts, timeline.processes);
    for (auto& life : timeline.processes) {
        readClimb(run, life, "loss");
        readClimb(run, life, "grad_norm");
    }
    timeline.failed = failedProcess(timeline.processes);
    return timeline;
}

} // namespace nanscope::diagnose
