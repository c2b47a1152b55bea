// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What is known of a captured call before it is judged. A verdict is a function of these facts alone, and a session
// keeps them: another answer of the user takes no replay and no file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/capture.h"
#include "core/model/experiment.h"

namespace nanscope {

/// Place of a capture among those of its run.
enum class Role {
    birth, ///< finite input, damaged output, nothing earlier explains it: first observed, not first ever
    upstream, ///< the input was already damaged and no earlier capture explains it
    downstream, ///< its input was bad after an earlier call went bad
    padding, ///< an all-zero element: harmless for the weights, and proof of a fault all the same
    healthy, ///< finite in and out: a control, or corruption that left no NaN
    noOutput, ///< an input alone, of a call that raised or whose output nobody kept: there is nothing to judge
};

inline constexpr Role lastRole = Role::noOutput;

std::string_view name(Role role);

/// One line of evidence, with where it comes from ("console.log:27", "output", "replay").
struct EvidenceLine
{
    std::string text;
    std::string source;
};

/// How the set of plausible variants was found.
enum class IdentifiedBy { sidecar, given, console, fit, unknown };
std::string_view name(IdentifiedBy how);

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
    bool published = true; ///< false: its authors never recommended the form
    bool castsFirst = false; ///< to its compute format, before the norm
    double slackNeeded = 1; ///< percent, with less of which finite replays are luck
    bool recordedEpsilon = false; ///< replayed with the epsilon of the dump, which its source ignores
    bool castLoses = false; ///< that cast makes Inf of the largest values of this input, or zero of all
    /// Of no roundings: slack, max|Q| and headroom are forecast from the singular values of the input; the forecast for
    /// this variant, of the same format and form, was held against a replay. Empty where it was replayed.
    std::string forecastBy {};
};

/// What the positions of damaged values have in common.
enum class DamageShape {
    none,
    wholeElement,
    singleElement,
    rows, ///< whole ones
    columns,
    rectangle,
    stridedRectangle, ///< every n-th row or column of one
    blocks, ///< some rows x some columns, neither all of a range nor evenly apart
    diagonal, ///< of a square matrix, all of it
    lowerTriangle,
    upperTriangle,
    mirroredPair, ///< of a square matrix, a rectangle and its mirror image
    scattered,
};

inline constexpr DamageShape lastDamageShape = DamageShape::scattered;

/// "whole element", "strided rectangle"
std::string_view name(DamageShape shape);

/// What the damage looks like, in words and numbers.
struct DamagePattern
{
    DamageShape shape = DamageShape::none;
    std::string text; ///< "rows 32–63 × columns 64–127 are NaN"
    int batch = 0;
    std::int64_t rowBegin = 0; ///< end is exclusive
    std::int64_t rowEnd = 0;
    std::int64_t colBegin = 0;
    std::int64_t colEnd = 0;
    std::int64_t count = 0;
    std::int64_t nan = 0; ///< of them; the others are infinite
    std::vector<std::pair<std::uint64_t, std::int64_t>> nanBits; ///< bit pattern and how often, most frequent first
};

/// A log's trace before the fault. Climbing speaks for the numbers and against everything else, calm the other way. One
/// that was not finite any more when the call was made speaks against a finite input.
struct LogTrend
{
    bool climbing = false;
    bool notFinite = false;
    EvidenceLine line;
};

/// Tiles of 16 x 16 that a fault would not show in: what may have run ends that differently under its own roundings.
struct UnjudgedTiles
{
    std::int64_t count = 0;
    std::int64_t of = 0; ///< tiles that were looked at
    double error = 0; ///< relative: by how much the worst of them is off; of all, the typical one
    double spread = 0; ///< by how much replays differ there
    std::int64_t row = 0; ///< where the worst of them starts
    std::int64_t col = 0;

    bool all() const { return count > 0 && count == of; }
};

/// What stands in a place of a finite output bit for bit, and no rounding puts there.
enum class Leftover {
    none,
    zeros,
    input, ///< of the same place
    elsewhere, ///< of the output
};

inline constexpr Leftover lastLeftover = Leftover::elsewhere;

/// "zeros", "input"
std::string_view name(Leftover leftover);

/// How a finite output, or the finite part of one, was held against the plausible variants.
struct OutputFit
{
    bool compared = false; ///< enough of the output is finite to hold it against the variants
    bool localDamage = false; ///< most tiles fit, some do not
    std::string measured; ///< the variant whose replay gave the worst tile, empty where none was needed
    double worstTileError = 0;
    std::int64_t worstRow = 0;
    std::int64_t worstCol = 0;
    /// Unpublished forms, whose roundings differ as much there: the tile is wrong where none of them ran.
    std::vector<std::string> unlessRan {};
    UnjudgedTiles unjudged {};
    Leftover leftover = Leftover::none; ///< at [worstRow, worstCol]
    std::int64_t leftoverRow = 0; ///< Leftover::elsewhere: the other place
    std::int64_t leftoverCol = 0;

    /// Roundings take it so far that a replay tells nothing of its values.
    bool isNoise() const { return !compared || unjudged.all(); }
};

/// What an output that no variant gives is in terms of one, or of its own input. It accuses nobody.
enum class OffAs {
    unknown,
    input, ///< bit for bit
    multiple, ///< what a variant gives, times one factor
    otherSteps, ///< what a variant gives in another number of steps, perhaps times one factor
    notOfInput, ///< as unlike the input as chance makes it: of another one, or with its values in other places
};

