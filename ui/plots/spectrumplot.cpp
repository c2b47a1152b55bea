// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/spectrumplot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <QKeyEvent>

#include "ui/plots/decadeticker.h"
#include "ui/plots/qcp.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double farthest = 5; ///< tolerances; what is farther off stands at the edge
constexpr std::size_t fewMarks = 150; ///< from here on marks are small
constexpr std::size_t mostNames = 6;
constexpr int curveSamples = 600;
constexpr double manyDecades = 1e3;
constexpr double above = 1.5; ///< shares of the largest that is expected, within which values decide the axis
constexpr double below = 0.5;

std::optional<double> finite(double value)
{
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

} // namespace

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
    const double highest = m_kind == Kind::deviation ? farthest : known ? above * expected : infinity;
    const double lowest = m_kind == Kind::deviation ? -farthest : known ? -below * expected : -infinity;
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
        bars->addData(std::min(finite(line.allowed).value_or(m_high), 2 * (m_high - m_low)));
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
        addText(QString::number(line + 1), theme().bad, m_picture.places[i], value,
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
        addText(tr("✕ not finite"), theme().nan, (m_picture.left + m_picture.right) / 2, (m_low + m_high) / 2,
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
