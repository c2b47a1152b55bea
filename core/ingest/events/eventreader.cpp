// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/events/eventreader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <re2/re2.h>
#include <re2/set.h>

#include "core/ingest/events/checkpointreader.h"
#include "core/ingest/settings/settingreader.h"
#include "core/ingest/text/consoletext.h"
#include "core/logtext/eventfacts.h"
#include "core/model/run.h"

namespace nanscope::ingest {

namespace {

constexpr int longestTraceback = 10'000;
constexpr std::size_t mostTracebacks = 4096;
constexpr std::size_t longestDetail = 4000;
constexpr std::size_t longestException = 500;
constexpr std::string_view tracebackHead = "Traceback (most recent call last):";

bool isIndented(std::string_view text)
{
    return text.front() == ' ' || text.front() == '\t';
}

bool isException(std::string_view text)
{
    static const RE2 pattern(R"([A-Za-z_][\w.]*(?::.*)?)", RE2::Latin1);
    return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

bool isChain(std::string_view text)
{
    return text.starts_with("During handling of the above exception, another exception occurred:")
        || text.starts_with("The above exception was the direct cause of the following exception:");
}

/// "    ^^^^^^" and "    ~~^^^^^", with which newer Pythons underline.
bool isUnderline(std::string_view text)
{
    return text.find_first_not_of(" ~^") == std::string_view::npos;
}

/// The end stays: the innermost frames are there.
void append(std::string& text, std::string_view line)
{
    text += line;
    text += '\n';
    if (text.size() > 4 * longestDetail) {
        text.erase(0, text.find('\n', text.size() - 2 * longestDetail) + 1);
    }
}

} // namespace

Tracebacks::Part Tracebacks::take(const LogLine& line)
{
    if (line.text.starts_with(tracebackHead)) {
        return start(line) ? Part::inside : Part::none;
    }
    const auto open = m_states.empty() ? m_states.end() : m_states.find(line.process());
    if (open == m_states.end()) {
        return Part::none;
    }
    switch (open->second.phase) {
    case State::Phase::frames:
        return takeFrame(open, line);
    case State::Phase::forward:
        return takeForward(open->second, line);
    default:
        return takeBehind(open, line);
    }
}

bool Tracebacks::start(const LogLine& line)
{
    if (m_states.size() >= mostTracebacks && !m_states.contains(line.process())) {
        return false;
    }
    auto& state = m_states[line.process()];
    state.phase = State::Phase::frames;
    state.lines = 0;
    state.frames.clear();
    if (!state.chained) {
        state.exception.clear();
    }
    return true;
}

void Tracebacks::startForward(const LogLine& line)
{
    if (m_states.size() < mostTracebacks) {
        m_states[line.process()] = State {State::Phase::forward, 0, false, {}, {}, {}};
    }
}

Tracebacks::Part Tracebacks::takeFrame(States::iterator open, const LogLine& line)
{
    auto& state = open->second;
    if (++state.lines > longestTraceback) {
        m_states.erase(open);
        return Part::none;
    }
    if (isIndented(line.text)) {
        if (!isUnderline(line.text)) {
            append(state.frames, line.text);
        }
        return Part::inside;
    }
    if (!isException(line.text)) {
        return Part::none;
    }
    finish(state, line.text);
    return Part::exception;
}

void Tracebacks::finish(State& state, std::string_view exception)
{
    m_frames.clear();
    if (state.chained) {
        append(m_frames, "after " + state.exception);
    }
    m_frames += state.frames;
    if (!state.forward.empty()) {
        append(m_frames, logtext::forwardCallMark);
        m_frames += state.forward;
    }
    m_frames = readableEnd(m_frames, longestDetail);
    state = State {State::Phase::ended, 0, false, {}, {}, readable(exception, longestException)};
}

/// Behind the frames of a forward call stands the line of Python that warned, indented, too.
Tracebacks::Part Tracebacks::takeForward(State& state, const LogLine& line) const
{
    if (++state.lines > longestTraceback || !isIndented(line.text)) {
        state.phase = State::Phase::ended;
        return Part::none;
    }
    if (line.text.starts_with("  File ") || line.text.starts_with("    ")) {
        append(state.forward, line.text);
    }
    return Part::inside;
}

Tracebacks::Part Tracebacks::takeBehind(States::iterator open, const LogLine& line)
{
    auto& state = open->second;
    if (!state.exception.empty() && isChain(line.text)) {
        state.chained = true;
        return Part::inside;
    }
    // Other threads may warn between the frames of a forward call and the exception of its backward pass.
    if (state.forward.empty() || ++state.lines > longestTraceback) {
        m_states.erase(open);
    }
    return Part::none;
}

namespace {

/// One automaton for all the patterns that a line is compared with: a line is gone through once, however many there
/// are.
class LinePatterns
{
public:
    explicit LinePatterns(const std::vector<const char*>& patterns);
    ~LinePatterns();

