// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/identify.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "core/base/try.h"
#include "core/diagnose/identify/fits.h"
#include "core/diagnose/verdict/thresholds.h"
#include "core/replay/analysis/forecast.h"
#include "core/replay/analysis/singularsystem.h"
#include "core/replay/engine/spectrum.h"
#include "core/replay/program/program.h"

namespace nanscope::diagnose {

namespace {

using verdict::plausibleFit;

// Best and runner-up closer than this cannot be distinguished.
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
    const auto& multiple = a.multiple < b.multiple ? a : b;
    return {std::min(a.plain, b.plain), std::min(a.typical, b.typical), std::min(a.signal, b.signal),
        std::max(a.exact, b.exact), multiple.multiple, multiple.factor};
}

double best(const Fits& fits)
{
    return std::min({fits.plain, fits.typical, fits.signal});
}

using VariantFits = std::vector<std::pair<const replay::Variant*, Fits>>;

using Measure = double Fits::*;

double nearestBy(Measure measure, const VariantFits& fits)
{
    double nearest = std::numeric_limits<double>::infinity();
    for (const auto& [variant, fit] : fits) {
        nearest = std::min(nearest, fit.*measure);
    }
    return nearest;
}

/// The first by which anything fits: what tells variants apart.
std::optional<Measure> measureInUse(const VariantFits& fits)
{
    for (const Measure measure : {&Fits::plain, &Fits::typical, &Fits::signal}) {
        if (nearestBy(measure, fits) <= plausibleFit) {
            return measure;
        }
    }
    return std::nullopt;
}

/// True where half of the singular values lie within a tenth of them: a schedule is seen at one point alone, and
/// roundings of its coefficients are the same everywhere.
bool concentrated(const std::vector<double>& values)
{
    constexpr double close = 0.1;
    return quantileOf(values, 0.75) - quantileOf(values, 0.25) < close * quantileOf(values);
}

/// What ran is not so far behind: of 35 variants on 180 matrices of nine kinds no output was more than 2.5
/// times nearer to what another schedule gives exactly than to its own, over all values or by the typical tile. Along a
/// few directions it was up to six times, on orthogonal matrices four times.
bool cannotHaveRun(const Fits& fit, const VariantFits& exact)
{
    const auto measure = measureInUse(exact);
    return measure && *measure != &Fits::signal
        && fit.**measure > decisiveRatio * std::max(nearestBy(*measure, exact), fitFloor);
}

bool isCoarse(DType output)
{
    return output == DType::bfloat16 || output == DType::float16;
}

class MemberComparison
{
public:
    MemberComparison(const Element& element, const replay::Catalogue& catalogue, std::optional<double> epsilon,
        replay::Device& device, const CancelToken& cancel, const ReplayWatch& watch, std::int64_t sampledFrom,
        double operations)
        : m_element(element)
        , m_catalogue(catalogue)
        , m_epsilon(epsilon)
        , m_device(device)
        , m_cancel(cancel)
        , m_watch(watch)
        , m_operations(operations)
        , m_signal(replay::leadingDirections(
              element.input, element.shape.rows, element.shape.cols, 0.01, signalDirections, cancel))
    {
        if (std::min(element.shape.rows, element.shape.cols) >= sampledFrom) {
            m_sample = SampledFits::of(element, m_signal, device, cancel);
        }
        if (!m_sample) {
            m_system = replay::SingularSystem::of(element.input, element.shape, cancel);
        }
    }

    Result<VariantFits> compare()
    {
        if (m_system == nullptr && !m_sample) {
            return failure(ErrorKind::cancelled, "the replays were cancelled");
        }
        auto fits = TRY(exactFits());
        return m_sample ? addFaithfulToSample(fits) : addFaithful(std::move(fits));
    }

    /// What was replayed in its own format, for who replays it under other roundings.
    std::map<const replay::Variant*, MemberResult> takeOwn() { return std::move(m_own); }
    OwnOutput takeNearest() { return std::move(m_nearest); }

    std::vector<std::string> leftOut() const
    {
        std::vector<std::string> names;
        for (const auto* variant : m_catalogue.all()) {
            if (m_leftOut.contains(variant)) {
                names.push_back(variant->name);
            }
        }
        return names;
    }

    double operationsLeft() const { return m_operations; }

private:
    /// Takes them off what is left; false where they are too many.
    bool spend(const replay::Variant& variant, Precision precision)
    {
        if (m_operations == withoutLimit) {
            return true;
        }
        const auto program = compiled(variant, precision);
        const double needed = program ? program->gemmFlops() : 0;
        if (needed > m_operations) {
            return false;
        }
        m_operations -= needed;
        return true;
    }

