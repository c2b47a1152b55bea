// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/judge.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/diagnose/cost.h"
#include "core/diagnose/damage.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/endslike.h"
#include "core/diagnose/evidence.h"
#include "core/diagnose/experiments.h"
#include "core/diagnose/identify.h"
#include "core/diagnose/oddkinds.h"
#include "core/diagnose/oddtiles.h"
#include "core/diagnose/origin.h"
#include "core/diagnose/plausible.h"
#include "core/diagnose/provenance.h"
#include "core/diagnose/rules.h"
#include "core/platform/platform.h"
#include "core/replay/replay.h"
#include "core/tensorfile/capturefile.h"

namespace nanscope {

namespace {

// Xid, ECC or SDC lines meet the bar for naming the machine; nothing in a single capture does.
void letMachineSpeak(CaptureVerdict& verdict)
{
    if (verdict.blame == Blame::implementation && verdict.weighed->machine) {
        verdict.blame = Blame::machine;
        verdict.kind = "hardware error in the log";
        verdict.speaksFor.insert(verdict.speaksFor.begin(), *verdict.weighed->machine);
    }
}

/// What is known of it without a replay.
void showDamage(CaptureVerdict& verdict, const std::vector<DamagePattern>& patterns)
{
    const auto damaged = std::ranges::find_if(patterns, [](const DamagePattern& p) { return p.count > 0; });
    if (damaged != patterns.end()) {
        verdict.damage = *damaged;
    }
}

CaptureVerdict placeOf(CaptureVerdict& verdict)
{
    CaptureVerdict place;
    place.captureId = verdict.captureId;
    place.capture = std::move(verdict.capture);
    place.role = verdict.role;
    place.rank = verdict.rank;
    place.step = verdict.step;
    place.stepSource = verdict.stepSource;
    return place;
}

/// Judges one capture; holds what stays the same over its matrices.
class Judge
{
public:
    explicit Judge(const JudgeContext& context)
        : m_run(context.run)
        , m_words(context.words)
        , m_captures(context.captures)
        , m_given(context.given)
        , m_device(context.device)
        , m_controls(context.controls)
        , m_job(context.job)
        , m_done(static_cast<std::int64_t>(context.done))
    { }

    Result<void> judge(CaptureVerdict& verdict, const Capture& stored)
    {
        auto file = openCapture(stored);
        if (!file) {
            return tl::make_unexpected(file.error());
        }
        auto patterns = damagePatterns(*file);
        if (!patterns) {
            return tl::make_unexpected(patterns.error());
        }
        if (auto affordable = checkJudgingCost(file->input.matrices(), physicalMemory() / 2); !affordable) {
            // Too large for this machine is nothing that is wrong with the file.
            showDamage(verdict, *patterns);
            fillEndsLike(verdict, *file);
            verdict.summary = "could not be judged: " + sentence(affordable.error());
            return {};
        }
        bool settled = false;
        for (const auto batch : interesting(verdict.role, *patterns, stored)) {
            auto element = loadElement(*file, batch);
            if (!element) {
                return tl::make_unexpected(element.error());
            }
            auto pattern = (*patterns)[static_cast<std::size_t>(batch)];
            if (auto judged = judgeElement(verdict, {stored, *file, *element}, std::move(pattern), settled); !judged) {
                return judged;
            }
        }
        fillEndsLike(verdict, *file);
        return {};
    }

private:
    // The matrices of a batch worth replaying: damaged ones with a finite input, or all of a finite capture.
    static std::vector<std::int64_t> interesting(
        Role role, const std::vector<DamagePattern>& patterns, const Capture& capture)
    {
        constexpr std::size_t most = 4;
        std::vector<std::int64_t> chosen;
        for (std::size_t i = 0; i < patterns.size() && chosen.size() < most; ++i) {
            const auto& in = capture.input.batches[i];
            const bool zeroBroken = in.allZero() && !capture.output->batches[i].allZero();
            const bool wanted = role == Role::healthy || patterns[i].count > 0 || zeroBroken;
            if (wanted && in.finite()) {
                chosen.push_back(static_cast<std::int64_t>(i));
            }
        }
        return chosen;
    }

    /// A matrix and where it comes from.
    struct Matrix
    {
        const Capture& stored;
        const CaptureFile& file;
        const Element& element;
    };

