// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/judge.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/diagnose/context/layers.h"
#include "core/diagnose/context/logvote.h"
#include "core/diagnose/damage/candidateorigins.h"
#include "core/diagnose/damage/damage.h"
#include "core/diagnose/damage/deviationkinds.h"
#include "core/diagnose/damage/matricestojudge.h"
#include "core/diagnose/damage/outliertiles.h"
#include "core/diagnose/damage/provenance.h"
#include "core/diagnose/damage/takentogether.h"
#include "core/diagnose/identify/cost.h"
#include "core/diagnose/identify/envelope.h"
#include "core/diagnose/identify/identify.h"
#include "core/diagnose/identify/offoutput.h"
#include "core/diagnose/identify/plausible.h"
#include "core/diagnose/triage/triage.h"
#include "core/diagnose/verdict/decide.h"
#include "core/diagnose/verdict/experiments.h"
#include "core/diagnose/verdict/rules.h"
#include "core/diagnose/verdict/thresholds.h"
#include "core/logtext/xid.h"
#include "core/model/words.h"
#include "core/platform/platform.h"
#include "core/replay/engine/replay.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::diagnose {

namespace {

/// Which ranks wrote logs and no dump, and why that says nothing; empty where there are none.
std::string silentRanks(const RunData& run)
{
    std::set<int> seen;
    std::set<int> dumped;
    for (const auto& series : run.series) {
        if (series.rank) {
            seen.insert(*series.rank);
        }
    }
    for (const auto& event : run.events) {
        if (event.rank) {
            seen.insert(*event.rank);
        }
    }
    for (const auto& capture : run.captures) {
        if (capture.rank) {
            dumped.insert(*capture.rank);
        }
    }
    std::vector<int> silent;
    std::ranges::set_difference(seen, dumped, std::back_inserter(silent));
    if (silent.empty()) {
        return {};
    }
    constexpr std::size_t most = 8;
    const auto which = silent.size() > most ? fmt::format("{} other ranks", silent.size()) : rankList(silent);
    return fmt::format(
        "whether {} went wrong, too: no dump is no evidence, since a raise on one rank cuts the others off", which);
}

std::vector<HardwareError> hardwareErrors(const RunData& run)
{
    std::vector<HardwareError> errors;
    for (const auto& event : run.events) {
        if (event.kind == EventKind::machine) {
            errors.push_back({event.rank, event.facts.pid, event.says(Phrase::writtenByDriver), event.says(Phrase::xid),
                event.says(Phrase::uncorrectedMemory), {event.source, event.line}, {event.text, event.place()}});
        }
    }
    return errors;
}

/// Whoever came with such a line looks for it. One of each number is enough.
std::vector<EvidenceLine> quietXids(const RunData& run)
{
    constexpr std::size_t most = 3;
    std::vector<EvidenceLine> lines;
    std::set<int> codes;
    for (const auto& event : run.events) {
        const auto xid = lines.size() < most ? logtext::quietXid(event) : std::nullopt;
        if (xid && codes.insert(xid->code).second) {
            EvidenceLine line {event.text, event.place()};
            line.text = fmt::format("whether Xid {} has to do with it ({}): {}", xid->code, xid->meaning, line.text);
            lines.push_back(std::move(line));
        }
    }
    return lines;
}

std::vector<SanitizerReport> sanitizerReports(const RunData& run)
{
    std::vector<SanitizerReport> reports;
    for (const auto& event : run.events) {
        if (event.says(Phrase::newtonSchulzKernel)) {
            reports.push_back({event.rank, {event.text, event.place()}});
        }
    }
    return reports;
}

bool hasSeveralRanks(const RunData& run)
{
    std::set<int> ranks;
    for (const auto& capture : run.captures) {
        ranks.insert(capture.rank.value_or(0));
    }
    for (const auto& series : run.series) {
        ranks.insert(series.rank.value_or(0));
    }
    return ranks.size() > 1 || worldSizeOf(run).value_or(1) > 1;
}

} // namespace

HardwareEvents wordsOf(const RunData& run)
{
    return {silentRanks(run), hardwareErrors(run), sanitizerReports(run), quietXids(run), hasSeveralRanks(run)};
}

