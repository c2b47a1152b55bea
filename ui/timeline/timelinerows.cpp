// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/timelinerows.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStringList>

#include "core/base/try.h"
#include "ui/shared/table/tablefile.h"
#include "ui/shared/table/texttable.h"
#include "ui/shared/text.h"
#include "ui/timeline/timelineseries.h"
#include "ui/timeline/timelinestore.h"

namespace nanscope {

namespace {

QString valueCell(const TracePoint& point)
{
    switch (point.state) {
    case PointState::finite:
        return exactNumber(point.value);
    case PointState::reported:
        return {};
    default:
        return stateWord(point.state);
    }
}

QJsonValue valueAsJson(const TracePoint& point)
{
    if (point.state == PointState::finite) {
        return point.value;
    }
    return point.state == PointState::reported ? QJsonValue(QJsonValue::Null) : QJsonValue(stateWord(point.state));
}

QStringList rowTitles()
{
    return {QStringLiteral("step"), QStringLiteral("line"), QStringLiteral("value"), QStringLiteral("state"),
        QStringLiteral("place")};
}

QStringList cellsOf(const TimelineRow& row)
{
    return {QString::number(row.point.step), row.line, valueCell(row.point), stateWord(row.point.state), placeOf(row)};
}

} // namespace

QString stateWord(PointState state)
{
    switch (state) {
    case PointState::finite:
        return QStringLiteral("finite");
    case PointState::nan:
        return QStringLiteral("nan");
    case PointState::posInf:
        return QStringLiteral("inf");
    case PointState::negInf:
        return QStringLiteral("-inf");
    case PointState::reported:
        break;
    }
    return QStringLiteral("missing");
}

QString placeOf(const TimelineRow& row)
{
    return row.point.line > 0 ? QStringLiteral("%1:%2").arg(row.source).arg(row.point.line) : row.source;
}

QString rowsAsTsv(std::span<const TimelineRow> rows)
{
    QString text = tsvLine(rowTitles());
    for (const TimelineRow& row : rows) {
        text += tsvLine(cellsOf(row));
    }
    return text;
}

QString rowsAsJson(std::span<const TimelineRow> rows)
{
    QJsonArray array;
    for (const TimelineRow& row : rows) {
        array.append(QJsonObject {{QStringLiteral("step"), static_cast<qint64>(row.point.step)},
            {QStringLiteral("line"), row.line}, {QStringLiteral("value"), valueAsJson(row.point)},
            {QStringLiteral("source"), row.source},
            {QStringLiteral("source_line"), static_cast<qint64>(row.point.line)}});
    }
    return QString::fromUtf8(QJsonDocument(array).toJson(QJsonDocument::Compact));
}

Result<std::int64_t> saveRows(
    TimelineStore& store, std::span<const TimelineLine> lines, Interval steps, const QString& path)
{
    auto file = TRY(TableFile::create(path, rowTitles()));
    std::int64_t count = 0;
    for (const TimelineLine& line : lines) {
        Result<void> added;
        TRY(store.visit(line.parts, steps, [&](const TracePoint& point) {
            added = file.add(cellsOf({point, line.label, line.source}));
            ++count;
            return added.has_value();
        }));
        TRY(added);
    }
    return file.commit().map([count] { return count; });
}

} // namespace nanscope
