// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/identify.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "core/diagnose/diagnose.h"
#include "core/diagnose/identify/fits.h"
#include "core/diagnose/verdict/thresholds.h"
#include "core/replay/analysis/forecast.h"
#include "core/replay/analysis/singularsystem.h"
#include "core/replay/engine/spectrum.h"
#include "core/replay/program/program.h"

namespace nanscope::diagnose {

namespace {

using verdict::plausibleFit;

// Best and runner-up closer than this cannot be told apart.
constexpr double decisiveRatio = 3;
// Below the rounding of the dump's own format, differences between variants mean nothing.
constexpr double fitFloor = 0x1p-9;
// Share of an output that must be finite before its fit is worth anything.
constexpr double finiteShare = 0.05;
// An epsilon this far below the norm moves the singular values by less than any fit can show.
constexpr double negligibleEpsilon = 1e-5;
constexpr int signalDirections = 8;
// Nearly all of the bits by chance is not to be had; a library that adds in another order already loses one in ten.
constexpr double exactEnough = 0.99;

Fits better(const Fits& a, const Fits& b)
{
    return {std::min(a.plain, b.plain), std::min(a.typical, b.typical), std::min(a.signal, b.signal),
        std::max(a.exact, b.exact)};
}

double best(const Fits& fits)
{
    return std::min({fits.plain, fits.typical, fits.signal});
}

using VariantFits = std::vector<std::pair<const replay::Variant*, Fits>>;

class Comparison
{
public:
    Comparison(const Element& element, std::optional<double> epsilon, replay::Device& device, const CancelToken& cancel,
        const ReplayWatch& watch)
        : m_element(element)
        , m_epsilon(epsilon)
        , m_device(device)
        , m_cancel(cancel)
        , m_watch(watch)
        , m_system(replay::SingularSystem::of(element.input, element.shape, cancel))
        , m_signal(
              replay::leadingDirections(element.input, element.shape.rows, element.shape.cols, 0.01, signalDirections))
    { }

    Result<VariantFits> compare()
    {
        if (m_system == nullptr) {
            return failure(ErrorKind::cancelled, "the replays were cancelled");
        }
        auto fits = exactFits();
        return fits ? addFaithful(std::move(*fits)) : fits;
    }

    /// What was replayed in its own format, for who replays it under other roundings.
    std::map<const replay::Variant*, MemberResult> takeOwn() { return std::move(m_own); }
    OwnOutput takeNearest() { return std::move(m_nearest); }

private:
    Result<VariantFits> exactFits() const
    {
        VariantFits fits;
        for (const auto* variant : replay::knownVariants()) {
            const auto same = std::find_if(
                fits.begin(), fits.end(), [&](const auto& known) { return sameExactly(*known.first, *variant); });
            auto fit = same != fits.end() ? Result<Fits>(same->second) : exactFit(*variant);
            if (!fit) {
                return tl::make_unexpected(fit.error());
            }
            fits.emplace_back(variant, *fit);
        }
        return fits;
    }

    Result<Fits> exactFit(const replay::Variant& variant) const
    {
        const double norm = std::sqrt(m_element.inputScan.sumSquares);
        if (!replay::actsOnValuesAlone(variant)) {
            // As good as fp64 beside any fit, where no square is lost.
            const bool squaresHold = norm >= 1e-12 && norm <= 1e12;
            return replayed(variant, squaresHold ? Precision::fp32 : Precision::fp64);
        }
        const auto gains =
            replay::gainsOf(variant, m_system->values(), replay::denominatorOf(variant, norm, m_epsilon));
        const auto exact = m_system->amplified(gains, m_cancel);
        return m_cancel.cancelled() ? Result<Fits>(failure(ErrorKind::cancelled, "the replay was cancelled"))
                                    : Result<Fits>(fitsOf(m_element, exact, m_signal));
    }

