// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/losslane.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "core/diagnose/recovery/lanematerial.h"

namespace nanscope::diagnose {

namespace {

/// So often no training begins anew: what else a log says of ends counts for nothing.
constexpr std::size_t mostLives = 2000;

/// No run counts so far; what a damaged line says beyond could only overflow.
constexpr std::int64_t mostSteps = std::int64_t {1} << 53;

constexpr double notKnown = std::numeric_limits<double>::quiet_NaN();

EvidenceLine evidenceOf(const Event& event)
{
    return {event.text, fmt::format("{}:{}", event.source, event.line)};
}

bool namesGoodLoss(const probe::NanMessage& said)
{
    return said.lastGoodLoss && said.lastGoodStep && std::isfinite(*said.lastGoodLoss);
}

/// Joins the losses and the marks of one lane in the order of the file.
class LaneReader
{
public:
    LaneReader(const LaneMaterial& material, const LossLane& lane)
        : m_material(material)
        , m_lane(lane)
    { }

    std::vector<LaneLife> read();

private:
    LaneLife& life();
    void end() { m_ended = m_lives.size() < mostLives; }
    std::size_t lossCount() const;
    void endBefore(std::int64_t step);
    void append(const TrailStep& step);
    void take(const Point& point, int segment);
    void take(const Mark& mark);
    void takeMessage(const Event& event, const probe::NanMessage& said);
    void doubt(const Event& event, const probe::NanMessage& said);

    const LaneMaterial& m_material;
    const LossLane& m_lane;
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

void LaneReader::append(const TrailStep& step)
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
    if ((absent && m_lane.absent > 0) || std::abs(point.step) > mostSteps) {
        return;
    }
    const auto step = point.step - m_lane.offset;
    endBefore(step);
    TrailStep taken {step, absent ? notKnown : point.value, point.line};
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
    switch (mark.kind) {
    case Mark::Kind::message:
        takeMessage(*mark.event, mark.message);
        break;
    case Mark::Kind::resumed:
        end();
        break;
    case Mark::Kind::stopped:
        life().ownStop = evidenceOf(*mark.event);
        end();
        break;
    case Mark::Kind::crashed:
        life().crash = evidenceOf(*mark.event);
        end();
        break;
    }
}

void LaneReader::takeMessage(const Event& event, const probe::NanMessage& said)
{
    const bool repeated = !m_ended && said.total == m_total && said.step == m_lastWarning; // by another handler
    if (repeated || said.step > mostSteps || said.lastGoodStep.value_or(0) > mostSteps) {
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
    if (event.text.find("RuntimeError") != std::string::npos) {
        life().ownStop = evidenceOf(event);
        end();
    }
}

void LaneReader::doubt(const Event& event, const probe::NanMessage& said)
{
    if (said.total == m_total + 1) {
        return;
    }
    life().doubts.push_back({fmt::format("this line counts {} steps that were not finite, the log shows {} of them: "
                                         "lines are missing, and so may be a stop",
                                 said.total, m_total + 1),
        fmt::format("{}:{}", event.source, event.line)});
}

/// The line that prints this loss at this step, of those before a warning.
const Point* printedAs(const LaneMaterial& material, std::int64_t step, double loss, std::int64_t before)
{
    constexpr double roundedBoth = 0.00006; // to four digits, one of them at least
    for (const auto* series : material.losses) {
        const auto behind = [](const Point& point, std::int64_t wanted) { return point.step < wanted; };
        for (auto point = std::lower_bound(series->points.begin(), series->points.end(), step, behind);
             point != series->points.end() && point->step == step; ++point) {
            if (point->line < before && std::abs(point->value - loss) < roundedBoth) {
                return &*point;
            }
        }
    }
    return nullptr;
}

/// Trainers print behind the increment and detectors count before it; a loop of one's own may not. The loss that a
/// warning remembers is found again on the line that printed it.
void findNumbering(const LaneMaterial& material, LossLane& lane)
{
    lane.offset = 1;
    for (const auto& mark : material.marks) {
        const auto& said = mark.message;
        for (const std::int64_t offset : {1, 0}) {
            const auto* point = namesGoodLoss(said)
                ? printedAs(material, *said.lastGoodStep + offset, *said.lastGoodLoss, mark.event->line)
                : nullptr;
            if (point != nullptr) {
                lane.offset = offset;
                lane.numbering = {
                    fmt::format("the loss that the warning in line {} has of step {} is printed as that of step {}",
                        mark.event->line, *said.lastGoodStep, point->step),
                    fmt::format("{}:{}", lane.source, point->line)};
                return;
            }
        }
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
    if (gaps.empty()) {
        return 1;
    }
    const auto middle = gaps.begin() + std::ssize(gaps) / 2;
    std::nth_element(gaps.begin(), middle, gaps.end());
    return std::max<std::int64_t>(1, *middle);
}

ReadLane laneFrom(const LaneKey& key, const LaneMaterial& material)
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
    std::map<std::string_view, const LossLane*> warns;
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

} // namespace

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

} // namespace nanscope::diagnose