    Result<VariantFits> exactFits()
    {
        VariantFits fits;
        const auto variants = m_catalogue.all();
        for (const auto* variant : variants) {
            m_place = {fits.size() + 1, 2 * variants.size()};
            const auto same = std::find_if(
                fits.begin(), fits.end(), [&](const auto& known) { return sameExactly(*known.first, *variant); });
            if (same != fits.end() && m_leftOut.contains(same->first)) {
                m_leftOut.insert(variant);
            }
            auto fit = TRY(same != fits.end() ? Result<Fits>(same->second) : exactFit(*variant));
            fits.emplace_back(variant, fit);
        }
        return fits;
    }

    Result<Fits> exactFit(const replay::Variant& variant)
    {
        const double norm = std::sqrt(m_element.inputScan.sumSquares);
        if (!replay::actsOnValuesAlone(variant)) {
            // As good as fp64 beside any fit, where no square is lost.
            const bool squaresHold = norm >= 1e-12 && norm <= 1e12;
            const auto precision = squaresHold ? Precision::fp32 : Precision::fp64;
            if (!spend(variant, precision)) {
                m_leftOut.insert(&variant);
                return Fits {};
            }
            return replayed(variant, precision);
        }
        const auto gains = gainsOf(variant);
        const auto fits =
            m_sample ? m_sample->under(gains) : fitsOf(m_element, m_system->amplified(gains, m_cancel), m_signal);
        return m_cancel.cancelled() ? Result<Fits>(failure(ErrorKind::cancelled, "the replay was cancelled"))
                                    : Result<Fits>(fits);
    }

    std::vector<double> gainsOf(const replay::Variant& variant) const
    {
        const double norm = std::sqrt(m_element.inputScan.sumSquares);
        return replay::gainsOf(variant, m_sample ? m_sample->values() : m_system->values(),
            replay::denominatorOf(variant, norm, m_epsilon));
    }

    // One output in fp64 stands for both: only the schedule matters, and epsilon where the norm is that small.
    bool sameExactly(const replay::Variant& a, const replay::Variant& b) const
    {
        const bool sameEpsilon =
            a.epsilonRule == b.epsilonRule && replay::epsilonUsed(a, m_epsilon) == replay::epsilonUsed(b, m_epsilon);
        const double norm = std::sqrt(m_element.inputScan.sumSquares);
        const bool negligible =
            std::max(replay::epsilonUsed(a, m_epsilon), replay::epsilonUsed(b, m_epsilon)) < negligibleEpsilon * norm;
        const bool sameScaling = a.normFactor == b.normFactor && a.normalization == b.normalization
            && a.equalizeRows == b.equalizeRows && a.rescaleOutput == b.rescaleOutput;
        // AOL's epsilon is held against sums of rows, which may be tiny where the norm is not.
        return a.steps == b.steps && sameScaling
            && (sameEpsilon || (negligible && a.normalization == replay::Normalization::frobenius));
    }

    static double faithfulBound(const VariantFits& fits)
    {
        double nearest = std::numeric_limits<double>::infinity();
        for (const auto& [variant, fit] : fits) {
            nearest = std::min(nearest, best(fit));
        }
        return nearest <= plausibleFit ? decisiveRatio * plausibleFit : std::numeric_limits<double>::infinity();
    }

    /// Bits of its own roundings. An output whose format hides them has the bits of all that is near: in bf16 those of
    /// Polar Express in fp32 are any polar factor's, and of an input of few directions those of others, too.
    Fits withOwn(const Fits& exact, Fits own) const
    {
        auto fits = better(exact, own);
        const bool hidden =
            isCoarse(m_element.outputType) && std::min(exact.plain, exact.typical) <= verdict::roundedFit;
        fits.exact = hidden ? 0 : own.exact;
        return fits;
    }

    /// What is computed exactly has the bits of no format.
    static VariantFits withoutBits(VariantFits fits)
    {
        for (auto& [variant, fit] : fits) {
            fit.exact = 0;
        }
        return fits;
    }

    // What a variant's own roundings add is far below the distance between schedules, so where one schedule fits, the
    // others need no second look. Where none does, roundings may have made the difference: all are tried.
    Result<VariantFits> addFaithful(VariantFits fits)
    {
        fits = withoutBits(std::move(fits));
        const double bound = faithfulBound(fits);
        m_place = {fits.size(), 2 * fits.size()};
        for (auto& [variant, fit] : fits) {
            ++m_place.done;
            if (best(fit) > bound || !canReplay(*variant)) {
                continue;
            }
            const auto own = TRY(ownFit(*variant));
            fit = withOwn(fit, own);
        }
        return fits;
    }

