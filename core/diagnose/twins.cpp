// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/twins.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/diagnose/element.h"
#include "core/diagnose/experiments.h"
#include "core/diagnose/fits.h"
#include "core/diagnose/margin.h"
#include "core/diagnose/rules.h"
#include "core/tensorfile/capturefile.h"

namespace nanscope {

namespace {

constexpr std::string_view sameInput = "same input";
constexpr std::string_view oneProcess = "the same process";
constexpr std::string_view sameBitsGiven = " was given the same bits and its output is finite (";
constexpr int rankWrongAtLeast = 2;

bool sameCounts(const Scan& a, const Scan& b)
{
    return a.count == b.count && a.zero == b.zero && a.subnormal == b.subnormal && a.absmax == b.absmax
        && a.minNonzero == b.minNonzero && a.sumSquares == b.sumSquares && a.finite() && b.finite();
}

bool sameBits(const Capture& a, const Capture& b)
{
    const auto first = openCapture(a);
    const auto second = openCapture(b);
    if (!first || !second) {
        return false;
    }
    for (std::int64_t batch = 0; batch < first->input.matrices().batch; ++batch) {
        const auto one = first->input.readBits(batch);
        const auto other = second->input.readBits(batch);
        if (!one || !other || *one != *other) {
            return false;
        }
    }
    return true;
}

double apartIn(const Element& one, const Element& other, std::int64_t row, std::int64_t col)
{
    double difference = 0;
    double energy = 0;
    for (auto r = row; r < std::min(row + TileErrors::side, one.shape.rows); ++r) {
        for (auto c = col; c < std::min(col + TileErrors::side, one.shape.cols); ++c) {
            const auto i = static_cast<std::size_t>(r * one.shape.cols + c);
            const double apart = one.output[i] - other.output[i];
            difference += apart * apart;
            energy += std::max(one.output[i] * one.output[i], other.output[i] * other.output[i]);
        }
    }
    return energy > 0 ? std::sqrt(difference / energy) : 0;
}

// Both finite: told apart by the tile that no replay gives. Half of what makes a tile odd is more than rounding.
bool endsAlike(const CaptureVerdict& verdict, const Capture& damaged, const Capture& clean)
{
    constexpr double roundingAtMost = 0.04;
    if (!verdict.weighed || !verdict.weighed->outputFinite) {
        return false;
    }
    const auto first = openCapture(damaged);
    const auto second = openCapture(clean);
    const auto one = first ? loadElement(*first, verdict.damage.batch) : tl::make_unexpected(first.error());
    const auto other = second ? loadElement(*second, verdict.damage.batch) : tl::make_unexpected(second.error());
    const auto& fit = verdict.weighed->fit;
    return !one || !other || apartIn(*one, *other, fit.worstRow, fit.worstCol) <= roundingAtMost;
}

bool wrapped(const Capture& capture)
{
    const auto file = openCapture(capture);
    return file && file->wrapped;
}

bool isZero(const CaptureVerdict& verdict)
{
    return verdict.weighed && verdict.weighed->outputZero;
}

std::string damageText(const CaptureVerdict& verdict)
{
    return isZero(verdict) ? "every value is zero" : verdict.damage.text;
}

/// What a line of evidence keeps of a twin.
struct Told
{
    std::string whose; ///< output is finite: "the same process", "rank 1"
    std::string file;

