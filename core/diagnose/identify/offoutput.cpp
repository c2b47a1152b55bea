// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/offoutput.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "core/base/try.h"
#include "core/diagnose/identify/fits.h"
#include "core/diagnose/verdict/thresholds.h"
#include "core/replay/engine/replay.h"

namespace nanscope::diagnose {

namespace {

constexpr int mostVariantSteps = 12;
// Of roundings alone.
constexpr double sameFactor = 0.02;

/// Those that cannot be told from the best: what is named comes first where it is among them.
OffOutput asMultiple(const OffQuestion& question)
{
    constexpr double decisiveRatio = 3;
    const auto& all = question.fit.multiples;
    const double bound = decisiveRatio * std::max(all.front().fit, verdict::roundedFit);
    const auto named = std::ranges::find_if(all, [&](const MultipleOf& one) {
        return question.named && one.variant == question.expected.variant->name && one.fit <= bound;
    });
    const auto& best = named != all.end() ? *named : all.front();
    OffOutput off {.as = OffAs::multiple, .variants = {best.variant}, .factor = best.factor, .fit = best.fit};
    for (const auto& one : all) {
        if (named == all.end() && one.variant != best.variant && one.fit <= bound) {
            off.variants.push_back(one.variant);
        }
    }
    return off;
}

/// All that it can be run with but its own, the nearest to that first.
std::vector<int> otherSteps(const replay::Variant& variant)
{
    const auto own = static_cast<int>(variant.steps.size());
    std::vector<int> counts(mostVariantSteps);
    std::iota(counts.begin(), counts.end(), 1);
    std::erase_if(counts, [&](int count) { return count == own || !replay::checkSteps(variant, count); });
    std::ranges::stable_sort(counts, {}, [own](int count) { return std::abs(count - own); });
    return counts;
}

Result<Fits> fitsOfSteps(const OffQuestion& question, int steps)
{
    const auto& member = question.expected;
    const auto& element = question.element;
    return outputOf(
        member, envelopeOf(member).front(), element, question.epsilon, question.device, question.cancel, steps)
        .map([&](ValueView output) { return fitsOf(element, output, {}); });
}

Result<OffOutput> asOtherSteps(const OffQuestion& question)
{
    const auto& variant = *question.expected.variant;
    const auto counts = otherSteps(variant);
    OffOutput best;
    best.fit = verdict::plausibleFit; // roundings of more steps add up: 3.6 % of six of keller-jordan's in bf16
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (question.watch) {
            question.watch(variant, question.expected.precision, {i + 1, counts.size()});
        }
        const auto fits = TRY(fitsOfSteps(question, counts[i]));
        if (fits.multiple <= best.fit) {
            const double factor = std::abs(fits.factor - 1) <= sameFactor ? 1 : fits.factor;
            best = {OffAs::otherSteps, {variant.name}, factor, counts[i], static_cast<int>(variant.steps.size()),
                fits.multiple};
        }
    }
    return best.as == OffAs::otherSteps ? best : OffOutput {};
}

double product(ValueView a, ValueView b)
{
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Some lines of a matrix: those of its smaller side.
class SideLines
{
public:
    explicit SideLines(const MatrixShape& shape)
        : m_ofRows(shape.rows <= shape.cols)
        , m_cols(shape.cols)
        , m_length(m_ofRows ? shape.cols : shape.rows)
        , m_all(m_ofRows ? shape.rows : shape.cols)
        , m_count(std::min<std::int64_t>(m_all, most))
    { }

    std::int64_t count() const { return m_count; }

    double product(ValueView a, std::int64_t line, ValueView b, std::int64_t other) const
    {
        double sum = 0;
        for (std::int64_t i = 0; i < m_length; ++i) {
            sum += a[at(line, i)] * b[at(other, i)];
        }
        return sum;
    }

private:
    static constexpr std::int64_t most = 128;

    std::size_t at(std::int64_t line, std::int64_t i) const
    {
        const auto place = line * m_all / m_count;
        return static_cast<std::size_t>(m_ofRows ? place * m_cols + i : i * m_cols + place);
    }

    bool m_ofRows;
    std::int64_t m_cols;
    std::int64_t m_length;
    std::int64_t m_all;
    std::int64_t m_count;
};

/// <M, M^T> / <M, M> of M = X Y^T over some of its rows and the same columns: 1 where that is symmetric, and about
/// 1 / n of what is unrelated.
double symmetry(ValueView input, ValueView output, const SideLines& lines)
{
    const auto n = lines.count();
    std::vector<double> m(static_cast<std::size_t>(n * n));
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
            m[static_cast<std::size_t>(i * n + j)] = lines.product(input, i, output, j);
        }
    }
    double across = 0;
    double own = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
            const double value = m[static_cast<std::size_t>(i * n + j)];
            across += value * m[static_cast<std::size_t>(j * n + i)];
            own += value * value;
        }
    }
    return own > 0 ? across / own : 1;
}

/// True where input and output of a call are as unlike as chance makes them. Each step of the iteration keeps the
/// singular directions of its input and the sign of its singular values, so that X Y^T is symmetric and X, Y point the
/// same way. All are finite; false where the smaller side has less than eight rows or columns.
bool isNotOfItsInput(const Element& element, ValueView output)
{
    constexpr std::int64_t fewest = 8;
    constexpr double deviations = 4;
    constexpr double hardlySymmetric = 0.3;
    const SideLines lines(element.shape);
    if (lines.count() < fewest || !element.inputScan.finite() || !element.outputScan.finite()) {
        return false;
    }
    const double norms = product(element.input, element.input) * product(output, output);
    const double chance = deviations / std::sqrt(static_cast<double>(element.input.size()));
    return norms > 0 && std::abs(product(element.input, output)) <= chance * std::sqrt(norms)
        && std::abs(symmetry(element.input, output, lines)) <= hardlySymmetric;
}

/// Roundings of a function that runs away take its own results as far.
Result<bool> losesItsInput(const OffQuestion& question)
{
    const auto& member = question.expected;
    if (member.variant == nullptr) {
        return false;
    }
    return outputOf(
        member, envelopeOf(member).front(), question.element, question.epsilon, question.device, question.cancel)
        .map([&](ValueView output) { return !allFinite(output) || isNotOfItsInput(question.element, output); });
}

} // namespace

Result<OffOutput> describeOff(const OffQuestion& question)
{
    if (question.element.input == question.element.output) {
        return OffOutput {.as = OffAs::input};
    }
    if (!question.fit.multiples.empty()) {
        return asMultiple(question);
    }
    if (isNotOfItsInput(question.element, question.element.output) && !TRY(losesItsInput(question))) {
        return OffOutput {.as = OffAs::notOfInput};
    }
    return question.expected.variant != nullptr ? asOtherSteps(question) : OffOutput {};
}

} // namespace nanscope::diagnose
