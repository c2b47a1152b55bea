// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/othercalls.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/diagnose/identify/element.h"
#include "core/diagnose/identify/fits.h"
#include "core/diagnose/verdict/decide.h"
#include "core/diagnose/verdict/thresholds.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::diagnose {

namespace {

/// Bit for bit before nearly, and any variant before none.
bool tellsMore(const ControlCall& a, const ControlCall& b)
{
    const auto key = [](const ControlCall& control) {
        const auto& id = control.identified;
        return std::tuple(id.matchesNone, control.exact.empty(), id.fit.value_or(1));
    };
    return key(a) < key(b);
}

constexpr std::size_t mostControls = 3;

std::optional<ControlCall> theOneThatTellsMost(std::vector<ControlCall> controls)
{
    const auto best = std::ranges::min_element(controls, tellsMore);
    return best == controls.end() ? std::nullopt : std::optional(std::move(*best));
}

} // namespace

Result<const ElementFit*> Controls::fitOf(
    const tensorfile::CaptureFile& file, const Capture& stored, std::int64_t batch)
{
    const Key key(stored.path, batch);
    auto known = m_known.find(key);
    if (known == m_known.end()) {
        const auto element = TRY(loadElement(file, batch));
        auto fit = TRY(identifyElement(element, m_catalogue, stored.epsilon, m_device, m_cancel));
        known = m_known.emplace(key, std::move(fit)).first;
    }
    return &known->second;
}

Result<std::vector<std::string>> Controls::variantsOf(const Capture& clean)
{
    const auto batch = healthyElement(clean, {});
    const auto file = tensorfile::openCapture(clean);
    if (!file || !batch) {
        return std::vector<std::string>();
    }
    return fitOf(*file, clean, *batch).map([](const ElementFit* fit) { return fit->identification.names; });
}

Result<std::optional<ControlCall>> Controls::identified(
    const tensorfile::CaptureFile& file, const Capture& stored, std::int64_t batch)
{
    const auto known = TRY(fitOf(file, stored, batch));
    const double norm = std::sqrt(stored.input.batches[static_cast<std::size_t>(batch)].sumSquares);
    // A call that fits in places only went wrong itself, and along a few directions alone other schedules fit as well.
    const auto& fit = *known;
    const bool close = !fit.exact.empty() || fit.identification.fit.value_or(1) <= verdict::closeFit;
    const bool good = fit.identification.how == IdentifiedBy::fit && !fit.localDamage && !fit.signalOnly && close;
    const bool stranger = fit.compared && fit.identification.matchesNone;
    return good || stranger ? std::optional(ControlCall {{}, false, norm, fit.identification, fit.exact})
                            : std::nullopt;
}

Result<std::optional<ControlCall>> Controls::inSameCall(
    const tensorfile::CaptureFile& file, const Capture& stored, std::int64_t damaged)
{
    const auto batch = healthyElement(stored, damaged);
    if (!batch) {
        return std::nullopt;
    }
    auto control = identified(file, stored, *batch);
    if (control && *control) {
        (*control)->source = fmt::format("element {} of this call", *batch);
        (*control)->sameCall = true;
    }
    return control;
}

Result<std::optional<ControlCall>> Controls::inSameRun(const Capture& stored)
{
    // The same bits that ended otherwise: more than one function may have run, and no call tells which ran here.
    if (!m_captures.cleanWithInputOf(stored).empty()) {
        return std::nullopt;
    }
    return identifiedOf(m_captures.controlsOf(stored, mostControls)).map(theOneThatTellsMost);
}

Result<std::optional<ControlCall>> Controls::perhapsOfRun(const Capture& stored, const std::vector<std::string>& names)
{
    if (!m_captures.cleanWithInputOf(stored).empty()) {
        return std::nullopt;
    }
    auto controls = TRY(identifiedOf(m_captures.perhapsControlsOf(stored, mostControls)));
    const auto named = std::ranges::find_if(controls, [&](const ControlCall& control) {
        return std::ranges::any_of(control.identified.all, [&](const VariantFit& fit) {
            return fit.fit <= verdict::closeFit && std::ranges::find(names, fit.variant) != names.end();
        });
    });
    auto control = named == controls.end() ? theOneThatTellsMost(std::move(controls)) : std::optional(*named);
    if (control) {
        control->otherProcess = true;
    }
    return control;
}

Result<std::vector<ControlCall>> Controls::identifiedOf(const std::vector<const Capture*>& others)
{
    std::vector<ControlCall> controls;
    for (const auto* other : others) {
        const auto file = tensorfile::openCapture(*other);
        if (!file) {
            continue;
        }
        if (auto control = TRY(identified(*file, *other, *healthyElement(*other, {})))) {
            control->source = other->file;
            controls.push_back(std::move(*control));
        }
    }
    return controls;
}

