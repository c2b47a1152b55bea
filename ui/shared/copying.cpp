// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/copying.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <QAction>
#include <QClipboard>
#include <QCoreApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeySequence>
#include <QMenu>
#include <QStandardItemModel>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/shared/saving.h"
#include "ui/shared/table/roles.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

struct CopyingWords
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::Copying)
};

void copy(const QString& text)
{
    QGuiApplication::clipboard()->setText(text);
}

std::vector<int> rowsToCopy(const QTableView& view)
{
    std::vector<int> rows;
    for (const QModelIndex& index : view.selectionModel()->selectedIndexes()) {
        rows.push_back(index.row());
    }
    std::ranges::sort(rows);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    if (rows.empty()) {
        rows.resize(static_cast<std::size_t>(view.model()->rowCount()));
        std::iota(rows.begin(), rows.end(), 0);
    }
    return rows;
}

PictureCaption captionOf(const PlotCopies& copies)
{
    return copies.caption ? copies.caption() : PictureCaption {copies.title};
}

Picture pictureToSave(const PlotCopies& copies)
{
    return captioned(copies.picture(), captionOf(copies));
}

TextTable sheetOf(const PlotCopies& copies)
{
    return tableFromTsv(copies.sheet ? copies.sheet() : copies.tsv());
}

/// "rank0_step5-film-strip": the capture's own ending would only look like the file's.
QString stemOf(const PictureCaption& caption)
{
    return fileStem({QFileInfo(caption.subject).completeBaseName(), caption.title.toLower()});
}

PlotCopies copiesOf(QTableView& view, const QString& title, const std::function<QString()>& subject)
{
    QTableView* table = &view;
    return {title, [table] { return asTsv(tableOf(*table->model(), rowsToCopy(*table))); },
        [table] { return pictureOf(static_cast<QWidget&>(*table)); },
        [title, subject] {
            const QString of = subject ? subject() : QString();
            return PictureCaption {title, of, {}, of};
        }};
}

QStandardItem* itemOf(const QString& cell)
{
    auto* item = new QStandardItem(cell);
    bool isNumber = false;
    double number = cell.toDouble(&isNumber);
    // A NaN that takes part in comparisons would leave the others in no order.
    number = std::isnan(number) ? std::numeric_limits<double>::infinity() : number;
    item->setData(isNumber ? QVariant(number) : QVariant(cell), SortRole);
    if (isNumber) {
        item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    }
    item->setToolTip(cell);
    item->setEditable(false);
    return item;
}

} // namespace

QAction* addCommand(QWidget& widget, const QString& text, const QString& tip, const QKeySequence& keys,
    const std::function<void()>& slot)
{
    auto* action = new QAction(text, &widget);
    action->setStatusTip(tip);
    action->setToolTip(tip);
    action->setShortcut(keys);
    action->setShortcutContext(keys.isEmpty() ? Qt::WindowShortcut : Qt::WidgetWithChildrenShortcut);
    widget.addAction(action);
    QObject::connect(action, &QAction::triggered, &widget, slot);
    return action;
}

QKeySequence savePictureKeys()
{
    return {Qt::CTRL | Qt::Key_S};
}

QKeySequence saveValuesKeys()
{
    return {Qt::CTRL | Qt::SHIFT | Qt::Key_S};
}

void savePictureOf(QWidget& plot, const PlotCopies& copies)
{
    if (copies.picture()) {
        const auto write = [copies](
                               const QString& path) { return savePicture(pictureToSave(copies), copies.title, path); };
        askAndSave(plot, {CopyingWords::tr("Save picture"), stemOf(captionOf(copies)), pictureKinds(), write});
    }
}

void saveValuesOf(QWidget& plot, const PlotCopies& copies)
{
    if (TextTable sheet = sheetOf(copies); !sheet.rows.empty()) {
        const auto write = [sheet = std::move(sheet)](const QString& path) { return saveTable(sheet, path); };
        askAndSave(plot, {CopyingWords::tr("Save values"), stemOf(captionOf(copies)), tableKinds(), write});
    }
}

void makeCopyable(QTableView& view, const QString& title, const std::function<QString()>& subject)
{
    QTableView* table = &view;
    const PlotCopies copies = copiesOf(view, title, subject);
    const auto rows = [table] { return tableOf(*table->model(), rowsToCopy(*table)); };
    addCommand(view, CopyingWords::tr("Copy rows"),
        CopyingWords::tr("%1: the selected rows, or all, with tabs between").arg(title), QKeySequence::Copy,
        [rows] { copy(asTsv(rows())); });
    addCommand(view, CopyingWords::tr("Copy rows as JSON"),
        CopyingWords::tr("%1: the selected rows, or all, as an array of objects").arg(title), {},
        [rows] { copy(asJson(rows())); });
    addCommand(view, CopyingWords::tr("Copy picture"), CopyingWords::tr("%1 as it is shown").arg(title), {},
        [copies] { QGuiApplication::clipboard()->setImage(imageOf(copies.picture())); });
    addCommand(view, CopyingWords::tr("Save rows…"),
        CopyingWords::tr("%1: the selected rows, or all, as a CSV, TSV or JSON file").arg(title), saveValuesKeys(),
        [table, copies] { saveValuesOf(*table, copies); });
    addCommand(view, CopyingWords::tr("Save picture…"), CopyingWords::tr("%1 as it is shown, as a file").arg(title),
        savePictureKeys(), [table, copies] { savePictureOf(*table, copies); });
    view.setContextMenuPolicy(Qt::ActionsContextMenu);
}