namespace {

/// A hardware error that can have changed what this call computed. The driver names the process, and has written it
/// before the dump where one log has both. The process itself fails with it, after the line of the dump: before that,
/// or in another log, it may have been another attempt. A line that names no rank is that of the only one.
std::optional<EvidenceLine> hardwareErrorOf(const HardwareEvents& words, const LoggedCall& call)
{
    const auto own = std::ranges::find_if(words.machine, [&](const HardwareError& error) {
        const bool itsRank = error.rank ? error.rank == call.rank : !words.severalRanks;
        const bool itsProcess = error.ofDriver ? error.pid && error.pid == call.pid : itsRank;
        const bool oneLog = call.dumped.line > 0 && call.dumped.source == error.place.source;
        const bool before = error.place.line < call.dumped.line;
        const bool inTime = error.ofDriver ? !oneLog || before : oneLog && !before;
        return error.asWritten && error.losesData && itsProcess && inTime;
    });
    return own == words.machine.end() ? std::nullopt : std::optional(own->line);
}

/// What is known of it without a replay.
void showDamage(CaptureVerdict& verdict, const std::vector<DamagePattern>& patterns)
{
    const auto damaged = std::ranges::find_if(patterns, [](const DamagePattern& p) { return p.count > 0; });
    if (damaged != patterns.end()) {
        verdict.facts.damage = *damaged;
    }
}

/// One matrix of a capture on its way to a verdict.
struct Evidence
{
    const Element& element;
    Facts facts {};
    std::vector<Member> members {};
    bool noise = false; ///< roundings of what is said to have run end as far apart as the output is off
    Region odd {}; ///< of a finite output, around the tiles that no replay gives
    std::map<const replay::Variant*, MemberResult> own {}; ///< replayed in their own format while they were compared
    OwnOutput nearest {}; ///< what one of them gave
};

/// Of finite matrices, how little was seen of one.
int unseen(RuleId rule)
{
    switch (rule) {
    case RuleId::fitsInPart:
        return 1;
    case RuleId::tooLittleToCompare:
        return 2;
    default:
        return 0;
    }
}

bool isProof(Blame blame)
{
    return blame == Blame::numerics || blame == Blame::implementation;
}

/// Of another matrix of the call, which the verdict is not about.
EvidenceLine otherCause(const DamagePattern& damage, Blame blame)
{
    if (!isProof(blame)) {
        return {
            fmt::format("matrix {} of this call ended otherwise than its own numbers do ({}): a function that takes "
                        "the matrices together hands it what another lost, and of one that does not this is a "
                        "second cause",
                damage.batch, damage.text),
            "output"};
    }
    return {fmt::format("matrix {} of this call ended otherwise ({}), and is {} by itself: two causes, of which this "
                        "verdict is about one",
                damage.batch, damage.text, name(blame)),
        "output"};
}

// Proof in one matrix of a batch outweighs an open question in another, a question one that is fine, and what was not
// judged in full one that was. Numbers that explain one matrix acquit nobody of another.
bool outranks(const verdict::Decision& decision, const Facts& facts, const CaptureVerdict& verdict)
{
    // Numbers of a zero matrix, 0/0, explain it alone.
    if (verdict.blame == Blame::numerics) {
        const bool another = decision.rule == RuleId::matricesTakenTogether && verdict.facts.inputZero;
        return decision.blame == Blame::implementation || another;
    }
    if (verdict.rule == RuleId::matricesTakenTogether && decision.blame == Blame::numerics && facts.inputZero) {
        return false;
    }
    if (verdict.blame != Blame::undecided) {
        return false;
    }
    const bool fits = verdict.rule == RuleId::fits || verdict.rule == RuleId::fitsInPart;
    const bool lessSure = fits && unseen(decision.rule) > unseen(verdict.rule);
    return decision.blame != Blame::undecided || lessSure || (verdict::asks(decision.rule) && verdict.question.empty());
}

// Cosine of two inputs: the iteration gives the same for every multiple of one. Roundings of a format hide a smaller
// angle between them: 0.45 % of the norm, where no output of bf16 stays the same bit for bit.
constexpr double sameDirection = 0.99;
constexpr double sameInput = 1 - 1e-5;

// Relative Frobenius distance of two outputs that are taken for one.
constexpr double aboutEqual = 0.01;
constexpr double bitForBit = 0;

double cosine(ValueView a, ValueView b)
{
    const double together = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    const double first = std::inner_product(a.begin(), a.end(), a.begin(), 0.0);
    const double second = std::inner_product(b.begin(), b.end(), b.begin(), 0.0);
    return first > 0 && second > 0 ? together / std::sqrt(first) / std::sqrt(second) : 0;
}

/// ||a - b|| / ||b||
double distance(ValueView a, ValueView b)
{
    const double apart = std::transform_reduce(
        a.begin(), a.end(), b.begin(), 0.0, std::plus<>(), [](double x, double y) { return (x - y) * (x - y); });
    return std::sqrt(apart / std::inner_product(b.begin(), b.end(), b.begin(), 0.0));
}

/// Judges one capture; holds what stays the same over its matrices.
class Judge
{
public:
    explicit Judge(const JudgeContext& context)
        : m_run(context.run)
        , m_words(context.words)
        , m_captures(context.captures)
        , m_options(context.options)
        , m_given(context.given)
        , m_device(context.device)
        , m_controls(context.controls)
        , m_job(context.job)
        , m_done(static_cast<std::int64_t>(context.done))
    { }