    Result<void> judgeElement(CaptureVerdict& verdict, const Matrix& matrix, DamagePattern pattern, bool& settled)
    {
        const auto& [stored, file, element] = matrix;
        Case c;
        c.element = &element;
        c.damage = std::move(pattern);
        const auto watch = [&](const Variant& variant, Precision precision) {
            report(variant, precision, matrix.stored);
        };
        auto fit = identifyElement(element, stored.epsilon, m_device, m_job.cancel, watch);
        if (!fit) {
            return tl::make_unexpected(fit.error());
        }
        c.identification = std::move(fit->identification);
        c.fit.compared = fit->compared;
        c.fit.localDamage = fit->localDamage;
        if (verdict.role != Role::healthy) {
            auto control = controlOf(c, matrix);
            if (!control) {
                return tl::make_unexpected(control.error());
            }
            c.control = std::move(*control);
        }
        c.deadLines = damagedWhereInputIsZero(element);
        c.besides = isBesides(c, *fit, matrix.file.wrapped);
        choosePlausible(c, stored, m_given);
        const bool takesIt =
            std::ranges::any_of(c.members, [](const Member& member) { return !member.variant->ignoresCallerEpsilon; });
        // What a wrapper dumps and what the function does with it may differ, unless somebody names the function.
        c.epsilonUnknown = !saidToHaveRun(c) || (!stored.epsilon && takesIt);
        c.faint = isFaint(c);
        if (auto done = measure(c, stored); !done) {
            return done;
        }
        if (element.outputScan.finite()) {
            seekOrigin(c, matrix);
        } else if (auto done = lookForACast(c, stored); !done) {
            return done;
        }
        auto judgement = nanscope::judge(c);
        if (judgement.blame == Blame::implementation && !element.outputScan.finite()) {
            if (auto done = lookBesideDamage(c, matrix); !done) {
                return done;
            }
        }
        if (settled && !outranks(judgement, verdict)) {
            return {};
        }
        settled = true;
        adopt(verdict, c, std::move(judgement), stored.pid);
        return {};
    }

    /// Another matrix of the call is looked at in any case: that it came out right acquits what both share.
    Result<std::optional<Control>> controlOf(const Case& c, const Matrix& matrix)
    {
        auto control = m_controls.inSameCall(matrix.file, matrix.stored, matrix.element.batch);
        if (!control || *control || c.fit.compared) {
            return control;
        }
        return m_controls.inSameRun(matrix.stored);
    }

    // What is bit for bit a variant's has nothing added to it or taken from its input; nor has a call of which another
    // matrix is. A cast by powers of two and back leaves even those bits.
    static bool isBesides(const Case& c, const ElementFit& fit, bool wrapped)
    {
        const bool exactCall = c.control && c.control->sameCall && !c.control->fit.exact.empty();
        const bool inputAlone = wrapped || !fit.exact.empty() || exactCall;
        return mayBeBesides(c.damage, inputAlone, damagedInFaintLines(*c.element));
    }

    // Squares that vanish, in fp32 or in a norm that is written by hand in fp16, leave 0/0 or an epsilon alone to
    // divide by; a healthy call speaks for inputs of its own size.
    static bool isFaint(const Case& c)
    {
        constexpr double squaresVanish = 1e-18;
        constexpr double muchSmaller = 1.0 / 16;
        const double norm = std::sqrt(c.element->inputScan.sumSquares);
        const bool unlikeControl = c.control && norm < muchSmaller * c.control->inputNorm;
        return !saidToHaveRun(c) && (norm < squaresVanish || (unlikeControl && halfLosesSquares(c.element->input)));
    }

    Result<void> lookForACast(Case& c, const Capture& stored)
    {
        if (!c.fit.compared || c.members.empty()) {
            return {};
        }
        const auto& member = c.members.front();
        ReplayOptions options;
        options.precision = member.precision;
        options.rounding.lowering = member.variant->lowering;
        options.epsilon = stored.epsilon;
        options.keepOutput = true;
        auto done = replay(*member.variant, c.element->shape, c.element->input, m_device, options, m_job.cancel);
        if (!done) {
            return tl::make_unexpected(done.error());
        }
        c.likeACast = endsLikeACast(*c.element, done->outputs[0]);
        return {};
    }

