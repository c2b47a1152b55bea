// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/captures/capturespane.h"

#include <algorithm>

#include <QAction>
#include <QClipboard>
#include <QDesktopServices>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QUrl>
#include <QVBoxLayout>

#include "core/model/verdict.h"
#include "ui/captures/capturefilter.h"
#include "ui/captures/capturemodel.h"
#include "ui/shared/copying.h"
#include "ui/shared/marks.h"
#include "ui/shared/table/roles.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

constexpr int columnPadding = 12;
constexpr int lookedAt = 200; // rows, of a run that may have 100,000
constexpr int markWidth = 17;

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
    return count == 1 ? CapturesPane::tr("1 capture") : CapturesPane::tr("%1 captures").arg(countLabel(count));
}

/// Where nothing else began, the zero matrices that came out damaged.
QString birthCount(const Triage& triage)
{
    if (triage.births == 0 && triage.padding > 0) {
        return triage.padding == 1 ? CapturesPane::tr("1 zero input")
                                   : CapturesPane::tr("%1 zero inputs").arg(countLabel(triage.padding));
    }
    return triage.births == 1 ? CapturesPane::tr("1 birth")
                              : CapturesPane::tr("%1 births").arg(countLabel(triage.births));
}

void setUpCaptureTable(QTableView& view)
{
    view.setSelectionMode(QAbstractItemView::ExtendedSelection);
    view.setEditTriggers(QAbstractItemView::NoEditTriggers);
    view.setWordWrap(false);
    view.setSortingEnabled(true);
    view.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    view.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    view.horizontalHeader()->setHighlightSections(false);
    view.horizontalHeader()->setMinimumSectionSize(32);
    view.setColumnHidden(CaptureModel::FileColumn, true);
    view.horizontalHeader()->setContextMenuPolicy(Qt::CustomContextMenu);
    view.horizontalHeader()->setStretchLastSection(true);
    view.horizontalHeader()->setSortIndicatorClearable(true);
    view.horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
}

/// Several captures of which this column tells none from another.
bool isAlike(const CaptureModel& model, int column)
{
    const QVariant first = model.index(0, column).data();
    const int rows = std::min(lookedAt, model.rowCount());
    for (int row = 1; row < rows; ++row) {
        if (model.index(row, column).data() != first) {
            return false;
        }
    }
    return rows > 1;
}

} // namespace

CapturesPane::CapturesPane(QWidget* parent)
    : PaneFrame(tr("Captures"), parent)
    , m_model(new CaptureModel(this))
    , m_filter(new CaptureFilter(this))
    , m_box(new QLineEdit(this))
    , m_problem(new QLabel(this))
    , m_view(makeListOfRows(this, m_filter, tr("Captures of the run")))
    , m_unwanted {CaptureModel::FileColumn}
{
    m_box->setPlaceholderText(tr("Filter, e.g. rank:0 !downstream"));
    m_box->setToolTip(
        tr("Words that must all match. rank:0, step:5..8, role:birth,upstream, shape:160, verdict:numerics and file:…\n"
           "look at one column; a comma is \"or\", 2.. and ..7 are ranges. /…/ is a regular expression, ! excludes.\n"
           "Esc clears."));
    m_box->setAccessibleName(tr("Filter captures"));
    m_box->setClearButtonEnabled(true);
    m_box->installEventFilter(this);
    m_filter->setSourceModel(m_model);
    m_view->setItemDelegate(new RoleDelegate(m_view));
    setUpCaptureTable(*m_view);
    auto* boxRow = new QVBoxLayout;
    boxRow->setContentsMargins(grid(2), 0, grid(2), grid(2));
    boxRow->addWidget(m_box);
    boxRow->addWidget(m_problem);
    m_problem->setObjectName(QStringLiteral("muted"));
    m_problem->setTextFormat(Qt::PlainText);
    m_problem->setWordWrap(true);
    m_problem->hide();
    body()->addLayout(boxRow);
    body()->addWidget(m_view, 1);
    buildActions();
    connect(m_box, &QLineEdit::textChanged, this, &CapturesPane::filter);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &CapturesPane::onCurrentChanged);
    connect(m_view->horizontalHeader(), &QWidget::customContextMenuRequested, this, &CapturesPane::chooseColumns);
    m_view->viewport()->installEventFilter(this);
}

