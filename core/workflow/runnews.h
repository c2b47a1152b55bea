// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "core/workflow/toldvalues.h"

namespace nanscope::workflow {

/// The first value of a series that is not finite, or a trainer's own word of one.
struct NonFiniteNews
{
    std::string series; ///< empty where the log has only words, which are in `text`
    std::string text {};
    PointState state = PointState::nan;
    std::optional<int> rank {};
    std::vector<int> otherRanks {}; ///< whose series of this name went at the same step, found at the same look
    std::optional<std::int64_t> step {};
    bool stepInferred = false;
    std::string source {};
    std::int64_t line = 0;
};

/// "loss is NaN at step 780 on rank 3 and 63 other ranks (rank_3.log:781)"
std::string textOf(const NonFiniteNews& news);

/// What a run that goes on tells from one look at it to the next, each thing once, however many logs tell it. A log
/// that was begun anew may tell again what the one before it told.
class RunNews
{
public:
    using PointsOf = std::function<Result<std::vector<Point>>(const Series&)>;

    /// A dump whose file was written again, of the same input: it was not whole, or was added to.
    struct Rewritten
    {
        std::string before; ///< the identity that was told
        const Capture* now = nullptr; ///< points into the run
    };

    struct Found
    {
        std::vector<const Capture*> dumps; ///< point into the run
        std::vector<Rewritten> rewritten;
        std::vector<NonFiniteNews> nonFinite;
        bool saidMore = false; ///< a sidecar came later than its dump
        bool asksForJudgement() const { return !dumps.empty() || !rewritten.empty() || saidMore; }
        bool empty() const { return nonFinite.empty() && !asksForJudgement(); }
    };

    /// What is there that was not at the last look; at the first one, all there is. Points are asked for only of series
    /// in which more is not finite than before.
    Found look(const RunData& run, const PointsOf& pointsOf);

private:
    struct Seen
    {
        std::int64_t bad = 0;
        std::int64_t points = 0;
        bool told = false;
    };

    /// What only a sidecar says of a capture.
    struct Said
    {
        std::optional<std::string> variant;
        std::optional<std::int64_t> step;
        bool nothingElse = false;
        Scene scene;
        bool operator==(const Said&) const = default;
    };

    void forgetReplaced(const RunData& run);
    void lookAtCaptures(const RunData& run, Found& found);
    void takeCapture(const Capture& capture, Found& found);
    void lookAtSeries(const Series& series, const PointsOf& pointsOf, Found& found);
    void lookAtWords(const RunData& run, Found& found);
    bool hasTold(const std::string& source) const;

    /// What a file held when it was looked at last.
    struct Held
    {
        std::string identity;
        std::size_t input = 0; ///< a hash of what its scan counts
    };

    std::map<std::string, Said> m_captures; ///< by identity
    std::map<std::string, Held> m_files; ///< by path
    std::map<std::string, std::map<std::string, Seen>> m_series; ///< by log, then by name, rank and segment
    ToldValues m_values;
    std::set<std::string> m_words; ///< logs whose words were told
    std::unordered_map<std::size_t, std::string> m_said; ///< what was said, and the log that said it first
    std::set<std::string> m_replaced;
};

} // namespace nanscope::workflow
