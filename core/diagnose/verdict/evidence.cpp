// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/diagnose/verdict/considered.h"
#include "core/diagnose/verdict/experiments.h"
#include "core/diagnose/verdict/explain.h"
#include "core/diagnose/verdict/margin.h"
#include "core/diagnose/verdict/rules.h"
#include "core/diagnose/verdict/thresholds.h"
#include "core/model/scenewords.h"
#include "core/model/verdict.h"
#include "core/model/words.h"

namespace nanscope::diagnose::verdict {

namespace {

// What was tried with the run, and calls that were made again, as lines of evidence. An outcome is the word of the user
// who ran the experiment; none of these lines decides anything.

/// One outcome on its way into a verdict.
struct Outcomes
{
    CaptureVerdict& verdict;
    const Considered& considered;

    // Evidence is written from the side of the verdict as it stands; a line for the kernel speaks against the numbers.
    void forKernel(std::string text) const { side(verdict.blame != Blame::numerics).push_back(line(std::move(text))); }
    void againstKernel(std::string text) const { side(false).push_back(line(std::move(text))); }
    void forNumbers(std::string text) const { side(verdict.blame == Blame::numerics).push_back(line(std::move(text))); }
    void nothing(std::string text) const { verdict.notTestable.push_back(line(std::move(text))); }