    /// Where values that should not be there come from.
    void seekOrigin(Case& c, const Matrix& matrix) const
    {
        if (isCopyOfInput(matrix.element)) {
            c.facts.push_back({"the output is the input, bit for bit", "bytes"});
        } else if (c.fit.worstTileError > 0) {
            c.masked = looksMasked(matrix.element, c.odd);
            // What stands elsewhere bit for bit was copied.
            c.deliberate = !seekOriginOf(c, matrix) && c.deliberate;
        }
    }

    bool seekOriginOf(Case& c, const Matrix& matrix) const
    {
        constexpr std::size_t mostBefore = 8;
        const auto origin =
            originOf(matrix.element, c.odd, matrix.file, m_captures.before(matrix.stored, mostBefore), m_job.cancel);
        c.misplaced = origin.misplaced;
        if (!origin.text.empty()) {
            c.facts.push_back({fmt::format("the part that is wrong (rows {}-{} x columns {}-{}): {}", c.odd.rowBegin,
                                   c.odd.rowEnd - 1, c.odd.colBegin, c.odd.colEnd - 1, origin.text),
                "bytes"});
        }
        return !origin.text.empty();
    }

    /// Finite values beside NaN that no plausible variant gives. Asked only where no replay of any of them fails; the
    /// verdict stands without.
    Result<void> lookBesideDamage(Case& c, const Matrix& matrix)
    {
        const auto& id = c.identification;
        const bool known = id.how != IdentifiedBy::unknown && !id.matchesNone && c.fit.compared;
        const bool allFinite =
            std::ranges::all_of(c.results, [](const MemberResult& m) { return m.finite == m.roundings; });
        if (!known || !allFinite || matrix.element.inputScan.allZero()) {
            return {};
        }
        const auto odd = findOddRest(matrix.element, c.members, matrix.stored.epsilon, m_device, m_job.cancel);
        if (!odd) {
            return tl::make_unexpected(odd.error());
        }
        if (odd->count > 0 && !looksMasked(matrix.element, odd->box)) {
            c.odd = odd->box;
            c.facts.push_back({fmt::format("beside the damage {} finite tile{} of 16 x 16 {} not what any replay gives "
                                           "either: around [{}, {}], up to {:.0f} % off",
                                   odd->count, odd->count == 1 ? "" : "s", odd->count == 1 ? "is" : "are", odd->row,
                                   odd->col, 100 * odd->worstError),
                "output"});
            seekOriginOf(c, matrix);
        }
        return {};
    }

    // Proof in one matrix of a batch outweighs an open question in another, and a question one that is fine.
    static bool outranks(const Judgement& judgement, const CaptureVerdict& verdict)
    {
        if (verdict.blame != Blame::undecided) {
            return false;
        }
        const bool asks = !judgement.question.empty() && verdict.question.empty();
        return judgement.blame != Blame::undecided || asks;
    }

    Result<void> measure(Case& c, const Capture& stored)
    {
        const auto& element = *c.element;
        const bool silent = element.outputScan.allZero();
        if (element.outputScan.finite() && !element.inputScan.allZero() && !silent) {
            return measureWorstTile(c, stored);
        }
        const bool formatMatters = element.inputScan.allZero() || halfLosesInput(element.inputScan);
        if (formatMatters && (silent || c.damage.name == "whole element")) {
            addHalfPrecision(c.members);
        }
        std::vector<Member> kept;
        std::map<std::string, MemberResult> done; // projects copy from one another: equal work is replayed once
        for (const auto& member : c.members) {
            const auto work = workOf(member, element, stored.epsilon);
            auto same = done.find(work);
            if (same == done.end()) {
                report(*member.variant, member.precision, stored);
                auto result = replayMember(member, element, stored.epsilon, m_device, m_job.cancel);
                if (!result) {
                    return tl::make_unexpected(result.error());
                }
                same = done.emplace(work, std::move(*result)).first;
            }
            auto result = same->second;
            result.variant = member.variant->name;
            if (counts(result, c.identification)) {
                kept.push_back(member);
                c.results.push_back(std::move(result));
            }
        }
        c.members = std::move(kept);
        return {};
    }

