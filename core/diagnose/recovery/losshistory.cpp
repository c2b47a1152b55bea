// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/losshistory.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/values.h"
#include "core/diagnose/recovery/detectorsteps.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

namespace {

/// What lies between the losses of a log and bears on a detector.
struct Mark
{
    enum class Kind { message, resumed, stopped, crashed } kind = Kind::message;
    const Event* event = nullptr;
};

/// All that one log says of one rank's loss. Points into the run it was collected from.
struct RawLossEvents
{
    std::vector<const Series*> losses; ///< in order of segment
    std::set<std::pair<int, std::int64_t>> badGradients; ///< segment and printed step
    std::vector<Mark> marks; ///< in order of line
    bool runningAverage = false;
};

/// Source and rank.
using LaneKey = std::pair<std::string, std::optional<int>>;

using Materials = std::map<LaneKey, RawLossEvents>;

std::optional<Mark> markOf(const Event& event)
{
    if (event.facts.detector && event.kind == EventKind::nanLoss) {
        return Mark {Mark::Kind::message, &event};
    }
    if (event.kind == EventKind::resumed) {
        return Mark {Mark::Kind::resumed, &event};
    }
    if (event.kind == EventKind::optimizerStop && event.says(Phrase::tooManyNans)) {
        return Mark {Mark::Kind::stopped, &event};
    }
    if (event.says(Phrase::noIntegerOfNan)) {
        return Mark {Mark::Kind::crashed, &event};
    }
    return std::nullopt;
}

void addLosses(const RunData& run, Materials& lanes)
{
    for (const auto& series : run.series) {
        if (series.name == "loss") {
            lanes[{series.source, series.rank}].losses.push_back(&series);
        }
    }
    for (auto& [key, material] : lanes) {
        std::stable_sort(material.losses.begin(), material.losses.end(),
            [](const Series* a, const Series* b) { return a->segment < b->segment; });
    }
}

void addBadGradients(const Series& series, RawLossEvents& material)
{
    for (const auto& point : series.points) {
        if (point.state != PointState::finite && point.state != PointState::reported) {
            material.badGradients.insert({series.segment, point.step});
        }
    }
}

void addCompanions(const RunData& run, Materials& lanes)
{
    for (const auto& series : run.series) {
        const auto lane = lanes.find({series.source, series.rank});
        if (lane == lanes.end()) {
            continue;
        }
        if (series.name == "grad_norm") {
            addBadGradients(series, lane->second);
        }
        // Only nanochat prints this one, and its loss is a running average.
        lane->second.runningAverage = lane->second.runningAverage || series.name == "lrm";
    }
}

/// A line that names no rank was printed by the lowest that prints.
RawLossEvents* laneOf(Materials& lanes, const Event& event)
{
    if (const auto exact = lanes.find({event.source, event.rank}); exact != lanes.end()) {
        return &exact->second;
    }
    const auto lowest = lanes.lower_bound({event.source, std::nullopt});
    const bool other = lowest != lanes.end() && lowest->first.first == event.source;
    return other && !event.rank ? &lowest->second : nullptr;
}

void addMark(const Mark& mark, Materials& lanes)
{
    auto* lane = laneOf(lanes, *mark.event);
    // A run that was never finite has no loss on any line, only warnings.
    if (lane == nullptr && mark.kind == Mark::Kind::message) {
        lane = &lanes[{mark.event->source, mark.event->rank}];
    }
    if (lane != nullptr) {
        lane->marks.push_back(mark);
    }
}

void addMarks(const RunData& run, Materials& lanes)
{
    std::vector<Mark> marks;
    for (const auto& event : run.events) {
        if (auto mark = markOf(event)) {
            marks.push_back(*mark);
        }
    }
    // Lines with a rank first: they tell which ranks print at all.
    std::stable_partition(marks.begin(), marks.end(), [](const Mark& mark) { return mark.event->rank.has_value(); });
    for (const auto& mark : marks) {
        addMark(mark, lanes);
    }
    for (auto& [key, material] : lanes) {
        std::stable_sort(material.marks.begin(), material.marks.end(),
            [](const Mark& a, const Mark& b) { return a.event->line < b.event->line; });
    }
}

Materials collectLanes(const RunData& run)
{
    Materials lanes;
    addLosses(run, lanes);
    addMarks(run, lanes);
    addCompanions(run, lanes);
    return lanes;
}

/// What one process wrote of one rank's loss.
struct LaneLife
{
    std::vector<LossStep> steps;
    EvidenceLine ownStop;
    EvidenceLine crash;
    std::vector<EvidenceLine> doubts;
};

struct ReadLane
{
    RankLossLog lane;
    std::vector<LaneLife> lives;
    std::int64_t points = 0;
};

/// So often no training begins anew: what else a log says of ends counts for nothing.
constexpr std::size_t mostLives = 2000;

/// No run counts so far; what a damaged line says beyond could only overflow.
constexpr std::int64_t largestStep = std::int64_t {1} << 53;

constexpr double notKnown = std::numeric_limits<double>::quiet_NaN();

/// Joins the losses and the marks of one lane in the order of the file.
class LaneReader
{
public:
    LaneReader(const RawLossEvents& material, const RankLossLog& lane)
        : m_material(material)
        , m_lane(lane)
    { }

