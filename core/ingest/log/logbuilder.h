// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ingest/log/columnmap.h"
#include "core/ingest/log/logsource.h"
#include "core/model/run.h"

namespace nanscope::ingest {

/// Counts lines that say what an event before them says already: a check on a GPU fails in every thread at once, and a
/// library may complain ten thousand times.
class Copies
{
public:
    /// True if `event` is a copy of one of `events`, which then counts it. Never of one from before the row of metrics
    /// that was begun last: between two rows it was another step.
    bool count(const Event& event, std::int64_t rows, std::vector<Event>& events);

    /// What follows are copies of nothing.
    void forget() { m_known.clear(); }

private:
    std::unordered_map<std::size_t, std::size_t> m_known; ///< place in `events` by hash
    std::int64_t m_rows = 0;
};

/// Without the digits of "[33,0,0]" and the like. "[Rank 3]" and "[0]" keep theirs, they tell who it was.
std::string withoutTuples(std::string_view text);

/// Of a log with rows that are left out because their step can be none.
Event oddStepEvent(std::int64_t line);

/// Collects what the readers of one log find: points into series, rows into segments, events. Knows which values a
/// step was reported without. Names are looked up by position first, since lines of a log repeat their fields.
class LogBuilder
{
public:
    /// `rank` is what the file's place says, for lines that carry no rank themselves.
    LogBuilder(std::string source, std::optional<int> rank, int firstSegment);

    /// What the user says the names of this log stand for, before anything is added.
    void useColumns(ColumnMap columns) { m_columns = std::move(columns); }
    /// The names of values met so far, as the log has them.
    std::vector<std::string> rawNames() const;

    /// What an earlier import already stored of this log, so that steps and segments continue.
    void resume(const Series& stored) { m_stored.push_back(stored); }

    /// A number for the lines of a process that its rank does not name alone, 0 for an empty name.
    int laneOf(const std::string& process);
    /// All rows that follow are of this lane.
    void setLane(int lane) { m_lane = lane; }

    /// All values that follow belong to this step, until the next row.
    void startRow(std::optional<int> rank, std::int64_t step, std::int64_t line, bool inferred = false);
    /// For logs without a step: rows are counted.
    void startCountedRow(std::optional<int> rank, std::int64_t line);
    /// More values of the row that was counted last.
    void continueCountedRow(std::optional<int> rank, std::int64_t line);
    void value(std::string_view rawName, double value);
    /// The row has a place for this value and nothing in it.
    void absent(std::string_view rawName);

    /// A line that says the same as one before it is counted there.
    void event(Event event);
    void checkpoint(Checkpoint checkpoint);
    /// Of a configuration that a log prints: its own lines say which values a run had.
    void setting(Setting setting);
    /// For formats whose steps need not hold every value: nothing is missing where nothing was written.
    void expectNothing() { m_expects = false; }
    std::optional<int> fileRank() const { return m_fileRank; }
    const std::string& source() const { return m_source; }

    struct Row
    {
        std::int64_t step = 0;
        std::int64_t line = 0;
        bool inferred = false;
        std::optional<std::int64_t> stepBefore {}; ///< of the row above it
    };
    /// Begun last by lines with this rank in front.
    std::optional<Row> lastRow(std::optional<int> rank) const;
    /// Steps between two checkpoints as the log's own configuration has it; 0 where it does not say.
    std::int64_t saveInterval() const { return m_saveInterval; }

    std::size_t size() const { return m_points + m_events.size() + m_checkpoints.size() + m_settings.size(); }
    /// Ends the last step of every rank.
    void finish();
    /// Hands over what was collected since the last call; segments and steps go on.
    void take(LogContents& contents);

private:
    struct Slot
    {
        std::string rawName;
        std::string name;
        std::size_t rawHash = 0; ///< of rawName: tables of a thousand columns have names of one length
        std::size_t hash = 0; ///< of name
        bool inferred = false;
        bool isLoss = false; ///< under whatever name
        bool isFirst = true; ///< no other had its name before
        bool comesWithLoss = false;
        int segment = -1;
        std::int64_t lastStep = 0;
        std::unique_ptr<Series> series; ///< of the current segment, while it has points to hand over
    };
    struct RankState
    {
        std::optional<int> rank;
        int lane = 0;
        std::string suffix; ///< of its names
        int segment = 0;
        bool open = false;
        bool inferred = false;
        bool noSteps = false; ///< what the log calls its step went back too often to be one: rows are counted
        std::int64_t given = 0; ///< what the log calls the step of the last row
        bool hasCompanion = false; ///< a value that is printed together with the loss was given at this step
        std::int64_t step = 0;
        std::optional<std::int64_t> stepBefore;
        std::int64_t line = 0;
        std::int64_t counted = 0;
        std::size_t hint = 0;
        std::vector<Slot> slots;
        std::vector<std::size_t> absent;
        std::vector<Series> stored;
    };

    RankState& stateOfRank(std::optional<int> rank);
    std::unique_ptr<RankState> begin(std::optional<int> rank) const;
    Slot* slotOf(std::string_view rawName);
    std::optional<std::size_t> findSlot(std::string_view rawName);
    Slot* makeSlot(std::string_view rawName);
    std::string nameOf(std::string_view rawName) const;
    void say(const RankState& state, std::string text);
    void saySomeLeftOut();
    void startRowWithoutStep(RankState& state, std::int64_t given, std::int64_t line);
    void closeStep(RankState& state);
    void beginSegment(RankState& state);
    void append(RankState& state, Slot& slot, const Point& point);
    void handOver(Slot& slot);

    std::string m_source;
    std::optional<int> m_fileRank;
    int m_firstSegment;
    std::map<std::pair<int, int>, std::unique_ptr<RankState>> m_ranks; ///< by lane and rank, -1 is no rank
    std::vector<std::string> m_lanes; ///< names of those from 1 on
    std::vector<Series> m_stored;
    int m_lane = 0;
    ColumnMap m_columns;
    RankState* m_row = nullptr;
    std::int64_t m_line = 0;
    std::vector<Series> m_done;
    std::vector<Event> m_events;
    Copies m_copies;
    std::vector<Checkpoint> m_checkpoints;
    std::vector<Setting> m_settings;
    std::int64_t m_saveInterval = 0;
    std::size_t m_storyLength = 0; ///< checkpoints and settings given so far
    std::array<std::int64_t, static_cast<std::size_t>(EventKind::other) + 1> m_eventCounts {};
    std::size_t m_points = 0;
    std::int64_t m_rows = 0; ///< begun so far
    bool m_tooManyNames = false;
    bool m_expects = true;
};

} // namespace nanscope::ingest
