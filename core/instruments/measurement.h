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
struct Specimen
{
    std::string file; ///< file name without folders
    std::string path;
    Matrices input;
    std::int64_t firstBatch = 0; ///< of the capture, that is matrix 0 of `input`
    std::size_t watched = 0; ///< the matrix of `input` that instruments for one matrix look at
    std::optional<double> epsilon;
    bool forceEpsilon = false; ///< it was not captured, somebody asked for it
    std::vector<double> values; ///< of `input`
    std::vector<Scan> scans; ///< of each matrix of `input`
    std::vector<std::vector<replay::SingularDirection>> directions; ///< that carry signal, of each matrix
};

/// All matrices of a capture, or one. Without a choice the first that is finite and not zero is watched. The epsilon is
/// the captured one unless another is given.
Result<Specimen> openSpecimen(
    const CaptureRef& capture, std::optional<std::int64_t> batch, std::optional<double> epsilon = std::nullopt);

/// The same for matrices that are not in a file.
Specimen specimenOf(Matrices input, std::optional<double> epsilon);

/// What the calls of an instrument came to.
struct MeasureLog
{
    std::int64_t calls = 0;
    std::int64_t failed = 0; ///< came back without an output
    double seconds = 0; ///< in the subject
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

/// Puts questions about one specimen to one subject, judges the replies and keeps the log.
class Asker
{
public:
    Asker(Subject& subject, const Specimen& specimen, JobContext job);

    Result<Judged> ask(const Matrices& input, const std::optional<double>& epsilon, bool forceEpsilon = false);
    Result<Judged> ask() { return ask(m_specimen.input, m_specimen.epsilon); }
    /// A burst on the specimen as it is.
    Result<Burst> burst(const BurstOptions& options);

    /// Directions of inputs that are not the specimen's; nothing is degenerate along none.
    void setDirections(std::vector<std::vector<replay::SingularDirection>> directions)
    {
        m_directions = std::move(directions);
    }
    /// What a good output is, where more is known than the subject says of itself.
    void setExpected(const std::array<double, 2>& outputRange, bool turnsDirections);
    /// A replay beside the calls that somebody asked a cell for.
    void note(const replay::Replay& replay);
    void setPhase(const std::string& job, std::int64_t total, const std::string& unit);

    const SubjectFacts& facts() const { return m_facts; }
    const Specimen& specimen() const { return m_specimen; }
    const MeasureLog& log() const { return m_log; }
    const JobContext& job() const { return m_job; }
    Subject& subject() { return m_subject; }

private:
    void judge(Judged& judged, const Matrices& input) const;

    Subject& m_subject;
    const Specimen& m_specimen;
    JobContext m_job;
    SubjectFacts m_facts;
    MeasureLog m_log;
    Progress m_progress;
    std::vector<std::vector<replay::SingularDirection>> m_directions;
};

} // namespace nanscope::instruments
