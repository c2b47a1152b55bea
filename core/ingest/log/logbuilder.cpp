// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/log/logbuilder.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "core/ingest/text/consoletext.h"
#include "core/ingest/text/metricnames.h"
#include "core/logtext/eventfacts.h"

namespace nanscope::ingest {

namespace {

/// So many different lines between two rows of metrics are told apart, then counting begins anew.
constexpr std::size_t mostKnown = 4096;

/// Every one of these is a fact of its own: which step, which loss scale, which dump.
bool standsForItself(const Event& event)
{
    return event.step || event.kind == EventKind::captureDumped || event.kind == EventKind::skippedStep
        || event.kind == EventKind::resumed || event.says(Phrase::lossScale);
}

bool isTuple(std::string_view inside)
{
    const auto belongs = [](char c) {
        return isDigit(c) || std::string_view(" ,:/-").find(c) != std::string_view::npos;
    };
    const auto end = inside.find_first_not_of("0123456789");
    return end != 0 && end != std::string_view::npos && isDigit(inside.back())
        && std::all_of(inside.begin(), inside.end(), belongs);
}

std::size_t hashOf(const Event& event)
{
    const std::hash<std::string> hash;
    return hash(withoutTuples(event.text)) ^ (hash(event.detail) << 1U)
        ^ (static_cast<std::size_t>(event.rank.value_or(-1)) << 8U) ^ static_cast<std::size_t>(event.kind);
}

bool saysTheSame(const Event& a, const Event& b)
{
    return a.kind == b.kind && a.rank == b.rank && a.detail == b.detail
        && (a.text == b.text || withoutTuples(a.text) == withoutTuples(b.text));
}

} // namespace

std::string withoutTuples(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        out += text[at];
        const auto end = text[at] == '[' ? text.find(']', at) : std::string_view::npos;
        if (end == std::string_view::npos || end == at + 1 || !isTuple(text.substr(at + 1, end - at - 1))) {
            continue;
        }
        const auto inside = text.substr(at + 1, end - at - 1);
        std::copy_if(inside.begin(), inside.end(), std::back_inserter(out), [](char c) { return !isDigit(c); });
        at = end - 1;
    }
    return out;
}

bool Copies::count(const Event& event, std::int64_t rows, std::vector<Event>& events)
{
    if (standsForItself(event)) {
        return false;
    }
    if (rows != m_rows || m_known.size() >= mostKnown) {
        m_known.clear();
        m_rows = rows;
    }
    const auto [place, isNew] = m_known.try_emplace(hashOf(event), events.size());
    if (isNew) {
        return false;
    }
    if (place->second >= events.size() || !saysTheSame(events[place->second], event)) {
        place->second = events.size();
        return false;
    }
    ++events[place->second].copies;
    return true;
}

namespace {

constexpr std::size_t mostNames = 1000;
constexpr int mostSegments = 1000;
constexpr std::size_t mostSeries = 100'000; ///< of a rank, one for every name of every segment
constexpr std::int64_t mostEventsOfAKind = 100'000;
constexpr std::size_t longestText = 1000;
constexpr std::size_t longestStory = 100'000;
constexpr std::size_t longestName = 200;

/// The series that holds what a log calls its step where that is none.
constexpr std::string_view givenStep = "step";

/// Behind it the name of the process: "loss @worker-1".
constexpr std::string_view laneMark = " @";

bool isOfALane(std::string_view name)
{
    return name.find(laneMark) != std::string_view::npos;
}

std::size_t hashOf(std::string_view text)
{
    return std::hash<std::string_view> {}(text);
}

bool printedWithLoss(std::string_view name)
{
    return name == "grad_norm" || name == "lr" || name == "loss_scale" || name == "tokens_per_second"
        || name == "step_time_s";
}

void count(Series& series, const Point& point)
{
    switch (point.state) {
    case PointState::nan:
        ++series.nan;
        break;
    case PointState::posInf:
        ++series.posInf;
        break;
    case PointState::negInf:
        ++series.negInf;
        break;
    case PointState::reported:
        ++series.missing;
        return;
    case PointState::finite:
        break;
    }
    ++series.pointCount;
}

} // namespace

Event oddStepEvent(std::int64_t line)
{
    Event event;
    event.text = "rows whose step is no whole number below 9e15 were left out, this one first";
    event.line = line;
    return event;
}

LogBuilder::LogBuilder(std::string source, std::optional<int> rank, int firstSegment)
    : m_source(std::move(source))
    , m_fileRank(rank)
    , m_firstSegment(firstSegment)
{ }