    std::vector<EvidenceLine>& side(bool speaksFor) const
    {
        return speaksFor ? verdict.speaksFor : verdict.speaksAgainst;
    }

private:
    static EvidenceLine line(std::string text) { return {std::move(text), "experiment"}; }
};

void kernelsOff(const Outcomes& out, const TriedExperiment& tried)
{
    if (tried.seen == Seen::gone) {
        out.forKernel(fmt::format("{} h clean with use_triton=False", hoursText(tried.hours)));
        return;
    }
    out.againstKernel("it came again with use_triton=False: not the custom kernels");
}

void launchBlocking(const Outcomes& out, const TriedExperiment& tried)
{
    if (tried.seen == Seen::gone) {
        out.forKernel(fmt::format("{} h clean with CUDA_LAUNCH_BLOCKING=1", hoursText(tried.hours)));
        return;
    }
    out.againstKernel("it came again with CUDA_LAUNCH_BLOCKING=1: not the order of launches");
}

void fillNan(const Outcomes& out, const TriedExperiment& tried)
{
    if (tried.seen == Seen::oftener) {
        out.forKernel(
            "it comes more often when fresh memory is filled with NaN: memory is read that was never written");
        return;
    }
    out.nothing("memory filled with NaN changed nothing that speaks for or against");
}

// The bar for the machine is two: once, another card may have failed in its own way.
bool isMachine(const CaptureVerdict& verdict, const TriedExperiment& tried)
{
    const bool open = verdict.blame == Blame::implementation || verdict.blame == Blame::undecided;
    return open && tried.times >= swapsThatName;
}

void swapGpus(const Outcomes& out, const TriedExperiment& tried)
{
    if (tried.seen == Seen::moves) {
        out.side(isMachine(out.verdict, tried))
            .push_back({fmt::format("it moved with the card in {} swap{}: this speaks for the machine", tried.times,
                            tried.times == 1 ? "" : "s"),
                "experiment"});
        return;
    }
    if (tried.seen == Seen::stays) {
        out.forKernel("it stayed with its rank when two GPUs were swapped: not the card");
        return;
    }
    out.nothing("it was not seen again after two GPUs were swapped: that names neither card nor rank");
}

bool fromCast(const Outcomes& out)
{
    return out.verdict.blame == Blame::numerics && isCastFailing(out.considered, reproduces)
        && out.considered.facts.inputAbsmax > 1;
}

void numbersMended(const Outcomes& out, const TriedExperiment& tried, std::string_view setting)
{
    if (tried.seen == Seen::gone) {
        out.forNumbers(
            fmt::format("{} h clean with {}: it takes the numbers to fail", hoursText(tried.hours), setting));
        return;
    }
    if (fromCast(out)) {
        out.forKernel(fmt::format("it came again with {}: not the overflow alone", setting));
        return;
    }
    out.nothing(fmt::format("it came again with {}: the schedule may fail in any format", setting));
}

void argueWith(const Outcomes& out, const TriedExperiment& tried)
{
    if (tried.id == "kernels-off") {
        kernelsOff(out, tried);
    } else if (tried.id == "launch-blocking") {
        launchBlocking(out, tried);
    } else if (tried.id == "fill-nan") {
        fillNan(out, tried);
    } else if (tried.id == "swap-gpus") {
        swapGpus(out, tried);
    } else if (tried.id == "fp32-norm") {
        numbersMended(out, tried, "the norm taken in fp32");
    } else if (tried.id == "bf16") {
        numbersMended(out, tried, "bf16 instead of fp16");
    }
}

/// Why a clean run says nothing yet; empty where it is long enough.
std::string tooShort(const Experiment& experiment, const TriedExperiment& tried, const std::optional<FailureRate>& rate)
{
    if (tried.seen != Seen::gone) {
        return {};
    }
    if (!rate) {
        return fmt::format("{}: {} h clean, but how often the fault comes without it is not known", experiment.what,
            hoursText(tried.hours));
    }
    const auto needed = cleanHours(*rate);
    return tried.hours < needed ? fmt::format("{}: {} h clean, of the {} h after which that means something",
               experiment.what, hoursText(tried.hours), hoursText(needed))
                                : std::string();
}

EvidenceLine lineOf(std::string text)
{
    return {std::move(text), "retries"};
}

void addAll(CaptureVerdict& verdict, const CallsAgain& called)
{
    if (called.calls < callsForAlways) {
        verdict.notTestable.push_back(
            lineOf(fmt::format("{}: to call it deterministic takes {} of {}, after which more than 95 % fail at 95 % "
                               "confidence",
                callsText(called), callsForAlways, callsForAlways)));
        return;
    }
    auto line = lineOf(fmt::format("{}, at 95 % confidence more than {:.3g} % do: deterministic here, no chance and "
                                   "nothing that ran beside it",
        callsText(called), 100 * fewestThatFail(called.calls)));
    if (verdict.blame == Blame::nondeterministic) {
        verdict.speaksAgainst.push_back(std::move(line));
    } else {
        // Numbers and a kernel can both fail every time.
        verdict.notTestable.push_back(std::move(line));
    }
}

void addFinite(CaptureVerdict& verdict, const CallsAgain& called, const Decision& decision)
{
    const auto* where = verdict.facts.scene.onCpu ? "CPU" : "GPU";
    auto line = lineOf(fmt::format("{} on the same {}{}: the same bits end in two ways", callsText(called), where,
        called.failed == 0 ? ", and the captured one did" : ", and the others did not"));
    (decision.blame == Blame::nondeterministic ? verdict.speaksFor : verdict.notTestable).push_back(std::move(line));
}

void addAsItRan(CaptureVerdict& verdict, const CallsAgain& called, const Decision& decision)
{
    if (!called.sameGpu) {
        verdict.notTestable.push_back(lineOf(
            fmt::format("{}, on another GPU: that says nothing of the call that was captured", callsText(called))));
    } else if (called.failed == called.calls) {
        addAll(verdict, called);
    } else {
        addFinite(verdict, called, decision);
    }
}

std::string chanceText(double chance)
{
    constexpr double smallest = 1e-4;
    return chance < smallest ? "less than 0.01 %" : fmt::format("{:.2g} %", 100 * chance);
}

void addChanged(CaptureVerdict& verdict, const CallsAgain& before, const CallsAgain& changed)
{
    const auto* experiment = findExperiment(changed.experiment);
    const double chance = chanceOfSoFew(before, changed);
    auto text = fmt::format("{} with {}, {} of {} without: chance explains that in {} of cases", callsText(changed),
        experiment->what, before.failed, before.calls, chanceText(chance));
    if (chance > doubt) {
        verdict.notTestable.push_back(lineOf(text + ", so it says nothing yet"));
        return;
    }
    // What mends it narrows where to look; with the numbers mended it is for them, else for what runs them.
    const bool ofNumbers = changed.experiment == "fp32-norm" || changed.experiment == "bf16";
    const bool speaksFor = ofNumbers == (verdict.blame == Blame::numerics);
    auto& side = verdict.blame == Blame::undecided ? verdict.notTestable
        : speaksFor                                ? verdict.speaksFor
                                                   : verdict.speaksAgainst;
    side.push_back(lineOf(text + ": it makes a difference"));
}

/// Lines for what the user tried, of the experiments that `verdict` suggests.
void addExperiments(CaptureVerdict& verdict, const Considered& c)
{
    for (auto& experiment : verdict.next) {
        if (c.facts.failureRate && !experiment.outcomes.empty()) {
            experiment.cleanHours = cleanHours(*c.facts.failureRate);
        }
    }
    for (const auto& tried : c.facts.tried) {
        // What belongs to another kind of verdict says nothing about this capture.
        const auto asked = std::ranges::find(verdict.next, tried.id, &Experiment::id);
        if (asked == verdict.next.end()) {
            continue;
        }
        const Outcomes out {verdict, c};
        if (auto why = tooShort(*asked, tried, c.facts.failureRate); !why.empty()) {
            out.nothing(std::move(why));
        } else {
            argueWith(out, tried);
        }
    }
}

/// Lines for the captured call made again: k of n went wrong.
void addCallsAgain(CaptureVerdict& verdict, const Facts& facts, const Decision& decision)
{
    // The most calls tell most of how often it fails, whoever made them.
    const CallsAgain* asItRan = nullptr;
    for (const auto& one : facts.calledAgain) {
        const bool asCaptured = one.experiment.empty() && one.sameGpu;
        asItRan = asCaptured && (asItRan == nullptr || one.calls > asItRan->calls) ? &one : asItRan;
    }
    for (const auto& one : facts.calledAgain) {
        if (one.experiment.empty()) {
            addAsItRan(verdict, one, decision);
        } else if (asItRan != nullptr) {
            addChanged(verdict, *asItRan, one);
        }
    }
}

bool accuses(const CaptureVerdict& v)
{
    return v.blame == Blame::implementation || v.blame == Blame::nondeterministic || v.blame == Blame::machine;
}

/// What was not replayed, why that is enough, and which replay bore it out.
std::string forecastText(const std::vector<MemberResult>& members)
{
    std::set<std::string_view> checks;
    std::ptrdiff_t count = 0;
    double slack = std::numeric_limits<double>::infinity();
    for (const auto& member : members) {
        if (isForecast(member)) {
            ++count;
            checks.insert(member.forecastBy);
            slack = std::min(slack, member.slackPercent.value_or(slack));
        }
    }
    return fmt::format(
        "{} {} {} not replayed: as computed from {} steps, the limit of convergence lies at least {:.2g} % "
        "above the spectral norm, and the replays of {} agree with such estimates",
        count, memberNoun(members, count), count == 1 ? "was" : "were", count == 1 ? "its" : "their", slack,
        fmt::join(checks, ", "));
}

/// "12 variants replayed under 1 to 8 roundings each", "1 variant replayed under 8 roundings"
std::string replayedText(const std::vector<MemberResult>& members)
{
    std::ptrdiff_t count = 0;
    int fewest = std::numeric_limits<int>::max();
    int most = 0;
    for (const auto& member : members) {
        if (!isForecast(member)) {
            ++count;
            fewest = std::min(fewest, member.roundings);
            most = std::max(most, member.roundings);
        }
    }
    return fmt::format("{} {} replayed under {}{} rounding{}{}", count, memberNoun(members, count),
        fewest < most ? fmt::format("{} to ", fewest) : std::string(), most, most == 1 ? "" : "s",
        count == 1 ? "" : " each");
}

void addReplays(CaptureVerdict& v)
{
    const auto totals = totalsOf(v.members);
    if (totals.replays == 0) {
        return;
    }
    const bool quiet = totals.finite == totals.replays;
    auto& lines = accuses(v) == quiet ? v.speaksFor : v.speaksAgainst;
    lines.push_back({fmt::format("{}: {}", replayedText(v.members), totalsText(totals)), "replay"});
    if (totals.forecast > 0) {
        lines.push_back({forecastText(v.members), "forecast"});
    }
    if (v.facts.damage.count > 0) {
        const auto text =
            fmt::format("{} of {} replays end with exactly the dump's damage", totals.reproducing, totals.replays);
        ((v.blame == Blame::numerics) == (totals.reproducing > 0) ? v.speaksFor : v.speaksAgainst)
            .push_back({text, "replay"});
    }
}

std::string oneOf(const std::vector<std::string>& names)
{
    constexpr std::size_t listed = 4;
    return names.size() <= listed ? fmt::format("{}", fmt::join(names, " or "))
                                  : fmt::format("one of {} variants", names.size());
}

// What was said to have run may contradict the dump; then the dump speaks.
void addContradiction(CaptureVerdict& v)
{
    const auto& id = v.variant;
    constexpr double clearly = 3;
    const bool contradicted = id.fit && id.runnerUp && *id.runnerUp <= plausibleFit && *id.fit > clearly * *id.runnerUp;
    if (contradicted) {
        v.speaksAgainst.push_back({fmt::format("the {} {} from {}, and {} from {}: perhaps something else ran",
                                       v.facts.outputFinite ? "output is" : "finite part of the output is",
                                       offByText(*id.fit), oneOf(id.names), percentText(*id.runnerUp), id.runnerUpName),
            "output"});
    }
}

std::string_view whyMute(const Facts& facts)
{
    if (facts.inputZero) {
        return "what comes of a zero matrix does not tell";
    }
    return facts.fit.compared ? "the output does not tell the variants apart" : "the output is too damaged to tell";
}

void addFitted(CaptureVerdict& v)
{
    const auto& id = v.variant;
    if (!v.facts.fit.compared && v.facts.control) {
        v.speaksFor.push_back({fmt::format("{}, and a healthy call of the same kind tells what ran: {}",
                                   whyMute(v.facts), v.facts.control->source),
            "control"});
    } else if (id.fit) {
        const auto next = id.runnerUp
            ? fmt::format("; the next, {}, is {:.2g} % off", id.runnerUpName, 100 * *id.runnerUp)
            : std::string();
        v.speaksFor.push_back({fmt::format("where the output is finite it is what {} gives, to {:.2g} %{}",
                                   fmt::join(id.names, " or "), 100 * *id.fit, next),
            "output"});
    }
}

void addUnidentified(CaptureVerdict& v)
{
    v.speaksAgainst.push_back({fmt::format("which function ran is not known: {}",
                                   v.facts.fit.compared && v.variant.matchesNone
                                       ? "the output is not what any known variant gives"
                                       : fmt::format("{}, so every variant stays plausible", whyMute(v.facts))),
        "output"});
}

void addIdentification(CaptureVerdict& v)
{
    const auto& id = v.variant;
    if (id.how == IdentifiedBy::fit) {
        addFitted(v);
    } else if (id.how == IdentifiedBy::given) {
        v.speaksFor.push_back({fmt::format("you said that {} ran", oneOf(id.names)), "--ran"});
        addContradiction(v);
    } else if (id.how == IdentifiedBy::sidecar) {
        v.speaksFor.push_back({fmt::format("the sidecar says that {} ran", fmt::join(id.names, " or ")), "sidecar"});
        addContradiction(v);
    } else {
        addUnidentified(v);
    }
}

void addNothingElse(CaptureVerdict& v)
{
    if (v.facts.nothingElse) {
        v.speaksFor.push_back(v.facts.nothingElseBySidecar
                ? EvidenceLine {"the sidecar says that nothing else touched the input or the result", "sidecar"}
                : EvidenceLine {"you said that nothing else touched the input or the result", "--nothing-else"});
    }
    if (v.facts.otherCode) {
        v.speaksAgainst.push_back({"you said that other code touched the input or the result: a dump of both does not "
                                   "tell what the iteration did",
            "--other-code"});
    }
}

void addControl(CaptureVerdict& v)
{
    if (!v.facts.control) {
        return;
    }
    const auto& control = *v.facts.control;
    if (control.identified.matchesNone) {
        v.notTestable.push_back(
            {fmt::format("{} went well and is the result of no known variant{}: the function that ran is not among "
                         "those replayed",
                 control.source, nearestText(control.identified)),
                "control"});
        return;
    }
    const auto text = fmt::format("{}{} is what {} gives, to {:.2g} %{}", control.source,
        control.otherProcess ? ", of which nothing says that it is of the same process," : "",
        oneOf(control.identified.names), 100 * control.identified.fit.value_or(0),
        control.exact.empty() ? "" : ", bit for bit");
    if (control.sameCall && accuses(v)) {
        v.speaksFor.push_back({text + ": shape and function are not to blame", "control"});
    } else {
        v.notTestable.push_back({text + ": the function works, which says nothing of this input", "control"});
    }
}

bool powerOfTwo(std::int64_t value)
{
    return value > 0 && (value & (value - 1)) == 0;
}

// A kernel's tile starts at a multiple of its side and ends at the next, or at the edge of the matrix.
bool tileSide(std::int64_t begin, std::int64_t end, std::int64_t extent)
{
    const auto length = end - begin;
    if (powerOfTwo(length)) {
        return begin % length == 0;
    }
    return end == extent && powerOfTwo(begin & -begin) && (begin & -begin) >= length;
}

// 0/0 has an empty payload on a CPU and a full one on a GPU, with either sign, and casts keep that: of 16 bits and of
// 32, whichever they are.
bool madeByArithmetic(std::uint64_t bits)
{
    constexpr std::array<std::uint64_t, 4> bf16 {0x7fc0, 0xffc0, 0x7fff, 0xffff};
    constexpr std::array<std::uint64_t, 2> fp16 {0x7e00, 0xfe00};
    constexpr std::array<std::uint64_t, 4> fp32 {0x7fc00000, 0xffc00000, 0x7fffffff, 0xffffffff};
    constexpr std::array<std::uint64_t, 4> fp64 {
        0x7ff8000000000000, 0xfff8000000000000, 0x7fffffffffffffff, 0xffffffffffffffff};
    const auto among = [bits](const auto& known) { return std::ranges::find(known, bits) != known.end(); };
    return among(bf16) || among(fp16) || among(fp32) || among(fp64);
}

void addDamage(CaptureVerdict& v)
{
    const auto& d = v.facts.damage;
    if (d.shape == DamageShape::rectangle) {
        const bool tile = tileSide(d.rowBegin, d.rowEnd, v.facts.rows) && tileSide(d.colBegin, d.colEnd, v.facts.cols);
        const bool atEdge = d.rowEnd == v.facts.rows || d.colEnd == v.facts.cols;
        const auto what = !tile
            ? std::string("a rectangle")
            : fmt::format("one aligned tile of {} × {}{}", d.rowEnd - d.rowBegin, d.colEnd - d.colBegin,
                atEdge ? " at the edge (perhaps of a larger tile, cut there)" : "");
        v.speaksFor.push_back({fmt::format("the damage is {}, as the last write or code after it may leave it; most "
                                           "faults inside the iteration would have spread",
                                   what),
            "output"});
    } else if (d.shape == DamageShape::wholeElement) {
        v.notTestable.push_back(
            {"the damage covers everything, as almost every fault inside the iteration ends: the map "
             "says nothing about where it began",
                "output"});
    }
    if (d.nanBits.size() == 1 && d.count > 1 && d.shape != DamageShape::wholeElement
        && !madeByArithmetic(d.nanBits[0].first)) {
        v.speaksFor.push_back(
            {fmt::format("every NaN has the bits {:#06x}, which no arithmetic makes: bytes that were stored there",
                 d.nanBits[0].first),
                "output"});
    }
}

void addLogs(CaptureVerdict& v, RuleId first)
{
    for (const auto& log : v.facts.logs) {
        if (log.notFinite) {
            (accuses(v) ? v.speaksAgainst : v.notTestable).push_back(log.line);
            continue;
        }
        if (first == RuleId::castOverflows && !log.climbing) {
            v.notTestable.push_back({fmt::format("{}; that does not make the input smaller, whose absmax is {:.6g}",
                                         log.line.text, v.facts.inputAbsmax),
                log.line.source});
            continue;
        }
        (log.climbing == (v.blame == Blame::numerics) ? v.speaksFor : v.speaksAgainst).push_back(log.line);
    }
}

void addInput(CaptureVerdict& v, RuleId first)
{
    if (!v.facts.inputFinite) {
        return;
    }
    if (first == RuleId::castOverflows) {
        v.notTestable.push_back(
            {fmt::format("the input is finite: absmax {:.6g}; whether it should be that large is not "
                         "in this dump",
                 v.facts.inputAbsmax),
                "input"});
        return;
    }
    // A finite input excludes upstream, but speaks for neither numbers nor kernel.
    auto& lines = accuses(v) ? v.speaksFor : v.notTestable;
    const auto* which =
        v.facts.besideBadInput ? "the dumped input of this matrix is finite" : "the dumped input is finite";
    lines.push_back({fmt::format("{} (absmax {:.4g})", which, v.facts.inputAbsmax), "input"});
    if (v.facts.besideBadInput) {
        v.notTestable.push_back(
            {"another matrix of this call came in with values that were not finite, which is a cause "
             "of its own",
                "input"});
    }
}

void addUntestable(CaptureVerdict& v)
{
    v.notTestable.push_back(
        {"a race that the capture's own synchronisation hides, and one that only shows under load", "capture"});
    v.notTestable.push_back(
        {"a producer that had not finished when the kernel read its input: the snapshot is not what the kernel read",
            "capture"});
    const bool again = std::ranges::any_of(
        v.facts.calledAgain, [](const CallsAgain& one) { return one.experiment.empty() && one.sameGpu; });
    const auto* another = v.facts.scene.onCpu ? "another machine" : "another GPU";
    v.notTestable.push_back({again ? fmt::format("whether the same call fails on {}", another)
                                   : fmt::format("whether the same call fails again, here or on {}: this was replayed "
                                                 "from the published formulas, not with your kernel",
                                       another),
        "replay"});
    if (v.facts.nothingElse) {
        return;
    }
    v.notTestable.push_back({"what the function takes or does besides: weights, moments or a coefficient that were bad "
                             "already, a cast, a mask or a quantiser after the iteration; capture what the iteration "
                             "itself returns",
        "capture"});
}

void addScene(CaptureVerdict& v)
{
    const auto& scene = v.facts.scene;
    for (const auto& note : notesOf(scene)) {
        v.notTestable.push_back({note, "sidecar"});
    }
    if (scene.calledAgain == 0 && !scene.notCalledAgain.empty()) {
        v.notTestable.push_back(
            {fmt::format("the call was not made again at the scene: {}", scene.notCalledAgain), "sidecar"});
    }
    if (scene.inputOverwritten) {
        v.notTestable.push_back({"who wrote into the input during the call: it held other bits afterwards, as it does "
                                 "where a function works in place",
            "sidecar"});
    }
    if (!scene.function.empty() && v.facts.identified.how != IdentifiedBy::sidecar) {
        v.notTestable.push_back(
            {fmt::format(
                 "{}, which the sidecar says was called: Nanscope does not replay it under that name", scene.function),
                "sidecar"});
    }
}

void addDuplicate(CaptureVerdict& v, RuleId first)
{
    if (!v.facts.duplicate) {
        return;
    }
    const auto& duplicate = *v.facts.duplicate;
    const auto given = fmt::format(
        "{} was given the same bits and its output is finite ({}): ", duplicateName(duplicate), duplicate.capture);
    if (first == RuleId::duplicateMayHaveOtherState || first == RuleId::duplicateOfTheProcess
        || first == RuleId::duplicateOnAnotherRank) {
        v.speaksFor.insert(
            v.speaksFor.begin(), EvidenceLine {given + "what depends on them alone did not do it", "same input"});
    } else {
        v.notTestable.push_back(
            {given + "if the same function ran in the same format, the numbers did not do it", "same input"});
    }
}

} // namespace

void collectEvidence(CaptureVerdict& verdict, const Considered& c, const Decision& decision)
{
    auto v = verdict;
    v.blame = decision.firstBlame;
    if (decision.role != Role::healthy) {
        addReplays(v);
        addIdentification(v);
        addNothingElse(v);
        addControl(v);
        addDamage(v);
        v.speaksFor.insert(v.speaksFor.end(), c.facts.found.begin(), c.facts.found.end());
        addLogs(v, decision.first);
        addInput(v, decision.first);
        addUntestable(v);
        addScene(v);
        v.notTestable.insert(v.notTestable.end(), c.facts.besides.begin(), c.facts.besides.end());
        addDuplicate(v, decision.first);
        v.next = nextExperiments(v, asksForName(decision.rule));
        addExperiments(v, c);
    }
    addCallsAgain(v, c.facts, decision);
    v.blame = decision.blame;
    if (v.blame == Blame::machine && c.facts.hardwareError) {
        v.speaksFor.insert(v.speaksFor.begin(), *c.facts.hardwareError);
    }
    verdict = std::move(v);
}

} // namespace nanscope::diagnose::verdict