    Result<void> judge(CaptureVerdict& verdict, const Capture& stored)
    {
        const auto file = TRY(tensorfile::openCapture(stored));
        const auto patterns = TRY(damagePatterns(file));
        showDamage(verdict, patterns);
        m_options.arrived(verdict);
        doubtInput(verdict, file, stored, m_run);
        if (verdict.rule == RuleId::inputMayBeResult) {
            return {};
        }
        m_besides = verdict.facts.besides;
        compareWithAnswers(stored);
        compareWithOtherCode(file);
        const auto memory = platform::physicalMemory() / 2;
        if (auto affordable = checkJudgingCost(file.input.matrices(), m_options.catalogue, memory); !affordable) {
            // Too large for this machine is nothing that is wrong with the file.
            fillOrigins(verdict, file, m_options.catalogue);
            verdict.summary = "could not be judged: " + sentence(affordable.error());
            return {};
        }
        bool settled = false;
        const auto matrices = matricesToJudge(verdict.role, patterns, stored);
        if (auto others = leftOut(matrices, verdict.role)) {
            m_besides.push_back(std::move(*others));
        }
        for (const auto batch : matrices.chosen) {
            const auto element = TRY(loadElement(file, batch));
            auto pattern = patterns[static_cast<std::size_t>(batch)];
            const Matrix matrix {stored, file, element, static_cast<std::int64_t>(matrices.chosen.size())};
            TRY(judgeElement(verdict, matrix, std::move(pattern), settled));
        }
        fillOrigins(verdict, file, m_options.catalogue);
        return {};
    }

private:
    /// What was damaged, came in finite, and was not looked at.
    static std::optional<EvidenceLine> leftOut(const MatricesToJudge& matrices, Role role)
    {
        const auto judged = matrices.chosen.size();
        return role != Role::healthy && matrices.candidates > judged
            ? std::optional(EvidenceLine {fmt::format("{} of {} damaged matrices of this call were looked at: what the "
                                                      "others show may be another cause",
                                              judged, matrices.candidates),
                "output"})
            : std::nullopt;
    }

    /// A matrix and where it comes from.
    struct Matrix
    {
        const Capture& stored;
        const tensorfile::CaptureFile& file;
        const Element& element;
        std::int64_t judged; ///< matrices of the call that are looked at
    };

    Result<void> judgeElement(CaptureVerdict& verdict, const Matrix& matrix, DamagePattern pattern, bool& settled)
    {
        Evidence e {matrix.element};
        e.facts = factsOf(matrix, std::move(pattern));
        e.facts.role = verdict.facts.role;
        // Who saw other code at work takes back what a sidecar says.
        e.facts.otherCode = m_options.otherCode || matrix.file.otherCode;
        e.facts.nothingElse = !e.facts.otherCode && (m_options.nothingElse || matrix.stored.nothingElse);
        e.facts.nothingElseBySidecar = e.facts.nothingElse && matrix.stored.nothingElse;
        TRY(identifyWhatRan(e, matrix));
        TRY(measure(e, matrix.stored));
        if (matrix.element.outputScan.finite()) {
            seekOrigin(e, matrix);
            if (e.noise || e.facts.fit.unjudged.all()) {
                lookForOutputOfAnother(e, matrix, aboutEqual);
            } else if (e.facts.identified.fit.value_or(0) > verdict::roundedFit) {
                lookForOutputOfAnother(e, matrix, bitForBit);
            }
        } else {
            TRY(lookForACast(e, matrix.stored));
        }
        const auto decision = verdict::decide(verdict::consider(e.facts));
        if (decision.blame == Blame::implementation && !e.facts.outputFinite) {
            TRY(lookBesideDamage(e, matrix));
        }
        const auto isCause = [](Blame blame, RuleId rule) {
            return isProof(blame) || rule == RuleId::matricesTakenTogether;
        };
        const bool twoCauses = settled && isCause(decision.blame, decision.rule) && isCause(verdict.blame, verdict.rule)
            && decision.blame != verdict.blame;
        if (settled && !outranks(decision, e.facts, verdict)) {
            if (twoCauses) {
                verdict.facts.besides.push_back(otherCause(e.facts.damage, decision.blame));
                verdict::judgeAgain(verdict);
            }
            return {};
        }
        settled = true;
        const auto before = twoCauses ? std::optional(otherCause(verdict.facts.damage, verdict.blame)) : std::nullopt;
        adopt(verdict, std::move(e.facts), matrix.stored.pid);
        if (before) {
            verdict.facts.besides.push_back(*before);
            verdict::judgeAgain(verdict);
        }
        return {};
    }

    static Facts factsOf(const Matrix& matrix, DamagePattern pattern)
    {
        const auto& element = matrix.element;
        Facts facts;
        facts.replayed = true;
        facts.rows = element.shape.rows;
        facts.cols = element.shape.cols;
        facts.matrices = matrix.file.input.matrices().batch;
        facts.matricesJudged = matrix.judged;
        facts.inputAbsmax = element.inputScan.absmax;
        facts.inputFinite = element.inputScan.finite();
        facts.inputZero = element.inputScan.allZero();
        facts.outputFinite = element.outputScan.finite();
        facts.outputZero = element.outputScan.allZero();
        facts.damage = std::move(pattern);
        facts.damageOnZeros = damagedWhereInputIsZero(element);
        facts.damageInFaintLines = damagedInFaintLines(element);
        facts.damageInOwnBlock =
            damagedInOwnBlock(element, facts.damage) || damagedInOutlyingBlock(element, facts.damage);
        facts.dumpedByWrapper = matrix.file.wrapped;
        facts.besideBadInput = !matrix.stored.input.total().finite();
        facts.takenTogether =
            takenTogether(matrix.stored)[static_cast<std::size_t>(element.batch)] == TakenTogether::perhaps;
        facts.scene = matrix.stored.scene;
        facts.calledAgain = callsAtTheScene(matrix.stored.file, facts);
        return facts;
    }

