// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/instruments/epsilonplot.h"

#include <algorithm>

#include "ui/instruments/outcomelanes.h"
#include "ui/shared/axes.h"
#include "ui/shared/qcp.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

QString formatsText(const instruments::EpsilonLine& line)
{
    QStringList names;
    for (const Precision format : line.zeroIn) {
        names << qstr(name(format));
    }
    return names.join(QStringLiteral(", "));
}

QString percentText(double share)
{
    return share == 0 ? QStringLiteral("0") : EpsilonPlot::tr("%1 %").arg(roundNumber(100 * share, 2));
}

/// It is not zero, and would be in the format of the denominator.
bool vanishes(const instruments::EpsilonAnswer& answer, const instruments::EpsilonLine& line)
{
    return line.epsilon != 0 && answer.format && std::ranges::find(line.zeroIn, *answer.format) != line.zeroIn.end();
}

/// "epsilon 1e-08: finite · changes the output by 0.12 % · rounds to 0 in fp16".
QString epsilonLineText(const instruments::EpsilonLine& line)
{
    const QString which = line.own ? EpsilonPlot::tr("its own epsilon %1") : EpsilonPlot::tr("epsilon %1");
    QStringList parts {
        EpsilonPlot::tr("%1: %2").arg(which.arg(roundNumber(line.epsilon, 4)), outcomeText(line.outcome))};
    if (line.change && !line.own) {
        parts << EpsilonPlot::tr("changes the output by %1").arg(percentText(*line.change));
    }
    if (line.epsilon != 0 && !line.zeroIn.empty()) {
        parts << EpsilonPlot::tr("rounds to 0 in %1").arg(formatsText(line));
    }
    return parts.join(QStringLiteral(" · "));
}

} // namespace

QString epsilonSummary(const instruments::EpsilonAnswer& answer)
{
    const auto others = std::ranges::count_if(
        answer.lines, [&](const instruments::EpsilonLine& line) { return line.outcome != answer.ownOutcome; });
    const auto zero = std::ranges::count_if(
        answer.lines, [&](const instruments::EpsilonLine& line) { return vanishes(answer, line); });
    QStringList parts {answer.own
            ? EpsilonPlot::tr("its own %1: %2").arg(roundNumber(*answer.own, 4), outcomeText(answer.ownOutcome))
            : EpsilonPlot::tr("as it was called: %1").arg(outcomeText(answer.ownOutcome))};
    parts << EpsilonPlot::tr("%1 of %2 epsilons end otherwise").arg(others).arg(answer.lines.size());
    if (answer.format) {
        parts << EpsilonPlot::tr("%1 round to 0 in %2").arg(zero).arg(qstr(name(*answer.format)));
    }
    if (answer.ignoresCaller) {
        parts << EpsilonPlot::tr("the variant ignores its caller's; here it was made to take these");
    }
    return parts.join(QStringLiteral(" · "));
}

QString epsilonTsv(const instruments::EpsilonAnswer& answer)
{
    QStringList lines {QStringLiteral("epsilon\town\toutcome\tchange\tzero_in")};
    for (const instruments::EpsilonLine& line : answer.lines) {
        const QStringList cells {exactNumber(line.epsilon), QString::number(line.own ? 1 : 0),
            line.outcome ? qstr(name(*line.outcome)) : QString(), line.change ? exactNumber(*line.change) : QString(),
            formatsText(line)};
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n'));
}

EpsilonPlot::EpsilonPlot(QWidget* parent)
    : StopPlot(parent)
{
    plot().xAxis->setLabel(tr("epsilon"));
    plot().xAxis->grid()->setVisible(false);
    setMinimumSize(220, 110);
    setAccessibleName(tr("How the output ends with other epsilons"));
    restyle();
}

void EpsilonPlot::setAnswer(const instruments::EpsilonAnswer& answer)
{
    m_answer = answer;
    m_stops.clear();
    for (std::size_t i = 0; i < answer.lines.size(); ++i) {
        m_stops.push_back(static_cast<double>(i));
    }
    setStop(-1);
    rebuild();
}

QString EpsilonPlot::legendText() const
{
    const QString numbers = tr("beside each: by how much it changes the output");
    return m_answer.format
        ? tr("%1 · hatched: rounds to 0 in %2, which the denominator is in").arg(numbers, qstr(name(*m_answer.format)))
        : numbers;
}

QString EpsilonPlot::textOf(int stop) const
{
    return epsilonLineText(m_answer.lines[static_cast<std::size_t>(stop)]);
}

void EpsilonPlot::addNames()
{
    const QSharedPointer<QCPAxisTickerText> names(new QCPAxisTickerText);
    for (std::size_t i = 0; i < m_answer.lines.size(); ++i) {
        names->addTick(m_stops[i], roundNumber(m_answer.lines[i].epsilon, 2));
    }
    plot().xAxis->setTicker(names);
    plot().xAxis->setRange(-0.5, static_cast<double>(std::max<std::size_t>(1, m_stops.size())) - 0.5);
}

void EpsilonPlot::addChanges()
{
    for (std::size_t i = 0; i < m_answer.lines.size(); ++i) {
        const instruments::EpsilonLine& line = m_answer.lines[i];
        if (vanishes(m_answer, line)) {
            addHatched(plot(), m_stops[i] - 0.5, m_stops[i] + 0.5);
        }
        if (line.change && !line.own) {
            addWords(plot(), percentText(*line.change), theme().text, m_stops[i], laneOf(line.outcome) + 0.25,
                Qt::AlignHCenter | Qt::AlignTop);
        }
    }
}

void EpsilonPlot::rebuild()
{
    plot().clearItems();
    plot().clearGraphs();
    QStringList lines {epsilonSummary(m_answer)};
    const auto silent = [](const instruments::EpsilonLine& line) { return !line.outcome; };
    setOutcomeLanes(*plot().yAxis, std::ranges::any_of(m_answer.lines, silent));
    addNames();
    addChanges();
    for (std::size_t i = 0; i < m_answer.lines.size(); ++i) {
        const instruments::EpsilonLine& line = m_answer.lines[i];
        if (line.own) {
            addOwnPlace(plot(), m_stops[i], tr("its own"));
        }
        addOutcomeMarks(plot(), line.outcome, {m_stops[i]});
        lines << epsilonLineText(line);
    }
    addCursor();
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
    plot().replot(QCustomPlot::rpQueuedReplot);
}

} // namespace nanscope