    // One output in fp64 stands for both: only the schedule matters, and epsilon where the norm is that small.
    bool sameExactly(const replay::Variant& a, const replay::Variant& b) const
    {
        const bool sameEpsilon = a.epsilonRule == b.epsilonRule && epsilonOf(a) == epsilonOf(b);
        const double norm = std::sqrt(m_element.inputScan.sumSquares);
        const bool negligible = std::max(epsilonOf(a), epsilonOf(b)) < negligibleEpsilon * norm;
        const bool sameScaling = a.normFactor == b.normFactor && a.normalization == b.normalization
            && a.equalizeRows == b.equalizeRows && a.rescaleOutput == b.rescaleOutput;
        // AOL's epsilon is held against sums of rows, which may be tiny where the norm is not.
        return a.steps == b.steps && sameScaling
            && (sameEpsilon || (negligible && a.normalization == replay::Normalization::frobenius));
    }

    double epsilonOf(const replay::Variant& variant) const
    {
        return variant.ignoresCallerEpsilon ? variant.epsilon : m_epsilon.value_or(variant.epsilon);
    }

    // What a variant's own roundings add is far below the distance between schedules, so where one schedule fits, the
    // others need no second look. Where none does, roundings may have made the difference: all are tried.
    Result<VariantFits> addFaithful(VariantFits fits)
    {
        double nearest = std::numeric_limits<double>::infinity();
        for (const auto& [variant, fit] : fits) {
            nearest = std::min(nearest, best(fit));
        }
        const double bound =
            nearest <= plausibleFit ? decisiveRatio * plausibleFit : std::numeric_limits<double>::infinity();
        std::map<std::string, std::pair<Fits, const replay::Variant*>> done;
        for (auto& [variant, fit] : fits) {
            if (best(fit) > bound) {
                continue;
            }
            const auto work = workOfOwn(*variant);
            auto same = done.find(work);
            if (same == done.end()) {
                const auto own = ownFit(*variant);
                if (!own) {
                    return tl::make_unexpected(own.error());
                }
                same = done.emplace(work, std::pair(*own, variant)).first;
            }
            fit = better(fit, same->second.first);
            if (const auto first = m_own.find(same->second.second); first != m_own.end()) {
                m_own.emplace(variant, first->second);
            }
        }
        return fits;
    }

    // A damaged output is judged by more replays of what fits; this is the first of them.
    Result<Fits> ownFit(const replay::Variant& variant)
    {
        auto output = ownOutput(variant);
        if (!output) {
            return tl::make_unexpected(output.error());
        }
        const auto fits = fitsOf(m_element, *output, m_signal);
        if (m_nearest.variant == nullptr || best(fits) < m_nearestFit) {
            m_nearest = {&variant, std::move(*output)};
            m_nearestFit = best(fits);
        }
        return fits;
    }

    Result<std::vector<double>> ownOutput(const replay::Variant& variant)
    {
        if (m_element.outputScan.finite()) {
            return outputOf(variant, variant.precision);
        }
        if (m_watch) {
            m_watch(variant, variant.precision);
        }
        return replayOwn({&variant, variant.precision}, m_element, m_epsilon, m_device, m_cancel)
            .map([&](OwnReplay own) {
                m_own.emplace(&variant, std::move(own.result));
                return std::move(own.output);
            });
    }

    // Projects copy from one another: what does the same work is replayed once.
    std::string workOfOwn(const replay::Variant& variant) const
    {
        replay::CompileOptions options;
        options.precision = variant.precision;
        options.rounding.lowering = variant.lowering;
        options.epsilon = m_epsilon;
        const auto program = replay::compileProgram(variant, m_element.shape, options);
        return program ? replay::workOf(*program) : variant.name;
    }

    Result<Fits> replayed(const replay::Variant& variant, Precision precision) const
    {
        return outputOf(variant, precision).map([&](const std::vector<double>& output) {
            return fitsOf(m_element, output, m_signal);
        });
    }

    Result<std::vector<double>> outputOf(const replay::Variant& variant, Precision precision) const
    {
        if (m_watch) {
            m_watch(variant, precision);
        }
        replay::ReplayOptions options;
        options.precision = precision;
        options.rounding.lowering = variant.lowering;
        options.epsilon = m_epsilon;
        options.keepOutput = true;
        return replay::replay(variant, m_element.shape, m_element.input, m_device, options, m_cancel)
            .map([](replay::Replay done) { return std::move(done.outputs[0]); });
    }

