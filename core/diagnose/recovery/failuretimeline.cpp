// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/failuretimeline.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

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

constexpr std::int64_t noEnd = std::numeric_limits<std::int64_t>::max();

void earliest(std::optional<Sign>& sign, Sign other)
{
    if (!sign || other.weights < sign->weights) {
        sign = std::move(other);
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
            } else if (event.kind == EventKind::traceback && event.says(Phrase::dionCapture)) {
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
        const auto base = life->proofs.empty() ? 1 : life->proofs.base();
        const auto weights = verdict.step->first - base + 1;
        if (!life->proofs.empty() && life->proofs.lastWeights() >= weights) {
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

/// Where a series of the process climbs before a step.
const Point* climbOf(const RunData& run, const ProcessLife& life, std::string_view name, std::int64_t step)
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

void readClimb(const RunData& run, ProcessLife& life, std::string_view name)
{
    if (!life.inTrouble() || life.sources.empty() || life.proofs.empty()) {
        return;
    }
    const auto base = life.proofs.base();
    if (const Point* start = climbOf(run, life, name, life.first() + base)) {
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
            && other.proofs.lastWeights() >= life.first() && naturalLess(fileOf(life), fileOf(other));
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

Trouble troubleOf(const RunData& run, const std::vector<CaptureVerdict>& verdicts)
{
    Trouble trouble;
    LivesReader reader(run);
    for (auto& trail : trailsOf(run)) {
        if (!trail.lanes.empty()) {
            trouble.lives.push_back(reader.read(trail));
        }
        trail = {};
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
    if (life.poisonedFrom) {
        return life.poisonedFrom->line.text + ", and no number after it";
    }
    return life.tornFrom ? "a step was broken off by an exception" : life.doubtFrom->line.text + ", where the log ends";
}

} // namespace nanscope::diagnose