    /// Another matrix of the call is looked at in any case: that it came out right acquits what both share.
    Result<void> identifyWhatRan(Evidence& e, const Matrix& matrix)
    {
        auto& facts = e.facts;
        const auto watch = [&](const replay::Variant& variant, Precision precision, ReplayPlace place) {
            showReplay({&variant, precision}, matrix.stored, place, "comparisons");
        };
        showReplay({}, matrix.stored, {}, {});
        auto fit = TRY(
            identifyElement(matrix.element, m_options.catalogue, matrix.stored.epsilon, m_device, m_job.cancel, watch));
        // Where another variant fits as it is, that says what the output is.
        const auto nearest = fit.identification.matchesNone ? nearestOf(fit.identification) : std::optional<Member>();
        facts.identified = std::move(fit.identification);
        facts.fit.compared = fit.compared;
        facts.fit.localDamage = fit.localDamage;
        e.own = std::move(fit.own);
        e.nearest = std::move(fit.nearest);
        if (facts.role != Role::healthy) {
            facts.control = TRY(controlOf(facts, matrix));
        }
        noteSize(facts.control, matrix.element);
        // Bits tell the code that made them, of this matrix or another one of the call. What is not finite they say
        // nothing of: a mask or a factor of one leaves the others as they are.
        const bool exactCall =
            facts.control && facts.control->sameCall && !facts.control->otherSize && !facts.control->exact.empty();
        facts.exactBits = !fit.exact.empty() || exactCall;
        facts.normMayVanish = normMayVanish(facts, matrix.element);
        e.members = choosePlausible(facts, matrix.stored, m_given, m_options.catalogue);
        facts.epsilonMissing = !matrix.stored.epsilon && std::ranges::any_of(e.members, [&](const Member& member) {
            return !member.variant->ignoresCallerEpsilon || isOnlySaid(member, matrix.stored);
        });
        facts.epsilonMatters = epsilonMatters(e, matrix.stored);
        TRY(muteNoise(e, matrix.stored));
        const bool off = verdict::consider(facts).outputIsOff();
        TRY(off && nearest ? describeOffOutput(e, fit, *nearest, matrix.stored) : Result<void>());
        return off && facts.role == Role::healthy ? compareOffOutput(e, matrix) : Result<void>();
    }

    /// A published name for what the helper saw as other code: that code's own epsilon does not follow from it.
    bool isOnlySaid(const Member& member, const Capture& stored) const
    {
        return !stored.scene.function.empty() && !stored.variant
            && m_options.catalogue.own(member.variant->name) == nullptr;
    }

    static void noteSize(std::optional<ControlCall>& control, const Element& element)
    {
        constexpr double muchLarger = 16;
        const double norm = std::sqrt(element.inputScan.sumSquares);
        if (control) {
            control->otherSize = norm > muchLarger * control->inputNorm || norm * muchLarger < control->inputNorm;
        }
    }

    Result<void> describeOffOutput(Evidence& e, const ElementFit& fit, const Member& nearest, const Capture& stored)
    {
        const bool named = verdict::consider(e.facts).saidToHaveRun() && !e.members.empty();
        const auto watch = [&](const replay::Variant& variant, Precision precision, ReplayPlace place) {
            showReplay({&variant, precision}, stored, place, "numbers of steps");
        };
        e.facts.off = TRY(describeOff({e.element, fit, named ? e.members.front() : nearest, named, stored.epsilon,
            m_device, m_job.cancel, watch}));
        return {};
    }

    std::optional<Member> nearestOf(const Identification& id) const
    {
        const auto variant = m_options.catalogue.find(id.all.empty() ? std::string() : id.all.front().variant);
        return variant ? std::optional(Member {*variant, (*variant)->precision}) : std::nullopt;
    }

    /// Where what is said to have run is far off, and its own roundings end as far apart on this input, neither the
    /// output nor a healthy call of the kind contradicts it.
    Result<void> muteNoise(Evidence& e, const Capture& stored)
    {
        auto& facts = e.facts;
        const auto considered = verdict::consider(facts);
        const double onRest = facts.fit.compared ? considered.identified.fit.value_or(0) : 0;
        const double onCall = considered.nameOffFromCall().value_or(0);
        const bool contradicts = std::max(onRest, onCall) > verdict::foreignFit;
        if (!considered.saidToHaveRun() || !contradicts || e.members.empty() || facts.inputZero) {
            return {};
        }
        const auto apart = TRY(roundingsApart(e, stored));
        e.noise = onRest > verdict::foreignFit && apart >= onRest;
        facts.fit.compared = facts.fit.compared && !e.noise;
        if (onCall > verdict::foreignFit && apart >= onCall) {
            facts.control.reset();
        }
        return {};
    }

