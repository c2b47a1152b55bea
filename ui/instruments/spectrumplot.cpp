// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/instruments/spectrumplot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <QCoreApplication>
#include <QKeyEvent>
#include <QStringList>

#include "ui/shared/axes.h"
#include "ui/shared/qcp.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

struct SpectrumWords
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
    return picture.closedForm ? SpectrumWords::tr("p(σ)") : SpectrumWords::tr("fp64 replay");
}

QString deviationText(const instruments::SpectrumLine& line)
{
    const auto deviation = spectrumDeviation(line);
    QString off = SpectrumWords::tr("off by %1").arg(roundNumber(line.found - *line.expected, 2));
    if (!deviation) {
        return off;
    }
    const QString share = roundNumber(std::abs(*deviation), 2);
    return line.flagged ? SpectrumWords::tr("%1, %2 times what roundings explain: flagged").arg(off, share)
                        : SpectrumWords::tr("%1, %2 of what roundings explain").arg(off, share);
}

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double farthestTolerances = 5; ///< tolerances; what is farther off stands at the edge
constexpr std::size_t fewMarks = 150; ///< from here on marks are small
constexpr std::size_t mostNames = 6;
constexpr int curveSamples = 600;
constexpr double manyDecades = 1e3;
constexpr double above = 1.5; ///< shares of the largest that is expected, within which values decide the axis
constexpr double below = 0.5;

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
        return SpectrumWords::tr("output");
    }
    return last ? SpectrumWords::tr("step %1, the output").arg(stage.step)
                : SpectrumWords::tr("step %1").arg(stage.step);
}

QString spectrumLineText(const SpectrumPicture& picture, std::size_t line)
{
    const instruments::SpectrumLine& here = picture.stage.lines[line];
    QStringList parts {SpectrumWords::tr("direction %1").arg(line + 1),
        SpectrumWords::tr("σ %1 (%2 % of ‖G‖)").arg(roundNumber(here.sigma, 4), roundNumber(100 * here.share, 2))};
    if (here.expected) {
        parts << QStringLiteral("%1 %2").arg(expectedName(picture), roundNumber(*here.expected, 5));
    }
    parts << SpectrumWords::tr("measured %1").arg(roundNumber(here.found, 5));
    if (here.expected) {
        parts << deviationText(here);
    }
    return parts.join(QStringLiteral(" · "));
}

