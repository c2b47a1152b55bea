// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/sweep/sweepchoice.h"

#include <QCoreApplication>

#include "core/replay/variants/names.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

const QString listSeparator = QStringLiteral(",");

template <class Enum>
QStringList namesOf(const std::vector<Enum>& values)
{
    return qstrs(values, [](Enum value) { return name(value); });
}

void restoreOne(SweepChoice& choice, const QString& key, const QString& value)
{
    bool isNumber = true;
    if (key == QLatin1String("variants")) {
        choice.variants = value.split(listSeparator, Qt::SkipEmptyParts);
    } else if (key == QLatin1String("precisions")) {
        choice.precisions =
            replay::precisionsOf(stringsOf(value.split(listSeparator, Qt::SkipEmptyParts))).value_or(choice.precisions);
    } else if (key == QLatin1String("lowerings")) {
        choice.lowerings =
            replay::loweringsOf(stringsOf(value.split(listSeparator, Qt::SkipEmptyParts))).value_or(choice.lowerings);
    } else if (const double epsilon = value.toDouble(&isNumber); key == QLatin1String("epsilon")) {
        choice.epsilon = isNumber && replay::checkEpsilon(epsilon) ? std::optional(epsilon) : std::nullopt;
    } else if (const int steps = value.toInt(&isNumber); key == QLatin1String("steps")) {
        choice.steps = isNumber && replay::checkSteps(steps) ? std::optional(steps) : std::nullopt;
    }
}

} // namespace

QString choiceText(const SweepChoice& choice)
{
    QStringList parts;
    if (!choice.variants.isEmpty()) {
        parts << (choice.variants.size() == 1
                ? choice.variants.front()
                : QCoreApplication::translate("nanscope::SweepChoice", "%1 variants").arg(choice.variants.size()));
    }
    parts << namesOf(choice.precisions) << namesOf(choice.lowerings);
    parts << overridesText(choice.epsilon, choice.steps);
    parts.removeAll(QString());
    return parts.join(QStringLiteral(" · "));
}

QByteArray saveChoice(const SweepChoice& choice)
{
    QStringList lines;
    const auto add = [&](const char* key, const QString& value) {
        if (!value.isEmpty()) {
            lines << QStringLiteral("%1=%2").arg(QLatin1String(key), value);
        }
    };
    add("variants", choice.variants.join(listSeparator));
    add("precisions", namesOf(choice.precisions).join(listSeparator));
    add("lowerings", namesOf(choice.lowerings).join(listSeparator));
    add("epsilon", choice.epsilon ? QString::number(*choice.epsilon, 'g', 17) : QString());
    add("steps", choice.steps ? QString::number(*choice.steps) : QString());
    return lines.join(QLatin1Char('\n')).toUtf8();
}

SweepChoice restoreChoice(const QByteArray& saved)
{
    SweepChoice choice;
    for (const QString& line : QString::fromUtf8(saved).split(QLatin1Char('\n'), Qt::SkipEmptyParts)) {
        restoreOne(choice, line.section(QLatin1Char('='), 0, 0), line.section(QLatin1Char('='), 1));
    }
    return choice;
}

} // namespace nanscope