inline constexpr OffAs lastOffAs = OffAs::notOfInput;

/// "multiple", "other-steps"
std::string_view name(OffAs as);

struct OffOutput
{
    OffAs as = OffAs::unknown;
    std::vector<std::string> variants {}; ///< multiple and otherSteps: those that it is nearest to, the best first
    double factor = 1; ///< of the best
    int steps = 0; ///< otherSteps
    int ownSteps = 0; ///< otherSteps: as many as the variant was published with
    double fit = 0; ///< relative Frobenius distance over the finite part, of the best
};

/// A call that went well: another matrix of the damaged one, or a healthy capture of the same kind.
struct ControlCall
{
    std::string source; ///< "element 0 of this call", or the file name of the healthy capture
    bool sameCall = false;
    double inputNorm = 0; ///< Frobenius
    Identification identified;
    std::vector<std::string> exact; ///< variants whose own format gives nearly every value of it bit for bit
    bool otherSize = false; ///< the norm of its input is more than 16 times another: a branch may lie between
    bool otherProcess =
        false; ///< perhaps: it may contradict a name or show how matrices are taken, and confirms no code
};

/// A call that was given the same bits and came out finite.
struct DuplicateInput
{
    std::string capture; ///< its name
    bool sameProcess = false; ///< else of another rank
    std::optional<int> rank;
    std::vector<std::string> fits; ///< the variants that its output fits; none where it fits nothing
    std::vector<std::string> sameSchedule; ///< of the members, those with the schedule of one of `fits`
    bool sameRest =
        false; ///< what is finite in the damaged output are the bits of this one, so the same code made them
};

/// What is known of one captured call, or of the matrix of a batch that its verdict is about.
struct Facts
{
    Role role = Role::birth; ///< by triage, which replays nothing
    bool replayed = false; ///< false: what follows is not filled in, but for the damage

    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t matrices = 1; ///< of the batch
    std::int64_t matricesJudged = 1;
    double inputAbsmax = 0;
    bool inputFinite = true;
    bool inputZero = false;
    bool outputFinite = false;
    bool outputZero = false;

    DamagePattern damage;
    bool damageOnZeros = false; ///< all that is damaged lies where the input is zero
    bool damageInFaintLines = false; ///< it lies in rows or columns that hold next to nothing
    /// A block of the input with zeros in the rest of its rows and columns, or one far smaller or larger than the
    /// others.
    bool damageInOwnBlock = false;
    bool damageAmongLargest =
        false; ///< every damaged value is an Inf, or a NaN of its format, where the result is largest
    bool dumpedByWrapper = false; ///< around a function of its input and epsilon alone
    bool besideBadInput = false; ///< another matrix of the call was not finite when it came in
    bool takenTogether = false; ///< it kept no finite value, and none beside it came out whole: may be of one iteration
    bool exactBits = false; ///< nearly every finite value, or another matrix of the call, is a variant's bit for bit
    bool normMayVanish = false; ///< squares of the input leave fp32, or come short in fp16 beside a larger healthy call
    bool epsilonMatters = false; ///< an epsilon that may have been in effect is not far below the norm of the input
    /// The dump records none, and a member takes the caller's, or is a published name for what the helper saw as other
    /// code.
    bool epsilonMissing = false;

    Identification identified; ///< by the sidecar, the user, the output, or a control, in this order
    OutputFit fit; ///< its worst tile is that which no replay of any member gives
    OffOutput off {}; ///< of an output that is not what is named, or what any known variant gives
    std::optional<ControlCall> control;
    std::string outputOfEarlier; ///< file of an earlier call of the process with this output, and another input
    double outputOfEarlierOff = 0; ///< relative Frobenius distance of the two outputs; 0 is bit for bit
    std::optional<int> outputOfElement; ///< the same of another matrix of this call, bit for bit
    bool zeroInPlaces = false; ///< what no replay gives is zero, as a mask leaves it
    bool termOrFactor = false; ///< what no replay gives there may be a term or a factor of the user's own
    bool misplaced = false; ///< what no replay gives there stands elsewhere among the results of this call
    std::vector<EvidenceLine> found; ///< in the bytes: holds whatever ran
    std::vector<MemberResult> members;

    std::vector<LogTrend> logs;
    std::optional<EvidenceLine> hardwareError; ///< in the logs of this rank or process
    std::vector<EvidenceLine> besides; ///< hardware errors elsewhere, ranks that left no dump: they decide nothing
    std::optional<DuplicateInput> duplicate;
    int wrongBesideOtherRanks = 0; ///< how often this rank was damaged where another was right on the same bits

    std::vector<std::string> ran; ///< of the members, what the user ticked: "VARIANT" or "VARIANT:PRECISION"
    bool nothingElse = false; ///< the user's word: no other code touched the input or the result
    bool nothingElseBySidecar = false; ///< a sidecar gives that word
    bool otherCode = false; ///< the user's word: some did; never beside nothingElse
    std::optional<FailureRate> failureRate;
    std::vector<TriedExperiment> tried;
    Scene scene {};
    std::vector<CallsAgain> calledAgain; ///< of this capture, at the scene and as the user counted them
};

} // namespace nanscope