    /// Relative Frobenius distance of what the first member gives by its own rounding and with the input moved by an
    /// ulp; NaN where one is not finite.
    Result<double> roundingsApart(Evidence& e, const Capture& stored)
    {
        const auto envelope = envelopeOf(e.members.front());
        const auto moved =
            std::ranges::find_if(envelope, [](const replay::Rounding& one) { return one.inputUlps != 0; });
        return apartFrom(e, e.members.front(), *moved, stored);
    }

    /// The same of what its own format may do. Sums of fp32 hardly differ, but a GPU may take TF32 for its products.
    Result<double> ownRoundingsApart(Evidence& e, const Capture& stored)
    {
        auto other = e.members.front();
        if (other.precision != Precision::fp32) {
            return roundingsApart(e, stored);
        }
        other.precision = Precision::tf32;
        return apartFrom(e, other, envelopeOf(other).front(), stored);
    }

    Result<double> apartFrom(Evidence& e, const Member& other, const replay::Rounding& rounding, const Capture& stored)
    {
        const auto first = TRY(outputOfFirst(e, stored));
        return outputOf(other, rounding, e.element, stored.epsilon, m_device, m_job.cancel).map([&](ValueView output) {
            return distance(output, *first);
        });
    }

    static bool epsilonMatters(const Evidence& e, const Capture& stored)
    {
        constexpr double farBelow = 1e-3;
        const double limit = farBelow * std::sqrt(e.element.inputScan.sumSquares);
        return stored.epsilon.value_or(0) >= limit
            || std::ranges::any_of(e.members, [&](const Member& member) { return member.variant->epsilon >= limit; });
    }

    /// A finite output that fits nothing, or not what is named, is held against a healthy call and against other
    /// outputs.
    Result<void> compareOffOutput(Evidence& e, const Matrix& matrix)
    {
        e.facts.control = TRY(m_controls.inSameRun(matrix.stored));
        lookForOutputOfAnother(e, matrix, aboutEqual);
        return {};
    }

    /// The output of another matrix of the call, or of an earlier call, to a relative Frobenius distance of `apart`.
    void lookForOutputOfAnother(Evidence& e, const Matrix& matrix, double apart) const
    {
        constexpr std::size_t mostBefore = 8;
        e.facts.outputOfElement = elementWithOutputOf(matrix);
        for (const auto* earlier : m_captures.before(matrix.stored, mostBefore)) {
            if (const auto off = offFromOutputOf(*earlier, matrix, apart)) {
                e.facts.outputOfEarlier = earlier->file;
                e.facts.outputOfEarlierOff = *off;
                break;
            }
        }
    }

    /// Another matrix of the call with this output, bit for bit, and another input.
    static std::optional<int> elementWithOutputOf(const Matrix& matrix)
    {
        constexpr std::int64_t mostLooked = 64;
        const auto& element = matrix.element;
        const auto count = std::min(matrix.file.input.matrices().batch, mostLooked);
        for (int batch = 0; batch < count; ++batch) {
            const bool perhaps = batch != element.batch && haveSquares(matrix.stored, batch, matrix, bitForBit);
            const auto other = perhaps ? loadElement(matrix.file, batch) : failure(ErrorKind::format, {});
            if (other && other->output == element.output && isAnotherInput(*other, element, bitForBit)) {
                return batch;
            }
        }
        return std::nullopt;
    }

    /// Relative Frobenius distance where this is the output of that call, but for roundings, and its input another: the
    /// iteration gives the same for every multiple of one.
    static std::optional<double> offFromOutputOf(const Capture& earlier, const Matrix& matrix, double apart)
    {
        const auto& element = matrix.element;
        const bool perhaps = earlier.output && haveSquares(earlier, element.batch, matrix, apart);
        const auto file = perhaps ? tensorfile::openCapture(earlier) : failure(ErrorKind::format, {});
        const auto other = file ? loadElement(*file, element.batch) : tl::make_unexpected(file.error());
        if (!other || other->output.size() != element.output.size()) {
            return std::nullopt;
        }
        const double off = distance(element.output, other->output);
        return off <= apart && isAnotherInput(*other, element, off) ? std::optional(off) : std::nullopt;
    }

    /// Sums that are as near as those of two outputs that are `apart`, of which nothing is read.
    static bool haveSquares(const Capture& other, std::int64_t batch, const Matrix& matrix, double apart)
    {
        constexpr double ofTheSum = 1e-12;
        const auto index = static_cast<std::size_t>(batch);
        const double squares = matrix.element.outputScan.sumSquares;
        return squares > 0 && other.output->scanned() && index < other.output->batches.size()
            && std::abs(other.output->batches[index].sumSquares - squares) <= (3 * apart + ofTheSum) * squares;
    }

    static bool isAnotherInput(const Element& other, const Element& element, double outputsApart)
    {
        const double limit = outputsApart == 0 ? sameInput : sameDirection;
        return std::abs(cosine(other.input, element.input)) < limit;
    }

