// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/table/texttable.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <QAbstractItemModel>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "ui/shared/table/roles.h"

namespace nanscope {

namespace {

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

QString quotedCell(QString cell)
{
    const bool needed = std::ranges::any_of(cell, [](QChar c) { return QStringLiteral(",\"\r\n").contains(c); });
    return needed ? QLatin1Char('"') + cell.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"') : cell;
}

QJsonObject objectOf(const QStringList& columns, const QStringList& row)
{
    QJsonObject object;
    for (qsizetype i = 0; i < std::min(row.size(), columns.size()); ++i) {
        object.insert(keyOf(columns[i]), asValue(row[i]));
    }
    return object;
}

QString linesOf(const QJsonArray& array)
{
    return QString::fromUtf8(QJsonDocument(array).toJson(QJsonDocument::Indented));
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

QString tsvLine(const QStringList& cells)
{
    QStringList clean;
    std::ranges::transform(cells, std::back_inserter(clean), oneLine);
    return clean.join(QLatin1Char('\t')) + QLatin1Char('\n');
}

QString csvLine(const QStringList& cells)
{
    QStringList safe;
    std::ranges::transform(cells, std::back_inserter(safe), quotedCell);
    return safe.join(QLatin1Char(',')) + QLatin1Char('\n');
}

QString jsonObject(const QStringList& columns, const QStringList& row)
{
    // Between the lines that begin and end the array.
    return linesOf(QJsonArray {objectOf(columns, row)}).sliced(2).chopped(3);
}

QString asTsv(const TextTable& table)
{
    QString text = tsvLine(table.columns);
    for (const QStringList& row : table.rows) {
        text += tsvLine(row);
    }
    return text;
}

QString asJson(const TextTable& table)
{
    QJsonArray array;
    for (const QStringList& row : table.rows) {
        array.append(objectOf(table.columns, row));
    }
    return linesOf(array);
}

} // namespace nanscope
