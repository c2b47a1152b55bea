// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the timelines remember from one start to the next.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "ui/panes/timelinepane.h"
#include "ui/text.h"

namespace nanscope {

namespace {

constexpr int stateVersion = 1;
constexpr const char* scaleNames[] = {"automatic", "linear", "logarithmic"};
constexpr const char* rankNames[] = {"automatic", "lines", "band"};

template <class Choice>
QString nameOf(const char* const (&names)[3], Choice choice)
{
    return QLatin1String(names[static_cast<std::size_t>(choice)]);
}

/// A word of another version means the default.
template <class Choice>
Choice choiceOf(const char* const (&names)[3], const QJsonValue& name)
{
    for (std::size_t i = 0; i < std::size(names); ++i) {
        if (name.toString() == QLatin1String(names[i])) {
            return static_cast<Choice>(i);
        }
    }
    return Choice::automatic;
}

QJsonObject asJson(const TimelineLook& look)
{
    return {{QStringLiteral("scale"), nameOf(scaleNames, look.scale)},
        {QStringLiteral("ranks"), nameOf(rankNames, look.ranks)}, {QStringLiteral("smooth"), look.smooth}};
}

TimelineLook lookFrom(const QJsonObject& json)
{
    return {choiceOf<ScaleChoice>(scaleNames, json.value(QStringLiteral("scale"))),
        choiceOf<RankChoice>(rankNames, json.value(QStringLiteral("ranks"))),
        json.value(QStringLiteral("smooth")).toBool()};
}

} // namespace

QByteArray TimelinePane::saveState() const
{
    QJsonArray series;
    for (const std::string& name : m_chosen) {
        series.append(exactText(name));
    }
    QJsonObject looks;
    for (const auto& [name, look] : m_looks) {
        looks.insert(exactText(name), asJson(look));
    }
    const QJsonObject state {{QStringLiteral("version"), stateVersion}, {QStringLiteral("series"), series},
        {QStringLiteral("looks"), looks}};
    return QJsonDocument(state).toJson(QJsonDocument::Compact);
}

void TimelinePane::restoreState(const QByteArray& state)
{
    const QJsonObject json = QJsonDocument::fromJson(state).object();
    if (json.value(QStringLiteral("version")).toInt() != stateVersion) {
        return;
    }
    const QJsonObject looks = json.value(QStringLiteral("looks")).toObject();
    for (auto look = looks.begin(); look != looks.end(); ++look) {
        const std::string name = look.key().toStdString();
        m_looks[name] = lookFrom(look.value().toObject());
        if (const auto known = m_charts.find(name); known != m_charts.end()) {
            known->second->setLook(m_looks[name]);
        }
    }
    std::vector<std::string> series;
    const QJsonArray names = json.value(QStringLiteral("series")).toArray();
    for (const auto& name : names) {
        series.push_back(name.toString().toStdString());
    }
    if (!series.empty()) {
        m_chosen = std::move(series);
        refill();
    }
}

} // namespace nanscope