    std::vector<LaneLife> read();

private:
    LaneLife& life();
    void end() { m_ended = m_lives.size() < mostLives; }
    std::size_t lossCount() const;
    void endBefore(std::int64_t step);
    void append(const LossStep& step);
    void take(const Point& point, int segment);
    void take(const Mark& mark);
    void takeMessage(const Event& event, const NanMessage& said);
    void doubt(const Event& event, const NanMessage& said);

    const RawLossEvents& m_material;
    const RankLossLog& m_lane;
    std::vector<LaneLife> m_lives;
    bool m_ended = true;
    std::int64_t m_total = 0; ///< as the detector's lines of this life count
    std::int64_t m_lastWarning = 0;
};

std::vector<LaneLife> LaneReader::read()
{
    auto mark = m_material.marks.begin();
    const auto takeMarks = [&](std::int64_t before) {
        for (; mark != m_material.marks.end() && mark->event->line < before; ++mark) {
            take(*mark);
        }
    };
    for (const auto* series : m_material.losses) {
        for (const auto& point : series->points) {
            takeMarks(point.line);
            take(point, series->segment);
        }
    }
    takeMarks(std::numeric_limits<std::int64_t>::max());
    return std::move(m_lives);
}

LaneLife& LaneReader::life()
{
    if (m_ended) {
        m_lives.emplace_back();
        // Growing in steps would hold the steps of a long run twice.
        if (m_lives.size() == 1) {
            m_lives.back().steps.reserve(lossCount());
        }
        m_ended = false;
        m_total = 0;
    }
    return m_lives.back();
}

std::size_t LaneReader::lossCount() const
{
    std::size_t count = 0;
    for (const auto* series : m_material.losses) {
        count += series->points.size();
    }
    return count;
}

/// Steps that go back are another process.
void LaneReader::endBefore(std::int64_t step)
{
    if (!m_ended && !life().steps.empty() && step < life().steps.back().step) {
        end();
    }
}

void LaneReader::append(const LossStep& step)
{
    auto& steps = life().steps;
    if (!steps.empty() && steps.back().step == step.step) {
        steps.back() = step;
    } else {
        steps.push_back(step);
    }
}

void LaneReader::take(const Point& point, int segment)
{
    const bool absent = point.state == PointState::reported;
    if ((absent && m_lane.absent > 0) || std::abs(point.step) > largestStep) {
        return;
    }
    const auto step = point.step - m_lane.offset;
    endBefore(step);
    LossStep taken {step, absent ? notKnown : point.value, point.line};
    taken.badGradient = m_material.badGradients.contains({segment, point.step});
    if (absent) {
        taken.sign = LossSign::absent;
    } else if (point.state != PointState::finite) {
        taken.sign = LossSign::nonFinite;
    } else if (taken.badGradient && point.value == 0) {
        taken.sign = LossSign::zeroed;
    }
    append(taken);
}

void LaneReader::take(const Mark& mark)
{
    const auto line = [](const Event& event) { return EvidenceLine {event.text, event.place()}; };
    switch (mark.kind) {
    case Mark::Kind::message:
        takeMessage(*mark.event, *mark.event->facts.detector);
        break;
    case Mark::Kind::resumed:
        end();
        break;
    case Mark::Kind::stopped:
        life().ownStop = line(*mark.event);
        end();
        break;
    case Mark::Kind::crashed:
        life().crash = line(*mark.event);
        end();
        break;
    }
}

void LaneReader::takeMessage(const Event& event, const NanMessage& said)
{
    const bool repeated = !m_ended && said.total == m_total && said.step == m_lastWarning; // by another handler
    if (repeated || said.step > largestStep || said.lastGoodStep.value_or(0) > largestStep) {
        return;
    }
    endBefore(said.step);
    if (said.total <= m_total) {
        end();
    }
    life();
    doubt(event, said);
    m_total = said.total;
    m_lastWarning = said.step;
    // With a line every ten steps the warning is the only one that knows the step before it.
    const auto& steps = life().steps;
    if (namesGoodLoss(said) && (steps.empty() || steps.back().step < *said.lastGoodStep)) {
        append({*said.lastGoodStep, *said.lastGoodLoss, event.line, 0, LossSign::finite, false, true});
    }
    append({said.step, notKnown, event.line, 0, said.otherRank ? LossSign::elsewhere : LossSign::nonFinite});
    if (event.says(Phrase::runtimeError)) {
        life().ownStop = {event.text, event.place()};
        end();
    }
}

void LaneReader::doubt(const Event& event, const NanMessage& said)
{
    if (said.total == m_total + 1) {
        return;
    }
    life().doubts.push_back({fmt::format("this line counts {} steps that were not finite, the log shows {} of them: "
                                         "lines are missing, and so may be a stop",
                                 said.total, m_total + 1),
        event.place()});
}

void findNumbering(const RawLossEvents& material, RankLossLog& lane)
{
    std::vector<const Event*> events;
    std::ranges::transform(material.marks, std::back_inserter(events), &Mark::event);
    const auto found = numberingOf(material.losses, events);
    lane.offset = found.offset;
    if (found.warning != nullptr) {
        lane.numbering = {
            fmt::format("the loss that the warning in line {} has of step {} is printed as that of step {}",
                found.warning->line, *found.warning->facts.detector->lastGoodStep, found.loss->step),
            fmt::format("{}:{}", lane.source, found.loss->line)};
    }
}

std::int64_t intervalOf(const std::vector<const Series*>& losses)
{
    constexpr std::size_t enough = 1000;
    std::vector<std::int64_t> gaps;
    for (const auto* series : losses) {
        for (std::size_t i = 1; i < series->points.size() && gaps.size() < enough; ++i) {
            gaps.push_back(series->points[i].step - series->points[i - 1].step);
        }
    }
    return std::max<std::int64_t>(1, quantileOf(std::move(gaps)));
}

ReadLane laneFrom(const LaneKey& key, const RawLossEvents& material)
{
    ReadLane read;
    auto& lane = read.lane;
    lane.source = key.first;
    lane.rank = key.second;
    lane.runningAverage = material.runningAverage;
    lane.interval = intervalOf(material.losses);
    std::int64_t absent = 0;
    for (const auto* series : material.losses) {
        read.points += series->pointCount;
        absent += series->missing;
        lane.countedSteps = lane.countedSteps || series->stepInferred;
    }
    lane.absent = absent > read.points ? absent : 0;
    const auto isMessage = [](const Mark& mark) { return mark.kind == Mark::Kind::message; };
    lane.ownDetector = std::any_of(material.marks.begin(), material.marks.end(), isMessage);
    if (lane.ownDetector) {
        findNumbering(material, lane);
    }
    return read;
}

/// Ranks that print into one log count alike, whichever of them warns.
void shareNumbering(std::vector<ReadLane>& lanes)
{
    std::map<std::string_view, const RankLossLog*> warns;
    for (const auto& lane : lanes) {
        if (lane.lane.ownDetector) {
            warns.try_emplace(lane.lane.source, &lane.lane);
        }
    }
    for (auto& lane : lanes) {
        if (const auto found = warns.find(lane.lane.source); found != warns.end()) {
            lane.lane.ownDetector = true;
            lane.lane.offset = found->second->offset;
            lane.lane.numbering = found->second->numbering;
        }
    }
}

/// Every rank of every log that has losses or a detector's lines, in order of source and rank.
std::vector<ReadLane> readLanes(const RunData& run)
{
    const auto materials = collectLanes(run);
    std::vector<ReadLane> lanes;
    for (const auto& [key, material] : materials) {
        lanes.push_back(laneFrom(key, material));
    }
    shareNumbering(lanes);
    auto lane = lanes.begin();
    for (const auto& [key, material] : materials) {
        lane->lives = LaneReader(material, lane->lane).read();
        ++lane;
    }
    return lanes;
}

using Lanes = std::vector<ReadLane>;

std::size_t sizeOf(const ReadLane& lane)
{
    std::size_t steps = 0;
    for (const auto& life : lane.lives) {
        steps += life.steps.size();
    }
    return steps;
}

bool holds(const LaneLife& life, const LossStep& wanted)
{
    const auto found = std::lower_bound(life.steps.begin(), life.steps.end(), wanted,
        [](const LossStep& a, const LossStep& b) { return a.step < b.step; });
    return found != life.steps.end() && found->step == wanted.step && found->sign == wanted.sign
        && std::bit_cast<std::uint64_t>(found->loss) == std::bit_cast<std::uint64_t>(wanted.loss);
}

/// The console of a job and the log of one of its ranks say the same.
bool isCopy(const ReadLane& lane, const ReadLane& of)
{
    return std::ranges::all_of(lane.lives, [&](const LaneLife& life) {
        return std::ranges::any_of(of.lives, [&](const LaneLife& other) {
            return std::ranges::all_of(life.steps, [&](const LossStep& step) { return holds(other, step); });
        });
    });
}

/// "logs/0/stdout.log" of rank 0 as "logs/#/stdout.log": every place in which its rank may stand.
std::set<std::string> patternsOf(const RankLossLog& lane)
{
    std::set<std::string> patterns {lane.source};
    const auto rank = std::to_string(lane.rank.value_or(0));
    for (auto at = lane.source.find(rank); at != std::string::npos; at = lane.source.find(rank, at + 1)) {
        const auto digit = [&](std::size_t i) {
            return i < lane.source.size() && lane.source[i] >= '0' && lane.source[i] <= '9';
        };
        if (!digit(at - 1) && !digit(at + rank.size())) {
            patterns.insert(lane.source.substr(0, at) + '#' + lane.source.substr(at + rank.size()));
        }
    }
    return patterns;
}

/// Lanes of one run, each of another rank.
class Group
{
public:
    /// Logs of several ranks belong to one run if they are one file, or differ in nothing but the rank. Nothing says so
    /// of logs without ranks.
    bool takes(const RankLossLog& lane) const
    {
        if (m_lanes.empty()) {
            return true;
        }
        if (!lane.rank || m_ranks.contains(lane.rank)) {
            return false;
        }
        const bool ofThisFile = m_oneFile && lane.source == m_lanes.front().lane.source;
        return ofThisFile || fitsAll(patternsOf(lane));
    }

