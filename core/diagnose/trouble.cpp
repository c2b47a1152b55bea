// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/trouble.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/diagnose/natural.h"
#include "core/diagnose/stepbase.h"

namespace nanscope {

namespace {

constexpr double spikeFactor = 2;
constexpr std::size_t spikeWindow = 100;
constexpr std::size_t fewestBefore = 10;
constexpr std::int64_t noEnd = std::numeric_limits<std::int64_t>::max();

void earliest(std::optional<Sign>& sign, Sign other)
{
    if (!sign || other.weights < sign->weights) {
        sign = std::move(other);
    }
}

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
    LifeReader(const RunData& run, const Trail& trail, std::int64_t base)
        : m_run(run)
        , m_trail(trail)
        , m_base(base)
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
    ProcessLife m_life;
};

void LifeReader::readPlace()
{
    m_life.number = m_trail.life;
    m_life.last = m_trail.life + 1 == m_trail.lives;
    m_life.countsRows = std::ranges::any_of(m_trail.lanes, &LossLane::countedSteps);
    for (const auto& lane : m_trail.lanes) {
        m_life.sources.push_back({lane.source, m_trail.life == 0 ? 0 : noEnd, noEnd});
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
        return event.text.starts_with("Training complete") && here(event.source, event.line);
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
            m_life.proofs.push_back({weightsOf(step), step.loss, printed(step), step.line, step.lane});
        }
    }
}

/// A process ends in a file where the next one begins.
void endWhereTheNextBegins(std::vector<ProcessLife>& lives)
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
            } else if (event.kind == EventKind::traceback
                && event.text.find("[dion NaN capture]") != std::string::npos) {
                raised.push_back(&event);
            }
        }
    }

    bool endedWithOne(const ProcessLife& life) const
    {
        return std::ranges::any_of(raised, [&](const Event* e) { return life.wrote(e->source, e->line); });
    }

    /// The process whose console names the dump; where none does, the last one.
    ProcessLife* lifeOf(const CaptureVerdict& verdict, std::vector<ProcessLife>& lives) const
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
void readBirths(const RunData& run, const std::vector<CaptureVerdict>& verdicts, std::vector<ProcessLife>& lives)
{
    const DumpLines lines(run);
    for (const auto& verdict : verdicts) {
        const bool bad = verdict.role == Role::birth || verdict.role == Role::upstream;
        auto* life = bad && verdict.step ? lines.lifeOf(verdict, lives) : nullptr;
        if (life == nullptr) {
            continue;
        }
        const auto base = life->proofs.empty() ? 1 : life->proofs.front().step - life->proofs.front().weights;
        const auto weights = verdict.step->first - base + 1;
        if (!life->proofs.empty() && life->proofs.back().weights >= weights) {
            continue;
        }
        Sign sign {weights, {fmt::format("{} has a Newton-Schulz output that is not finite", verdict.capture), {}}};
        earliest(lines.endedWithOne(*life) ? life->tornFrom : life->poisonedFrom, std::move(sign));
    }
}

/// Captures alone: where nothing was logged, all that is known is their own order.
void readCapturesAlone(const RunData& run, const std::vector<CaptureVerdict>& verdicts, std::vector<ProcessLife>& lives)
{
    if (lives.empty()) {
        lives.emplace_back();
        readBirths(run, verdicts, lives);
        if (!lives.back().inTrouble()) {
            lives.clear();
        }
    }
}

std::vector<Point> pointsOf(const RunData& run, const ProcessLife& life, std::string_view name)
{
    std::vector<Point> points;
    const auto& watched = life.sources.front();
    for (const auto& series : run.series) {
        if (series.name != name || series.source != watched.file || !points.empty()) {
            continue;
        }
        std::ranges::copy_if(series.points, std::back_inserter(points),
            [&](const Point& point) { return life.wrote(watched.file, point.line); });
    }
    return points;
}

void readClimb(const RunData& run, ProcessLife& life, std::string_view name)
{
    if (!life.inTrouble() || life.sources.empty() || life.proofs.empty()) {
        return;
    }
    const auto base = life.proofs.front().step - life.proofs.front().weights;
    const auto points = pointsOf(run, life, name);
    if (const Point* start = climbBefore(points, life.first() + base)) {
        earliest(life.climbingFrom,
            {start->step - base,
                {fmt::format("{} climbs from step {} on ({:.4g}, over twice the mean of the 100 before)", name,
                     start->step, start->value),
                    fmt::format("{}:{}", life.sources.front().file, start->line)}});
    }
}

std::string fileOf(const ProcessLife& life)
{
    return life.sources.empty() ? std::string() : life.sources.front().file;
}