void CapturesPane::buildActions()
{
    makeCopyable(*m_view, tr("Captures"));
    m_copyPath = addCommand(*m_view, tr("Copy path"), tr("Where the selected capture lies"), {}, [this] {
        const QModelIndex row = m_view->currentIndex().siblingAtColumn(CaptureModel::FileColumn);
        QGuiApplication::clipboard()->setText(row.data(CopyRole).toString());
    });
    m_openFolder =
        addCommand(*m_view, tr("Open its folder"), tr("Show the selected capture's folder on the desktop"), {}, [this] {
            const QModelIndex row = m_view->currentIndex().siblingAtColumn(CaptureModel::FileColumn);
            const QFileInfo file(row.data(CopyRole).toString());
            QDesktopServices::openUrl(QUrl::fromLocalFile(file.absolutePath()));
        });
    m_cause = addCommand(*m_view, tr("Select its cause"), tr("Select the birth this capture descends from"), {},
        [this] { Q_EMIT causeRequested(); });
    updateActions();
}

void CapturesPane::updateActions()
{
    const QModelIndex current = m_view->currentIndex();
    m_copyPath->setEnabled(current.isValid());
    m_openFolder->setEnabled(current.isValid());
    m_cause->setEnabled(
        current.isValid() && current.data(CaptureRoleRole).toInt() == static_cast<int>(Role::downstream));
}

void CapturesPane::setRun(std::shared_ptr<const RunData> run, std::shared_ptr<const Diagnosis> diagnosis)
{
    const int before = selectedCapture();
    const bool sameRun = run && !run->root.empty() && property("root").toString() == qstr(run->root);
    setProperty("root", run ? qstr(run->root) : QString());
    setTitle(run ? qstr(run->name) : tr("Captures"));
    m_triage.clear();
    if (diagnosis) {
        m_triage =
            QStringLiteral("%1 · %2").arg(captureCount(diagnosis->triage.captures), birthCount(diagnosis->triage));
    } else if (run) {
        m_triage = captureCount(static_cast<int>(run->captures.size()));
    }
    m_chosenByUser = m_chosenByUser && sameRun;
    m_choosing = true;
    m_model->setRun(std::move(run), std::move(diagnosis));
    measureColumns();
    updateNote();
    showProblem();
    if (m_chosenByUser && m_model->rowOf(before) >= 0) {
        m_selected = before;
        showSelected();
    } else {
        m_view->selectRow(0);
        const QModelIndex current = m_view->currentIndex();
        m_selected = current.isValid() ? current.data(CaptureRole).toInt() : -1;
    }
    m_choosing = false;
    updateActions();
    Q_EMIT captureSelected(m_selected);
}

void CapturesPane::setVerdicts(std::shared_ptr<const Diagnosis> diagnosis)
{
    m_model->setVerdicts(std::move(diagnosis));
    measureColumns();
    showProblem();
}

void CapturesPane::measureColumns()
{
    m_wanted.assign(CaptureModel::NUM_COLUMNS, 0);
    QFont bold = font();
    bold.setBold(true);
    for (int column = 0; column < CaptureModel::NUM_COLUMNS; ++column) {
        int width = fontMetrics().horizontalAdvance(m_model->headerData(column, Qt::Horizontal).toString());
        const QFontMetrics metrics(column == CaptureModel::RoleColumn ? bold : font());
        for (int row = 0; row < std::min(lookedAt, m_model->rowCount()); ++row) {
            width = std::max(width, metrics.horizontalAdvance(m_model->index(row, column).data().toString()));
        }
        m_wanted[static_cast<std::size_t>(column)] =
            width + columnPadding + (column == CaptureModel::RoleColumn ? markWidth : 0);
    }
    m_givingWay = {CaptureModel::ShapeColumn};
    if (isAlike(*m_model, CaptureModel::RankColumn) && !isAlike(*m_model, CaptureModel::ShapeColumn)) {
        m_givingWay.insert(m_givingWay.begin(), CaptureModel::RankColumn);
    }
    fitColumns();
}

