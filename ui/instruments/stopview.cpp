// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/instruments/stopview.h"

#include <QVBoxLayout>

#include "ui/instruments/epsilonplot.h"
#include "ui/instruments/scaleplot.h"
#include "ui/shared/copying.h"
#include "ui/shared/elidedlabel.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

StopView::StopView(StopPlot* plot, const QString& title, QWidget* parent)
    : QWidget(parent)
    , m_stops(plot)
    , m_readout(new ElidedLabel(this))
    , m_title(title)
{
    m_readout->setObjectName(QStringLiteral("muted"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(grid(3), 0, grid(3), grid(1));
    layout->setSpacing(2);
    layout->addWidget(plot, 1);
    layout->addWidget(m_readout);
    connect(plot, &StopPlot::readoutChanged, this, &StopView::showReadout);
    makeCopyable(*this,
        {title, [this] { return tsv(); }, [this] { return m_stops->stopCount() > 0 ? m_stops->picture() : Picture {}; },
            [this] { return caption(); }});
}

void StopView::setFacts(const MeasureFacts& facts)
{
    m_facts = facts;
    showReadout({});
}

QString StopView::readoutText() const
{
    return m_readout->fullText();
}

void StopView::showReadout(const QString& hovered)
{
    const QString chosen = m_stops->stopText();
    const QString text = !hovered.isEmpty() ? hovered : !chosen.isEmpty() ? chosen : summary();
    m_readout->setFullText(sentenceCase(text));
    m_stops->setToolTip(plainTip(text));
}

PictureCaption StopView::caption() const
{
    const QString note = QStringLiteral("%1 · %2").arg(m_facts.target, summary());
    return {m_title, note, legend().toHtmlEscaped(), m_facts.capture};
}

ScaleView::ScaleView(QWidget* parent)
    : StopView(new ScalePlot, tr("Scale"), parent)
    , m_plot(findChild<ScalePlot*>())
{ }

void ScaleView::setAnswer(const instruments::ScaleAnswer& answer, const MeasureFacts& facts)
{
    m_plot->setAnswer(makeScalePicture(answer, facts.epsilon));
    setFacts(facts);
}

QString ScaleView::tsv() const
{
    return scaleTsv(m_plot->answer());
}

QString ScaleView::summary() const
{
    return scaleSummary(m_plot->answer());
}

QString ScaleView::legend() const
{
    return ScalePlot::legendText();
}

EpsilonView::EpsilonView(QWidget* parent)
    : StopView(new EpsilonPlot, tr("Epsilon"), parent)
    , m_plot(findChild<EpsilonPlot*>())
{ }

void EpsilonView::setAnswer(const instruments::EpsilonAnswer& answer, const MeasureFacts& facts)
{
    m_plot->setAnswer(answer);
    setFacts(facts);
}

QString EpsilonView::tsv() const
{
    return epsilonTsv(m_plot->answer());
}

QString EpsilonView::summary() const
{
    return epsilonSummary(m_plot->answer());
}

QString EpsilonView::legend() const
{
    return m_plot->legendText();
}

} // namespace nanscope