/// Some process goes on with finite losses where this one went bad.
bool wasPassed(const ProcessLife& life, const std::vector<ProcessLife>& lives)
{
    return !life.last || std::ranges::any_of(lives, [&](const ProcessLife& other) {
        return &other != &life && !other.proofs.empty() && other.first() > life.first()
            && other.proofs.back().weights >= life.first() && naturalLess(fileOf(life), fileOf(other));
    });
}

const ProcessLife* lifeInTrouble(const std::vector<ProcessLife>& lives)
{
    const ProcessLife* found = nullptr;
    for (const auto& life : lives) {
        if (life.inTrouble() && !wasPassed(life, lives) && (found == nullptr || life.first() > found->first())) {
            found = &life;
        }
    }
    return found;
}

} // namespace

std::int64_t ProcessLife::first() const
{
    auto least = noEnd;
    for (const auto* sign : {&poisonedFrom, &doubtFrom, &tornFrom}) {
        least = *sign ? std::min(least, (*sign)->weights) : least;
    }
    return least;
}

const Proof* ProcessLife::proofOf(std::int64_t n) const
{
    const auto found = std::ranges::lower_bound(proofs, n, {}, &Proof::weights);
    return found == proofs.end() || found->weights >= first() ? nullptr : &*found;
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

const Point* climbBefore(const std::vector<Point>& points, std::int64_t step)
{
    std::deque<double> window;
    double sum = 0;
    double level = 0; ///< the mean before the climb
    std::size_t length = 0;
    const Point* start = nullptr;
    for (const auto& point : points) {
        if (point.step >= step || point.state != PointState::finite) {
            continue;
        }
        const double mean = window.empty() ? 0 : sum / static_cast<double>(window.size());
        const double against = start != nullptr ? level : mean;
        const bool high = window.size() >= fewestBefore && against > 0 && point.value >= spikeFactor * against;
        if (high && start == nullptr) {
            start = &point;
            level = mean;
            length = 0;
        }
        if (!high || ++length > spikeWindow) {
            start = nullptr;
        }
        window.push_back(point.value);
        sum += point.value;
        if (window.size() > spikeWindow) {
            sum -= window.front();
            window.pop_front();
        }
    }
    return start;
}

Trouble troubleOf(const RunData& run, const std::vector<CaptureVerdict>& verdicts)
{
    Trouble trouble;
    for (const auto& trail : trailsOf(run)) {
        if (!trail.lanes.empty()) {
            trouble.lives.push_back(LifeReader(run, trail, stepBaseOf(run, trail)).read());
        }
    }
    std::ranges::stable_sort(
        trouble.lives, [](const ProcessLife& a, const ProcessLife& b) { return naturalLess(fileOf(a), fileOf(b)); });
    endWhereTheNextBegins(trouble.lives);
    readBirths(run, verdicts, trouble.lives);
    readCapturesAlone(run, verdicts, trouble.lives);
    for (auto& life : trouble.lives) {
        readClimb(run, life, "loss");
        readClimb(run, life, "grad_norm");
    }
    trouble.life = lifeInTrouble(trouble.lives);
    return trouble;
}

namespace {

std::string quietText(const RunData& run)
{
    std::int64_t bad = 0;
    std::int64_t all = 0;
    std::int64_t missing = 0;
    for (const auto& series : run.series) {
        if (series.name == "loss") {
            bad += series.nan + series.posInf + series.negInf;
            all += series.pointCount;
            missing += series.missing;
        }
    }
    const auto named = std::ranges::count(run.events, EventKind::nanLoss, &Event::kind);
    if (all + missing == 0) {
        return "no loss in the logs";
    }
    if (bad == 0 && named == 0) {
        return missing == 0 ? "every logged loss is finite"
                            : fmt::format("every logged loss is finite, {} steps were logged without one", missing);
    }
    return bad > 0
        ? fmt::format("{} of {} logged losses {} not finite, and the run went on", bad, all, bad == 1 ? "is" : "are")
        : fmt::format("{} warnings of values that are not finite, and the run went on", named);
}

} // namespace

std::string troubleText(const RunData& run, const Trouble& trouble)
{
    if (trouble.none()) {
        return quietText(run);
    }
    const auto& life = *trouble.life;
    const auto clause = [](const Sign& sign) { return sign.line.text.substr(0, sign.line.text.find(" (")); };
    if (life.poisonedFrom) {
        return clause(*life.poisonedFrom) + ", and no number after it";
    }
    return life.tornFrom ? "a step was broken off by an exception" : clause(*life.doubtFrom) + ", where the log ends";
}

} // namespace nanscope
