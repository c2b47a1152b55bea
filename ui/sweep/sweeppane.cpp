// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/sweep/sweeppane.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/shared/answerparts.h"
#include "ui/shared/copying.h"
#include "ui/shared/elidedlabel.h"
#include "ui/shared/marks.h"
#include "ui/shared/table/roles.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/sweep/cellgridmodel.h"

namespace nanscope {

namespace {

void drawLine(QPainter& painter, const QRect& place, const QFont& font, const QString& text,
    Qt::TextElideMode elide = Qt::ElideRight)
{
    painter.setFont(font);
    painter.drawText(
        place, Qt::AlignLeft | Qt::AlignVCenter, QFontMetrics(font).elidedText(text, elide, place.width()));
}

/// Names of variants beside a grid, bold for those that may have run and shortened in the middle where they are long;
/// below a name what is not usual about its row.
class VariantHeader : public QHeaderView
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::VariantHeader)

public:
    explicit VariantHeader(QWidget* parent = nullptr);

    QSize sizeHint() const override;

protected:
    void paintSection(QPainter* painter, const QRect& rect, int section) const override;
};

VariantHeader::VariantHeader(QWidget* parent)
    : QHeaderView(Qt::Vertical, parent)
{
    setSectionsClickable(false);
    setAccessibleName(tr("Variants"));
}

QSize VariantHeader::sizeHint() const
{
    return {grid(34), QHeaderView::sizeHint().height()};
}

void VariantHeader::paintSection(QPainter* painter, const QRect& rect, int section) const
{
    const bool identified = model()->headerData(section, orientation(), IdentifiedRole).toBool();
    QFont shown = font();
    shown.setBold(identified);
    painter->save();
    painter->fillRect(rect, theme().surface);
    painter->setPen(theme().text);
    const QString separator = QStringLiteral(" · ");
    const QString name = model()->headerData(section, orientation()).toString();
    const QString setting = name.section(separator, 1);
    const QRect place = rect.adjusted(grid(3), 0, -grid(1), 0);
    const QRect half = setting.isEmpty() ? place : place.adjusted(0, 0, 0, -place.height() / 2);
    drawLine(*painter, half, shown, name.section(separator, 0, 0), Qt::ElideMiddle);
    painter->setPen(theme().muted);
    drawLine(*painter, place.adjusted(0, place.height() / 2, 0, 0), smallerFont(font()), setting);
    painter->restore();
}

/// A cell as a tinted field with its mark, outcome word and, below, the op where the first non-finite was born.
class CellDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

QColor tintOf(Outcome outcome)
{
    switch (outcome) {
    case Outcome::finite:
        return theme().goodTint;
    case Outcome::degenerate:
        return theme().warningTint;
    default:
        return theme().badTint;
    }
}

/// Bold where it fits, else smaller and narrower: an outcome is never cut to "dege…" while there is another way.
QFont wordFont(const QFont& font, const QString& word, bool bold, int width)
{
    QFont shown = font;
    shown.setBold(bold);
    if (QFontMetrics(shown).horizontalAdvance(word) > width) {
        shown = smallerFont(font);
        shown.setStretch(QFont::SemiCondensed);
    }
    return shown;
}

void paintDone(QPainter& painter, const QRect& field, const QFont& font, const QModelIndex& index)
{
    constexpr int markSize = 8;
    constexpr int padding = 5;
    const auto outcome = static_cast<Outcome>(index.data(OutcomeRole).toInt());
    QString word = index.data().toString();
    QString birth = index.data(BirthTextRole).toString();
    // A long word without a birth below it has the second line to itself.
    if (birth.isEmpty()
        && QFontMetrics(smallerFont(font)).horizontalAdvance(word) > field.width() - 3 * padding - markSize) {
        std::swap(word, birth);
    }
    painter.fillRect(field, tintOf(outcome));
    const int line = QFontMetrics(font).height();
    const int overlap = 2;
    const int top = birth.isEmpty() ? field.top() + (field.height() - line) / 2
                                    : field.top() + (field.height() - 2 * line + overlap) / 2;
    drawOutcomeMark(
        painter, QRectF(field.left() + padding, top + (line - markSize) / 2.0, markSize, markSize), outcome);
    const int left = field.left() + padding + markSize + padding;
    const QRect first(left, top, field.right() - left, line);
    painter.setPen(outcome == Outcome::finite ? theme().muted : theme().text);
    drawLine(painter, first, wordFont(font, word, outcome != Outcome::finite, first.width()), word);
    if (!birth.isEmpty()) {
        const QRect second(field.left() + padding, top + line - overlap, field.width() - padding, line);
        QFont small = smallerFont(font);
        small.setStretch(QFont::SemiCondensed);
        drawLine(painter, second, small, birth);
    }
}

void CellDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    painter->save();
    const QRect field = option.rect.adjusted(1, 1, -1, -1);
    const auto state = static_cast<CellState>(index.data(CellStateRole).toInt());
    if (state == CellState::done) {
        paintDone(*painter, field, option.font, index);
    } else {
        painter->fillRect(field, state == CellState::failed ? theme().warningTint : theme().sunken);
        painter->setFont(option.font);
        painter->setPen(theme().muted);
        painter->drawText(field, Qt::AlignCenter, index.data().toString());
    }
    if (const QString side = index.data(SideRole).toString(); !side.isEmpty()) {
        QFont bold = option.font;
        bold.setBold(true);
        painter->setFont(bold);
        painter->setPen(theme().accent);
        painter->drawText(field.adjusted(0, 0, -3, -1), Qt::AlignRight | Qt::AlignBottom, side);
    }
    if (option.state.testFlag(QStyle::State_Selected)) {
        painter->setPen(QPen(theme().accent, 1));
        painter->drawRect(field.adjusted(0, 0, -1, -1));
    }
    painter->restore();
}

QSize CellDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& /*index*/) const
{
    return {grid(18), 2 * QFontMetrics(option.font).height() + grid(1)};
}

void setUpGrid(QTableView& view)
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
    , m_every(makeToolButton(
          this, "quiet", tr("All variants"), tr("Also those that share a schedule with one that is shown")))
    , m_options(makeToolButton(this, "quiet"))
    , m_agree(makeToolButton(
          this, "quiet", tr("Compare GPUs…"), tr("Whether every GPU replays this capture to the same bits")))
    , m_side(new QComboBox(this))
{
    m_side->addItems({tr("Clicks choose A"), tr("Clicks choose B")});
    m_side->setAccessibleName(tr("The side that clicks choose"));
    m_side->setToolTip(tr("Which of the two compared cells a click in the table replaces"));
    header()->addWidget(m_side);
    setComparing(false);
    m_view->setModel(m_model);
    setUpGrid(*m_view);
    makeCopyable(*m_view, tr("Sweep"), [this] { return m_model->captureName(); });
    m_every->setCheckable(true);
    header()->addWidget(m_every);
    m_agree->hide();
    header()->addWidget(m_options);
    header()->addWidget(m_agree);
    connect(m_agree, &QToolButton::clicked, this, &SweepPane::agreeWanted);
    connect(m_options, &QToolButton::clicked, this, &SweepPane::optionsWanted);
    showChoice({});
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
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this,
        [this](const QModelIndex& index, const QModelIndex& before) {
            showDetail(index);
            // A table that gets the focus makes its first cell the current one by itself.
            if (before.isValid()) {
                selectCell(index);
            }
        });
    connect(m_view, &QTableView::clicked, this, &SweepPane::selectCell);
    connect(m_view, &QTableView::clicked, this, &SweepPane::requestReplay);
    connect(m_view, &QTableView::activated, this, &SweepPane::requestReplay);
    updateState();
}

void SweepPane::resizeEvent(QResizeEvent* event)
{
    PaneFrame::resizeEvent(event);
    fitNames();
}

/// All precisions stay in sight; the names of the variants give way, and their tool tips have them whole.
void SweepPane::fitNames()
{
    const int columns = grid(11) * std::max(m_model->columnCount(), static_cast<int>(usualPrecisions().size()));
    m_view->verticalHeader()->setFixedWidth(std::clamp(width() - columns, grid(20), grid(40)));
}

