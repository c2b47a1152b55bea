// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/capturespane.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/models/capturefilter.h"
#include "ui/models/capturemodel.h"
#include "ui/models/roles.h"
#include "ui/panes/marks.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

class RoleDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        const int role = index.data(CaptureRoleRole).toInt();
        const bool loud = role == static_cast<int>(Role::birth) || role == static_cast<int>(Role::upstream);
        option->palette.setColor(QPalette::Text, loud ? theme().text : theme().muted);
        option->palette.setColor(QPalette::HighlightedText, theme().text);
        if (index.column() == CaptureModel::RoleColumn) {
            option->font.setBold(role == static_cast<int>(Role::birth));
            option->features |= QStyleOptionViewItem::HasDecoration;
            option->decorationSize = {12, 12};
        }
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QStyledItemDelegate::paint(painter, option, index);
        if (index.column() == CaptureModel::RoleColumn) {
            const QRectF box(option.rect.left() + grid(2), option.rect.center().y() - 4, 9, 9);
            drawRoleMark(*painter, box, index.data(CaptureRoleRole).toInt());
        }
    }
};

QString captureCount(int count)
{
    return count == 1 ? CapturesPane::tr("1 capture") : CapturesPane::tr("%1 captures").arg(count);
}

QString birthCount(int count)
{
    return count == 1 ? CapturesPane::tr("1 birth") : CapturesPane::tr("%1 births").arg(count);
}

void setUpView(QTableView& view)
{
    view.setSelectionBehavior(QAbstractItemView::SelectRows);
    view.setSelectionMode(QAbstractItemView::SingleSelection);
    view.setEditTriggers(QAbstractItemView::NoEditTriggers);
    view.setShowGrid(false);
    view.setWordWrap(false);
    view.setSortingEnabled(true);
    view.setTabKeyNavigation(false);
    view.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    view.verticalHeader()->hide();
    view.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    view.verticalHeader()->setDefaultSectionSize(grid(6));
    view.horizontalHeader()->setHighlightSections(false);
    view.horizontalHeader()->setMinimumSectionSize(32);
    view.setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    view.horizontalHeader()->setStretchLastSection(true);
    view.horizontalHeader()->setSortIndicatorClearable(true);
    view.horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
}

} // namespace

CapturesPane::CapturesPane(QWidget* parent)
    : PaneFrame(tr("Captures"), parent)
    , m_model(new CaptureModel(this))
    , m_filter(new CaptureFilter(this))
    , m_box(new QLineEdit(this))
    , m_view(new QTableView(this))
{
    m_box->setPlaceholderText(tr("Filter, e.g. rank:0 !downstream"));
    m_box->setToolTip(
        tr("Words that must all match. rank:0, step:5, role:birth, shape:160 and verdict:numerics look at one\n"
           "column, /…/ is a regular expression, ! excludes. Esc clears."));
    m_box->setAccessibleName(tr("Filter captures"));
    m_box->setClearButtonEnabled(true);
    m_box->installEventFilter(this);
    m_filter->setSourceModel(m_model);
    m_view->setModel(m_filter);
    m_view->setItemDelegate(new RoleDelegate(m_view));
    m_view->setAccessibleName(tr("Captures of the run"));
    setUpView(*m_view);
    auto* boxRow = new QVBoxLayout;
    boxRow->setContentsMargins(grid(2), 0, grid(2), grid(2));
    boxRow->addWidget(m_box);
    body()->addLayout(boxRow);
    body()->addWidget(m_view, 1);
    connect(m_box, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_filter->setText(text);
        updateNote();
    });
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &CapturesPane::onCurrentChanged);
}

void CapturesPane::setRun(std::shared_ptr<const RunData> run, std::shared_ptr<const Diagnosis> diagnosis)
{
    const int before = selectedCapture();
    const bool sameRun = run && !run->root.empty() && property("root").toString() == qstr(run->root);
    setProperty("root", run ? qstr(run->root) : QString());
    setTitle(run ? qstr(run->name) : tr("Captures"));
    m_triage.clear();
    if (diagnosis) {
        m_triage = QStringLiteral("%1 · %2").arg(
            captureCount(diagnosis->triage.captures), birthCount(diagnosis->triage.births));
    } else if (run) {
        m_triage = captureCount(static_cast<int>(run->captures.size()));
    }
    m_chosenByUser = m_chosenByUser && sameRun;
    m_choosing = true;
    m_model->setRun(std::move(run), std::move(diagnosis));
    fitColumns();
    updateNote();
    if (m_chosenByUser && m_model->rowOf(before) >= 0) {
        selectCapture(before);
    } else {
        m_view->selectRow(0);
    }
    m_choosing = false;
    Q_EMIT captureSelected(selectedCapture());
}

void CapturesPane::fitColumns()
{
    constexpr int padding = 14;
    constexpr int markWidth = 20;
    constexpr int looked = 200;
    for (int column = 0; column < CaptureModel::VerdictColumn; ++column) {
        int width = fontMetrics().horizontalAdvance(m_model->headerData(column, Qt::Horizontal).toString());
        for (int row = 0; row < std::min(looked, m_model->rowCount()); ++row) {
            width = std::max(width, fontMetrics().horizontalAdvance(m_model->index(row, column).data().toString()));
        }
        m_view->setColumnWidth(column, width + padding + (column == CaptureModel::RoleColumn ? markWidth : 0));
    }
}

int CapturesPane::selectedCapture() const
{
    const QModelIndex current = m_view->currentIndex();
    return current.isValid() ? current.data(CaptureRole).toInt() : -1;
}

void CapturesPane::selectCapture(int capture)
{
    const int row = m_model->rowOf(capture);
    if (row < 0) {
        return;
    }
    QModelIndex at = m_filter->mapFromSource(m_model->index(row, 0));
    if (!at.isValid()) {
        m_box->clear();
        at = m_filter->mapFromSource(m_model->index(row, 0));
    }
    m_view->selectRow(at.row());
}

void CapturesPane::focusFilter()
{
    m_box->setFocus(Qt::ShortcutFocusReason);
    m_box->selectAll();
}

void CapturesPane::updateNote()
{
    const int shown = m_filter->rowCount();
    const int all = m_model->rowCount();
    setNote(shown == all ? m_triage : tr("%1 of %2 shown").arg(shown).arg(all));
}

void CapturesPane::onCurrentChanged()
{
    if (!m_choosing) {
        m_chosenByUser = true;
        Q_EMIT captureSelected(selectedCapture());
    }
}

bool CapturesPane::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_box && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Escape) {
            m_box->clear();
            return true;
        }
        if (key == Qt::Key_Down) {
            m_view->setFocus();
            return true;
        }
    }
    return PaneFrame::eventFilter(watched, event);
}

} // namespace nanscope
