// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/instruments/target.h"
#include "core/model/scan.h"
#include "core/replay/engine/spectrum.h"

namespace nanscope::instruments {

/// The capture under an instrument.
struct InputBatch
{
    std::string file; ///< file name without folders
    std::string path;
    Matrices input;
    std::int64_t firstBatch = 0; ///< of the capture, that is matrix 0 of `input`
    std::size_t watched = 0; ///< the matrix of `input` that instruments for one matrix look at
    std::optional<double> epsilon;
    bool forceEpsilon = false; ///< it was not captured but asked for
    std::vector<double> values; ///< of `input`
    std::vector<Scan> scans; ///< of each matrix of `input`
    std::vector<std::vector<replay::SingularDirection>> directions; ///< that carry signal, of each matrix
};

/// All matrices of a capture, or one. Without a choice the first that is finite and not zero is watched. The epsilon is
/// the captured one unless another is given.
Result<InputBatch> openInputBatch(const CaptureRef& capture, std::optional<std::int64_t> batch,
    std::optional<double> epsilon = std::nullopt, const CancelToken& cancel = {});

/// The same for matrices that are not in a file.
InputBatch inputBatchOf(Matrices input, std::optional<double> epsilon, const CancelToken& cancel = {});

/// What the calls of an instrument came to.
struct MeasureLog
{
    std::int64_t calls = 0;
    std::int64_t failed = 0; ///< came back without an output
    double seconds = 0; ///< in the target
    std::vector<std::string> complaints; ///< each kind once, one sentence
    void complain(const std::string& text);
};

/// A reply and how its matrices ended.
struct Judged
{
    Reply reply;
    std::vector<double> values; ///< of the output; empty where there is none
    std::vector<Scan> scans; ///< of each matrix of it
    std::vector<Outcome> outcomes; ///< of each matrix; empty where there is no output
    Outcome worst = Outcome::finite;

    bool answered() const { return !outcomes.empty(); }
};

/// Puts questions about one input batch to one target, judges the replies and keeps the log.
class Measurement
{
public:
    Measurement(Target& target, const InputBatch& inputBatch, JobContext job);

    Result<Judged> ask(const Matrices& input, const std::optional<double>& epsilon, bool forceEpsilon = false);
    Result<Judged> ask() { return ask(m_inputBatch.input, m_inputBatch.epsilon); }
    /// A burst on the input batch as it is.
    Result<Burst> burst(const BurstOptions& options);

    /// Directions of inputs that are not the input batch's; nothing is degenerate along none.
    void setDirections(std::vector<std::vector<replay::SingularDirection>> directions)
    {
        m_directions = std::move(directions);
    }
    /// What a good output is, where more is known than the target says of itself.
    void setExpected(const std::array<double, 2>& outputRange, bool turnsDirections);
    /// From the beginning, of a target that became another; why that is stays in the log.
    void startAgain(const std::string& why);
    /// Counts a replay that an instrument makes beside its calls.
    void note(const replay::Replay& replay);
    void setPhase(const std::string& job, std::int64_t total, const std::string& unit);

    const TargetFacts& facts() const { return m_facts; }
    const InputBatch& inputBatch() const { return m_inputBatch; }
    const MeasureLog& log() const { return m_log; }
    const JobContext& job() const { return m_job; }
    Target& target() { return m_target; }

private:
    void judge(Judged& judged, const Matrices& input) const;

    Target& m_target;
    const InputBatch& m_inputBatch;
    JobContext m_job;
    TargetFacts m_facts;
    MeasureLog m_log;
    Progress m_progress;
    std::vector<std::vector<replay::SingularDirection>> m_directions;
};

} // namespace nanscope::instruments