namespace {

bool sameBits(const Capture& a, const Capture& b)
{
    const auto first = tensorfile::openCapture(a);
    const auto second = tensorfile::openCapture(b);
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

// Both finite: the tile that no replay gives distinguishes them. Half of what makes a tile odd is more than rounding.
bool endsAlike(const CaptureVerdict& verdict, const Capture& damaged, const Capture& clean)
{
    constexpr double roundingAtMost = 0.04;
    if (!verdict.facts.replayed || !verdict.facts.outputFinite) {
        return false;
    }
    const auto first = tensorfile::openCapture(damaged);
    const auto second = tensorfile::openCapture(clean);
    const auto one = first ? loadElement(*first, verdict.facts.damage.batch) : tl::make_unexpected(first.error());
    const auto other = second ? loadElement(*second, verdict.facts.damage.batch) : tl::make_unexpected(second.error());
    const auto& fit = verdict.facts.fit;
    return !one || !other || apartIn(*one, *other, fit.worstRow, fit.worstCol) <= roundingAtMost;
}

/// Nearly all values that are finite in both are the same number. Of fewer than half of them nothing is said.
bool sameRest(const Capture& damaged, const Capture& clean)
{
    constexpr double nearlyAll = 0.99;
    const auto first = tensorfile::openCapture(damaged);
    const auto second = tensorfile::openCapture(clean);
    if (!first || !second || first->output->matrices().batch != second->output->matrices().batch) {
        return false;
    }
    std::int64_t finite = 0;
    std::int64_t same = 0;
    std::int64_t all = 0;
    for (std::int64_t batch = 0; batch < first->output->matrices().batch; ++batch) {
        const auto one = loadElement(*first, batch);
        const auto other = loadElement(*second, batch);
        if (!one || !other || one->shape != other->shape) {
            return false;
        }
        for (std::int64_t i = 0; i < one->shape.elements(); ++i) {
            const double value = one->output[static_cast<std::size_t>(i)];
            finite += std::isfinite(value) ? 1 : 0;
            same += std::isfinite(value) && value == other->output[static_cast<std::size_t>(i)] ? 1 : 0;
        }
        all += one->shape.elements();
    }
    return 2 * finite >= all && static_cast<double>(same) >= nearlyAll * static_cast<double>(finite);
}

bool ofOneProcess(const Capture& a, const Capture& b)
{
    return a.rank == b.rank && a.pid && a.pid == b.pid;
}

bool wasWrongBesideAnotherRank(const CaptureVerdict& verdict)
{
    return verdict.rule == RuleId::duplicateOnAnotherRank;
}

} // namespace

bool mayShareInput(const Capture& damaged, const Capture& clean)
{
    if (!damaged.output || !clean.output || damaged.path == clean.path || !clean.part.empty()) {
        return false;
    }
    const bool sameCode = damaged.output->dtype == clean.output->dtype && damaged.variant == clean.variant;
    const bool alike =
        sameCode && damaged.epsilon == clean.epsilon && clean.output->scanned() && clean.output->total().finite();
    return alike && sameInputCounts(damaged, clean);
}

const Capture* cleanCallOf(const CaptureVerdict& verdict, const Capture& damaged, const CaptureIndex& captures)
{
    const Capture* found = nullptr;
    for (const auto* other : captures.cleanWithInputOf(damaged)) {
        const bool sameProcess = ofOneProcess(damaged, *other);
        const bool elsewhere = other->rank && damaged.rank && other->rank != damaged.rank;
        if (!(sameProcess || elsewhere) || (found != nullptr && !sameProcess) || !mayShareInput(damaged, *other)) {
            continue;
        }
        if (sameBits(damaged, *other) && !endsAlike(verdict, damaged, *other)) {
            found = other;
        }
        if (found != nullptr && ofOneProcess(damaged, *found)) {
            break;
        }
    }
    return found;
}

DuplicateInput describeDuplicate(const Capture& damaged, const Capture& clean, std::vector<std::string> fits,
    const std::vector<MemberResult>& members, const replay::Catalogue& catalogue)
{
    DuplicateInput duplicate {
        clean.file, ofOneProcess(damaged, clean), clean.rank, std::move(fits), {}, sameRest(damaged, clean)};
    const auto hasScheduleOfOne = [&](const MemberResult& member) {
        const auto variant = catalogue.find(member.variant);
        return variant && std::ranges::any_of(duplicate.fits, [&](const std::string& name) {
            const auto other = catalogue.find(name);
            return other && (*other)->steps == (*variant)->steps;
        });
    };
    for (const auto& member : members) {
        if (hasScheduleOfOne(member)) {
            duplicate.sameSchedule.push_back(member.variant);
        }
    }
    return duplicate;
}

void countWrongRanks(std::vector<CaptureVerdict>& verdicts, const CaptureIndex& captures)
{
    std::map<int, std::vector<CaptureVerdict*>> wrong;
    for (auto& verdict : verdicts) {
        if (verdict.rank && wasWrongBesideAnotherRank(verdict)) {
            wrong[*verdict.rank].push_back(&verdict);
        }
    }
    // Where each rank is wrong in turn, it is what they share.
    if (wrong.size() != 1) {
        return;
    }
    const auto& of = wrong.begin()->second;
    const auto* first = captures.of(*of.front());
    const bool twice = std::ranges::any_of(of, [&](const CaptureVerdict* one) {
        const auto* capture = captures.of(*one);
        return capture != nullptr && first != nullptr && capture->identity != first->identity
            && capture->pid == first->pid;
    });
    for (auto* verdict : of) {
        verdict->facts.wrongBesideOtherRanks = twice ? static_cast<int>(of.size()) : 1;
        verdict::judgeAgain(*verdict);
    }
}

} // namespace nanscope::diagnose