    const Element& m_element;
    std::optional<double> m_epsilon;
    replay::Device& m_device;
    const CancelToken& m_cancel;
    const ReplayWatch& m_watch;
    std::shared_ptr<const replay::SingularSystem> m_system; ///< none where it was cancelled
    std::vector<replay::SingularDirection> m_signal;
    std::map<const replay::Variant*, MemberResult> m_own;
    OwnOutput m_nearest;
    double m_nearestFit = 0;
};

using Measure = double Fits::*;

// Fills the set from one measure; false if that measure does not single out anything.
bool chooseBy(Measure measure, const VariantFits& fits, Identification& result)
{
    auto ranked = fits;
    std::stable_sort(ranked.begin(), ranked.end(),
        [measure](const auto& a, const auto& b) { return a.second.*measure < b.second.*measure; });
    result.all.clear();
    for (const auto& [variant, f] : ranked) {
        result.all.push_back({std::string(variant->name), f.*measure});
    }
    const double best = ranked.front().second.*measure;
    result.fit = best;
    if (!(best <= plausibleFit)) {
        return false;
    }
    const double bound = decisiveRatio * std::max(best, fitFloor);
    result.names.clear();
    result.runnerUp.reset();
    for (const auto& [variant, f] : ranked) {
        if (f.*measure < bound) {
            result.names.emplace_back(variant->name);
        } else if (!result.runnerUp) {
            result.runnerUp = f.*measure;
            result.runnerUpName = variant->name;
        }
    }
    result.how = IdentifiedBy::fit;
    return true;
}

std::vector<std::string> exactOf(const VariantFits& fits)
{
    std::vector<std::string> names;
    for (const auto& [variant, fit] : fits) {
        if (fit.exact >= exactEnough) {
            names.emplace_back(variant->name);
        }
    }
    return names;
}

} // namespace

Result<ElementFit> identifyElement(const Element& element, std::optional<double> epsilon, replay::Device& device,
    const CancelToken& cancel, const ReplayWatch& watch)
{
    ElementFit result;
    const auto finite = element.outputScan.count - element.outputScan.nonFinite();
    const bool worthwhile = static_cast<double>(finite) >= finiteShare * static_cast<double>(element.outputScan.count);
    if (!worthwhile || !element.inputScan.finite() || element.inputScan.allZero()) {
        return result;
    }
    Comparison comparison(element, epsilon, device, cancel, watch);
    const auto compared = comparison.compare();
    result.own = comparison.takeOwn();
    result.nearest = comparison.takeNearest();
    if (!compared) {
        return tl::make_unexpected(compared.error());
    }
    const auto& fits = *compared;
    result.compared = true;
    result.exact = exactOf(fits);
    auto& identification = result.identification;
    if (chooseBy(&Fits::plain, fits, identification)) {
        return result;
    }
    if (chooseBy(&Fits::typical, fits, identification)) {
        result.localDamage = true;
        return result;
    }
    if (chooseBy(&Fits::signal, fits, identification)) {
        result.signalOnly = true;
        return result;
    }
    chooseBy(&Fits::plain, fits, identification);
    identification.matchesNone = true;
    return result;
}

Result<Identification> identify(
    const tensorfile::CaptureFile& capture, replay::Device& device, const CancelToken& cancel)
{
    Identification best;
    const auto batches = capture.input.matrices().batch;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
        const auto element = loadElement(capture, batch);
        if (!element) {
            return tl::make_unexpected(element.error());
        }
        auto fit = identifyElement(*element, capture.capture.epsilon, device, cancel);
        if (!fit) {
            return tl::make_unexpected(fit.error());
        }
        if (fit->identification.how == IdentifiedBy::fit) {
            return std::move(fit->identification);
        }
        if (fit->compared) {
            best = std::move(fit->identification);
        }
    }
    return best;
}

} // namespace nanscope::diagnose