    /// The patterns that fit somewhere in the text, in order. False if there is none.
    bool match(std::string_view text, std::vector<int>& hits) const;

    /// What a named group of a pattern took; none where it took nothing or has no group of that name.
    std::optional<std::string_view> group(std::size_t pattern, const char* name, std::string_view text) const;

private:
    struct Automaton;

    std::unique_ptr<Automaton> m_automaton;
    std::vector<std::unique_ptr<re2::RE2>> m_withGroups; ///< empty for a pattern without groups
};

/// States of the automaton are made as lines ask for them. Where they no longer fit it begins anew, which is slow.
constexpr std::int64_t memoryForStates = 64 << 20;

RE2::Options options()
{
    RE2::Options options(RE2::Latin1);
    options.set_max_mem(memoryForStates);
    return options;
}

struct LinePatterns::Automaton
{
    RE2::Set set {options(), RE2::UNANCHORED};
};

LinePatterns::LinePatterns(const std::vector<const char*>& patterns)
    : m_automaton(std::make_unique<Automaton>())
{
    for (const char* text : patterns) {
        m_automaton->set.Add(text, nullptr);
        auto pattern = std::make_unique<RE2>(text, RE2::Latin1);
        m_withGroups.push_back(pattern->NumberOfCapturingGroups() > 0 ? std::move(pattern) : nullptr);
    }
    m_automaton->set.Compile();
}

LinePatterns::~LinePatterns() = default;

bool LinePatterns::match(std::string_view text, std::vector<int>& hits) const
{
    // To be told which they are takes memory, and nearly every line fits none.
    if (!m_automaton->set.Match(text, nullptr) || !m_automaton->set.Match(text, &hits)) {
        return false;
    }
    std::sort(hits.begin(), hits.end());
    return !hits.empty();
}

std::optional<std::string_view> LinePatterns::group(std::size_t pattern, const char* name, std::string_view text) const
{
    constexpr int mostGroups = 4;
    const auto& own = m_withGroups[pattern];
    if (!own) {
        return std::nullopt;
    }
    const auto index = own->NamedCapturingGroups().find(name);
    std::array<re2::StringPiece, mostGroups + 1> groups;
    if (index == own->NamedCapturingGroups().end() || index->second > mostGroups
        || !own->Match(text, 0, text.size(), RE2::UNANCHORED, groups.data(), index->second + 1)
        || groups[static_cast<std::size_t>(index->second)].empty()) {
        return std::nullopt;
    }
    const auto& taken = groups[static_cast<std::size_t>(index->second)];
    return std::string_view(taken.data(), taken.size());
}

/// What trainers, libraries and machines print when something happens that is no metric. A new one is one line of the
/// table.
struct Signature
{
    EventKind kind;
    /// A group named `step` gives the step of the event, one named `rank` the rank it concerns. Give a group only what
    /// the line calls a step: a batch, a counter of outliers or a call of forward is none.
    const char* pattern;
};

using enum EventKind;

constexpr std::array eventTable {
    Signature {captureDumped, R"(\[(?:dion NaN|nanscope) capture\] .*dumped to \S)"},

    // A checker that failed, before everything that its message resembles.
    Signature {diagnosticFailed, R"(Operator '?aten\._?is_any_true(?:\.default)?'? does not have a sharding strategy)"},
    Signature {other, R"(Operator '?\w[\w.:]*'? does not have a sharding strategy registered)"},
    Signature {other, R"(got mixed torch\.Tensor and DTensor)"},

    // Counters at zero, and rows set aside after errors that were corrected, are no fault.
    Signature {other, R"((?:^|[:,=] *)0 (?:volatile |aggregate )?(?:[Uu]ncorrectable|[Dd]ouble[- ][Bb]it))"},
    Signature {other, R"((?i:(?:uncorrectable|double[- ]bit)[\w -]*[:=] *0(?:$|[^\d.])))"},

    // Of Xid codes, as the driver writes them, those that stand for memory, bus, links or a GPU that does not start:
    // the others are mostly a program's own fault (13, 31, 43), or follow from one (45).
    Signature {machine,
        R"((?:NVRM: Xid(?: \([^)]*\):)?|Xid \(PCI:[^)]*\):) (?:48|54|64|74|79|92|94|95|121|136|140|143|14[4-9]|150)\b)"},
    Signature {other, R"(NVRM: Xid|\bXid \(PCI:)"},
    Signature {machine, R"([Uu]ncorrectable (?:ECC|NVLink)|[Dd]ouble[- ][Bb]it ECC|SDCReplayMismatch)"},
    Signature {machine, R"(GPU has fallen off the bus|GPU is lost\b)"},
    // The probe fails like any other call behind a program's own bad access.
    Signature {other, R"(GPU health check failed on device \d+: .*(?:illegal memory access|device-side assert))"},
    Signature {machine, R"(GPU health check failed on device \d+)"},

    Signature {infrastructure, R"((?:CUDA|HIP) out of memory|CUDA error: out of memory|OutOfMemoryError)"},
    Signature {infrastructure, R"(CUBLAS_STATUS_ALLOC_FAILED|RESOURCE_EXHAUSTED: Out of memory|OOM errors thrown)"},
    Signature {infrastructure, R"(\boom[-_]kill event|\boom-kill(?:er|:)|Out of memory: Killed process)"},
    Signature {infrastructure, R"(DefaultCPUAllocator: (?:can't allocate|not enough) memory|Cannot allocate memory)"},
    Signature {infrastructure, R"(^MemoryError\b|std::bad_alloc)"},
    Signature {infrastructure, R"(out of shared memory|insufficient shared memory|\[Errno 24\] Too many open files)"},
    Signature {infrastructure, R"(No space left on device|Disk quota exceeded|Read-only file system)"},
    Signature {infrastructure, R"(\[Errno 5\] Input/output error|\[Errno 116\] Stale file handle)"},
    Signature {infrastructure, R"(inline_container\.cc.*(?:unexpected pos|failed writing file))"},
    Signature {infrastructure, R"(no kernel image is available|is not compatible with the current PyTorch install)"},
    Signature {infrastructure, R"(CUDA driver version is insufficient|unsupported toolchain)"},

    Signature {optimizerStop, R"(Too many consecutive NaNs|Loss is NaN/Inf; training diverged)"},
    Signature {optimizerStop, R"(loss scale already at minimum - cannot decrease scale anymore)"},
    Signature {optimizerStop, R"(Training stopped due to (?:a loss spike|consistently high losses))"},

    // Megatron's reruns: only a result that another GPU does not confirm names the machine.
    Signature {machine, R"((?:Rank (?P<rank>\d+), .*)?Second rerun: .*not reproducible on a different GPU)"},
    Signature {machine, R"((?:Rank (?P<rank>\d+), .*)?Possible persistent error!)"},
    Signature {other, R"(First rerun: unexpected result is (?:not )?reproducible|Possible transient error!)"},
    Signature {other, R"(Second rerun: .*is reproducible on a different GPU|but possible Application error\))"},
    Signature {other, R"(Got rescheduled on the same GPU)"},

    Signature {skippedStep, R"(nan_guard_fallback\].* at step (?P<step>\d+); skipping update)"},
    Signature {skippedStep, R"(nan_guard_fallback\].* skipping update)"},
    // verl prints this and leaves the update out; the norm is that of all ranks, so each of them prints it.
    Signature {skippedStep, R"(WARN: rank (?P<rank>\d+) grad_norm is not finite: )"},

    Signature {nanLoss, R"(NaN/Inf loss at step (?P<step>\d+))"},
    Signature {nanLoss, R"(NaN/Inf detected on another rank at step (?P<step>\d+))"},
    Signature {nanLoss, R"(NaN/Inf gradient in \S+ at step (?P<step>\d+))"},
    Signature {nanLoss, R"(Function '\S+' returned nan values in its \d+th output)"},
    Signature {nanLoss, R"(The total norm .* is non-finite, so it cannot be clipped)"},
    Signature {
        nanLoss, R"(Unexpected result (?:tensor\()?(?:nan|-?inf).* on rank (?P<rank>\d+) at iteration #(?P<step>\d+))"},
    Signature {
        nanLoss, R"(Rank (?P<rank>\d+), .* iteration (?P<step>\d+): Unexpected result (?:tensor\()?(?:nan|-?inf))"},
    Signature {nanLoss, R"(Rank (?P<rank>\d+), .* iteration -1: Unexpected result (?:tensor\()?(?:nan|-?inf))"},
    Signature {nanLoss, R"(found NaN/Inf in local (?:forward loss calculation|grad norm))"},
    Signature {nanLoss, R"(\(check_for_nan_in_grad=True\) Detected NaN or Inf)"},
    Signature {nanLoss, R"(Detected inf/nan during batch_number=\d)"},
    Signature {nanLoss, R"(Train loss (?:\S+ )?contains a NaN)"},
    Signature {nanLoss, R"(The loss returned in `training_step` is (?:tensor\()?(?:nan|-?inf))"},
    Signature {nanLoss, R"(^ValueError: nan loss encountered)"},
    Signature {nanLoss, R"(FloatingPointError: invalid value \((?:nan|inf)\) encountered in)"},
    Signature {nanLoss, R"(\[PRECISION\] \[ERROR\] in \[device=.*op=.*(?:num_nan|num_inf|find_nan|find_inf)=)"},
    Signature {nanLoss, R"(#GPU-FPX LOC-EXCEP INFO: .*\b(?:NaN|INF)\b found)"},
    Signature {nanLoss, R"(#GPU-FPX-ANA APPEAR : (?:NaN|INF)\b)"},
    Signature {
        nanLoss, R"(#nixnan: error \[[^\]]*(?:NaN|infinity)[^\]]*\] detected in (?:operand \d+ of )?instruction)"},
    // Subnormal values and divisions by 0 alone are no NaN.
    Signature {other, R"(#nixnan: error \[[^\]]*\] detected in (?:operand \d+ of )?instruction)"},
    Signature {nanLoss, R"(\[hipBLASLt CHECK_NUMERICS\].*(?:first NaN observed at|has_NaN=1\b))"},
    Signature {other, R"(\[hipBLASLt CHECK_NUMERICS\].*(?:were NOT scanned|is inverted))"},
    Signature {other,
        R"(\[(?:nanscope|dion NaN) capture\] (?:no call was seen in \d+|looked at \d+ of \d+ calls; \d+ not looked at))"},
    Signature {nanLoss, R"(checkForNaN.*Assertion .*isnan.* failed)"},

    // Trainers of one's own, in either order of words. What was skipped may be a column of a table, too: that has
    // numbers between its words.
    Signature {skippedStep,
        R"((?i:\b(?:nan|inf|non-?finite|not finite)\b.{0,80}\bskipping (?:the |this |optimizer |training )*(?:step|update|batch)\b))"},
    Signature {skippedStep,
        R"((?i:\bskipping (?:the |this |optimizer |training )*(?:step|update|batch)\b.{0,80}\b(?:nan|inf|non-?finite|not finite)\b))"},
    Signature {skippedStep,
        R"((?i:\b(?:nan|inf|non-?finite|not finite)\b[^\d=]{0,80}\b(?:skipped (?:the |this |optimizer |training )*(?:step|update|batch)|(?:step|update|batch) (?:was |is )?skipped)\b))"},
    Signature {skippedStep,
        R"((?i:\b(?:skipped (?:the |this |optimizer |training )*(?:step|update|batch)|(?:step|update|batch) (?:was |is )?skipped)\b(?:,? at step (?P<step>\d+))?[^\d=]{0,80}\b(?:nan|inf|non-?finite|not finite)\b))"},

    // Their lines carry the rank that prints, which is rank 0 whoever overflowed.
    Signature {skippedStep, R"(OVERFLOW! Rank \d+ Skipping step)"},
    Signature {skippedStep, R"(dynamic loss scale overflow! Skipping step|Overflow detected\. Skipping step)"},
    Signature {skippedStep, R"(Gradient overflow\.  ?Skipping step)"},
    Signature {skippedStep, R"(gradient overflow detected, ignoring gradient)"},
    // DeepSpeed says the same step once more as "Skipping step": two skips would be one too many.
    Signature {other, R"(Grad overflow on iteration:? (?P<step>\d+))"},
    Signature {other, R"((?:Reducing|Increasing) dynamic loss scale from \S+ to \d)"},
    // Anomaly mode: an error of any kind in a backward pass, this checker's own among them.
    Signature {other, R"(Anomaly Detection has been enabled\. This mode)"},
    Signature {other, R"(Error detected in \w+\. (?:Traceback of forward call|No forward pass information))"},
    Signature {other, R"(Detected call of `lr_scheduler\.step\(\)` before `optimizer\.step\(\)`)"},

    Signature {lossSpike, R"(Training spike detected in batch \d)"},
    Signature {lossSpike, R"(Potential loss spike detected\. Iteration: \d|Loss spike detected for \d+ steps)"},
    Signature {lossSpike, R"(High losses (?:\(|detected: \d))"},
    Signature {lossSpike, R"(on rank (?P<rank>\d+) at iteration #(?P<step>\d+) .*\(message='Spiky loss)"},
    Signature {lossSpike, R"(Rank (?P<rank>\d+), .* iteration (?P<step>\d+): Unexpected result .*'Spiky loss)"},
    Signature {lossSpike, R"(found unexpected large grads in bucket)"},

    Signature {collective, R"(Connection (?:closed|reset) by peer)"},
    Signature {
        collective, R"((?:\[(?:PG [^\]]*)?Rank (?P<rank>\d+)\] +)?Watchdog caught collective operation timeout)"},
    Signature {collective,
        R"(\[(?:PG [^\]]*)?Rank (?P<rank>\d+)\] .*(?:Timeout at \w+ work: |collective timeout from ).*[Ll]ast enqueued )"},
    Signature {collective, R"(NCCL operations have failed or timed out|taking the entire process down)"},
    Signature {collective, R"(NCCL health check (?:timed out|failed)(?:.* at step (?P<step>\d+))?)"},
    Signature {collective, R"(NCCL error|nccl(?:UnhandledCuda|System|Internal|Remote)Error)"},
    Signature {collective, R"(DistBackendError)"},

    Signature {terminated, R"(closing signal SIG(?:TERM|INT))"},
    Signature {terminated, R"(Received SIG(?:TERM|USR1))"},
    Signature {terminated, R"(\bexitcode *: *-?\d+)"},
    Signature {terminated, R"(ChildFailedError|SignalException)"},
    Signature {terminated, R"(slurmstepd: error: .* CANCELLED)"},
    Signature {terminated, R"(^Fatal Python error: |\*\*\* Process received signal \*\*\*)"},
    Signature {terminated,
        R"((?:Segmentation fault|Bus error|Aborted|Floating point exception|Illegal instruction)(?: +\(core dumped\)|$))"},
    Signature {terminated, R"(: line \d+: +\d+ (?:Killed|Segmentation fault|Aborted|Bus error)\b|^Killed$)"},
    Signature {
        terminated, R"(^srun: error: \S+ tasks? [\d,-]+: (?:Killed|Segmentation fault|Aborted|Bus error|Exited))"},
    Signature {terminated, R"(^srun: error: \S+ tasks? [\d,-]+: Out Of Memory)"},

    // KempnerForge, nanochat and dion, OLMo-core, Hugging Face, torchtitan, Megatron, Lightning, Composer, lingua,
    // nanoGPT. torchtitan names the first step it will do, the others the last one done.
    Signature {resumed, R"(^Resumed from step (?P<step>\d+))"},
    Signature {resumed, R"(Resuming (?:optimization |RL training )?from step (?P<step>\d+))"},
    Signature {resumed, R"(Will resume training from step (?P<step>\d+))"},
    Signature {resumed, R"(Continuing training from global step (?P<step>\d+))"},
    Signature {resumed, R"(Training starts at step (?P<step>[2-9]\b|\d\d+))"},
    Signature {resumed, R"(successfully loaded checkpoint from .* at iteration (?P<step>[1-9]\d*))"},
    Signature {resumed, R"(Restored all states from the checkpoint at \S|Trainer checkpoint loaded from \S)"},
    Signature {resumed, R"(^Resuming training from (?:step (?P<step>\d+)|\S)|Train state reloaded$)"},

    Signature {other, R"(Checkpoint committed: .*\(step=(?P<step>\d+)\))"},
    Signature {other, R"(^Shutdown requested at step (?P<step>\d+))"},
    Signature {other, R"(^Training complete: (?P<step>\d+) steps)"},
};

/// In order of precedence where several fit one line.
std::span<const Signature> signatures()
{
    return eventTable;
}

constexpr std::string_view forwardFrames = "Traceback of forward call that caused the error:";

/// Where the patterns of each table begin in the one automaton.
struct Tables
{
    std::size_t checkpoints = signatures().size();
    std::size_t settings = checkpoints + checkpointLines().size();
    std::size_t headings = settings + settingLines().size();
    std::size_t end = headings + configHeadings().size();
};

const Tables& tables()
{
    static const Tables instance;
    return instance;
}

const LinePatterns& linePatterns()
{
    static const LinePatterns instance = [] {
        std::vector<const char*> all;
        const auto add = [&](const auto& table) {
            for (const auto& entry : table) {
                all.push_back(entry.pattern);
            }
        };
        add(signatures());
        add(checkpointLines());
        add(settingLines());
        add(configHeadings());
        return LinePatterns(all);
    }();
    return instance;
}

/// The first hit among the patterns from `first` to before `end`.
std::optional<std::size_t> hitIn(const std::vector<int>& hits, std::size_t first, std::size_t end)
{
    const auto hit = std::lower_bound(hits.begin(), hits.end(), static_cast<int>(first));
    return hit != hits.end() && static_cast<std::size_t>(*hit) < end ? std::optional(static_cast<std::size_t>(*hit))
                                                                     : std::nullopt;
}

/// None for digits that the file's end may have cut off.
std::optional<std::int64_t> numberIn(const LogLine& line, std::size_t pattern, const char* group)
{
    const auto digits = linePatterns().group(pattern, group, line.text);
    const bool cut = digits && !line.whole && digits->data() + digits->size() == line.text.data() + line.text.size();
    return digits && !cut ? parseInteger(*digits) : std::nullopt;
}

/// The wrapper, and our helper, name the dump by a path of the machine it ran on; the file's own name is what is found
/// again. Where the helper wrote no tensors, that is the sidecar.
void readCapture(std::string_view text, Event& event)
{
    static const RE2 pattern(R"((?:output|in Newton-Schulz) on rank (\d+), .*dumped to (.+)$)", RE2::Latin1);
    re2::StringPiece rank;
    re2::StringPiece path;
    if (!RE2::PartialMatch(text, pattern, &rank, &path)) {
        return;
    }
    const auto file = trimmed({path.data(), path.size()});
    event.capture = readable(file.substr(file.find_last_of("/\\") + 1), 1000);
    if (const auto number = parseInteger({rank.data(), rank.size()}); number && *number <= largestRank) {
        event.rank = static_cast<int>(*number);
    }
}

Event eventOf(EventKind kind, const LogLine& line, const LogBuilder& builder)
{
    Event event;
    event.kind = kind;
    event.rank = line.rank ? line.rank : builder.fileRank();
    event.text = line.text.substr(0, 4000);
    event.line = line.number;
    return event;
}

} // namespace

bool EventReader::parse(const LogLine& line, LogBuilder& builder)
{
    switch (m_tracebacks.take(line)) {
    case Tracebacks::Part::inside:
        return true;
    case Tracebacks::Part::exception:
        return parseException(line, builder);
    default:
        return m_sanitizer.take(line, builder) || takeOverflow(line, builder) || m_settings.takeBlock(line, builder)
            || parseWords(line, builder);
    }
}

// A dump and the exception that reports it are two facts; every other signature says it all.
bool EventReader::parseException(const LogLine& line, LogBuilder& builder)
{
    m_checkpoints.processFailed(line, builder);
    const auto& frames = m_tracebacks.frames();
    const bool dump = line.text.find("[dion NaN capture]") != std::string_view::npos
        || line.text.find("[nanscope capture]") != std::string_view::npos;
    if (!parseWords(line, builder, dump ? std::string() : frames) || dump) {
        auto event = eventOf(EventKind::traceback, line, builder);
        event.detail = frames;
        builder.event(std::move(event));
    }
    return true;
}

bool EventReader::takeOverflow(const LogLine& line, LogBuilder& builder)
{
    const auto taken = m_overflows.take(line);
    if (taken.badValue.empty()) {
        return taken.inside;
    }
    auto event = eventOf(EventKind::nanLoss, line, builder);
    event.text = taken.badValue;
    builder.event(std::move(event));
    return true;
}

bool EventReader::parseWords(const LogLine& line, LogBuilder& builder, const std::string& detail)
{
    auto block = line.text;
    if (takePrefix(block, "  rank      : ")) {
        const auto rank = takeInteger(block);
        m_failedRank = rank && *rank <= largestRank ? std::optional(static_cast<int>(*rank)) : std::nullopt;
        return true;
    }
    if (line.text.starts_with("  traceback : ") || !linePatterns().match(line.text, m_hits)) {
        return false;
    }
    const auto before = builder.size();
    const auto signature = hitIn(m_hits, 0, tables().checkpoints);
    const bool named = signature && giveEvent(*signature, line, builder, detail);
    if (line.whole) {
        takeCheckpoint(line, builder);
        takeSettings(line, builder);
    }
    return named || builder.size() != before;
}

void EventReader::takeCheckpoint(const LogLine& line, LogBuilder& builder)
{
    if (const auto hit = hitIn(m_hits, tables().checkpoints, tables().settings)) {
        m_checkpoints.take(checkpointLines()[*hit - tables().checkpoints],
            {numberIn(line, *hit, "step"), linePatterns().group(*hit, "path", line.text).value_or("")}, line, builder);
    }
}

/// One line of nvidia-smi's table tells of the driver and of its CUDA.
void EventReader::takeSettings(const LogLine& line, LogBuilder& builder)
{
    for (const int pattern : m_hits) {
        const auto hit = static_cast<std::size_t>(pattern);
        if (hit < tables().settings || hit >= tables().headings) {
            continue;
        }
        const auto& setting = settingLines()[hit - tables().settings];
        const auto value = linePatterns().group(hit, "value", line.text).value_or("");
        const std::string name(setting.name ? setting.name : linePatterns().group(hit, "name", line.text).value_or(""));
        m_settings.take(name + setting.suffix, value, line, builder);
    }
    if (const auto hit = hitIn(m_hits, tables().headings, tables().end)) {
        m_settings.start(configHeadings()[*hit - tables().headings].block,
            linePatterns().group(*hit, "rest", line.text).value_or(""), line, builder);
    }
}

bool EventReader::giveEvent(std::size_t signature, const LogLine& line, LogBuilder& builder, const std::string& detail)
{
    auto event = eventOf(signatures()[signature].kind, line, builder);
    event.step = numberIn(line, signature, "step");
    // A watchdog's own rank is that within its process group: what stands before the line is the process's.
    const bool known = event.kind == EventKind::collective && line.rank;
    if (const auto rank = numberIn(line, signature, "rank"); rank && *rank <= largestRank && !known) {
        event.rank = static_cast<int>(*rank);
    }
    if (event.kind == EventKind::captureDumped) {
        if (!line.whole && !line.text.ends_with(".pt")) {
            return false;
        }
        readCapture(line.text, event);
    } else if (line.text.starts_with("  exitcode ")) {
        event.rank = m_failedRank;
    } else if (line.text.find("detected on another rank") != std::string_view::npos) {
        event.rank.reset();
    }
    if (event.kind == EventKind::resumed) {
        m_checkpoints.processBegan(builder);
    }
    if (line.text.find(forwardFrames) != std::string_view::npos) {
        m_tracebacks.startForward(line);
    }
    event.detail = detail;
    builder.event(std::move(event));
    return true;
}

} // namespace nanscope::ingest
