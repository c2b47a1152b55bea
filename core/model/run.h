// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/capture.h"

namespace nanscope {

/// What a log says of one value at one step. NaN and the infinities are data, not absence.
enum class PointState : std::uint8_t {
    finite,
    nan,
    posInf,
    negInf,
    reported, ///< the step was reported, this value was not
};

PointState stateOf(double value);

struct Point
{
    std::int64_t step = 0;
    double value = 0;
    PointState state = PointState::finite;
    std::int64_t line = 0; ///< 1-based line of the source

    /// Prints the same; at another step, perhaps.
    bool sameValue(const Point& other) const
    {
        return state == other.state && (state != PointState::finite || value == other.value);
    }
};

/// One named value of one rank from one source. Canonical names: loss val_loss grad_norm lr loss_scale
/// tokens_per_second step_time_s; any other keeps the name its log gives it.
struct Series
{
    std::int64_t id = 0;
    std::string name;
    std::optional<int> rank;
    int segment = 0; ///< restarts and resumes count up; see docs/architecture.md
    std::string source; ///< path relative to the run's folder
    bool stepInferred = false;
    std::vector<Point> points; ///< in the order of the source; empty when only the summary was asked for

    std::int64_t pointCount = 0; ///< with a value; `missing` counts the others
    std::int64_t firstStep = 0;
    std::int64_t lastStep = 0;
    std::int64_t nan = 0;
    std::int64_t posInf = 0;
    std::int64_t negInf = 0;
    std::int64_t missing = 0;
};

enum class EventKind {
    captureDumped, ///< the wrapper's line naming a dump; `capture` holds the dump's file name
    nanLoss, ///< a trainer's own NaN/Inf warning
    skippedStep, ///< the optimizer left the step out: an overflow, a guard
    lossSpike, ///< a trainer's own monitor of spikes spoke
    optimizerStop, ///< the trainer gave up
    traceback, ///< last line of a Python traceback
    terminated, ///< killed by a signal or by the launcher, usually a consequence
    collective, ///< NCCL or gloo failure, usually a consequence
    infrastructure, ///< out of memory, disk full, no kernel image
    machine, ///< Xid, ECC, SDC
    diagnosticFailed, ///< a checker that itself failed: never evidence of NaN
    resumed, ///< training went on from a checkpoint
    damaged, ///< part of the log itself could not be read; of the file as it was, not of the run
    other,
};

std::string_view name(EventKind kind);
std::optional<EventKind> parseEventKind(std::string_view name);

/// What a line of KempnerForge's NaN detector says. `step` is counted before the trainer's increment: a trainer that
/// prints its metrics after it would have printed the step behind.
struct NanMessage
{
    std::int64_t step = 0;
    bool otherRank = false; ///< this rank's own loss was finite; such a line names no last good loss
    std::int64_t consecutive = 0;
    std::int64_t total = 0;
    std::optional<double> lastGoodLoss;
    std::optional<std::int64_t> lastGoodStep;

    bool operator==(const NanMessage&) const = default;
};

/// Words that a line has, whatever its kind; core/logtext has a table of them.
enum class Phrase : std::uint8_t {
    pythonWarning, ///< printed by Python's warnings, which shows the same one once per process
    runtimeError, ///< the message of Python's RuntimeError
    dionCapture, ///< dion's wrapper, which dumps what is not finite
    dionGuard, ///< dion's guard, which leaves an update out
    badGradient, ///< KempnerForge's detector names a gradient
    tooManyNans, ///< KempnerForge gives up
    noIntegerOfNan, ///< a trainer that rounds its loss fails at one that is not finite
    trainingComplete,
    lossScale, ///< a loss scale is named: where DeepSpeed scales nothing, its line of an overflow leaves it away
    lossScaleAtMinimum, ///< DeepSpeed gives up
    namesPrinter, ///< an overflow of any rank; the rank that is named is the one that prints
    anomalyMode, ///< autograd's anomaly mode is on
    forwardCall, ///< anomaly mode names the call whose backward failed; its frames are the detail
    nanInBackward, ///< anomaly mode found a NaN
    mixedFormats, ///< number formats that do not go together
    writtenByDriver, ///< a hardware error as the driver of the GPU, or the call that failed, writes it
    gemmScan, ///< hipBLASLt's scanner of what its products give
    notScanned, ///< that scanner says which calls it did not look at
    instructionCheck, ///< GPU-FPX or nixnan, which look at every instruction of a kernel
    overflowTrace, ///< Hugging Face's DebugUnderflowOverflow, which looks at what modules take and give
    updateLeftOut, ///< a guard, or a trainer, left an update out since a value was not finite
    processKilled, ///< a signal ended a process
    invalidAccess, ///< compute-sanitizer's memcheck: outside of what was allocated, or misaligned
    unwrittenRead, ///< its initcheck: memory was read that nobody had written
    sharedRace, ///< its racecheck: two threads of a block, one of which writes, in no order
    barrierMisuse, ///< its synccheck
    sanitizerWarning, ///< it reports less than an error
    sanitizerClean, ///< a run of it ended without a report
    newtonSchulzKernel, ///< what it reports is in a kernel whose name, or whose file's, is one of Newton-Schulz
    xid, ///< of a card that is named by its address, perhaps with the process that used it
    uncorrectedMemory, ///< values of a memory may have been others than were written
    callsNotSeen, ///< the capture helper saw no call, or did not look at all of them
};

/// The collective operation that one rank is in, or did last. Ranks count those of a process group alike.
struct CollectiveCall
{
    std::int64_t sequence = 0;
    std::string operation {}; ///< "ALLREDUCE"; empty where the line names none
    std::string group {}; ///< as the line names it; empty where it does not
    bool ended = false; ///< it did, and the rank has begun no later one