// In a narrow list the rank gives way first where there is one only, then the shape, as a whole, then the role, down to
// its mark and "birth", then the verdict; all are in the tool tip. Only then does the list scroll.
void CapturesPane::fitColumns()
{
    if (m_wanted.empty()) {
        return;
    }
    std::vector<int> widths = m_wanted;
    auto hidden = m_unwanted;
    int missing = -m_view->viewport()->width();
    for (int column = 0; column < CaptureModel::NUM_COLUMNS; ++column) {
        missing += hidden.contains(column) ? 0 : widths[static_cast<std::size_t>(column)];
    }
    for (const int column : m_givingWay) {
        if (missing > 0 && hidden.insert(column).second) {
            missing -= widths[static_cast<std::size_t>(column)];
        }
    }
    QFont bold = font();
    bold.setBold(true);
    const int birth = QFontMetrics(bold).horizontalAdvance(roleWord(Role::birth)) + markWidth + columnPadding;
    const std::pair<CaptureModel::Column, int> yielding[] = {
        {CaptureModel::RoleColumn, birth}, {CaptureModel::VerdictColumn, grid(10)}};
    for (const auto& [column, least] : yielding) {
        const int given = std::clamp(widths[column] - least, 0, std::max(missing, 0));
        widths[column] -= given;
        missing -= given;
    }
    for (int column = 0; column < CaptureModel::NUM_COLUMNS; ++column) {
        m_view->setColumnHidden(column, hidden.contains(column));
        m_view->setColumnWidth(column, widths[static_cast<std::size_t>(column)]);
    }
}

void CapturesPane::chooseColumns(const QPoint& at)
{
    QMenu menu(this);
    for (int column = CaptureModel::RankColumn; column < CaptureModel::NUM_COLUMNS; ++column) {
        QAction* action = menu.addAction(m_model->headerData(column, Qt::Horizontal).toString());
        action->setCheckable(true);
        action->setChecked(!m_unwanted.contains(column));
        connect(action, &QAction::toggled, this, [this, column](bool shown) {
            if (shown) {
                m_unwanted.erase(column);
            } else {
                m_unwanted.insert(column);
            }
            fitColumns();
        });
    }
    menu.exec(m_view->horizontalHeader()->mapToGlobal(at));
}

// What is looked at is no matter of what is listed: it stays, and is marked again when the list shows it.
void CapturesPane::filter(const QString& text)
{
    m_choosing = true;
    m_filter->setText(text);
    showProblem();
    showSelected();
    // Where a filter hid everything from the start, nothing was selected yet.
    const bool first = m_selected < 0 && m_filter->rowCount() > 0;
    if (first) {
        m_view->selectRow(0);
        m_selected = m_view->currentIndex().data(CaptureRole).toInt();
    }
    m_choosing = false;
    updateNote();
    updateActions();
    if (first) {
        Q_EMIT captureSelected(m_selected);
    }
}

/// What of the filter is not understood, or that nothing matches it.
void CapturesPane::showProblem()
{
    const int all = m_model->rowCount();
    const bool none = all > 0 && m_filter->rowCount() == 0;
    const QString nothing =
        none ? tr("None of %1 matches. Esc in the filter shows all.").arg(captureCount(all)) : QString();
    m_problem->setText(m_filter->problem().isEmpty() ? nothing : m_filter->problem());
    m_problem->setVisible(!m_problem->text().isEmpty());
}

void CapturesPane::showSelected()
{
    const int row = m_model->rowOf(m_selected);
    const QModelIndex at = row < 0 ? QModelIndex() : m_filter->mapFromSource(m_model->index(row, 0));
    if (at.isValid()) {
        m_view->selectRow(at.row());
        m_view->scrollTo(at);
    } else {
        m_view->selectionModel()->clear();
    }
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

bool CapturesPane::hidesSelected() const
{
    const int row = m_model->rowOf(m_selected);
    return row >= 0 && !m_filter->mapFromSource(m_model->index(row, 0)).isValid();
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
    Q_EMIT listChanged();
}

void CapturesPane::setFilterText(const QString& text)
{
    m_box->setText(text);
}

QString CapturesPane::listed() const
{
    const int all = m_model->rowCount();
    const QString filter = m_box->text().simplified();
    if (filter.isEmpty()) {
        return captureCount(all);
    }
    return tr("%1 of %2 · filter %3").arg(m_filter->rowCount()).arg(captureCount(all), filter);
}

void CapturesPane::onCurrentChanged()
{
    const QModelIndex current = m_view->currentIndex();
    if (!m_choosing && current.isValid()) {
        m_chosenByUser = true;
        m_selected = current.data(CaptureRole).toInt();
        Q_EMIT captureSelected(m_selected);
    }
    updateActions();
}

bool CapturesPane::eventFilter(QObject* watched, QEvent* event)
{
    // Also where a scroll bar or another style narrows the list, which resizes nothing else.
    if (watched == m_view->viewport() && event->type() == QEvent::Resize) {
        fitColumns();
    }
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