    Result<std::optional<ControlCall>> controlOf(const Facts& facts, const Matrix& matrix)
    {
        auto control = m_controls.inSameCall(matrix.file, matrix.stored, matrix.element.batch);
        // What is said to have run is held against a healthy call even where the output itself could tell.
        const bool said = matrix.stored.variant || !m_given.empty();
        if (!control || *control || (facts.fit.compared && !said)) {
            return control;
        }
        control = m_controls.inSameRun(matrix.stored);
        return !said || !control || *control ? control : m_controls.perhapsOfRun(matrix.stored, namesSaid(matrix));
    }

    std::vector<std::string> namesSaid(const Matrix& matrix) const
    {
        std::vector<std::string> names;
        if (matrix.stored.variant) {
            names.push_back(*matrix.stored.variant);
        }
        for (const auto& member : m_given) {
            names.push_back(member.variant->name);
        }
        return names;
    }

    // Squares that vanish, in fp32 or in a norm that is written by hand in fp16, leave 0/0 or an epsilon alone to
    // divide by; a healthy call speaks for inputs of its own size.
    static bool normMayVanish(const Facts& facts, const Element& element)
    {
        constexpr double squaresVanish = 1e-18;
        constexpr double muchSmaller = 1.0 / 16;
        const double norm = std::sqrt(element.inputScan.sumSquares);
        const bool unlikeControl = facts.control && norm < muchSmaller * facts.control->inputNorm;
        return norm < squaresVanish || (unlikeControl && halfLosesSquares(element.input));
    }

    Result<void> lookForACast(Evidence& e, const Capture& stored)
    {
        if (!e.facts.fit.compared || e.members.empty()) {
            return {};
        }
        const auto first = TRY(outputOfFirst(e, stored));
        e.facts.damageAmongLargest = endsLikeACast(e.element, *first);
        return {};
    }

    /// What the first member gives by its own rounding; it is often the one that was found to be nearest.
    Result<const Values*> outputOfFirst(Evidence& e, const Capture& stored)
    {
        const auto& member = e.members.front();
        const bool ownFormat = member.precision == member.variant->precision && !member.recordedEpsilon;
        if (ownFormat && member.variant == e.nearest.variant) {
            return &e.nearest.values;
        }
        return outputOf(member, envelopeOf(member).front(), e.element, stored.epsilon, m_device, m_job.cancel)
            .map([&](Values output) {
                e.nearest = {ownFormat ? member.variant : nullptr, std::move(output)};
                return &std::as_const(e.nearest.values);
            });
    }

    /// Where values that should not be there come from.
    void seekOrigin(Evidence& e, const Matrix& matrix) const
    {
        if (isCopyOfInput(matrix.element)) {
            e.facts.found.push_back({"the output is the input, bit for bit", "bytes"});
        } else if (e.facts.fit.worstTileError > 0 || e.facts.fit.leftover != Leftover::none) {
            e.facts.zeroInPlaces = looksMasked(matrix.element, e.odd);
            // What stands elsewhere bit for bit was copied.
            e.facts.termOrFactor = !seekOriginOf(e, matrix) && e.facts.termOrFactor;
        }
    }

    bool seekOriginOf(Evidence& e, const Matrix& matrix) const
    {
        constexpr std::size_t mostBefore = 8;
        const auto origin =
            originOf(matrix.element, e.odd, matrix.file, m_captures.before(matrix.stored, mostBefore), m_job.cancel);
        e.facts.misplaced = origin.misplaced;
        if (!origin.text.empty()) {
            e.facts.found.push_back(
                {fmt::format("the part that is wrong (rows {}–{} × columns {}–{}): {}", e.odd.rowBegin,
                     e.odd.rowEnd - 1, e.odd.colBegin, e.odd.colEnd - 1, origin.text),
                    "bytes"});
        }
        return !origin.text.empty();
    }

    /// Finite values beside NaN that no plausible variant gives. Asked only where no replay of any of them fails; the
    /// verdict stands without.
    Result<void> lookBesideDamage(Evidence& e, const Matrix& matrix)
    {
        const auto& id = e.facts.identified;
        const bool known = id.how != IdentifiedBy::unknown && !id.matchesNone && e.facts.fit.compared;
        const bool allFinite =
            std::ranges::all_of(e.facts.members, [](const MemberResult& m) { return m.finite == m.roundings; });
        if (!known || !allFinite || matrix.element.inputScan.allZero()) {
            return {};
        }
        const auto first = TRY(outputOfFirst(e, matrix.stored));
        const auto odd = TRY(findOutliersOutsideDamage(
            matrix.element, e.members, *first, matrix.stored.epsilon, m_device, m_job.cancel));
        if (odd.count > 0 && odd.unlessRan.empty() && !looksMasked(matrix.element, odd.region)) {
            e.odd = odd.region;
            e.facts.found.push_back(
                {fmt::format("beside the damage {} finite tile{} of 16 × 16 {} not what any replay gives "
                             "either: around [{}, {}], up to {:.0f} % off",
                     odd.count, odd.count == 1 ? "" : "s", odd.count == 1 ? "is" : "are", odd.row, odd.col,
                     100 * odd.worstError),
                    "output"});
            seekOriginOf(e, matrix);
        }
        return {};
    }