LogBuilder::RankState& LogBuilder::stateOfRank(std::optional<int> rank)
{
    const auto effective = rank ? rank : m_fileRank;
    if (m_row != nullptr && m_row->rank == effective && m_row->lane == m_lane) {
        return *m_row;
    }
    auto& state = m_ranks[{m_lane, effective.value_or(-1)}];
    if (!state) {
        state = begin(effective);
    }
    return *state;
}

std::unique_ptr<LogBuilder::RankState> LogBuilder::begin(std::optional<int> rank) const
{
    auto state = std::make_unique<RankState>();
    state->rank = rank;
    state->lane = m_lane;
    state->suffix = m_lane > 0 ? std::string(laneMark) + m_lanes[static_cast<std::size_t>(m_lane) - 1] : std::string();
    for (const auto& stored : m_stored) {
        const bool own = m_lane > 0 ? stored.name.ends_with(state->suffix) : !isOfALane(stored.name);
        if (stored.rank != rank || !own) {
            continue;
        }
        state->segment = std::max(state->segment, stored.segment - m_firstSegment);
        state->noSteps = state->noSteps || state->segment >= mostSegments
            || (stored.stepInferred && stored.name == std::string(givenStep) + state->suffix);
        if (stored.stepInferred) {
            state->counted = std::max(state->counted, stored.lastStep + 1);
        }
        state->stored.push_back(stored);
    }
    return state;
}

int LogBuilder::laneOf(const std::string& process)
{
    constexpr std::size_t mostLanes = 200;
    if (process.empty()) {
        return 0;
    }
    const auto known = std::find(m_lanes.begin(), m_lanes.end(), process);
    if (known == m_lanes.end() && m_lanes.size() == mostLanes) {
        return static_cast<int>(mostLanes);
    }
    const auto place = known - m_lanes.begin();
    if (known == m_lanes.end()) {
        m_lanes.push_back(process);
    }
    return static_cast<int>(place) + 1;
}

void LogBuilder::startRow(std::optional<int> rank, std::int64_t step, std::int64_t line, bool inferred)
{
    auto& state = stateOfRank(rank);
    m_row = &state;
    m_line = line;
    if (state.noSteps && !inferred) {
        return startRowWithoutStep(state, step, line);
    }
    state.given = step;
    if (state.open && state.step == step && state.inferred == inferred) {
        state.hint = 0;
        return;
    }
    closeStep(state);
    ++m_rows;
    state.stepBefore = state.line == 0 ? std::nullopt : std::optional(state.step);
    state.open = true;
    state.inferred = inferred;
    state.step = step;
    state.line = line;
    state.hint = 0;
}

/// No training goes back a thousand times. Every value is kept; the number that was no step becomes one of them.
void LogBuilder::startRowWithoutStep(RankState& state, std::int64_t given, std::int64_t line)
{
    const bool same = state.open && state.inferred && state.given == given;
    startRow(state.rank, same ? state.step : state.counted++, line, true);
    state.given = given;
    if (!same) {
        value(givenStep, static_cast<double>(given));
        state.hint = 0;
    }
}

std::optional<LogBuilder::Row> LogBuilder::lastRow(std::optional<int> rank) const
{
    const auto state = m_ranks.find({m_lane, (rank ? rank : m_fileRank).value_or(-1)});
    if (state == m_ranks.end() || state->second->line == 0) {
        return std::nullopt;
    }
    return Row {state->second->step, state->second->line, state->second->inferred, state->second->stepBefore};
}

void LogBuilder::startCountedRow(std::optional<int> rank, std::int64_t line)
{
    auto& state = stateOfRank(rank);
    startRow(rank, state.counted, line, true);
    ++state.counted;
}

void LogBuilder::continueCountedRow(std::optional<int> rank, std::int64_t line)
{
    const auto& state = stateOfRank(rank);
    startRow(rank, std::max<std::int64_t>(0, state.counted - 1), line, true);
}

std::optional<std::size_t> LogBuilder::findSlot(std::string_view rawName)
{
    auto& state = *m_row;
    const auto matches = [&](const Slot& slot) { return slot.rawName == rawName && slot.inferred == state.inferred; };
    if (state.hint < state.slots.size() && matches(state.slots[state.hint])) {
        return state.hint++;
    }
    const auto hash = hashOf(rawName);
    const auto found = std::find_if(state.slots.begin(), state.slots.end(),
        [&](const Slot& slot) { return slot.rawHash == hash && matches(slot); });
    if (found == state.slots.end()) {
        return std::nullopt;
    }
    const auto index = static_cast<std::size_t>(found - state.slots.begin());
    state.hint = index + 1;
    return index;
}