    void report(const Variant& variant, Precision precision, const Capture& stored) const
    {
        Progress progress;
        progress.job = "diagnose";
        progress.phase = "judge";
        progress.done = m_done;
        progress.total = static_cast<std::int64_t>(m_run.captures.size());
        progress.unit = "captures";
        progress.message = fmt::format("{} in {}, {}", variant.name, name(precision), stored.file);
        m_job.progress(progress);
    }

    Result<void> measureWorstTile(Case& c, const Capture& stored)
    {
        const bool known = c.identification.how != IdentifiedBy::unknown && !c.identification.matchesNone;
        if (!known || !c.fit.compared) {
            return {};
        }
        const auto odd = findOddTiles(*c.element, c.members, stored.epsilon, m_device, m_job.cancel);
        if (!odd) {
            return tl::make_unexpected(odd.error());
        }
        c.fit.localDamage = odd->count > 0;
        if (odd->count > 0) {
            c.fit.measured = c.members.front().variant->name;
            c.fit.worstTileError = odd->worstError;
            c.fit.worstRow = odd->row;
            c.fit.worstCol = odd->col;
            c.odd = odd->box;
            c.deliberate = odd->deliberate;
        }
        return {};
    }

    void adopt(CaptureVerdict& verdict, const Case& c, Judgement judgement, const std::optional<int>& pid) const
    {
        auto weighed = weighedIn(c);
        weighed.logs = logLinesOf(m_run, verdict);
        weighed.machine = hardwareErrorOf(m_words, verdict.rank, pid);
        const bool elsewhere = !weighed.machine && !m_words.machine.empty();
        conclude(verdict, c, std::move(judgement), std::move(weighed));
        if (elsewhere && verdict.role != Role::healthy) {
            const auto& rank = m_words.machine.front().rank;
            const auto& line = m_words.machine.front().line;
            verdict.notTestable.push_back(
                {fmt::format("a hardware error {}: {}",
                     rank ? fmt::format("on rank {}", *rank) : "on a rank that is not said", line.text),
                    line.source});
        }
        if (!m_words.silentRanks.empty() && verdict.role != Role::healthy) {
            verdict.notTestable.push_back({m_words.silentRanks, "ranks"});
        }
    }

    const RunData& m_run;
    const RunWords& m_words;
    const CaptureIndex& m_captures;
    const std::vector<Member>& m_given;
    Device& m_device;
    Controls& m_controls;
    const JobContext& m_job;
    std::int64_t m_done;
};

} // namespace

Weighed weighedIn(const Case& c)
{
    Weighed w;
    w.rows = c.element->shape.rows;
    w.cols = c.element->shape.cols;
    w.inputAbsmax = c.element->inputScan.absmax;
    w.inputZero = c.element->inputScan.allZero();
    w.outputFinite = c.element->outputScan.finite();
    w.outputZero = c.element->outputScan.allZero();
    w.fit = c.fit;
    return w;
}

void conclude(CaptureVerdict& verdict, const Case& c, Judgement judgement, Weighed weighed)
{
    verdict = placeOf(verdict);
    verdict.blame = judgement.blame;
    verdict.marginal = judgement.marginal;
    verdict.kind = std::move(judgement.kind);
    verdict.summary = std::move(judgement.summary);
    verdict.question = std::move(judgement.question);
    verdict.variant = c.identification;
    verdict.members = c.results;
    verdict.damage = c.damage;
    verdict.weighed = std::move(weighed);
    const bool asks = asksAboutPlace(verdict.kind);
    const bool healthy = verdict.role == Role::healthy && verdict.blame == Blame::undecided && !asks;
    if (!healthy) {
        argue(verdict, c, verdict.weighed->logs);
        verdict.next = nextExperiments(verdict);
    }
    const bool silent = c.element->outputScan.allZero() && !c.element->inputScan.allZero();
    if (verdict.role == Role::healthy && (verdict.blame != Blame::undecided || silent || asks)) {
        verdict.role = Role::birth;
    }
    letMachineSpeak(verdict);
}

Result<void> judgeCapture(CaptureVerdict& verdict, const Capture& stored, const JudgeContext& context)
{
    return Judge(context).judge(verdict, stored);
}

} // namespace nanscope