    Result<void> measure(Evidence& e, const Capture& stored)
    {
        const auto& element = e.element;
        const bool silent = element.outputScan.allZero();
        if (element.outputScan.finite() && !element.inputScan.allZero() && !silent) {
            return measureWorstTile(e, stored);
        }
        const bool endsInHalf = element.outputType == DType::float16 && stored.input.dtype != DType::float16;
        const bool formatMatters = element.inputScan.allZero() || halfLosesInput(element.inputScan) || endsInHalf;
        if (formatMatters && (silent || e.facts.damage.shape == DamageShape::wholeElement)) {
            addHalfPrecision(e.members);
        }
        addRecordedEpsilon(e.members, element, stored.epsilon);
        auto results = TRY(replaysOf(e, stored).all(e.members));
        std::vector<Member> kept;
        for (std::size_t i = 0; i < results.size(); ++i) {
            if (counts(results[i], e.facts.identified)) {
                kept.push_back(e.members[i]);
                e.facts.members.push_back(std::move(results[i]));
            }
        }
        e.members = std::move(kept);
        return {};
    }

    MemberReplays replaysOf(const Evidence& e, const Capture& stored) const
    {
        // Fewer than three are as soon replayed. What comes out zero is no question of limits.
        constexpr std::size_t worthForecasts = 3;
        const bool forecasts =
            e.members.size() >= worthForecasts && !e.facts.outputFinite && !e.element.inputScan.allZero();
        const auto enough =
            forecasts && e.facts.identified.how == IdentifiedBy::unknown ? Enough::asked : Enough::whole;
        return {{e.element, stored.epsilon, enough, forecasts, e.own, m_device, m_job.cancel},
            [this, &stored](const Member& member, std::size_t done, std::size_t all) {
                showReplay(member, stored, {done, all}, "plausible variants");
            }};
    }

    /// Of one that is replayed, or of the input that is decomposed before any is.
    void showReplay(const Member& member, const Capture& stored, ReplayPlace place, const std::string& unit) const
    {
        // Of many captures the share of all of them says more.
        constexpr std::size_t few = 20;
        const auto captures = m_run.captures.size();
        const auto done = static_cast<std::int64_t>(place.done);
        const auto all = static_cast<std::int64_t>(place.all);
        const auto what = member.variant == nullptr
            ? "decomposing the input"
            : fmt::format("{} in {}", member.variant->name, name(member.precision));
        if (captures > few) {
            const auto share = all > 0 ? fmt::format("{} of {} {}: ", done, all, unit) : std::string();
            m_job.progress({"diagnose", "judging", m_done, static_cast<std::int64_t>(captures), "captures",
                share + what + ", " + stored.file, true});
            return;
        }
        const auto phase =
            captures == 1 ? std::string("judging") : fmt::format("judging capture {} of {}", m_done + 1, captures);
        m_job.progress({"diagnose", phase, done, all, unit, what + ", " + stored.file, true});
    }

    Result<void> measureWorstTile(Evidence& e, const Capture& stored)
    {
        const bool known = e.facts.identified.how != IdentifiedBy::unknown && !e.facts.identified.matchesNone;
        if (!known || !(e.facts.fit.compared || e.noise)) {
            return {};
        }
        const auto first = TRY(outputOfFirst(e, stored));
        const Region everywhere {0, e.element.shape.rows, 0, e.element.shape.cols};
        if (e.noise) {
            lookForLeftovers(e, *first, everywhere, stored);
            return {};
        }
        const auto odd = TRY(findOutlierTiles(e.element, e.members, *first, stored.epsilon, m_device, m_job.cancel));
        e.facts.fit.unjudged = odd.unjudged;
        e.facts.fit.unlessRan = odd.unlessRan;
        e.facts.fit.localDamage = odd.count > 0;
        if (odd.count > 0) {
            e.facts.fit.measured = e.members.front().variant->name;
            e.facts.fit.worstTileError = odd.worstError;
            e.facts.fit.worstRow = odd.row;
            e.facts.fit.worstCol = odd.col;
            e.odd = odd.region;
            e.facts.termOrFactor = odd.deliberate;
        }
        if (odd.count > 0 || e.facts.fit.unjudged.all()) {
            lookForLeftovers(e, *first, odd.count > 0 ? odd.region : everywhere, stored);
            return {};
        }
        return e.facts.fit.unjudged.count == 0 ? compareWithRoundings(e, stored) : Result<void>();
    }

    /// What roundings do not explain even where they may explain everything else.
    static void lookForLeftovers(Evidence& e, ValueView replay, const Region& part, const Capture& stored)
    {
        const auto bits = findExactLeftovers(e.element, replay, part);
        const auto mayVanish = [&](const Member& member) {
            return mayVanishAmongOthers(stored, e.element.batch, member.precision);
        };
        if (bits.leftover == Leftover::none
            || (bits.leftover == Leftover::zeros && std::ranges::any_of(e.members, mayVanish))) {
            return;
        }
        auto& fit = e.facts.fit;
        fit.localDamage = true;
        fit.leftover = bits.leftover;
        fit.worstRow = bits.region.rowBegin;
        fit.worstCol = bits.region.colBegin;
        fit.leftoverRow = bits.otherRow;
        fit.leftoverCol = bits.otherCol;
        e.odd = bits.region;
    }