void LogBuilder::say(const RankState& state, std::string text)
{
    Event said;
    said.rank = state.rank;
    said.line = m_line;
    said.text = std::move(text);
    event(std::move(said));
}

void LogBuilder::saySomeLeftOut()
{
    if (!std::exchange(m_tooManyNames, true)) {
        say(*m_row, fmt::format("more than {} different values in this log; the others were left out", mostNames));
    }
}

std::vector<std::string> LogBuilder::rawNames() const
{
    std::vector<std::string> names;
    for (const auto& [rank, state] : m_ranks) {
        std::transform(state->slots.begin(), state->slots.end(), std::back_inserter(names),
            [](const Slot& slot) { return slot.rawName; });
    }
    return names;
}

/// The user's word first; what would go by a name they gave to another column keeps its own.
std::string LogBuilder::nameOf(std::string_view rawName) const
{
    if (const auto given = m_columns.seriesOf(rawName); !given.empty()) {
        return std::string(given);
    }
    auto name = canonicalName(rawName);
    const bool isSeries = name != "step" && name != "rank";
    if (!isSeries || !m_columns.claims(name)) {
        return name;
    }
    return name == rawName ? name + " (2)" : std::string(rawName);
}

LogBuilder::Slot* LogBuilder::makeSlot(std::string_view rawName)
{
    auto& state = *m_row;
    // A name whose steps came to be counted has a second series.
    const auto names = std::count_if(
        state.slots.begin(), state.slots.end(), [&](const Slot& slot) { return slot.inferred == state.inferred; });
    if (static_cast<std::size_t>(names) >= mostNames) {
        saySomeLeftOut();
        return nullptr;
    }
    Slot slot;
    slot.rawName = rawName;
    slot.rawHash = hashOf(rawName);
    slot.name = readable(nameOf(rawName), longestName);
    slot.isLoss = slot.name == "loss";
    const bool comesWithLoss = printedWithLoss(slot.name);
    slot.name += state.suffix;
    slot.inferred = state.inferred;
    // Two names of a log for one thing may be two things, a mean over an epoch for example: two series.
    const auto taken = [&](const Slot& other) {
        return other.hash == slot.hash && other.name == slot.name && other.inferred == slot.inferred;
    };
    const auto anyTakes = [&] {
        slot.hash = hashOf(slot.name);
        return std::any_of(state.slots.begin(), state.slots.end(), taken);
    };
    slot.isFirst = !anyTakes();
    slot.comesWithLoss = slot.isFirst && comesWithLoss;
    if (!slot.isFirst) {
        slot.name = readable(rawName, longestName) + state.suffix;
    }
    for (int next = 2; anyTakes(); ++next) {
        slot.name = fmt::format("{} ({}){}", readable(rawName, longestName), next, state.suffix);
    }
    for (const auto& stored : state.stored) {
        const int segment = stored.segment - m_firstSegment;
        if (stored.name == slot.name && stored.stepInferred == slot.inferred && segment >= slot.segment) {
            slot.segment = segment;
            slot.lastStep = stored.lastStep;
        }
    }
    state.slots.push_back(std::move(slot));
    state.hint = state.slots.size();
    return &state.slots.back();
}

LogBuilder::Slot* LogBuilder::slotOf(std::string_view rawName)
{
    const auto found = findSlot(rawName);
    return found ? &m_row->slots[*found] : makeSlot(rawName);
}

void LogBuilder::handOver(Slot& slot)
{
    if (slot.series) {
        m_done.push_back(std::move(*slot.series));
        slot.series.reset();
    }
}

/// Each point a series of its own would cost a thousand times what it holds.
void LogBuilder::beginSegment(RankState& state)
{
    ++state.segment;
    if (state.segment >= mostSegments || static_cast<std::size_t>(state.segment) * state.slots.size() > mostSeries) {
        state.noSteps = true;
        say(state,
            fmt::format("the steps of this log went back {} times; behind this line its rows are counted instead, and "
                        "what it calls their step is kept as a value",
                state.segment));
    }
}