    // A replay of a large matrix is made where it may still change something, nearest first.
    Result<VariantFits> addFaithfulToSample(const VariantFits& sampled)
    {
        const double bound = faithfulBound(sampled);
        const bool tells = !concentrated(m_sample->values());
        std::map<std::size_t, Fits> own;
        m_place = {sampled.size(), 2 * sampled.size()};
        for (const auto i : nearestFirst(sampled)) {
            ++m_place.done;
            const auto exact = withTheRestOf(sampled);
            if (best(sampled[i].second) > bound || (tells && cannotHaveRun(exact[i].second, exact))
                || !canReplay(*sampled[i].first)) {
                continue;
            }
            own[i] = TRY(ownFit(*sampled[i].first));
        }
        auto fits = withoutBits(withTheRestOf(sampled));
        for (const auto& [i, faithful] : own) {
            fits[i].second = withOwn(fits[i].second, faithful);
        }
        // Of those that fit equally well it is named first, because its output is at hand.
        std::stable_partition(
            fits.begin(), fits.end(), [&](const auto& one) { return one.first == m_nearest.variant; });
        return fits;
    }

    static std::vector<std::size_t> nearestFirst(const VariantFits& fits)
    {
        const auto measure = measureInUse(fits).value_or(&Fits::plain);
        std::vector<std::size_t> order(fits.size());
        std::iota(order.begin(), order.end(), std::size_t {0});
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return fits[i].second.*measure; });
        return order;
    }

    /// The sample may have missed what is wrong elsewhere; fits of whole replays have it already.
    VariantFits withTheRestOf(VariantFits fits) const
    {
        for (auto& [variant, fit] : fits) {
            if (std::isfinite(best(m_nearestFits)) && replay::actsOnValuesAlone(*variant)) {
                fit = withTheRest(fit, m_nearestFits, m_nearestSampled);
            }
        }
        return fits;
    }

    /// Notes what is left out for want of operations.
    bool canReplay(const replay::Variant& variant)
    {
        if (m_leftOut.contains(&variant)) {
            return false;
        }
        const bool can = m_done.contains(workOfOwn(variant)) || spend(variant, variant.precision);
        if (!can) {
            m_leftOut.insert(&variant);
        }
        return can;
    }

    /// Of the variant's own replay, once for all that do the same work.
    Result<Fits> ownFit(const replay::Variant& variant)
    {
        const auto work = workOfOwn(variant);
        auto same = m_done.find(work);
        if (same == m_done.end()) {
            auto own = TRY(replayedOwn(variant));
            same = m_done.emplace(work, std::pair(own, &variant)).first;
        }
        if (const auto first = m_own.find(same->second.second); first != m_own.end()) {
            m_own.emplace(&variant, first->second);
        }
        return same->second.first;
    }

    // A damaged output is judged by more replays of what fits; this is the first of them.
    Result<Fits> replayedOwn(const replay::Variant& variant)
    {
        auto output = TRY(ownOutput(variant));
        const auto fits = fitsOf(m_element, output, m_signal);
        if (m_nearest.variant == nullptr || best(fits) < best(m_nearestFits)) {
            m_nearestSampled = m_sample ? m_sample->of(output) : Fits {};
            m_nearest = {&variant, std::move(output)};
            m_nearestFits = fits;
        }
        return fits;
    }

    Result<Values> ownOutput(const replay::Variant& variant)
    {
        if (m_element.outputScan.finite()) {
            return outputOf(variant, variant.precision);
        }
        tell(variant, variant.precision);
        return replayOwn({&variant, variant.precision}, m_element, m_epsilon, m_device, m_cancel)
            .map([&](OwnReplay own) {
                m_own.emplace(&variant, std::move(own.result));
                return std::move(own.output);
            });
    }

    // Projects copy from one another: what does the same work is replayed once.
    std::string workOfOwn(const replay::Variant& variant) const
    {
        const auto program = compiled(variant, variant.precision);
        return program ? replay::workOf(*program) : variant.name;
    }

    Result<replay::Program> compiled(const replay::Variant& variant, Precision precision) const
    {
        replay::CompileOptions options;
        options.precision = precision;
        options.rounding.lowering = variant.lowering;
        options.epsilon = m_epsilon;
        return replay::compileProgram(variant, m_element.shape, options);
    }

    Result<Fits> replayed(const replay::Variant& variant, Precision precision) const
    {
        return outputOf(variant, precision).map([&](ValueView output) { return fitsOf(m_element, output, m_signal); });
    }

    void tell(const replay::Variant& variant, Precision precision) const
    {
        if (m_watch) {
            m_watch(variant, precision, m_place);
        }
    }

    Result<Values> outputOf(const replay::Variant& variant, Precision precision) const
    {
        tell(variant, precision);
        return diagnose::outputOf({&variant, precision}, {variant.lowering}, m_element, m_epsilon, m_device, m_cancel);
    }

    const Element& m_element;
    const replay::Catalogue& m_catalogue;
    std::optional<double> m_epsilon;
    replay::Device& m_device;
    const CancelToken& m_cancel;
    const ReplayWatch& m_watch;
    double m_operations; ///< that are left for replays
    std::set<const replay::Variant*> m_leftOut; ///< for want of them
    ReplayPlace m_place;
    std::vector<replay::SingularDirection> m_signal;
    std::shared_ptr<const replay::SingularSystem> m_system; ///< of a small element, or where the sample has none
    std::optional<SampledFits> m_sample; ///< of a large one; none where it was cancelled
    std::map<std::string, std::pair<Fits, const replay::Variant*>> m_done; ///< own replays, by their work
    std::map<const replay::Variant*, MemberResult> m_own;
    OwnOutput m_nearest;
    Fits m_nearestFits;
    Fits m_nearestSampled; ///< the same output in the sample
};

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