void addCopyEntries(QMenu& menu, QWidget& plot, const PlotCopies& copies)
{
    QWidget* parent = &plot;
    // The keys are told, not taken: they belong to the plot that has the focus.
    const auto add = [&](const QString& text, bool possible, const QKeySequence& keys, auto slot) {
        const QString told = keys.toString(QKeySequence::NativeText);
        QAction* action = menu.addAction(told.isEmpty() ? text : text + QLatin1Char('\t') + told);
        action->setEnabled(possible);
        QObject::connect(action, &QAction::triggered, parent, slot);
    };
    const bool toCopy = !tableFromTsv(copies.tsv()).rows.empty();
    const bool toSave = copies.sheet ? !sheetOf(copies).rows.empty() : toCopy;
    const bool toSee = static_cast<bool>(copies.picture());
    add(CopyingWords::tr("Copy values as TSV"), toCopy, QKeySequence::Copy, [copies] { copy(copies.tsv()); });
    add(CopyingWords::tr("Copy values as JSON"), toCopy, {}, [copies] { copy(asJson(tableFromTsv(copies.tsv()))); });
    add(CopyingWords::tr("Copy picture"), toSee, {},
        [copies] { QGuiApplication::clipboard()->setImage(imageOf(pictureToSave(copies))); });
    add(CopyingWords::tr("Save values…"), toSave, saveValuesKeys(),
        [copies, parent] { saveValuesOf(*parent, copies); });
    add(CopyingWords::tr("Save picture…"), toSee, savePictureKeys(),
        [copies, parent] { savePictureOf(*parent, copies); });
    add(CopyingWords::tr("Show as a table…"), toSave, {},
        [copies, parent] { showTable(*parent, copies.title, sheetOf(copies)); });
}

void makeCopyable(QWidget& plot, const PlotCopies& copies)
{
    QWidget* shown = &plot;
    addCommand(plot, CopyingWords::tr("Copy values"),
        CopyingWords::tr("%1: its numbers, with tabs between").arg(copies.title), QKeySequence::Copy,
        [copies] { copy(copies.tsv()); });
    addCommand(plot, CopyingWords::tr("Save values…"),
        CopyingWords::tr("%1: its numbers as a CSV, TSV or JSON file").arg(copies.title), saveValuesKeys(),
        [shown, copies] { saveValuesOf(*shown, copies); });
    addCommand(plot, CopyingWords::tr("Save picture…"),
        CopyingWords::tr("%1 as a PNG, SVG or PDF file").arg(copies.title), savePictureKeys(),
        [shown, copies] { savePictureOf(*shown, copies); });
    plot.setContextMenuPolicy(Qt::CustomContextMenu);
    QObject::connect(shown, &QWidget::customContextMenuRequested, shown, [shown, copies](const QPoint& at) {
        QMenu menu(shown);
        addCopyEntries(menu, *shown, copies);
        menu.exec(shown->mapToGlobal(at));
    });
}

QTableView* makeListOfRows(QWidget* parent, QAbstractItemModel* model, const QString& title)
{
    auto* view = new QTableView(parent);
    view->setModel(model);
    view->setAccessibleName(title);
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setShowGrid(false);
    view->setTabKeyNavigation(false);
    view->verticalHeader()->hide();
    view->verticalHeader()->setDefaultSectionSize(grid(6));
    return view;
}

QTableView* makeTableView(QWidget* parent, const QString& title)
{
    auto* view = makeListOfRows(parent, nullptr, title);
    view->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    view->setSortingEnabled(true);
    view->setModel(new QStandardItemModel(view));
    makeCopyable(*view, title);
    return view;
}

void fillTableView(QTableView& view, const TextTable& table)
{
    auto* model = qobject_cast<QStandardItemModel*>(view.model());
    model->clear();
    model->setHorizontalHeaderLabels(table.columns);
    model->setSortRole(SortRole);
    for (const QStringList& row : table.rows) {
        QList<QStandardItem*> items;
        std::ranges::transform(row, std::back_inserter(items), itemOf);
        model->appendRow(items);
    }
    view.resizeColumnsToContents();
}

QTableView* showTable(QWidget& parent, const QString& title, const TextTable& table)
{
    auto* dialog = new QDialog(&parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    auto* view = makeTableView(dialog, title);
    fillTableView(*view, table);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
    auto* layout = new QVBoxLayout(dialog);
    layout->addWidget(view, 1);
    layout->addWidget(buttons);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    dialog->resize(grid(160), grid(100));
    dialog->show();
    return view;
}

} // namespace nanscope