    bool operator==(const CollectiveCall&) const = default;
};

/// What the words of an event's line say. Read off the line once, by core/logtext: diagnose looks at no line.
struct EventFacts
{
    std::vector<Phrase> phrases {}; ///< in their order
    std::optional<NanMessage> detector {};
    std::optional<double> attemptedScale {}; ///< the loss scale with which a step overflowed
    std::string operation {}; ///< of which a checker says that it made a NaN: "Sqrt" (autograd), "sqrt" (JAX)
    Shape guarded {}; ///< of the stack that dion's guard looked at
    std::optional<int> pid {};
    /// Where an instrument saw the first bad value: an instruction, a product, a module, a line of the forward pass.
    std::string site {};
    std::optional<CollectiveCall> collective {};

    bool operator==(const EventFacts&) const = default;
    bool says(Phrase phrase) const;
};

struct Event
{
    std::int64_t id = 0;
    EventKind kind = EventKind::other;
    std::optional<int> rank;
    std::optional<std::int64_t> step; ///< only if the line itself says it
    std::string capture; ///< for captureDumped
    std::string text; ///< the line, without prefixes and colour codes, at most 1,000 bytes
    std::string source; ///< path relative to the run's folder
    std::int64_t line = 0;
    std::int64_t copies = 1; ///< lines that say the same; the first of them is kept
    std::string detail {}; ///< of a traceback: its frames, the innermost last, at most 4,000 bytes
    EventFacts facts {};

    bool says(Phrase phrase) const { return facts.says(phrase); }
    /// "console.log:27"
    std::string place() const { return source + ':' + std::to_string(line); }
};

enum class CheckpointFact {
    found, ///< its files lie in the folder
    saved, ///< a log says that it is complete
    removed, ///< a log says that it was deleted
    loaded, ///< a log says that training went on from it
};

std::string_view name(CheckpointFact fact);
std::optional<CheckpointFact> parseCheckpointFact(std::string_view name);

/// What the floating-point tensors of a checkpoint held when all of its files were read.
struct CheckpointContents
{
    std::string stamp; ///< of its files at that time: another one where they were written again since
    std::int64_t tensors = 0;
    std::int64_t weights = 0; ///< of these, what is no state of the optimizer and was read
    std::int64_t badWeights = 0; ///< tensors with NaN or infinities, among weights and buffers
    std::int64_t badState = 0; ///< the same, among the state of the optimizer
    std::int64_t open = 0; ///< tensors with infinities that may be meant, as a mask has them
    std::int64_t unread = 0; ///< tensors and files that could not be read
    std::int64_t damaged = 0; ///< places where it is cut off, contradicts itself or lacks a file: it cannot be loaded
    /// Of the worst of these the first: "layers.0.weight holds 96 NaN, the first at [2,0]".
    std::string first;

    bool operator==(const CheckpointContents&) const = default;
};

/// What a folder or a log says of one checkpoint. Several facts may be known of the same one.
struct Checkpoint
{
    std::int64_t step = 0; ///< as its name or its line has it
    CheckpointFact fact = CheckpointFact::found;
    std::string path; ///< relative to the run's folder, or as the log writes it
    std::string problem; ///< of a found one: why it is not complete, empty where its files tell of none
    std::string source; ///< the log; empty for one that was found
    std::int64_t line = 0;
    std::optional<CheckpointContents> contents {}; ///< of a found one that was read
    std::string
        place {}; ///< where a found one may be read; empty where that is outside the folders of the run and its session
};

/// One value of a configuration or an environment that a file of the run holds.
struct Setting
{
    std::string name; ///< as written, parts joined by dots: "optimizer.lr"
    std::string value;
    std::optional<int> rank;
    std::string source;
    std::int64_t line = 0;
};

/// What the lines of logs say.
struct LogRecords
{
    std::vector<Series> series {};
    std::vector<Event> events {};
    std::vector<Checkpoint> checkpoints {};
    std::vector<Setting> settings {};
};

/// A file that could not be used, with one sentence why.
struct Rejection
{
    std::string path;
    std::string reason;
};

/// What was imported of a log before it was begun anew or written over: kept, but no part of what the log tells now, or
/// a step that two generations of it reported would count as two.
struct ReplacedLog
{
    std::string source; ///< as its records have it, "logs/(replaced) train.log"
    std::string path; ///< of the file that holds something else now, "logs/train.log"
    LogRecords records;
    bool said = false; ///< an import has said that the log was begun anew
    bool compared =
        false; ///< its points were held against those of the log that has its path now, and some are missing
};

/// Everything known of one run before it is judged: what the session holds, and what diagnose reads.
struct RunData : LogRecords
{
    std::string name; ///< the folder's name
    std::string root;
    std::vector<Capture> captures;
    std::vector<Rejection> rejected;
    std::vector<ReplacedLog> replaced {};
    /// What was seen while reading and left nothing out, a second copy of a capture for example; a session keeps none.
    std::vector<Rejection> notes {};
};

/// How many values there are, with those that are not finite.
std::int64_t pointsOf(const LogRecords& records);

} // namespace nanscope
