// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/eventreader.h"

#include <algorithm>
#include <array>

#include <re2/re2.h>
#include <re2/set.h>

#include "core/ingest/consoletext.h"

namespace nanscope {

namespace {

/// A group named `step` gives the step of the event.
struct Signature
{
    EventKind kind;
    const char* pattern;
};

// In order of precedence where several match one line.
constexpr std::array signatures {
    Signature {EventKind::captureDumped, R"(\[dion NaN capture\] .*dumped to \S)"},
    Signature {EventKind::diagnosticFailed,
        R"(Operator '?aten\._?is_any_true(?:\.default)?'? does not have a sharding strategy)"},
    Signature {EventKind::machine, R"(NVRM: Xid|Xid \(PCI:|[Uu]ncorrectable ECC|SDCReplayMismatch)"},
    Signature {EventKind::machine, R"(GPU health check failed on device \d+)"},
    Signature {EventKind::infrastructure, R"(CUDA out of memory|CUDA error: out of memory|OutOfMemoryError)"},
    Signature {EventKind::infrastructure, R"(No space left on device|Disk quota exceeded)"},
    Signature {EventKind::infrastructure, R"(no kernel image is available)"},
    Signature {EventKind::infrastructure, R"(oom-kill event|oom_kill|Out of memory: Killed process)"},
    Signature {EventKind::optimizerStop, R"(Too many consecutive NaNs|Loss is NaN/Inf; training diverged)"},
    Signature {EventKind::optimizerStop, R"(loss scale already at minimum - cannot decrease scale anymore)"},
    Signature {EventKind::machine, R"(Second rerun: .*not reproducible on a different GPU)"},
    Signature {EventKind::other, R"(First rerun: unexpected result is (?:not )?reproducible)"},
    Signature {EventKind::nanLoss, R"(NaN/Inf loss at step (?P<step>\d+))"},
    Signature {EventKind::nanLoss, R"(NaN/Inf detected on another rank at step (?P<step>\d+))"},
    Signature {EventKind::nanLoss, R"(NaN/Inf gradient in \S+ at step (?P<step>\d+))"},
    Signature {EventKind::nanLoss, R"(returned nan values in its \d+th output)"},
    Signature {EventKind::nanLoss, R"(The total norm .* is non-finite, so it cannot be clipped)"},
    Signature {EventKind::nanLoss, R"(Unexpected result (?:nan|inf|-inf).* at iteration #(?P<step>\d+))"},
    Signature {EventKind::nanLoss, R"(iteration (?P<step>\d+): Unexpected result (?:nan|inf|-inf))"},
    Signature {EventKind::nanLoss, R"(iteration -1: Unexpected result (?:nan|inf|-inf))"},
    Signature {EventKind::nanLoss, R"(found NaN/Inf in local (?:forward loss calculation|grad norm))"},
    Signature {EventKind::nanLoss, R"(\(check_for_nan_in_grad=True\) Detected NaN or Inf)"},
    Signature {EventKind::nanLoss, R"(Detected inf/nan during batch_number=(?P<step>\d+))"},
    Signature {EventKind::nanLoss, R"(Train loss (?:\S+ )?contains a NaN)"},
    Signature {EventKind::nanLoss, R"(The loss returned in `training_step` is (?:nan|inf|-inf))"},
    Signature {EventKind::nanLoss, R"(^ValueError: nan loss encountered)"},
    Signature {EventKind::nanLoss, R"(FloatingPointError: invalid value \((?:nan|inf)\) encountered in)"},
    Signature {EventKind::nanLoss, R"(#GPU-FPX LOC-EXCEP INFO: .*\b(?:NaN|INF)\b found)"},
    Signature {EventKind::nanLoss, R"(#nixnan: error \[.*\] detected in instruction)"},
    Signature {EventKind::nanLoss, R"(checkForNaN.*Assertion .*isnan.* failed)"},
    Signature {EventKind::other, R"(OVERFLOW! Rank \d+ Skipping step)"},
    Signature {EventKind::other, R"(fp16 dynamic loss scale overflow! Skipping step)"},
    Signature {EventKind::other, R"(Overflow detected\. Skipping step|Grad overflow on iteration:? (?P<step>\d+))"},
    Signature {EventKind::other, R"(Gradient overflow\.  Skipping step, loss scaler)"},
    Signature {EventKind::other, R"(Training spike detected in batch (?P<step>\d+))"},
    Signature {EventKind::other, R"(Potential loss spike detected\. Iteration: (?P<step>\d+))"},
    Signature {EventKind::other, R"(Loss spike detected for \d+ steps|High losses \()"},
    Signature {EventKind::collective, R"(Connection (?:closed|reset) by peer)"},
    Signature {EventKind::collective, R"(Watchdog caught collective operation timeout)"},
    Signature {EventKind::collective, R"(NCCL operations have failed or timed out|taking the entire process down)"},
    Signature {EventKind::collective, R"(NCCL health check (?:timed out|failed)(?:.* at step (?P<step>\d+))?)"},
    Signature {EventKind::collective, R"(NCCL error|nccl(?:UnhandledCuda|System|Internal|Remote)Error)"},
    Signature {EventKind::collective, R"(DistBackendError)"},
    Signature {EventKind::terminated, R"(closing signal SIG(?:TERM|INT))"},
    Signature {EventKind::terminated, R"(Received SIG(?:TERM|USR1))"},
    Signature {EventKind::terminated, R"(\bexitcode *: *-?\d+)"},
    Signature {EventKind::terminated, R"(ChildFailedError|SignalException)"},
    Signature {EventKind::terminated, R"(slurmstepd: error: .* CANCELLED)"},
    Signature {EventKind::other, R"(Checkpoint committed: .*\(step=(?P<step>\d+)\))"},
    Signature {EventKind::other, R"(^Resumed from step (?P<step>\d+))"},
    Signature {EventKind::other, R"(^Shutdown requested at step (?P<step>\d+))"},
    Signature {EventKind::other, R"(^Training complete: (?P<step>\d+) steps)"},
};

re2::StringPiece piece(std::string_view text)
{
    return {text.data(), text.size()};
}

struct Automaton
{
    RE2::Set set {RE2::Options(RE2::Latin1), RE2::UNANCHORED};
    std::vector<std::unique_ptr<RE2>> withStep;