    const ReadLane& add(ReadLane lane)
    {
        m_oneFile = m_lanes.empty() || (m_oneFile && lane.lane.source == m_lanes.front().lane.source);
        m_ranks.insert(lane.lane.rank);
        return m_lanes.emplace_back(std::move(lane));
    }

    Lanes inOrder() &&
    {
        std::ranges::sort(m_lanes, {}, [](const ReadLane& lane) { return lane.lane.rank; });
        return std::move(m_lanes);
    }

private:
    bool fitsAll(const std::set<std::string>& patterns) const
    {
        return std::ranges::all_of(m_lanes, [&](const ReadLane& other) {
            const auto theirs = patternsOf(other.lane);
            return std::ranges::any_of(patterns, [&](const std::string& one) { return theirs.contains(one); });
        });
    }

    Lanes m_lanes;
    std::set<std::optional<int>> m_ranks;
    bool m_oneFile = false;
};

/// Takes the longest lane of every rank, and drops the copies of what it took. What does not fit once never does.
Lanes takeGroup(Lanes& pending)
{
    std::map<std::optional<int>, std::vector<std::size_t>> ofRank;
    for (std::size_t i = 0; i < pending.size(); ++i) {
        ofRank[pending[i].lane.rank].push_back(i);
    }
    Group group;
    std::vector<bool> gone(pending.size());
    for (std::size_t i = 0; i < pending.size(); ++i) {
        if (gone[i] || !group.takes(pending[i].lane)) {
            continue;
        }
        gone[i] = true;
        const auto& taken = group.add(std::move(pending[i]));
        for (const auto other : ofRank[taken.lane.rank]) {
            gone[other] = gone[other] || isCopy(pending[other], taken);
        }
        if (!taken.lane.rank) {
            break;
        }
    }
    Lanes left;
    for (std::size_t i = 0; i < pending.size(); ++i) {
        if (!gone[i]) {
            left.push_back(std::move(pending[i]));
        }
    }
    pending = std::move(left);
    return std::move(group).inOrder();
}

std::vector<Lanes> groupsOf(Lanes lanes)
{
    std::erase_if(lanes, [](const ReadLane& lane) { return sizeOf(lane) == 0; });
    std::ranges::stable_sort(lanes, [](const ReadLane& a, const ReadLane& b) { return sizeOf(a) > sizeOf(b); });
    std::stable_partition(lanes.begin(), lanes.end(), [](const ReadLane& lane) { return lane.lane.rank.has_value(); });
    std::vector<Lanes> groups;
    while (!lanes.empty()) {
        groups.push_back(takeGroup(lanes));
    }
    return groups;
}

/// What all ranks together say of one step, in the eyes of the watched one: the first.
LossStep joined(std::span<const LossStep> same)
{
    auto whole = same.front();
    for (const auto& other : same.subspan(1)) {
        if (other.sign > whole.sign) {
            whole.sign = other.sign;
            whole.line = other.line;
            whole.lane = other.lane;
        }
        whole.badGradient = whole.badGradient || other.badGradient;
    }
    if (whole.lane != 0 && whole.sign == LossSign::nonFinite) {
        whole.sign = LossSign::elsewhere;
    }
    return whole;
}

void join(std::vector<LossStep> all, LossHistory& history)
{
    for (const auto& step : all) {
        const auto rank = history.lanes[step.lane].rank;
        if (step.sign == LossSign::nonFinite && rank) {
            history.badRanks.emplace_back(step.step, *rank);
        }
    }
    const auto place = [](const LossStep& step) { return std::pair(step.step, step.lane); };
    if (!std::ranges::is_sorted(all, {}, place)) {
        std::ranges::sort(all, {}, place);
        std::ranges::sort(history.badRanks);
    }
    if (std::ranges::adjacent_find(all, {}, &LossStep::step) == all.end()) {
        history.steps = std::move(all);
        return;
    }
    auto kept = all.begin();
    for (auto first = all.begin(); first != all.end();) {
        const auto last =
            std::find_if(first, all.end(), [&](const LossStep& step) { return step.step != first->step; });
        *kept++ = joined(std::span(first, last));
        first = last;
    }
    all.erase(kept, all.end());
    all.shrink_to_fit();
    history.steps = std::move(all);
}

void addEnds(const LaneLife& life, LossHistory& history)
{
    if (history.ownStop.text.empty()) {
        history.ownStop = life.ownStop;
    }
    if (history.crash.text.empty()) {
        history.crash = life.crash;
    }
    history.doubts.insert(history.doubts.end(), life.doubts.begin(), life.doubts.end());
}

/// Takes the steps out of the group: a long run has no room for them twice.
LossHistory lossHistoryOf(Lanes& group, std::size_t life)
{
    LossHistory history;
    history.life = static_cast<int>(life);
    std::vector<LossStep> all;
    std::size_t count = 0;
    for (const auto& lane : group) {
        count += life < lane.lives.size() ? lane.lives[life].steps.size() : 0;
    }
    all.reserve(count);
    for (std::uint32_t lane = 0; lane < group.size(); ++lane) {
        auto& read = group[lane];
        history.lanes.push_back(read.lane);
        history.lives = std::max(history.lives, static_cast<int>(read.lives.size()));
        if (life < read.lives.size()) {
            const auto steps = std::move(read.lives[life].steps);
            for (const auto& step : steps) {
                all.push_back(step);
                all.back().lane = lane;
            }
            addEnds(read.lives[life], history);
        }
    }
    join(std::move(all), history);
    return history;
}

} // namespace