void SweepPane::selectCell(const QModelIndex& index)
{
    const Cell* cell = m_model->cellAt(index);
    if (choosesSecond()) {
        if (index.isValid() && m_second != m_model->requestAt(index)) {
            m_second = m_model->requestAt(index);
            Q_EMIT secondWanted(*m_second);
        }
    } else if (cell && m_shown != m_model->requestAt(index)) {
        m_shown = m_model->requestAt(index);
        Q_EMIT cellSelected(*cell);
    }
}

void SweepPane::markShown(const std::optional<replay::CellRequest>& cell)
{
    m_shown = cell;
    showSides();
    if (!choosesSecond()) {
        m_view->setCurrentIndex(cell ? m_model->indexOf(*cell) : QModelIndex());
    }
}

void SweepPane::setComparing(bool comparing)
{
    m_comparing = comparing;
    m_side->setCurrentIndex(1);
    m_side->setVisible(comparing);
    showSides();
}

bool SweepPane::choosesSecond() const
{
    return m_comparing && m_side->currentIndex() == 1;
}

void SweepPane::markSecond(const std::optional<replay::CellRequest>& cell)
{
    m_second = cell;
    showSides();
}

void SweepPane::showSides()
{
    m_model->setSides(m_comparing ? m_shown : std::nullopt, m_comparing ? m_second : std::nullopt);
}

void SweepPane::requestReplay(const QModelIndex& index)
{
    const Cell* cell = m_model->cellAt(index);
    if (index.isValid() && !choosesSecond() && (!cell || !cell->error.empty())) {
        Q_EMIT replayRequested(m_model->requestAt(index));
    }
}

void SweepPane::setGrid(const SweepGrid& grid)
{
    m_shown.reset();
    m_model->setGrid(grid);
    fitNames();
    updateState();
}

bool SweepPane::putCell(const Cell& cell, const replay::CellRequest& request)
{
    const bool shown = m_model->putCell(cell, request);
    updateState();
    return shown;
}

void SweepPane::setRunning(bool running, const std::vector<replay::CellRequest>& ordered)
{
    m_running = running;
    m_ordered = static_cast<int>(ordered.size());
    m_model->setPending(ordered);
    updateState();
}

void SweepPane::showChoice(const QString& text)
{
    m_options->setText(text.isEmpty() ? tr("Options…") : tr("Options: %1").arg(text));
    m_options->setToolTip(
        tr("Which variants and formats the next sweep replays, with which epsilon, steps and lowering"));
}

void SweepPane::setWhyNoSweep(const QString& why)
{
    m_button->setEnabled(why.isEmpty());
    m_button->setToolTip(why);
}

void SweepPane::setHasGpus(bool has)
{
    m_agree->setVisible(has);
}

void SweepPane::updateState()
{
    const int done = m_model->doneCount();
    const int all = m_model->cellCount();
    setNote(all == 0 ? QString()
                     : tr("%1 of %2 cells · on %3").arg(done).arg(all).arg(m_model->devices().join(tr(" and "))));
    m_progress->setRange(0, std::max(m_ordered, 1));
    m_progress->setValue(m_ordered - m_model->pendingCount());
    m_progress->setVisible(m_running);
    m_detail->setVisible(!m_running);
    m_button->setVisible(m_running || done < all);
    m_button->setText(m_running ? tr("Cancel") : tr("Sweep"));
    showDetail(m_view->currentIndex());
}

void SweepPane::showDetail(const QModelIndex& index)
{
    if (m_model->doneCount() == 0) {
        m_detail->setFullText(m_model->cellCount() > 0
                ? tr("Replays the arithmetic of the capture in every format; no code from the file is run")
                : QString());
        return;
    }
    const Cell* cell = m_model->cellAt(index);
    m_detail->setFullText(cell
            ? m_model->data(index, Qt::ToolTipRole).toString().replace(QLatin1Char('\n'), QStringLiteral(" · "))
            : tr("Bold variants may have run in the training. Select a cell for its numbers and its film; an empty one "
                 "is replayed."));
}

} // namespace nanscope