void LogBuilder::append(RankState& state, Slot& slot, const Point& point)
{
    if (slot.segment == state.segment && point.step < slot.lastStep && !state.noSteps) {
        beginSegment(state);
    }
    if (slot.segment != state.segment) {
        handOver(slot);
        slot.segment = state.segment;
    }
    if (!slot.series) {
        slot.series = std::make_unique<Series>();
        slot.series->name = slot.name;
        slot.series->rank = state.rank;
        slot.series->segment = m_firstSegment + slot.segment;
        slot.series->source = m_source;
        slot.series->stepInferred = slot.inferred;
        slot.series->firstStep = point.step;
    }
    slot.lastStep = point.step;
    slot.series->lastStep = point.step;
    count(*slot.series, point);
    slot.series->points.push_back(point);
    ++m_points;
}

void LogBuilder::value(std::string_view rawName, double value)
{
    auto* slot = slotOf(rawName);
    if (slot == nullptr) {
        return;
    }
    m_row->hasCompanion = m_row->hasCompanion || slot->comesWithLoss;
    append(*m_row, *slot, {m_row->step, value, stateOf(value), m_line});
}

void LogBuilder::absent(std::string_view rawName)
{
    const auto found = findSlot(rawName);
    if (!found && !isCanonical(nameOf(rawName))) {
        return;
    }
    auto* slot = found ? &m_row->slots[*found] : makeSlot(rawName);
    if (slot != nullptr) {
        m_row->absent.push_back(static_cast<std::size_t>(slot - m_row->slots.data()));
    }
}

// Several lines may report one step, so what a step lacks is known only when the next one begins.
void LogBuilder::closeStep(RankState& state)
{
    if (!state.open) {
        return;
    }
    const auto lacks = [&](const Slot& slot) { return slot.segment != state.segment || slot.lastStep != state.step; };
    const Point missing {state.step, 0, PointState::reported, state.line};
    for (const auto index : state.absent) {
        if (lacks(state.slots[index])) {
            append(state, state.slots[index], missing);
        }
    }
    state.absent.clear();
    const auto lossGiven = [&] {
        return std::any_of(state.slots.begin(), state.slots.end(),
            [&](const Slot& slot) { return slot.isLoss && slot.inferred == state.inferred && !lacks(slot); });
    };
    if (std::exchange(state.hasCompanion, false) && m_expects && !lossGiven()) {
        for (auto& slot : state.slots) {
            if (slot.isLoss && slot.isFirst && slot.segment == state.segment && slot.inferred == state.inferred
                && lacks(slot)) {
                append(state, slot, missing);
            }
        }
    }
    state.open = false;
}

void LogBuilder::event(Event event)
{
    event.text = readable(trimmed(event.text), longestText);
    event.facts = logtext::factsIn(event.text, event.detail);
    if (m_copies.count(event, m_rows, m_events)) {
        return;
    }
    const auto seen = ++m_eventCounts[static_cast<std::size_t>(event.kind)];
    if (seen > mostEventsOfAKind) {
        return;
    }
    if (seen == mostEventsOfAKind) {
        event.text = fmt::format("{} lines of this kind; the others were left out", mostEventsOfAKind);
        event.facts = {};
    }
    event.source = m_source;
    m_events.push_back(std::move(event));
}

void LogBuilder::checkpoint(Checkpoint checkpoint)
{
    if (++m_storyLength > longestStory) {
        return;
    }
    checkpoint.path = readable(checkpoint.path, longestText);
    checkpoint.source = m_source;
    m_checkpoints.push_back(std::move(checkpoint));
}

void LogBuilder::setting(Setting setting)
{
    if (++m_storyLength > longestStory) {
        return;
    }
    if (setting.name == "checkpoint.interval") {
        m_saveInterval = parseInteger(setting.value).value_or(0);
    }
    setting.name = readable(setting.name, longestName);
    setting.value = readable(setting.value, longestText);
    setting.source = m_source;
    m_settings.push_back(std::move(setting));
}

void LogBuilder::finish()
{
    for (auto& [rank, state] : m_ranks) {
        closeStep(*state);
    }
}

void LogBuilder::take(LogContents& contents)
{
    for (auto& [rank, state] : m_ranks) {
        for (auto& slot : state->slots) {
            handOver(slot);
        }
    }
    contents.series = std::exchange(m_done, {});
    contents.events = std::exchange(m_events, {});
    m_copies.forget();
    contents.checkpoints = std::exchange(m_checkpoints, {});
    contents.settings = std::exchange(m_settings, {});
    m_points = 0;
}

} // namespace nanscope::ingest
