// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/instruments/spectrumview.h"

#include <algorithm>
#include <utility>

#include <QComboBox>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "ui/instruments/spectrumplot.h"
#include "ui/shared/copying.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

QString entryOf(const instruments::SpectrumAnswer& answer, std::size_t index)
{
    const instruments::SpectrumStage& stage = answer.stages[index];
    const QString words = sentenceCase(spectrumStageText(stage, index + 1 == answer.stages.size()));
    const auto flagged = std::ranges::count_if(stage.lines, &instruments::SpectrumLine::flagged);
    return !stage.finite ? SpectrumView::tr("%1 · not finite").arg(words)
        : flagged > 0    ? SpectrumView::tr("%1 · %2 flagged").arg(words).arg(flagged)
                         : words;
}

} // namespace

SpectrumView::SpectrumView(QWidget* parent)
    : QWidget(parent)
    , m_steps(new QComboBox(this))
    , m_values(new SpectrumPlot(SpectrumPlot::Kind::values, this))
    , m_deviation(new SpectrumPlot(SpectrumPlot::Kind::deviation, this))
    , m_summary(new ElidedLabel(this))
    , m_readout(new ElidedLabel(this))
{
    m_steps->setAccessibleName(tr("Step of the iteration"));
    m_steps->setToolTip(tr("The iterate after which step is shown"));
    m_steps->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_readout->setObjectName(QStringLiteral("muted"));
    auto* top = new QHBoxLayout;
    top->setSpacing(grid(2));
    top->addWidget(m_steps);
    top->addWidget(m_summary, 1);
    auto* plots = new QHBoxLayout;
    plots->setSpacing(grid(2));
    plots->addWidget(m_values, 3);
    plots->addWidget(m_deviation, 2);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(grid(3), 0, grid(3), grid(1));
    layout->setSpacing(2);
    layout->addLayout(top);
    layout->addLayout(plots, 1);
    layout->addWidget(m_readout);
    connect(m_steps, &QComboBox::currentIndexChanged, this, &SpectrumView::showStep);
    for (SpectrumPlot* plot : {m_values, m_deviation}) {
        connect(plot, &SpectrumPlot::stepWanted, this, &SpectrumView::moveBy);
        connect(plot, &SpectrumPlot::stopChosen, this, &SpectrumView::choose);
        connect(plot, &SpectrumPlot::readoutChanged, this, &SpectrumView::showReadout);
    }
    makeCopyable(*this,
        {tr("Spectrum"), [this] { return spectrumTsv(m_answer); }, [this] { return picture(); },
            [this] { return caption(); }});
}

void SpectrumView::setAnswer(const instruments::SpectrumAnswer& answer, const MeasureFacts& facts)
{
    m_answer = answer;
    m_facts = facts;
    const QSignalBlocker quietly(m_steps);
    m_steps->clear();
    for (std::size_t i = 0; i < answer.stages.size(); ++i) {
        m_steps->addItem(entryOf(answer, i));
    }
    m_steps->setCurrentIndex(m_steps->count() - 1);
    m_steps->setVisible(m_steps->count() > 1);
    choose(-1);
    showStep();
}

void SpectrumView::showStep()
{
    const int step = m_steps->currentIndex();
    m_shown =
        makeSpectrumPicture(m_answer, static_cast<std::size_t>(std::max(step, 0)), m_facts.epsilon, m_facts.catalogue);
    m_values->setAnswer(m_shown);
    m_deviation->setAnswer(m_shown);
    m_deviation->setVisible(m_shown.hasExpected());
    m_summary->setFullText(sentenceCase(spectrumSummary(m_shown)));
    showReadout({});
}

void SpectrumView::moveBy(int steps)
{
    m_steps->setCurrentIndex(std::clamp(m_steps->currentIndex() + steps, 0, m_steps->count() - 1));
}

/// Both plots are of the same singular values.
void SpectrumView::choose(int stop)
{
    m_values->setStop(stop);
    m_deviation->setStop(stop);
}

void SpectrumView::showReadout(const QString& hovered)
{
    const QString chosen = m_values->stopText();
    m_readout->setFullText(!hovered.isEmpty() ? sentenceCase(hovered)
            : !chosen.isEmpty()               ? sentenceCase(chosen)
                                              : m_values->legendText());
}

Picture SpectrumView::picture() const
{
    if (m_shown.stage.lines.empty()) {
        return {};
    }
    std::vector<std::pair<QPoint, Picture>> parts {{QPoint(), m_values->picture()}};
    if (m_shown.hasExpected()) {
        parts.emplace_back(QPoint(m_values->width(), 0), m_deviation->picture());
    }
    return together(std::move(parts));
}

PictureCaption SpectrumView::caption() const
{
    const QStringList note {m_facts.target, m_steps->currentText(), spectrumSummary(m_shown)};
    return {tr("Spectrum"), note.join(QStringLiteral(" · ")), m_values->legendText().toHtmlEscaped(), m_facts.capture};
}

} // namespace nanscope
