// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/copying.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <QAction>
#include <QClipboard>
#include <QCoreApplication>
#include <QGuiApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMenu>
#include <QPixmap>
#include <QTableView>

#include "ui/models/roles.h"

namespace nanscope {

namespace {

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::Copying)
};

void copy(const QString& text)
{
    QGuiApplication::clipboard()->setText(text);
}

QString machineWord(const QString& cell)
{
    constexpr std::pair<const char*, const char*> words[] = {
        {"NaN", "nan"}, {"+Inf", "inf"}, {"−Inf", "-inf"}, {"–", ""}, {"…", ""}};
    for (const auto& [shown, word] : words) {
        if (cell == QString::fromUtf8(shown)) {
            return QString::fromLatin1(word);
        }
    }
    return cell;
}

QString cellOf(const QModelIndex& index)
{
    const QVariant value = index.data(CopyRole);
    return machineWord((value.isValid() ? value : index.data()).toString());
}

bool hasRowHeadings(const QAbstractItemModel& model)
{
    // Numbers by default: those say nothing that the place does not.
    bool number = false;
    const QString first = model.headerData(0, Qt::Vertical).toString();
    first.toInt(&number);
    return !first.isEmpty() && !number;
}

QString oneLine(QString cell)
{
    for (const char16_t breaking : {u'\t', u'\n', u'\r'}) {
        cell.replace(QChar(breaking), QLatin1Char(' '));
    }
    return cell;
}

QJsonValue asValue(const QString& cell)
{
    if (cell.isEmpty()) {
        return QJsonValue::Null;
    }
    bool isNumber = false;
    if (const qint64 whole = cell.toLongLong(&isNumber); isNumber) {
        return whole;
    }
    const double number = cell.toDouble(&isNumber);
    return isNumber && std::isfinite(number) ? QJsonValue(number) : QJsonValue(cell);
}

QString keyOf(const QString& column)
{
    return column.isEmpty() ? QStringLiteral("name") : column.toLower().replace(QLatin1Char(' '), QLatin1Char('_'));
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

template <class Slot>
QAction* addAction(QWidget& widget, const QString& text, const QString& tip, Slot slot)
{
    auto* action = new QAction(text, &widget);
    action->setStatusTip(tip);
    action->setToolTip(tip);
    widget.addAction(action);
    QObject::connect(action, &QAction::triggered, &widget, slot);
    return action;
}

} // namespace

TextTable tableOf(const QAbstractItemModel& model, const std::vector<int>& rows)
{
    TextTable table;
    const bool headed = hasRowHeadings(model);
    if (headed) {
        table.columns << QString();
    }
    for (int column = 0; column < model.columnCount(); ++column) {
        table.columns << model.headerData(column, Qt::Horizontal).toString();
    }
    for (const int row : rows) {
        QStringList cells;
        if (headed) {
            cells << model.headerData(row, Qt::Vertical).toString();
        }
        for (int column = 0; column < model.columnCount(); ++column) {
            cells << cellOf(model.index(row, column));
        }
        table.rows.push_back(std::move(cells));
    }
    return table;
}

TextTable tableFromTsv(const QString& tsv)
{
    TextTable table;
    for (const QString& line : tsv.split(QLatin1Char('\n'), Qt::SkipEmptyParts)) {
        const QStringList cells = line.split(QLatin1Char('\t'));
        if (table.columns.isEmpty()) {
            table.columns = cells;
            continue;
        }
        QStringList row;
        std::ranges::transform(cells, std::back_inserter(row), machineWord);
        table.rows.push_back(std::move(row));
    }
    return table;
}

QString asTsv(const TextTable& table)
{
    const auto line = [](const QStringList& cells) {
        QStringList clean;
        std::ranges::transform(cells, std::back_inserter(clean), oneLine);
        return QString(clean.join(QLatin1Char('\t')) + QLatin1Char('\n'));
    };
    QString text = line(table.columns);
    for (const QStringList& row : table.rows) {
        text += line(row);
    }
    return text;
}

QString asJson(const TextTable& table)
{
    QJsonArray array;
    for (const QStringList& row : table.rows) {
        QJsonObject object;
        for (qsizetype i = 0; i < std::min(row.size(), table.columns.size()); ++i) {
            object.insert(keyOf(table.columns[i]), asValue(row[i]));
        }
        array.append(object);
    }
    return QString::fromUtf8(QJsonDocument(array).toJson(QJsonDocument::Indented));
}

void makeCopyable(QTableView& view, const QString& title)
{
    QTableView* table = &view;
    const auto rows = [table] { return tableOf(*table->model(), rowsToCopy(*table)); };
    QAction* tsv = addAction(view, Words::tr("Copy rows"),
        Words::tr("%1: the selected rows, or all, with tabs between").arg(title), [rows] { copy(asTsv(rows())); });
    tsv->setShortcut(QKeySequence::Copy);
    tsv->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    addAction(view, Words::tr("Copy rows as JSON"),
        Words::tr("%1: the selected rows, or all, as an array of objects").arg(title),
        [rows] { copy(asJson(rows())); });
    addAction(view, Words::tr("Copy picture"), Words::tr("%1 as it is shown").arg(title),
        [table] { QGuiApplication::clipboard()->setPixmap(table->grab()); });
    view.setContextMenuPolicy(Qt::ActionsContextMenu);
}

void addCopyEntries(QMenu& menu, QWidget& plot, const PlotCopies& copies)
{
    QWidget* parent = &plot;
    const auto add = [&](const QString& text, auto slot) {
        QObject::connect(menu.addAction(text), &QAction::triggered, parent, slot);
    };
    add(Words::tr("Copy values as TSV"), [copies] { copy(copies.tsv()); });
    add(Words::tr("Copy values as JSON"), [copies] { copy(asJson(tableFromTsv(copies.tsv()))); });
    add(Words::tr("Copy picture"), [copies] { QGuiApplication::clipboard()->setPixmap(copies.picture()); });
    add(Words::tr("Show as a table…"),
        [copies, parent] { showTable(*parent, copies.title, tableFromTsv(copies.tsv())); });
}

void makeCopyable(QWidget& plot, const PlotCopies& copies)
{
    QAction* values = addAction(plot, Words::tr("Copy values"),
        Words::tr("%1: its numbers, with tabs between").arg(copies.title), [copies] { copy(copies.tsv()); });
    values->setShortcut(QKeySequence::Copy);
    values->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    plot.setContextMenuPolicy(Qt::CustomContextMenu);
    QObject::connect(&plot, &QWidget::customContextMenuRequested, &plot, [&plot, copies](const QPoint& at) {
        QMenu menu(&plot);
        addCopyEntries(menu, plot, copies);
        menu.exec(plot.mapToGlobal(at));
    });
}

} // namespace nanscope
