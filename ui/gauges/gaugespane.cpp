// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/gauges/gaugespane.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/film/filmpane.h"
#include "ui/shared/copying.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

constexpr int alwaysView = -1;
constexpr int allViews = -2;
constexpr int readoutMargin = grid(2);

} // namespace

GaugesPane::GaugesPane(QWidget* parent)
    : PaneFrame(tr("Gauges"), parent)
    , m_plot(new GaugePlot(this))
    , m_deepPlots {new DeepPlot(DeepPlot::Kind::errors, this), new DeepPlot(DeepPlot::Kind::eigenvalue, this),
          new DeepPlot(DeepPlot::Kind::signal, this)}
    , m_views(new QComboBox(this))
    , m_deepButton(new QPushButton(tr("Deep gauges…"), this))
    , m_legend(new QLabel(this))
    , m_readout(new ElidedLabel(this))
{
    m_views->setAccessibleName(tr("Which gauges are shown"));
    m_views->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_views->setMinimumContentsLength(10);
    m_views->addItem(tr("Always on"), alwaysView);
    header()->addWidget(m_views);
    header()->addWidget(m_deepButton);
    m_readout->setObjectName(QStringLiteral("muted"));
    m_legend->setObjectName(QStringLiteral("muted"));
    m_legend->setTextFormat(Qt::RichText);
    m_legend->setWordWrap(true);
    m_legend->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    auto* plots = new QHBoxLayout;
    plots->addWidget(m_plot, 1);
    auto* inner = new QVBoxLayout;
    inner->setContentsMargins(readoutMargin, 0, readoutMargin, grid(1));
    inner->setSpacing(0);
    inner->addLayout(plots, 1);
    inner->addWidget(m_legend);
    inner->addWidget(m_readout);
    body()->addLayout(inner, 1);
    for (std::size_t i = 0; i < m_deepPlots.size(); ++i) {
        const QString title = m_deepPlots[i]->accessibleName();
        m_views->addItem(title, static_cast<int>(i));
        plots->addWidget(m_deepPlots[i], 1);
        addPlot(*m_deepPlots[i], title, [plot = m_deepPlots[i]] { return plot->legendText(); });
    }
    m_views->addItem(tr("All side by side"), allViews);
    connect(m_views, &QComboBox::currentIndexChanged, this, &GaugesPane::chooseView);
    connect(m_views, &QComboBox::activated, this, [this] { m_chosen = true; });
    connect(m_deepButton, &QPushButton::clicked, this,
        [this] { m_measuring ? Q_EMIT deepCancelled() : Q_EMIT deepRequested(); });
    addPlot(*m_plot, tr("Gauges"), [this] { return m_plot->legendText(); });
    setCell(nullptr);
    onThemeChange(*this, [this] { QMetaObject::invokeMethod(this, &GaugesPane::showLegend, Qt::QueuedConnection); });
}

/// The numbers of all gauges are one table, whichever plot is asked for them.
void GaugesPane::addPlot(StepPlot& plot, const QString& title, const std::function<QString()>& legend)
{
    connect(&plot, &StepPlot::stepChosen, this, &GaugesPane::iterationActivated);
    connect(&plot, &StepPlot::readoutChanged, this, &GaugesPane::showReadout);
    makeCopyable(plot,
        {title, [this] { return m_plot->table(); }, [this, &plot] { return m_hasCell ? plot.picture() : Picture {}; },
            [this, title, legend] {
                PictureCaption caption = m_caption;
                caption.title = title;
                caption.legend = legend().toHtmlEscaped();
                return caption;
            }});
}

