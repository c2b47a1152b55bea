// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/cell.h"
#include "core/model/experiment.h"

namespace nanscope {

/// Place of a capture in the story of its run.
enum class Role {
    birth, ///< finite input, damaged output, nothing earlier explains it: first observed, not first ever
    upstream, ///< the input was already damaged and no earlier capture explains it
    downstream, ///< contaminated by an earlier capture
    padding, ///< an all-zero element: harmless for the weights, and proof of a fault all the same
    healthy, ///< finite in and out: a control, or corruption that left no NaN
};

std::string_view name(Role role);
std::optional<Role> parseRole(std::string_view name);

/// Answer to "whose fault". A wrong accusation is worse than none.
enum class Blame { undecided, upstream, downstream, numerics, implementation, nondeterministic, machine };

std::string_view name(Blame blame);
std::optional<Blame> parseBlame(std::string_view name);

enum class StepSource { sidecar, console, mtime, unknown };
std::string_view name(StepSource source);

/// How the set of plausible variants was found.
enum class IdentifiedBy { sidecar, given, console, fit, unknown };
std::string_view name(IdentifiedBy how);

/// One line of evidence, with where it comes from ("console.log:27", "output", "replay").
struct EvidenceLine
{
    std::string text;
    std::string source;
};

struct VariantFit
{
    std::string variant;
    double fit = 0; ///< relative Frobenius distance over the finite part of the captured output
};

/// The plausible set P: what may have run.
struct Identification
{
    std::vector<std::string> names;
    IdentifiedBy how = IdentifiedBy::unknown;
    std::optional<double> fit; ///< of the best
    std::optional<double> runnerUp; ///< of the best variant outside the set
    std::string runnerUpName;
    std::vector<VariantFit> all; ///< best first
    bool matchesNone = false; ///< compared, and nothing fits
};

/// One member of P under its envelope of roundings.
struct MemberResult
{
    std::string variant;
    std::string precision;
    int roundings = 0;
    int finite = 0; ///< how many of them stayed finite
    int reproducing = 0; ///< how many end with exactly the dump's pattern
    std::optional<double> slackPercent; ///< smallest distance of ||X||_2 to the divergence limit
    std::optional<double> absmaxQ;
    double headroomBinades = 0; ///< log2(largest finite / largest magnitude met)
    std::string firstBad; ///< "step 3 q" of the earliest non-finite, empty when all are finite
};

/// What the damage looks like, in words and numbers.
struct DamagePattern
{
    std::string name; ///< "whole element", "rectangle", "rows", "columns", "single element", "scattered", "none"
    std::string text; ///< "rows 32-63 x columns 64-127 are NaN"
    int batch = 0;
    std::int64_t rowBegin = 0; ///< end is exclusive
    std::int64_t rowEnd = 0;
    std::int64_t colBegin = 0;
    std::int64_t colEnd = 0;
    std::int64_t count = 0;
    std::vector<std::pair<std::uint64_t, std::int64_t>> nanBits; ///< bit pattern and how often, most frequent first
};

/// A log's trace before the fault. Climbing speaks for the numbers and against everything else, calm the other way.
struct LogTrend
{
    bool climbing = false;
    EvidenceLine line;
};

/// How a finite output, or the finite part of one, was held against the plausible variants.
struct OutputFit
{
    bool compared = false; ///< enough of the output is finite to hold it against the variants
    bool localDamage = false; ///< most tiles fit, some do not
    std::string measured; ///< the variant whose replay gave the worst tile, empty where none was needed
    double worstTileError = 0;
    std::int64_t worstRow = 0;
    std::int64_t worstCol = 0;
};

/// Where in a replay a value can have gone bad.
struct SpreadPlace
{
    std::string variant;
    int iteration = 0;
    OpName op = OpName::input;
    bool mirrored = false; ///< by a kernel that computes one triangle and writes it twice
    bool operator==(const SpreadPlace&) const = default;
};

/// What the rules weighed besides the members, kept so that they can be asked again about fewer of them.
struct Weighed
{
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    double inputAbsmax = 0;
    bool inputZero = false;
    bool outputFinite = false;
    bool outputZero = false;
    OutputFit fit;
    std::vector<LogTrend> logs;
    std::optional<EvidenceLine> machine; ///< a hardware error in the logs
};

/// The judgement of one capture.
struct CaptureVerdict
{
    std::int64_t captureId = 0;
    std::string capture; ///< its name
    Role role = Role::birth;
    std::optional<int> rank;
    std::optional<std::pair<std::int64_t, std::int64_t>> step; ///< between the lines of these two steps
    StepSource stepSource = StepSource::unknown;
    Blame blame = Blame::undecided;
    bool marginal = false;
    std::string kind; ///< finer than blame: "kernel or launch order", "finite corruption", ...
    std::string summary; ///< one sentence
    std::string question; ///< for undecided: what would decide it, else empty
    Identification variant;
    std::vector<MemberResult> members;
    DamagePattern damage;
    std::optional<Weighed> weighed; ///< none where no rule was asked, or by an older version
    std::vector<EvidenceLine> speaksFor;
    std::vector<EvidenceLine> speaksAgainst;
    std::vector<EvidenceLine> notTestable;
    std::vector<Experiment> next; ///< most informative first
    std::string causedBy; ///< downstream: name of the birth it descends from
    std::string layer {}; ///< "rank 3, element 0: one of 6 mlp.fc2 [512,1408]"; empty where no parameters are known
    std::vector<std::string> layerCandidates {}; ///< parameters it may be, the likeliest first
    std::vector<SpreadPlace> endsLike {}; ///< a tile gone bad there ends with exactly this pattern
    int endsLikeTried = 0; ///< places tried, 0 where none were
    std::string unread {}; ///< one sentence: why its file could not be judged; empty where it was
};

/// Captures that one cause can have damaged.
struct Cluster
{
    std::string text; ///< "3 births: rank 0, steps 5-7, [512,1408], rows 32-63"
    std::vector<std::string> captures; ///< names, in order of update and call
};

enum class AdvisoryStatus { confirmed, suspected, fixed };

std::string_view name(AdvisoryStatus status);
std::optional<AdvisoryStatus> parseAdvisoryStatus(std::string_view name);

/// A published problem of a package that may concern this run. Never evidence: a line of its own.
struct AdvisoryMatch
{
    std::string id;
    AdvisoryStatus status = AdvisoryStatus::suspected;
    bool certain = false; ///< every fact it asks for is known and matches; false: `missing` says which are not known
    std::string title;
    std::string text;
    std::string link;
    std::string matched; ///< the facts that match: "quack 0.4.1, compute capability 12.0"
    std::string missing; ///< the facts that would tell
    std::string dated; ///< day it was looked up, ISO 8601
};

struct Triage
{
    int captures = 0;
    int births = 0;
    int upstream = 0;
    int downstream = 0;
    int padding = 0;
};

enum class FindingState {
    fired,
    clear, ///< looked for, with data that would show it, and not there
    notCheckable, ///< this data cannot show it
    silenced, ///< fired, and the user does not want to hear of it
};

std::string_view name(FindingState state);

/// A card and what became of it on the evidence of the run.
struct Finding
{
    std::string id;
    FindingState state = FindingState::fired;
    std::string title;
    std::string severity; ///< "info", "warning", "error"
    std::optional<std::int64_t> step;
    std::optional<int> rank;
    struct Evidence
    {
        std::string file;
        std::int64_t line = 0;
        std::string text;
    };
    std::vector<Evidence> evidence;
    std::vector<std::string> advice;
    std::string reason {}; ///< one sentence: what was seen, or what is missing to see it
    std::string threshold {}; ///< the rule with its number and where that comes from
    std::string confidence {}; ///< "low", "medium", "high"; empty where it did not fire
};

enum class CheckpointStatus {
    safe, ///< written before the first sign of trouble, and nothing speaks against it
    suspect,
    poisoned, ///< written with values that were already bad
    missing, ///< removed, or not complete
    unverified, ///< nothing was logged between it and the fault that would show
};

std::string_view name(CheckpointStatus status);

struct CheckpointAdvice
{
    std::int64_t step = 0;
    CheckpointStatus status = CheckpointStatus::unverified;
    std::string reason;
    std::string path;
    std::vector<EvidenceLine> proof;
};

/// Where to go back to, and what that costs.
struct Rollback
{
    std::optional<std::int64_t> recommended; ///< step of the checkpoint
    std::string reason;
    std::string tonight; ///< one line: the setting, the checkpoint, the cost
    std::vector<CheckpointAdvice> checkpoints; ///< newest first
};

struct Diagnosis
{
    std::string run;
    Triage triage;
    std::string headline; ///< "25 captures, 1 birth: rank 0, after the line of step 5, before that of step 6"
    std::vector<CaptureVerdict> captures; ///< births first, then in order of update and call
    std::vector<Cluster> clusters; ///< of births; none where there are fewer than two births
    std::vector<Finding> findings;
    std::vector<AdvisoryMatch> advisories;
    std::optional<Rollback> rollback; ///< none where nothing went wrong, or no checkpoint is known
    Observations observed; ///< what withObservations() has put into the verdicts
};

} // namespace nanscope