QString spectrumSummary(const SpectrumPicture& picture)
{
    const instruments::SpectrumStage& stage = picture.stage;
    if (!stage.finite) {
        return SpectrumWords::tr("not finite: no singular direction can be followed into it");
    }
    const QString outside =
        SpectrumWords::tr("%1 % of it outside of these directions").arg(roundNumber(100 * stage.outside, 2));
    if (!picture.hasExpected()) {
        return SpectrumWords::tr("%1 singular values · choose the variant to see what is expected · %2")
            .arg(stage.lines.size())
            .arg(outside);
    }
    return SpectrumWords::tr("%1 of %2 directions flagged · %3")
        .arg(picture.flagged())
        .arg(stage.lines.size())
        .arg(outside);
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

SpectrumPlot::SpectrumPlot(Kind kind, QWidget* parent)
    : StopPlot(parent)
    , m_kind(kind)
{
    plot().xAxis->setLabel(kind == Kind::values ? tr("singular value σ of the input, and what became of it")
                                                : tr("σ, and its deviation in tolerances"));
    setMinimumSize(kind == Kind::values ? 200 : 150, 110);
    setAccessibleName(kind == Kind::values ? tr("Singular values against the schedule")
                                           : tr("Deviation of each singular value against that of roundings"));
    restyle();
}

void SpectrumPlot::setAnswer(const SpectrumPicture& picture)
{
    m_picture = picture;
    rebuild();
}

QString SpectrumPlot::legendText() const
{
    if (!m_picture.hasExpected()) {
        return tr("○ measured");
    }
    const QString expected = m_picture.closedForm ? tr("— p(σ)") : tr("┈ fp64 replay");
    return tr("%1 · ○ measured · ✕ flagged · shaded: what roundings explain").arg(expected);
}

QString SpectrumPlot::textOf(int stop) const
{
    return spectrumLineText(m_picture, m_picture.order[static_cast<std::size_t>(stop)]);
}

double SpectrumPlot::valueOf(const instruments::SpectrumLine& line) const
{
    return m_kind == Kind::values ? line.found : spectrumDeviation(line).value_or(0);
}

/// Of a mark: within the plot, wherever the value is.
double SpectrumPlot::placeOf(double value) const
{
    const double margin = 0.04 * (m_high - m_low);
    return value > m_high ? m_high - margin : value < m_low ? m_low + margin : value;
}

void SpectrumPlot::setAxes()
{
    auto* axis = plot().xAxis;
    axis->setScaleType(m_picture.logarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    axis->setTicker(m_picture.logarithmic ? decadeTicker(*axis) : QSharedPointer<QCPAxisTicker>(new QCPAxisTicker));
    // Numbers as long as 0.0001 would touch where there are many decades.
    const bool powers = m_picture.logarithmic && m_picture.right > manyDecades * m_picture.left;
    axis->setNumberFormat(powers ? QStringLiteral("eb") : QStringLiteral("gb"));
    axis->setNumberPrecision(powers ? 0 : 3);
    axis->setRange(m_picture.left, m_picture.right);
    setValueAxis();
}

void SpectrumPlot::setValueAxis()
{
    // Values decide the axis while they stay near what was expected; those far off would flatten everything else.
    double low = 0;
    double high = m_kind == Kind::values ? 0 : 1.5;
    double expected = 0;
    for (const instruments::SpectrumLine& line : m_picture.stage.lines) {
        expected = std::max(expected, std::abs(line.expected.value_or(0)));
    }
    const bool known = m_picture.hasExpected();
    const double highest = m_kind == Kind::deviation ? farthestTolerances : known ? above * expected : infinity;
    const double lowest = m_kind == Kind::deviation ? -farthestTolerances : known ? -below * expected : -infinity;
    for (const instruments::SpectrumLine& line : m_picture.stage.lines) {
        low = std::min(low, std::max(valueOf(line), lowest));
        high = std::max(high, std::min(valueOf(line), highest));
        if (m_kind == Kind::values) {
            low = std::min(low, line.expected.value_or(0));
            high = std::max(high, line.expected.value_or(0));
        }
    }
    constexpr double room = 0.08; // for half a mark
    if (m_kind == Kind::deviation) {
        high = std::max(high, -low);
        low = -high;
    }
    const double size = high > low ? high - low : 1;
    m_low = low - room * size;
    m_high = low + (1 + room) * size;
    plot().yAxis->setRange(m_low, m_high);
}

/// What roundings explain, about what is expected; between the singular values nothing is known of it.
void SpectrumPlot::addTolerances()
{
    auto* centres = plot().addGraph();
    centres->setLineStyle(QCPGraph::lsNone);
    auto* bars = new QCPErrorBars(plot().xAxis, plot().yAxis);
    bars->setDataPlottable(centres);
    bars->setWhiskerWidth(0);
    bars->setSymbolGap(0);
    bars->setPen(QPen(theme().selection, m_picture.order.size() > fewMarks ? 3 : 6, Qt::SolidLine, Qt::FlatCap));
    for (std::size_t i = 0; i < m_picture.order.size(); ++i) {
        const instruments::SpectrumLine& line = m_picture.stage.lines[m_picture.order[i]];
        centres->addData(m_picture.places[i], *line.expected);
        bars->addData(std::min(std::isfinite(line.allowed) ? line.allowed : m_high, 2 * (m_high - m_low)));
    }
}

/// p(sigma) itself, between the lines too.
void SpectrumPlot::addCurve()
{
    auto* graph = plot().addGraph();
    graph->setPen(QPen(theme().text, 1.2));
    QVector<double> keys;
    QVector<double> values;
    for (int i = 0; i <= curveSamples; ++i) {
        const double share = static_cast<double>(i) / curveSamples;
        const double sigma = m_picture.logarithmic ? m_picture.left * std::pow(m_picture.right / m_picture.left, share)
                                                   : m_picture.left + share * (m_picture.right - m_picture.left);
        keys << sigma;
        values << std::clamp(
            replay::applySchedule(m_picture.schedule, sigma / m_picture.denominator), 2 * m_low - m_high, 2 * m_high);
    }
    graph->setData(keys, values, true);
}

/// Known at the singular values only.
void SpectrumPlot::addReplay()
{
    auto* graph = plot().addGraph();
    graph->setPen(QPen(theme().text, 1.2, m_picture.closedForm ? Qt::SolidLine : Qt::DotLine));
    for (std::size_t i = 0; i < m_picture.order.size(); ++i) {
        graph->addData(m_picture.places[i], *m_picture.stage.lines[m_picture.order[i]].expected);
    }
}

void SpectrumPlot::addTolerance()
{
    auto* band = new QCPItemRect(&plot());
    band->setLayer(QStringLiteral("background"));
    band->topLeft->setCoords(m_picture.left, 1);
    band->bottomRight->setCoords(m_picture.right, -1);
    band->setPen(QPen(theme().muted, 1, Qt::DashLine));
    band->setBrush(theme().selection);
}

void SpectrumPlot::addMark(
    const std::vector<std::size_t>& positions, int shape, const QColor& color, bool filled, double size)
{
    auto* graph = plot().addGraph();
    graph->setLineStyle(QCPGraph::lsNone);
    graph->setScatterStyle(QCPScatterStyle(static_cast<QCPScatterStyle::ScatterShape>(shape), QPen(color, 1.4),
        filled ? QBrush(color) : QBrush(theme().surface), size));
    for (const std::size_t i : positions) {
        graph->addData(m_picture.places[i], placeOf(valueOf(m_picture.stage.lines[m_picture.order[i]])));
    }
}

void SpectrumPlot::addMeasured()
{
    std::vector<std::size_t> well;
    std::vector<std::size_t> flagged;
    std::vector<std::size_t> higher;
    std::vector<std::size_t> lower;
    for (std::size_t i = 0; i < m_picture.order.size(); ++i) {
        const instruments::SpectrumLine& line = m_picture.stage.lines[m_picture.order[i]];
        const double value = valueOf(line);
        (value > m_high ? higher : value < m_low ? lower : line.flagged ? flagged : well).push_back(i);
    }
    const bool many = m_picture.order.size() > fewMarks;
    addMark(well, QCPScatterStyle::ssCircle, theme().accent, many, many ? 3 : 5);
    addMark(flagged, QCPScatterStyle::ssCross, theme().bad, false, 8);
    addMark(higher, QCPScatterStyle::ssTriangle, theme().bad, true, 8);
    addMark(lower, QCPScatterStyle::ssTriangleInverted, theme().bad, true, 8);
}

void SpectrumPlot::addNames()
{
    constexpr int clear = 5; // of the mark
    for (const std::size_t line : m_picture.worstFlagged(mostNames)) {
        const auto i = m_picture.order.size() - 1 - line;
        const double value = placeOf(valueOf(m_picture.stage.lines[line]));
        const bool high = value > m_low + 0.7 * (m_high - m_low);
        addWords(plot(), QString::number(line + 1), theme().bad, m_picture.places[i], value,
            Qt::AlignHCenter | (high ? Qt::AlignTop : Qt::AlignBottom))
            ->setPadding({0, clear, 0, clear});
    }
}

void SpectrumPlot::rebuild()
{
    plot().clearItems();
    plot().clearPlottables();
    setAxes();
    if (m_kind == Kind::deviation) {
        addTolerance();
    } else if (m_picture.hasExpected()) {
        addTolerances();
        m_picture.schedule.empty() ? addReplay() : addCurve();
    }
    addMeasured();
    addNames();
    if (!m_picture.stage.finite) {
        addWords(plot(), tr("✕ not finite"), theme().nan, (m_picture.left + m_picture.right) / 2, (m_low + m_high) / 2,
            Qt::AlignCenter);
    }
    addCursor();
    QStringList lines {spectrumSummary(m_picture)};
    for (const std::size_t line : m_picture.worstFlagged(mostNames)) {
        lines << spectrumLineText(m_picture, line);
    }
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
    plot().replot(QCustomPlot::rpQueuedReplot);
}

std::vector<KeyHint> SpectrumPlot::keyHints() const
{
    std::vector<KeyHint> hints = StopPlot::keyHints();
    hints.push_back({{Qt::Key_Up, Qt::Key_Down}, tr("the step of the iteration before or after"), {}});
    return hints;
}

void SpectrumPlot::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Up || event->key() == Qt::Key_Down) {
        Q_EMIT stepWanted(event->key() == Qt::Key_Up ? -1 : 1);
    } else {
        StopPlot::keyPressEvent(event);
    }
}

} // namespace nanscope
