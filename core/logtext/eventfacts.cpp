// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/logtext/eventfacts.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <re2/re2.h>
#include <re2/set.h>

#include "core/probe/nandetector.h"

namespace nanscope::logtext {

namespace {

struct Words
{
    std::string_view name;
    const char* pattern;
};

/// One for every Phrase, in their order.
constexpr std::array table {
    Words {"python_warning", "Warning: "},
    Words {"runtime_error", "RuntimeError"},
    Words {"dion_capture", R"(\[(?:dion NaN|nanscope) capture\])"},
    Words {"dion_guard", R"(nan_guard_fallback\])"},
    Words {"bad_gradient", "NaN/Inf gradient in "},
    Words {"too_many_nans", "Too many consecutive NaNs"},
    Words {"no_integer_of_nan", "cannot convert float (?:NaN|infinity) to integer"},
    Words {"training_complete", "^Training complete"},
    Words {"loss_scale", "loss scale"},
    Words {"loss_scale_at_minimum", "loss scale already at minimum"},
    Words {"names_printer", "OVERFLOW! Rank "},
    Words {"anomaly_mode",
        "Anomaly Detection has been enabled|Traceback of forward call that caused the error|returned nan values in "
        "its"},
    Words {"forward_call", "Traceback of forward call that caused the error"},
    Words {"nan_in_backward", "returned nan values in its"},
    Words {"mixed_formats",
        R"(expected scalar type \w+ but found|must have the same dtype|expected m1 and m2 to have the same dtype)"
        R"(|Input type \(.*\) and (?:weight|bias) type \(.*\) should be the same|Attempting to unscale FP16 gradients)"
        R"(|torch\.cuda\.amp\.(?:autocast|GradScaler)\(.*\)` is deprecated)"},
    // What launchers, dmesg and syslog put before a line, then the driver's own beginning or the failing call's
    // exception.
    Words {"written_by_driver",
        R"(^(?:\[?[A-Za-z]*\d+\]?: ?)?(?:\w{3} +\d+ [\d:]{8} |\d{4}-\d\d-\d\d[T ]\S+ )?(?:\S+ kernel: )?)"
        R"((?:\[(?:[ \d.]+|\w{3} \w{3} [ \d]\d [\d:]{8} \d{4})\] )?(?:kernel: )?(?:NVRM: Xid|SDCReplayMismatch)"
        R"(|(?:[\w.]+Error: )?CUDA error: uncorrectable [\w ]+ encountered\.?$))"},
    Words {"gemm_scan", R"(\[hipBLASLt CHECK_NUMERICS\])"},
    Words {"not_scanned", R"(\[hipBLASLt CHECK_NUMERICS\].*were NOT scanned)"},
    Words {"instruction_check", "#GPU-FPX|#nixnan: "},
    Words {"overflow_trace", "Detected inf/nan during batch_number=|^first bad value of the forward frames: "},
    Words {"update_left_out",
        R"(nan_guard_fallback\]|[Ss]kipping (?:the |this |optimizer |training )*(?:step|update|batch|iteration))"
        R"(|(?i:\bskipped (?:the |this |optimizer |training )*(?:step|update|batch)\b))"
        R"(|(?i:\b(?:step|update|batch) (?:was |is )?skipped\b))"
        R"(|grad_norm is not finite: )"},
    Words {"process_killed",
        R"(oom[-_]kill|Out of memory: Killed process|^Fatal Python error: |\*\*\* Process received signal \*\*\*)"
        R"(|(?:Segmentation fault|Bus error|Aborted|Floating point exception|Illegal instruction)(?: +\(core dumped\)|$))"
        R"(|: line \d+: +\d+ (?:Killed|Segmentation fault|Aborted|Bus error)\b|^Killed$)"
        R"(|^srun: error: \S+ tasks? [\d,-]+: (?:Killed|Out Of Memory|Segmentation fault|Aborted|Bus error))"},
    // As ingest writes what compute-sanitizer reports, a line each.
    Words {"invalid_access", "^compute-sanitizer: Invalid "},
    Words {"unwritten_read", "^compute-sanitizer: (?:Uninitialized |Host API .*, uninitialized access by)"},
    Words {"shared_race", "^compute-sanitizer(?:, a warning)?: (?:Race reported|Potential )"},
    Words {"barrier_misuse", "^compute-sanitizer: (?:Barrier|Warpgroup MMA sequence) error"},
    Words {"sanitizer_warning", "^compute-sanitizer(?:, a warning:|: Potential invalid)"},
    Words {"sanitizer_clean", "^compute-sanitizer: (?:ERROR SUMMARY: 0 errors$|RACECHECK SUMMARY: 0 hazards )"},
    // dion, modded-nanogpt, flash-muon, gram-newton-schulz and what their relatives are called.
    Words {"newton_schulz_kernel",
        R"(^compute-sanitizer[^;]*: [^;]* in kernel [^;]*(?i:newton_?schulz|polar_?express|\bns_line_\d|\b(?:xxt|xtx|mmt)_kernel)"
        R"(|ba_plus_caa|gemm_?symmetric|\bmuon))"},
    Words {"xid", R"(NVRM: Xid|\bXid \(PCI:)"},
    // 48: an uncorrectable error; 94 and 95: contained to one process, and not; 140: unrecovered.
    Words {"uncorrected_memory",
        R"(Xid(?: \([^)]*\))?:? (?:48|94|95|140)\b|[Uu]ncorrectable ECC|[Dd]ouble[- ][Bb]it ECC|SDCReplayMismatch)"},
    Words {"calls_not_seen",
        R"(\[(?:nanscope|dion NaN) capture\] (?:no call was seen in \d+|looked at \d+ of \d+ calls; \d+ not looked at))"},
};
static_assert(table.size() == static_cast<std::size_t>(Phrase::callsNotSeen) + 1);

std::vector<Phrase> phrasesIn(re2::StringPiece line)
{
    static const auto patterns = [] {
        auto set = std::make_unique<RE2::Set>(RE2::Options(RE2::Latin1), RE2::UNANCHORED);
        for (const auto& words : table) {
            set->Add(words.pattern, nullptr);
        }
        set->Compile();
        return set;
    }();
    std::vector<int> hits;
    patterns->Match(line, &hits);
    std::sort(hits.begin(), hits.end());
    std::vector<Phrase> phrases;
    std::transform(
        hits.begin(), hits.end(), std::back_inserter(phrases), [](int hit) { return static_cast<Phrase>(hit); });
    return phrases;
}

/// What the pattern's group takes; none where it fits nowhere, or takes what is no such value.
template <class Value>
std::optional<Value> valueIn(re2::StringPiece line, const RE2& pattern)
{
    Value value {};
    return RE2::PartialMatch(line, pattern, &value) ? std::optional(value) : std::nullopt;
}

/// "SqrtBackward0" of anomaly mode, "sqrt" of JAX.
std::string operationIn(re2::StringPiece line)
{
    static const RE2 torch(R"(Function '(\w+?)(?:Backward\d*)?' returned nan values in its \d+th output)", RE2::Latin1);
    static const RE2 jax(R"(invalid value \((?:nan|inf)\) encountered in (?:jit\()?(\w+))", RE2::Latin1);
    const auto named = valueIn<std::string>(line, torch);
    return named ? *named : valueIn<std::string>(line, jax).value_or("");
}

/// "matmul call #4711" of hipBLASLt's scanner, or the product that it looked at.
std::string scannedIn(re2::StringPiece line)
{
    static const RE2 call(R"(first NaN observed at sampled (matmul call #\d+))", RE2::Latin1);
    static const RE2 output(
        R"(CHECK_NUMERICS\] (\S+) :- Output D : has_NaN=1 \| shape (m=\d+ n=\d+ k=\d+))", RE2::Latin1);
    std::string function;
    std::string shape;
    return RE2::PartialMatch(line, output, &function, &shape) ? "the output of " + function + ", " + shape
                                                              : valueIn<std::string>(line, call).value_or("");
}

/// "HMMA.16816.F32 R0, R4, R8, RZ in kernel gemm" of nixnan and of GPU-FPX, which names a place in the source, too.
std::string instructionIn(re2::StringPiece line)
{
    static const RE2 nixnan(R"(instruction (\S.*?) *;? *in function (\S+))", RE2::Latin1);
    static const RE2 detector(R"(in kernel \[([^\]]+)\], \S+ found @ (\S+))", RE2::Latin1);
    static const RE2 analyzer(R"(@ (\S+)(?: in \[\S*)? +Instruction: ([^;]*\S) *;)", RE2::Latin1);
    std::string what;
    std::string where;
    if (RE2::PartialMatch(line, nixnan, &what, &where)) {
        return what + " in kernel " + where;
    }
    if (RE2::PartialMatch(line, detector, &what, &where)) {
        return "kernel " + what + ", " + where;
    }
    return RE2::PartialMatch(line, analyzer, &where, &what) ? what + ", " + where : std::string();
}

/// The innermost frame of the forward call.
std::string forwardFrameIn(std::string_view detail)
{
    const auto mark = detail.rfind(forwardCallMark);
    const auto begin = mark == std::string_view::npos ? mark : detail.rfind("File \"");
    return begin == std::string_view::npos || begin < mark
        ? std::string()
        : std::string(detail.substr(begin, detail.find('\n', begin) - begin));
}

bool isSanitizerReport(const EventFacts& facts)
{
    constexpr std::array kinds {
        Phrase::invalidAccess, Phrase::unwrittenRead, Phrase::sharedRace, Phrase::barrierMisuse};
    return std::ranges::any_of(kinds, [&](Phrase kind) { return facts.says(kind); });
}

std::string siteIn(const EventFacts& facts, re2::StringPiece line, std::string_view detail)
{
    static const RE2 module(R"(^first bad value of the forward frames: (.+))", RE2::Latin1);
    static const RE2 reported(R"(^compute-sanitizer[^;]*?: [^;]*? in kernel ([^;]+))", RE2::Latin1);
    if (facts.says(Phrase::gemmScan)) {
        return scannedIn(line);
    }
    if (facts.says(Phrase::instructionCheck)) {
        return instructionIn(line);
    }
    if (isSanitizerReport(facts)) {
        return valueIn<std::string>(line, reported).value_or("");
    }
    return facts.says(Phrase::overflowTrace) ? valueIn<std::string>(line, module).value_or("")
        : facts.says(Phrase::nanInBackward)  ? forwardFrameIn(detail)
                                             : std::string();
}

std::string groupIn(re2::StringPiece line)
{
    static const RE2 group(R"(\[(PG [^\]]*\S) +Rank \d+\])", RE2::Latin1);
    return valueIn<std::string>(line, group).value_or("");
}

/// The call that a watchdog says did not end.
std::optional<CollectiveCall> timedOutIn(re2::StringPiece line)
{
    static const RE2 call(
        R"(Watchdog caught collective operation timeout: \w+\(SeqNum=(\d+), OpType=(\w+))", RE2::Latin1);
    CollectiveCall found;
    return RE2::PartialMatch(line, call, &found.sequence, &found.operation) ? std::optional(std::move(found))
                                                                            : std::nullopt;
}

/// What newer versions of torch say of a group's calls, on ranks that waited and on those that did not: "due to a
/// collective timeout from rank 7 [...] Last enqueued NCCL work: 20589, last completed NCCL work: 20584".
std::optional<CollectiveCall> workIn(re2::StringPiece line)
{
    static const RE2 work(
        R"((?:Timeout at \w+ work: |collective timeout from ).*[Ll]ast enqueued (?:\w+ )?work: (\d{1,18}), )"
        R"(last completed (?:\w+ )?work: (\d{1,18}))",
        RE2::Latin1);
    std::int64_t begun = 0;
    std::int64_t ended = 0;
    if (!RE2::PartialMatch(line, work, &begun, &ended) || begun < ended) {
        return std::nullopt;
    }
    return begun == ended ? CollectiveCall {ended, {}, {}, true} : CollectiveCall {ended + 1, {}, {}, false};
}

std::optional<CollectiveCall> collectiveIn(re2::StringPiece line)
{
    auto found = timedOutIn(line);
    found = found ? found : workIn(line);
    if (found) {
        found->group = groupIn(line);
    }
    return found;
}

/// Of the whole stack, where a capture has one rank's part.
Shape guardedIn(re2::StringPiece line)
{
    static const RE2 pattern(R"(shape=\((\d+), (\d+), (\d+)\))", RE2::Latin1);
    Shape shape(3);
    return RE2::PartialMatch(line, pattern, &shape[0], &shape[1], &shape[2]) ? shape : Shape();
}

} // namespace

EventFacts factsIn(std::string_view line, std::string_view detail)
{
    static const RE2 scale(R"([Aa]ttempted loss scale: ([0-9.e+]+))", RE2::Latin1);
    static const RE2 pid(R"(\bpid=(\d+))", RE2::Latin1);
    const re2::StringPiece text(line.data(), line.size());
    EventFacts facts;
    facts.phrases = phrasesIn(text);
    facts.detector = probe::parseNanMessage(line);
    facts.attemptedScale = valueIn<double>(text, scale);
    facts.operation = operationIn(text);
    facts.guarded = facts.says(Phrase::dionGuard) ? guardedIn(text) : Shape();
    facts.pid = valueIn<int>(text, pid);
    facts.site = siteIn(facts, text, detail);
    facts.collective = collectiveIn(text);
    return facts;
}

std::string_view name(Phrase phrase)
{
    return table.at(static_cast<std::size_t>(phrase)).name;
}

std::optional<Phrase> parsePhrase(std::string_view name)
{
    const auto* const found =
        std::find_if(table.begin(), table.end(), [&](const Words& words) { return words.name == name; });
    return found == table.end() ? std::nullopt : std::optional(static_cast<Phrase>(found - table.begin()));
}

} // namespace nanscope::logtext
