// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/spectrumpicture.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <QCoreApplication>
#include <QStringList>

#include "ui/text.h"

namespace nanscope {

namespace {

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(Spectrum)
};

constexpr double wide = 30; ///< from here on the axis is logarithmic
constexpr double deepest = 1e-9; ///< of the largest singular value: what is smaller is nothing but rounding

void layOutAxis(SpectrumPicture& picture)
{
    const auto& lines = picture.stage.lines;
    picture.order.resize(lines.size());
    std::iota(picture.order.rbegin(), picture.order.rend(), std::size_t {0});
    if (lines.empty()) {
        return;
    }
    const double largest = lines.front().sigma;
    const double smallest = std::max(lines.back().sigma, deepest * largest);
    picture.logarithmic = largest > wide * smallest;
    picture.left = picture.logarithmic ? smallest / 1.3 : 0;
    picture.right = picture.logarithmic ? largest * 1.3 : largest * 1.04;
    for (const std::size_t line : picture.order) {
        picture.places.push_back(std::max(lines[line].sigma, smallest));
    }
}

/// The schedule of the variant, where it is what core holds the lines against.
void addSchedule(SpectrumPicture& picture, const instruments::SpectrumAnswer& answer, std::optional<double> epsilon,
    const replay::Catalogue& catalogue)
{
    const auto known = catalogue.find(answer.variant);
    if (!answer.closedForm || !known || !picture.hasExpected()) {
        return;
    }
    const replay::Variant& variant = **known;
    const double norm = answer.frobenius * variant.normFactor;
    const double added = epsilon.value_or(0);
    picture.denominator = variant.epsilonRule == replay::EpsilonRule::add ? norm + added : std::max(norm, added);
    auto steps = variant.steps;
    if (picture.stage.step > 0) {
        steps.resize(std::min(steps.size(), static_cast<std::size_t>(picture.stage.step)));
    }
    constexpr double same = 1e-5;
    const bool meets = std::ranges::all_of(picture.stage.lines, [&](const instruments::SpectrumLine& line) {
        const double value = replay::applySchedule(steps, line.sigma / picture.denominator);
        return std::abs(value - *line.expected) <= same * (1 + std::abs(value));
    });
    if (meets) {
        picture.schedule = std::move(steps);
    }
}

QString expectedName(const SpectrumPicture& picture)
{
    return picture.closedForm ? Words::tr("p(σ)") : Words::tr("fp64 replay");
}

QString deviationText(const instruments::SpectrumLine& line)
{
    const auto deviation = spectrumDeviation(line);
    QString off = Words::tr("off by %1").arg(roundNumber(line.found - *line.expected, 2));
    if (!deviation) {
        return off;
    }
    const QString share = roundNumber(std::abs(*deviation), 2);
    return line.flagged ? Words::tr("%1, %2 times what roundings explain: flagged").arg(off, share)
                        : Words::tr("%1, %2 of what roundings explain").arg(off, share);
}

} // namespace

std::size_t SpectrumPicture::flagged() const
{
    return static_cast<std::size_t>(std::ranges::count_if(stage.lines, &instruments::SpectrumLine::flagged));
}

std::vector<std::size_t> SpectrumPicture::worstFlagged(std::size_t most) const
{
    std::vector<std::size_t> worst;
    for (std::size_t i = 0; i < stage.lines.size(); ++i) {
        if (stage.lines[i].flagged) {
            worst.push_back(i);
        }
    }
    std::ranges::stable_sort(worst, std::greater(),
        [this](std::size_t i) { return std::abs(spectrumDeviation(stage.lines[i]).value_or(0)); });
    worst.resize(std::min(worst.size(), most));
    return worst;
}

SpectrumPicture makeSpectrumPicture(const instruments::SpectrumAnswer& answer, std::size_t stage,
    std::optional<double> epsilon, const replay::Catalogue& catalogue)
{
    SpectrumPicture picture;
    picture.closedForm = answer.closedForm;
    picture.frobenius = answer.frobenius;
    if (stage < answer.stages.size()) {
        picture.stage = answer.stages[stage];
        layOutAxis(picture);
        addSchedule(picture, answer, epsilon, catalogue);
    }
    return picture;
}

std::optional<double> spectrumDeviation(const instruments::SpectrumLine& line)
{
    return line.expected && line.allowed > 0 ? std::optional((line.found - *line.expected) / line.allowed)
                                             : std::nullopt;
}

QString spectrumStageText(const instruments::SpectrumStage& stage, bool last)
{
    if (stage.step == 0) {
        return Words::tr("output");
    }
    return last ? Words::tr("step %1, the output").arg(stage.step) : Words::tr("step %1").arg(stage.step);
}

QString spectrumLineText(const SpectrumPicture& picture, std::size_t line)
{
    const instruments::SpectrumLine& here = picture.stage.lines[line];
    QStringList parts {Words::tr("direction %1").arg(line + 1),
        Words::tr("σ %1 (%2 % of ‖G‖)").arg(roundNumber(here.sigma, 4), roundNumber(100 * here.share, 2))};
    if (here.expected) {
        parts << QStringLiteral("%1 %2").arg(expectedName(picture), roundNumber(*here.expected, 5));
    }
    parts << Words::tr("measured %1").arg(roundNumber(here.found, 5));
    if (here.expected) {
        parts << deviationText(here);
    }
    return parts.join(QStringLiteral(" · "));
}

QString spectrumSummary(const SpectrumPicture& picture)
{
    const instruments::SpectrumStage& stage = picture.stage;
    if (!stage.finite) {
        return Words::tr("not finite: no singular direction can be followed into it");
    }
    const QString outside =
        Words::tr("%1 % of it outside of these directions").arg(roundNumber(100 * stage.outside, 2));
    if (!picture.hasExpected()) {
        return Words::tr("%1 singular values · choose the variant to see what is expected · %2")
            .arg(stage.lines.size())
            .arg(outside);
    }
    return Words::tr("%1 of %2 directions flagged · %3").arg(picture.flagged()).arg(stage.lines.size()).arg(outside);
}

QString spectrumTsv(const instruments::SpectrumAnswer& answer)
{
    QStringList lines {
        QStringLiteral("step\tdirection\tsigma\tshare\texpected\tmeasured\tallowed\tdeviation\tflagged")};
    const auto number = [](std::optional<double> value) { return value ? exactNumber(*value) : QString(); };
    for (const instruments::SpectrumStage& stage : answer.stages) {
        const QString step = stage.step > 0 ? QString::number(stage.step) : QStringLiteral("output");
        for (std::size_t i = 0; i < stage.lines.size(); ++i) {
            const instruments::SpectrumLine& line = stage.lines[i];
            const auto allowed = line.expected ? std::optional(line.allowed) : std::nullopt;
            lines << QStringList {step, QString::number(i + 1), exactNumber(line.sigma), exactNumber(line.share),
                number(line.expected), exactNumber(line.found), number(allowed), number(spectrumDeviation(line)),
                line.flagged ? QStringLiteral("1") : QStringLiteral("0")}
                         .join(QLatin1Char('\t'));
        }
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace nanscope
