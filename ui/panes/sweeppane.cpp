// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/sweeppane.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QProgressBar>
#include <QPushButton>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/copying.h"
#include "ui/models/cellgridmodel.h"
#include "ui/panes/celldelegate.h"
#include "ui/panes/elidedlabel.h"
#include "ui/panes/variantheader.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

void setUpView(QTableView& view)
{
    view.setItemDelegate(new CellDelegate(&view));
    view.setVerticalHeader(new VariantHeader(&view));
    view.setSelectionMode(QAbstractItemView::SingleSelection);
    view.setEditTriggers(QAbstractItemView::NoEditTriggers);
    view.setShowGrid(false);
    view.setTabKeyNavigation(false);
    view.setCornerButtonEnabled(false);
    view.setAccessibleName(SweepPane::tr("Outcome per variant and precision"));
    view.horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    view.horizontalHeader()->setMinimumSectionSize(grid(9));
    view.horizontalHeader()->setHighlightSections(false);
    view.horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    view.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    view.verticalHeader()->setDefaultSectionSize(std::max(grid(7), 2 * view.fontMetrics().height()));
    view.verticalHeader()->setHighlightSections(false);
    view.setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

} // namespace

SweepPane::SweepPane(QWidget* parent)
    : PaneFrame(tr("Sweep"), parent)
    , m_model(new CellGridModel(this))
    , m_view(new QTableView(this))
    , m_detail(new ElidedLabel(this))
    , m_progress(new QProgressBar(this))
    , m_button(new QPushButton(this))
    , m_every(new QToolButton(this))
{
    m_view->setModel(m_model);
    setUpView(*m_view);
    makeCopyable(*m_view, tr("Sweep"), [this] { return m_model->captureName(); });
    m_every->setObjectName(QStringLiteral("quiet"));
    m_every->setText(tr("All variants"));
    m_every->setCheckable(true);
    m_every->setToolTip(tr("Also those that share a schedule with one that is shown"));
    header()->addWidget(m_every);
    connect(m_every, &QToolButton::toggled, this, &SweepPane::everyVariantToggled);
    m_detail->setObjectName(QStringLiteral("muted"));
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Progress of the sweep"));
    auto* footer = new QHBoxLayout;
    footer->setContentsMargins(grid(3), grid(1), grid(3), grid(2));
    footer->setSpacing(grid(2));
    footer->addWidget(m_detail, 1);
    footer->addWidget(m_progress, 1);
    footer->addWidget(m_button);
    body()->addWidget(m_view, 1);
    body()->addLayout(footer);
    connect(m_button, &QPushButton::clicked, this,
        [this] { m_running ? Q_EMIT cancelRequested() : Q_EMIT sweepRequested(); });
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
        showDetail(index);
        if (const Cell* cell = m_model->cellAt(index)) {
            Q_EMIT cellSelected(*cell);
        }
    });
    updateState();
}

void SweepPane::resizeEvent(QResizeEvent* event)
{
    PaneFrame::resizeEvent(event);
    // All precisions stay in sight; the names of the variants give way, and their tool tips have them whole.
    const int columns = grid(11) * static_cast<int>(sweepPrecisions().size());
    m_view->verticalHeader()->setFixedWidth(std::clamp(width() - columns, grid(20), grid(40)));
}

void SweepPane::setGrid(const QStringList& variants, int identified)
{
    m_model->setGrid(variants, identified, sweepPrecisions());
    updateState();
}

void SweepPane::putCell(const Cell& cell)
{
    m_model->putCell(cell);
    updateState();
}

void SweepPane::setRunning(bool running)
{
    m_running = running;
    m_model->setPending(running);
    updateState();
}

void SweepPane::setSweepEnabled(bool enabled)
{
    m_button->setEnabled(enabled);
}

void SweepPane::updateState()
{
    const int done = m_model->doneCount();
    const int all = m_model->cellCount();
    setNote(all == 0 ? QString() : tr("%1 of %2 cells").arg(done).arg(all));
    m_progress->setRange(0, std::max(all, 1));
    m_progress->setValue(done);
    m_progress->setVisible(m_running);
    m_detail->setVisible(!m_running);
    m_button->setVisible(m_running || done < all);
    m_button->setText(m_running ? tr("Cancel") : tr("Sweep"));
    showDetail(m_view->currentIndex());
}

void SweepPane::showDetail(const QModelIndex& index)
{
    if (m_model->doneCount() == 0) {
        m_detail->setFullText(
            m_model->cellCount() > 0 ? tr("Replays the capture in every format, nothing is executed") : QString());
        return;
    }
    const Cell* cell = m_model->cellAt(index);
    m_detail->setFullText(cell
            ? m_model->data(index, Qt::ToolTipRole).toString().replace(QLatin1Char('\n'), QStringLiteral(" · "))
            : tr("Bold variants may have run. Select a cell for its numbers."));
}

} // namespace nanscope
