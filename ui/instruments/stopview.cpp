// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/instruments/stopview.h"

#include <utility>

#include <QVBoxLayout>

#include "ui/instruments/epsilonplot.h"
#include "ui/instruments/scaleplot.h"
#include "ui/shared/copying.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

StopView::StopView(StopPlot* plot, Words words, QWidget* parent)
    : QWidget(parent)
    , m_stops(plot)
    , m_readout(new ElidedLabel(this))
    , m_words(std::move(words))
{
    m_readout->setObjectName(QStringLiteral("muted"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(grid(3), 0, grid(3), grid(1));
    layout->setSpacing(2);
    layout->addWidget(plot, 1);
    layout->addWidget(m_readout);
    connect(plot, &StopPlot::readoutChanged, this, &StopView::showReadout);
    makeCopyable(*this,
        {m_words.title, m_words.tsv, [this] { return m_stops->stopCount() > 0 ? m_stops->picture() : Picture {}; },
            [this] { return caption(); }});
}

void StopView::setFacts(const MeasureFacts& facts)
{
    m_facts = facts;
    showReadout({});
}

void StopView::showReadout(const QString& hovered)
{
    const QString chosen = m_stops->stopText();
    const QString text = !hovered.isEmpty() ? hovered : !chosen.isEmpty() ? chosen : m_words.summary();
    m_readout->setFullText(sentenceCase(text));
    m_stops->setToolTip(plainTip(text));
}

PictureCaption StopView::caption() const
{
    const QString note = QStringLiteral("%1 · %2").arg(m_facts.target, m_words.summary());
    return {m_words.title, note, m_words.legend().toHtmlEscaped(), m_facts.capture};
}

ScaleView::ScaleView(QWidget* parent)
    : StopView(new ScalePlot,
        {tr("Scale"), [this] { return scaleTsv(m_plot->answer()); }, [this] { return scaleSummary(m_plot->answer()); },
            &ScalePlot::legendText},
        parent)
    , m_plot(findChild<ScalePlot*>())
{ }

void ScaleView::setAnswer(const instruments::ScaleAnswer& answer, const MeasureFacts& facts)
{
    m_plot->setAnswer(makeScalePicture(answer, facts.epsilon));
    setFacts(facts);
}

EpsilonView::EpsilonView(QWidget* parent)
    : StopView(new EpsilonPlot,
        {tr("Epsilon"), [this] { return epsilonTsv(m_plot->answer()); },
            [this] { return epsilonSummary(m_plot->answer()); }, [this] { return m_plot->legendText(); }},
        parent)
    , m_plot(findChild<EpsilonPlot*>())
{ }

void EpsilonView::setAnswer(const instruments::EpsilonAnswer& answer, const MeasureFacts& facts)
{
    m_plot->setAnswer(answer);
    setFacts(facts);
}

} // namespace nanscope
