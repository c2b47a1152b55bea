// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/gaugespane.h"

#include <QVBoxLayout>

#include "ui/panes/elidedlabel.h"
#include "ui/theme.h"

namespace nanscope {

GaugesPane::GaugesPane(QWidget* parent)
    : PaneFrame(tr("Gauges"), parent)
    , m_plot(new GaugePlot(this))
    , m_readout(new ElidedLabel(this))
{
    m_readout->setObjectName(QStringLiteral("muted"));
    auto* inner = new QVBoxLayout;
    inner->setContentsMargins(grid(2), 0, grid(2), grid(1));
    inner->setSpacing(0);
    inner->addWidget(m_plot, 1);
    inner->addWidget(m_readout);
    body()->addLayout(inner, 1);
    connect(m_plot, &GaugePlot::readoutChanged, this,
        [this](const QString& text) { m_readout->setFullText(text.isEmpty() ? m_plot->legendText() : text); });
    setCell(nullptr);
}

void GaugesPane::setCell(const Cell* cell)
{
    m_plot->setCell(cell);
    setNote(cell ? tr("per step of the iteration") : QString());
    m_readout->setFullText(cell ? m_plot->legendText() : tr("Gauges appear with a swept cell"));
}

void GaugesPane::setIteration(int iteration)
{
    m_plot->setIteration(iteration);
}

} // namespace nanscope