    Automaton()
    {
        for (const auto& signature : signatures) {
            set.Add(signature.pattern, nullptr);
            auto pattern = std::make_unique<RE2>(signature.pattern, RE2::Latin1);
            withStep.push_back(pattern->NumberOfCapturingGroups() > 0 ? std::move(pattern) : nullptr);
        }
        set.Compile();
    }
};

const Automaton& automaton()
{
    static const Automaton instance;
    return instance;
}

std::optional<std::int64_t> stepIn(std::string_view text, std::size_t signature)
{
    const auto& pattern = automaton().withStep[signature];
    re2::StringPiece digits;
    if (!pattern || !RE2::PartialMatch(piece(text), *pattern, &digits) || digits.empty()) {
        return std::nullopt;
    }
    return parseInteger({digits.data(), digits.size()});
}

/// The wrapper names the dump by a path of the machine it ran on; the file's own name is what is found again.
void readCapture(std::string_view text, Event& event)
{
    static const RE2 pattern(R"(output on rank (\d+), .*dumped to (.+)$)", RE2::Latin1);
    re2::StringPiece rank;
    re2::StringPiece path;
    if (!RE2::PartialMatch(piece(text), pattern, &rank, &path)) {
        return;
    }
    const auto file = trimmed({path.data(), path.size()});
    event.capture = readable(file.substr(file.find_last_of("/\\") + 1), 1000);
    if (const auto number = parseInteger({rank.data(), rank.size()}); number && *number <= largestRank) {
        event.rank = static_cast<int>(*number);
    }
}

bool isExceptionLine(std::string_view text)
{
    static const RE2 pattern(R"([A-Za-z_][\w.]*(?::.*)?)", RE2::Latin1);
    return RE2::FullMatch(piece(text), pattern);
}

bool continuesTraceback(std::string_view text)
{
    return text.front() == ' ' || text.front() == '\t';
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
    return parseTraceback(line, builder) || parseSignature(line, builder);
}

bool EventReader::parseTraceback(const LogLine& line, LogBuilder& builder)
{
    constexpr int longestTraceback = 10'000;
    const int key = line.rank.value_or(-1);
    if (line.text.starts_with("Traceback (most recent call last):")) {
        m_tracebackLines[key] = 0;
        return true;
    }
    if (m_tracebackLines.empty()) {
        return false;
    }
    const auto open = m_tracebackLines.find(key);
    if (open == m_tracebackLines.end()) {
        return false;
    }
    if (++open->second > longestTraceback) {
        m_tracebackLines.erase(open);
        return false;
    }
    if (continuesTraceback(line.text)) {
        return true;
    }
    if (!isExceptionLine(line.text)) {
        return false;
    }
    m_tracebackLines.erase(open);
    // A dump and the exception that reports it are two facts; every other signature says it all.
    const bool named = parseSignature(line, builder);
    if (!named || line.text.find("[dion NaN capture]") != std::string_view::npos) {
        builder.event(eventOf(EventKind::traceback, line, builder));
    }
    return true;
}

bool EventReader::parseSignature(const LogLine& line, LogBuilder& builder)
{
    auto block = line.text;
    if (takePrefix(block, "  rank      : ")) {
        const auto rank = takeInteger(block);
        m_failedRank = rank && *rank <= largestRank ? std::optional(static_cast<int>(*rank)) : std::nullopt;
        return true;
    }
    if (line.text.starts_with("  traceback : ") || !automaton().set.Match(piece(line.text), &m_hits)
        || m_hits.empty()) {
        return false;
    }
    const auto best = static_cast<std::size_t>(*std::min_element(m_hits.begin(), m_hits.end()));
    auto event = eventOf(signatures[best].kind, line, builder);
    event.step = stepIn(line.text, best);
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
    builder.event(std::move(event));
    return true;
}

} // namespace nanscope
