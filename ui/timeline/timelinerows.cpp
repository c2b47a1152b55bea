// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/timelinerows.h"

#include <cmath>

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStringList>

#include "ui/shared/text.h"

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
    QString text = QStringLiteral("step\tline\tvalue\tstate\tplace\n");
    for (const TimelineRow& row : rows) {
        const QStringList cells {
            QString::number(row.point.step), row.line, valueCell(row.point), stateWord(row.point.state), placeOf(row)};
        text += cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
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

} // namespace nanscope