EvidenceLine LossHistory::evidence(const LossStep& step, std::string text) const
{
    return {std::move(text), fmt::format("{}:{}", lanes[step.lane].source, step.line)};
}

std::vector<LossHistory> lossHistoriesOf(const RunData& run)
{
    std::vector<LossHistory> histories;
    for (auto& group : groupsOf(readLanes(run))) {
        std::size_t lives = 0;
        for (const auto& lane : group) {
            lives = std::max(lives, lane.lives.size());
        }
        for (std::size_t life = 0; life < lives; ++life) {
            histories.push_back(lossHistoryOf(group, life));
        }
    }
    return histories;
}

namespace {

/// What the reader of the log knows of its trainer.
std::optional<std::int64_t> baseOfTrainer(const RunData& run, const RankLossLog& lane)
{
    const auto said = std::ranges::find_if(run.settings,
        [&](const Setting& setting) { return setting.name == stepBaseName && setting.source == lane.source; });
    return said == run.settings.end() ? std::nullopt : std::optional<std::int64_t>(said->value == "0" ? 0 : 1);
}

/// Weights of step N were loaded, and the next loss is printed as that of step N.
bool beganWithLoadedStep(const RunData& run, const RankLossLog& lane, const std::vector<const Series*>& losses)
{
    const auto isLoaded = [&](const Checkpoint& one) {
        return one.fact == CheckpointFact::loaded && one.source == lane.source && one.step > 0;
    };
    if (std::ranges::none_of(run.checkpoints, isLoaded)) {
        return false;
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> lines; // and the step there
    for (const auto* series : losses) {
        for (const auto& point : series->points) {
            lines.emplace_back(point.line, point.step);
        }
    }
    std::ranges::stable_sort(lines, {}, &std::pair<std::int64_t, std::int64_t>::first);
    return std::ranges::any_of(run.checkpoints, [&](const Checkpoint& one) {
        const auto behind =
            std::ranges::upper_bound(lines, one.line, {}, &std::pair<std::int64_t, std::int64_t>::first);
        return isLoaded(one) && behind != lines.end() && behind->second == one.step;
    });
}

} // namespace

std::int64_t stepBaseOf(const RunData& run, const RankLossLog& lane, const std::vector<const Series*>& losses)
{
    if (lane.ownDetector) {
        return 0;
    }
    if (const auto base = baseOfTrainer(run, lane)) {
        return *base;
    }
    if (beganWithLoadedStep(run, lane, losses)) {
        return 0;
    }
    const auto least = std::ranges::min_element(losses, {}, &Series::firstStep);
    return least != losses.end() && (*least)->firstStep == 0 ? 0 : 1;
}

bool savesBeforeUpdate(const RunData& run, const RankLossLog& lane, const std::vector<const Series*>& losses)
{
    return lane.ownDetector || beganWithLoadedStep(run, lane, losses);
}

} // namespace nanscope::diagnose