    bool sameProcess() const { return whose == oneProcess; }
    std::string line(std::string_view soWhat) const
    {
        return fmt::format("{}{}{}): {}", whose, sameBitsGiven, file, soWhat);
    }
};

std::optional<Told> toldBy(const EvidenceLine& line)
{
    const auto given = line.source == sameInput ? line.text.find(sameBitsGiven) : std::string::npos;
    if (given == std::string::npos) {
        return std::nullopt;
    }
    const auto file = given + sameBitsGiven.size();
    const auto end = line.text.find("): ", file);
    return end == std::string::npos
        ? std::nullopt
        : std::optional(Told {line.text.substr(0, given), line.text.substr(file, end - file)});
}

std::optional<Told> toldIn(const std::vector<EvidenceLine>& lines)
{
    for (const auto& line : lines) {
        if (auto told = toldBy(line)) {
            return told;
        }
    }
    return std::nullopt;
}

// The same bits, and yet not the same call, where it takes more than them.
bool maybeOtherState(const CaptureVerdict& verdict, const Twin& twin)
{
    return !saidToHaveRun(verdict.variant) && !twin.inputAlone
        && (isZero(verdict) || mayBeBesides(verdict.damage, false));
}

void askForState(CaptureVerdict& verdict, const std::string& whose)
{
    verdict.blame = Blame::undecided;
    verdict.kind = otherOutputKind;
    verdict.summary = fmt::format("{} gave a finite output for the very same input, so its numbers alone did not do "
                                  "it: {}",
        whose, damageText(verdict));
    verdict.question = "does the function take anything besides this input (weights, moments, a coefficient)? If it "
                       "does not, the kernel or its surroundings did it (--ran VARIANT says so)";
    verdict.next = nextExperiments(verdict);
}

std::string rankText(const std::optional<int>& rank)
{
    return rank ? fmt::format("rank {}", *rank) : std::string("another rank");
}

void provesNothing(CaptureVerdict& verdict, const Told& told)
{
    verdict.notTestable.push_back(
        {told.line("if the same function ran in the same format, the numbers did not do it"), std::string(sameInput)});
}

void acquitNumbers(CaptureVerdict& verdict, const Told& told)
{
    verdict.speaksFor.insert(verdict.speaksFor.begin(),
        EvidenceLine {told.line("what depends on them alone did not do it"), std::string(sameInput)});
    verdict.marginal = false;
}

void decide(CaptureVerdict& verdict, const Told& told)
{
    verdict.question.clear();
    const auto damage = damageText(verdict);
    // Other variants to tick would change nothing.
    verdict.weighed.reset();
    if (told.sameProcess()) {
        verdict.blame = Blame::nondeterministic;
        verdict.kind = otherOutputKind;
        verdict.summary = fmt::format(
            "the same process was given the same bits twice; once its output was finite and whole, and once: {}",
            damage);
        return;
    }
    verdict.blame = Blame::implementation;
    verdict.kind = "kernel, launch order, aliasing, communication or machine";
    verdict.summary = fmt::format(
        "{} gave a finite output for the very same input, so the numbers did not do it: {}", told.whose, damage);
}

bool hasTwinElsewhere(const CaptureVerdict& verdict)
{
    return std::ranges::any_of(verdict.speaksFor, [](const EvidenceLine& line) { return line.source == sameInput; })
        && verdict.blame == Blame::implementation;
}

} // namespace

bool sameInputCounts(const Capture& a, const Capture& b)
{
    const bool zero = std::ranges::all_of(a.input.batches, [](const Scan& scan) { return scan.allZero(); });
    return !zero && a.input.shape == b.input.shape && a.input.dtype == b.input.dtype
        && std::ranges::equal(a.input.batches, b.input.batches, sameCounts);
}

bool maybeTwins(const Capture& damaged, const Capture& clean)
{
    if (!damaged.output || !clean.output || damaged.path == clean.path || !clean.part.empty()) {
        return false;
    }
    const bool sameCode = damaged.output->dtype == clean.output->dtype && damaged.variant == clean.variant;
    const bool alike =
        sameCode && damaged.epsilon == clean.epsilon && clean.output->scanned() && clean.output->total().finite();
    return alike && sameInputCounts(damaged, clean);
}

std::optional<Twin> twinOf(const CaptureVerdict& verdict, const Capture& damaged, const CaptureIndex& captures)
{
    std::optional<Twin> found;
    for (const auto* other : captures.cleanWithInputOf(damaged)) {
        const bool sameRank = other->rank == damaged.rank;
        const bool sameProcess = sameRank && damaged.pid && other->pid == damaged.pid;
        const bool elsewhere = !sameRank && other->rank && damaged.rank;
        if (!(sameProcess || elsewhere) || (found && !sameProcess) || !maybeTwins(damaged, *other)) {
            continue;
        }
        if (sameBits(damaged, *other) && !endsAlike(verdict, damaged, *other)) {
            found = Twin {other, sameProcess, wrapped(damaged)};
        }
        if (found && found->sameProcess) {
            break;
        }
    }
    return found;
}

void letTwinSpeak(CaptureVerdict& verdict, const Twin& twin, const std::vector<std::string>& ran)
{
    const Told told {twin.sameProcess ? std::string(oneProcess) : rankText(twin.clean->rank), twin.clean->file};
    if (numbersCould(verdict, ran) || asksAboutPlace(verdict.kind)) {
        provesNothing(verdict, told);
        return;
    }
    acquitNumbers(verdict, told);
    if (maybeOtherState(verdict, twin)) {
        askForState(verdict, told.whose);
    } else {
        decide(verdict, told);
    }
}

void letTwinSpeakAgain(CaptureVerdict& verdict, const CaptureVerdict& before)
{
    const auto acquits = toldIn(before.speaksFor);
    const auto told = acquits ? acquits : toldIn(before.notTestable);
    if (!told || verdict.role != Role::birth) {
        return;
    }
    // Which variants gave the clean output is not kept; fewer members than could not do it before cannot do it now.
    if ((!acquits && numbersCould(verdict)) || asksAboutPlace(verdict.kind)) {
        provesNothing(verdict, *told);
        return;
    }
    acquitNumbers(verdict, *told);
    decide(verdict, *told);
}

void blameRanks(std::vector<CaptureVerdict>& verdicts, const CaptureIndex& captures)
{
    std::map<int, std::vector<CaptureVerdict*>> wrong;
    for (auto& verdict : verdicts) {
        if (verdict.rank && hasTwinElsewhere(verdict)) {
            wrong[*verdict.rank].push_back(&verdict);
        }
    }
    for (auto& [rank, of] : wrong) {
        const auto* first = captures.of(*of.front());
        const bool twice = std::ranges::any_of(of, [&](const CaptureVerdict* one) {
            const auto* capture = captures.of(*one);
            return capture != nullptr && first != nullptr && capture->identity != first->identity
                && capture->pid == first->pid;
        });
        // Where each rank is wrong in turn, it is what they share.
        if (!twice || wrong.size() > 1 || std::ssize(of) < rankWrongAtLeast) {
            continue;
        }
        for (auto* verdict : of) {
            verdict->blame = Blame::machine;
            verdict->kind = fmt::format("rank {} was wrong {} times where another was right", rank, of.size());
        }
    }
}

} // namespace nanscope