void GaugesPane::setCell(const Cell* cell, const replay::CellRequest& request, bool planted)
{
    m_hasCell = cell != nullptr;
    m_planted = cell && planted;
    m_hasDeep = cell && cell->deep;
    m_birth = cell && cell->firstNonFinite ? opLabel(*cell->firstNonFinite) : QString();
    m_caption.note = cell ? tr("%1 · per step of the iteration").arg(cellLabel(*cell, request)) : QString();
    if (m_planted) {
        m_caption.note += tr(" · with a planted fault");
    }
    m_caption.subject = cell ? qstr(cell->capture) : QString();
    m_plot->setCell(cell);
    for (DeepPlot* plot : m_deepPlots) {
        plot->setDeep(m_hasDeep ? cell->deep : std::nullopt);
    }
    const QString overrides = overridesText(request);
    setNote(m_planted             ? tr("per step, with the planted fault")
            : !m_hasCell          ? QString()
            : overrides.isEmpty() ? tr("per step of the iteration")
                                  : tr("per step of the iteration · %1").arg(overrides));
    if (m_hasDeep && !m_chosen && m_views->currentIndex() == 0) {
        m_views->setCurrentIndex(1);
    }
    setMeasuring(m_measuring);
    chooseView();
}

void GaugesPane::setIteration(int iteration)
{
    m_plot->setIteration(iteration);
    for (DeepPlot* plot : m_deepPlots) {
        plot->setIteration(iteration);
    }
}

void GaugesPane::setDeepOffer(const QString& sentence)
{
    m_deepButton->setToolTip(sentence);
    m_deepButton->setAccessibleDescription(sentence);
}

void GaugesPane::setMeasuring(bool measuring)
{
    const bool changed = std::exchange(m_measuring, measuring) != measuring;
    m_deepButton->setText(measuring ? tr("Cancel") : tr("Deep gauges…"));
    m_deepButton->setVisible(measuring || (m_hasCell && !m_hasDeep && !m_planted));
    m_views->setVisible(m_hasDeep);
    if (changed) {
        showReadout(measuring ? tr("Measuring…") : QString());
    }
}

void GaugesPane::showProgress(int done, int total)
{
    m_readout->setFullText(tr("Measuring: %1 of %2 ops").arg(done).arg(total));
}

void GaugesPane::chooseView()
{
    const int view = m_hasDeep ? m_views->currentData().toInt() : alwaysView;
    m_plot->setVisible(view == alwaysView || view == allViews);
    for (std::size_t i = 0; i < m_deepPlots.size(); ++i) {
        m_deepPlots[i]->setVisible(view == static_cast<int>(i) || view == allViews);
    }
    showReadout({});
}

const StepPlot& GaugesPane::explained() const
{
    const int view = m_hasDeep ? m_views->currentData().toInt() : alwaysView;
    return view >= 0 ? static_cast<const StepPlot&>(*m_deepPlots[static_cast<std::size_t>(view)]) : *m_plot;
}

void GaugesPane::showReadout(const QString& text)
{
    const QString empty = emptyText();
    m_readout->setFullText(empty.isEmpty() ? text : empty);
    showLegend();
}

void GaugesPane::showLegend()
{
    m_legend->setText(explained().legendHtml());
    m_legend->setVisible(!explained().legendText().isEmpty());
    fitLegend();
}

// The readout keeps its line while nothing is read: the plot must not change its height with every step.
void GaugesPane::fitLegend()
{
    const int room = width() - 2 * readoutMargin - 2;
    const int wide = m_legend->fontMetrics().horizontalAdvance(explained().legendText());
    const int lines = wide > room ? 2 : 1;
    m_legend->setFixedHeight(lines * m_legend->fontMetrics().height());
    // The numbers of one step are about as many words as the legend.
    m_readout->setLines(lines);
}

// The plots take the colours of their new theme after their pane.
void GaugesPane::resizeEvent(QResizeEvent* event)
{
    PaneFrame::resizeEvent(event);
    fitLegend();
}

/// Why there is nothing to see; nothing where there is.
QString GaugesPane::emptyText() const
{
    if (!m_hasCell) {
        return tr("Gauges appear with a swept cell");
    }
    if (!m_plot->rows().empty()) {
        const QString place = m_birth.isEmpty() ? tr("in every step") : tr("from %1 on").arg(m_birth);
        return m_plot->drawsNothing() ? tr("No gauge can be drawn: this replay is not finite %1").arg(place)
                                      : QString();
    }
    return m_planted ? tr("A difference has no gauges; choose Values in the film to see those with the planted fault")
                     : tr("This replay has no gauges; sweep the capture to measure them");
}

} // namespace nanscope