std::vector<MultipleOf> multiplesOf(const VariantFits& fits)
{
    std::vector<MultipleOf> multiples;
    for (const auto& [variant, fit] : fits) {
        if (fit.multiple <= verdict::closeFit) {
            multiples.push_back({variant->name, fit.factor, fit.multiple});
        }
    }
    std::ranges::stable_sort(multiples, {}, &MultipleOf::fit);
    return multiples;
}

/// A replay in its own format comes nearer than what is exact, and says nothing of what had none.
ElementFit keepPossible(ElementFit fit)
{
    auto& names = fit.identification.names;
    for (const auto& name : fit.leftOut) {
        if (std::ranges::find(names, name) == names.end()) {
            names.push_back(name);
        }
    }
    return fit;
}

} // namespace

Result<ElementFit> identifyElement(const Element& element, const replay::Catalogue& catalogue,
    std::optional<double> epsilon, replay::Device& device, const CancelToken& cancel, const ReplayWatch& watch,
    std::int64_t sampledFrom, double operations)
{
    ElementFit result;
    result.operationsLeft = operations;
    const auto finite = element.outputScan.count - element.outputScan.nonFinite();
    const bool worthwhile = static_cast<double>(finite) >= finiteShare * static_cast<double>(element.outputScan.count);
    if (!worthwhile || !element.inputScan.finite() || element.inputScan.allZero()) {
        return result;
    }
    MemberComparison comparison(element, catalogue, epsilon, device, cancel, watch, sampledFrom, operations);
    auto compared = comparison.compare();
    result.leftOut = comparison.leftOut();
    result.operationsLeft = comparison.operationsLeft();
    result.own = comparison.takeOwn();
    result.nearest = comparison.takeNearest();
    const auto fits = TRY(std::move(compared));
    result.compared = true;
    result.exact = exactOf(fits);
    auto& identification = result.identification;
    if (chooseBy(&Fits::plain, fits, identification)) {
        return keepPossible(std::move(result));
    }
    if (chooseBy(&Fits::typical, fits, identification)) {
        result.localDamage = true;
        return keepPossible(std::move(result));
    }
    if (chooseBy(&Fits::signal, fits, identification)) {
        result.signalOnly = true;
        return keepPossible(std::move(result));
    }
    chooseBy(&Fits::plain, fits, identification);
    // What was left out may fit.
    identification.matchesNone = result.leftOut.empty();
    result.multiples = multiplesOf(fits);
    return result;
}

Result<IdentifiedCapture> identify(const tensorfile::CaptureFile& capture, const replay::Catalogue& catalogue,
    replay::Device& device, const CancelToken& cancel, const ReplayWatch& watch, double operations)
{
    IdentifiedCapture best;
    const auto batches = capture.input.matrices().batch;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
        const auto element = TRY(loadElement(capture, batch));
        auto fit = TRY(identifyElement(
            element, catalogue, capture.capture.epsilon, device, cancel, watch, sampledFromRows, operations));
        operations = fit.operationsLeft;
        if (fit.compared) {
            best = {std::move(fit.identification), std::move(fit.leftOut)};
        }
        if (best.identification.how == IdentifiedBy::fit) {
            break;
        }
    }
    return best;
}

} // namespace nanscope::diagnose
