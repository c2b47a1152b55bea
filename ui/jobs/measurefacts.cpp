// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/measurefacts.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QStringList>

#include "ui/jobs/measurejob.h"
#include "ui/text.h"

namespace nanscope {

MeasureFacts factsOf(const MeasureResult& result)
{
    const QJsonObject subject =
        QJsonDocument::fromJson(result.json.toUtf8()).object().value(QStringLiteral("subject")).toObject();
    QStringList words {subject.value(QStringLiteral("variant")).toString()};
    if (!result.order.impl) {
        words << subject.value(QStringLiteral("precision")).toString()
              << subject.value(QStringLiteral("lowering")).toString();
    }
    words.removeAll(QString());
    const QJsonValue epsilon = subject.value(QStringLiteral("epsilon"));
    return {words.join(QStringLiteral(" · ")), qstr(result.order.request.capture.path),
        epsilon.isDouble() ? std::optional(epsilon.toDouble()) : std::nullopt, result.order.cell.catalogue};
}

} // namespace nanscope