    /// Off everywhere by more than roundings of the function make is not healthy, and too little to call wrong.
    Result<void> compareWithRoundings(Evidence& e, const Capture& stored)
    {
        const double off = e.facts.identified.fit.value_or(0);
        if (off <= verdict::roundedFit) {
            return {};
        }
        const auto apart = TRY(ownRoundingsApart(e, stored));
        auto& tiles = e.facts.fit.unjudged;
        if (verdict::overRoundings * apart < off) {
            tiles.count = tiles.of;
            tiles.error = off;
            tiles.spread = apart;
        }
        return {};
    }

    /// What the sidecar says ran, beside the catalogue and the user's word.
    void compareWithAnswers(const Capture& stored)
    {
        const auto ran = stored.variant ? parseRan(*stored.variant, m_options.catalogue) : Result<Member>();
        if (!ran) {
            m_besides.push_back({fmt::format("it names {} as what ran, which is not known here ({})", *stored.variant,
                                     sentence(ran.error())),
                "sidecar"});
            return;
        }
        const auto others = stored.variant ? outweighed(*ran, m_given, stored) : std::vector<Member>();
        if (!others.empty()) {
            const bool all = others.size() == m_given.size();
            m_besides.push_back({fmt::format("the sidecar says that {} ran, and you said {}{}: the sidecar counts, "
                                             "for it is about this dump alone; correct it if it is wrong",
                                     *stored.variant, ranText(others), all ? "" : " as well"),
                "sidecar, --ran"});
        }
    }

    /// A word about this dump alone counts before one about all of the run.
    void compareWithOtherCode(const tensorfile::CaptureFile& file)
    {
        if (file.otherCode && !m_options.otherCode) {
            m_besides.push_back(
                {fmt::format("the sidecar says of this dump what --other-code says of all (\"nothing_else\": "
                             "false){}",
                     m_options.nothingElse ? ", and you said --nothing-else: the sidecar counts, for it is "
                                             "about this dump alone; correct it if it is wrong"
                                           : ""),
                    m_options.nothingElse ? "sidecar, --nothing-else" : "sidecar"});
        }
    }

    void adopt(CaptureVerdict& verdict, Facts facts, const std::optional<int>& pid) const
    {
        facts.besides = m_besides;
        facts.logs = logLinesOf(m_run, verdict);
        if (auto beyond = beyondGradients(m_run, verdict, facts.inputAbsmax)) {
            facts.besides.push_back(std::move(*beyond));
        }
        facts.hardwareError = hardwareErrorOf(m_words, {verdict.rank, pid, dumpedAt(verdict)});
        if (!facts.hardwareError && !m_words.machine.empty()) {
            const auto& rank = m_words.machine.front().rank;
            const auto& line = m_words.machine.front().line;
            facts.besides.push_back(
                {fmt::format("whether a hardware error {} has to do with it, which is not shown to be one of this "
                             "process that can change values: {}",
                     rank ? fmt::format("on rank {}", *rank) : "on a rank that is not said", line.text),
                    line.source});
        }
        facts.besides.insert(facts.besides.end(), m_words.quiet.begin(), m_words.quiet.end());
        if (const auto* report = sanitizerReportOf(verdict.rank)) {
            facts.besides.push_back({fmt::format("whether this call met what was reported of a kernel with a name of "
                                                 "Newton-Schulz: {}",
                                         report->text),
                report->source});
        }
        if (!m_words.silentRanks.empty()) {
            facts.besides.push_back({m_words.silentRanks, "ranks"});
        }
        verdict.facts = std::move(facts);
        verdict::judgeAgain(verdict);
    }

    LogPlace dumpedAt(const CaptureVerdict& verdict) const
    {
        const auto found = std::ranges::find_if(m_run.events, [&](const Event& event) {
            return event.kind == EventKind::captureDumped && event.capture == verdict.capture;
        });
        return found == m_run.events.end() ? LogPlace {} : LogPlace {found->source, found->line};
    }

    /// The first of this rank, or of a log that names none; null where there is none.
    const EvidenceLine* sanitizerReportOf(const std::optional<int>& rank) const
    {
        const auto found = std::ranges::find_if(
            m_words.sanitizer, [&](const SanitizerReport& one) { return !one.rank || one.rank == rank; });
        return found == m_words.sanitizer.end() ? nullptr : &found->line;
    }

    const RunData& m_run;
    const HardwareEvents& m_words;
    const CaptureIndex& m_captures;
    const DiagnoseOptions& m_options;
    const std::vector<Member>& m_given;
    replay::Device& m_device;
    Controls& m_controls;
    const JobContext& m_job;
    std::int64_t m_done;
    std::vector<EvidenceLine> m_besides; ///< about the capture that is judged
};

} // namespace

Result<void> judgeCapture(CaptureVerdict& verdict, const Capture& stored, const JudgeContext& context)
{
    return Judge(context).judge(verdict, stored);
}

} // namespace nanscope::diagnose
